"""Programs: sets of rules and constraints.

Start at `Program`. Its parts (see `items` and `rules`) can also be imported from here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType

from triplestore.datalog.items import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Filter,
    Item,
    Not,
    Result,
    Term,
    TripleAtom,
    TupleAtom,
    atoms_in,
    bound_by,
    variables_in,
)
from triplestore.datalog.rules import Clause, Constraint, Rule, Source, clause_text, signature
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Call, Constant, Expression, Variable, variables_of
from triplestore.terms.vocabulary import OWL, RDF, RDFS, SKOS, XSD
from triplestore.thread_limits import looking

__all__ = [
    "TYPE",
    "WELL_KNOWN",
    "Aggregate",
    "Atom",
    "Bind",
    "Call",
    "Clause",
    "Constant",
    "Constraint",
    "Expression",
    "Filter",
    "Item",
    "Not",
    "Program",
    "Result",
    "Rule",
    "Source",
    "Term",
    "TripleAtom",
    "TupleAtom",
    "Variable",
    "atoms_in",
    "bound_by",
    "signature",
    "variables_in",
    "variables_of",
]


WELL_KNOWN: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}
"""Prefixes that every program has, unless it declares them itself."""

_LINE = 96
"""Maximum width of a line of a printed program, if the line can be broken."""


class Program:
    """A set of rules and constraints in their original order, with prefixes for printing.

    Programs are equal if they have the same rules and constraints, regardless of order and of the
    names of variables; `+` and `-` use the same equality. Prefixes are not compared. Making a
    program costs some 5 us per rule.

    >>> x, knows = Variable("x"), Constant.iri("http://example.org/knows")
    >>> program = Program([Rule((TripleAtom(x, TYPE, knows),), (TripleAtom(x, knows, x),))])
    >>> len(program), program + program == program, len(program - program)
    (1, True, 0)
    """

    __slots__ = ("_also", "_constraints", "_prefixes", "_rules")

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        constraints: Iterable[Constraint] = (),
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self._also: dict[Hashable, list[tuple[TripleAtom, ...]]] = {}
        self._rules: dict[Hashable, Rule] = {}
        for rule in looking(rules):
            known = self._rules.setdefault(signature(rule), rule)
            if known is not rule and known.axioms != rule.axioms:
                self._also.setdefault(signature(rule), []).append(rule.axioms)
        self._constraints: dict[Hashable, Constraint] = {}
        for constraint in looking(constraints):
            same = self._constraints.setdefault(signature(constraint), constraint)
            if same is not constraint and same.axioms != constraint.axioms:
                self._also.setdefault(signature(constraint), []).append(constraint.axioms)
        self._prefixes = dict(prefixes or {})

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules as they were written, without duplicates."""
        return tuple(self._rules.values())

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints, without duplicates."""
        return tuple(self._constraints.values())

    @property
    def prefixes(self) -> Mapping[str, str]:
        """Prefix -> namespace."""
        return MappingProxyType(self._prefixes)

    def __add__(self, other: Program) -> Program:
        """The union; shared rules and prefixes are those of this program."""
        made = self._copy()
        made._also = {**self._also}
        for signed, more in other._also.items():
            made._also[signed] = [*made._also.get(signed, ()), *more]
        made._rules = {**self._rules}
        for key, rule in other._rules.items():
            known = made._rules.setdefault(key, rule)
            if known is not rule and known.axioms != rule.axioms:
                made._also[key] = [*made._also.get(key, ()), rule.axioms]
        made._constraints = {**self._constraints}
        for name, constraint in other._constraints.items():
            made._constraints.setdefault(name, constraint)
        made._prefixes = {**other._prefixes, **self._prefixes}
        return made

    def __sub__(self, other: Program) -> Program:
        """The rules and constraints that the other does not have."""
        made = self._copy()
        made._rules = {k: v for k, v in self._rules.items() if k not in other._rules}
        made._constraints = {
            k: v for k, v in self._constraints.items() if k not in other._constraints
        }
        return made

    def sources_of(self, clause: Rule | Constraint) -> list[tuple[TripleAtom, ...]]:
        """The axioms that a clause was made from: one item for each axiom that gives the same.

        >>> from triplestore.datalog.text import read
        >>> (rule,) = read("@prefix : <http://e/> . :b[?x] :- :a[?x] .").rules
        >>> Program([rule]).sources_of(rule)
        [()]
        """
        key = signature(clause)
        known = self._rules.get(key) if isinstance(clause, Rule) else self._constraints.get(key)
        first = clause if known is None else known
        return list(dict.fromkeys([first.axioms, *self._also.get(key, ())]))

    def where(self, test: Callable[[Rule], bool]) -> Program:
        """The same with only the rules that pass a test."""
        made = self._copy()
        made._rules = {key: rule for key, rule in self._rules.items() if test(rule)}
        return made

    def _copy(self) -> Program:
        made = Program()
        made._rules, made._constraints = self._rules, self._constraints
        made._also = self._also
        made._prefixes = dict(self._prefixes)
        return made

    def __contains__(self, clause: object) -> bool:
        if isinstance(clause, Rule):
            return signature(clause) in self._rules
        return isinstance(clause, Constraint) and signature(clause) in self._constraints

    def __len__(self) -> int:
        return len(self._rules) + len(self._constraints)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return (
            self._rules.keys() == other._rules.keys()
            and self._constraints.keys() == other._constraints.keys()
        )

    def __hash__(self) -> int:
        return hash((frozenset(self._rules), frozenset(self._constraints)))

    def __repr__(self) -> str:
        return f"<program of {len(self._rules)} rules and {len(self._constraints)} constraints>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import output, preformatted

        return output(preformatted(str(self)))

    def __str__(self) -> str:
        prefixes = {**WELL_KNOWN, **self.prefixes}
        namer = Namer(prefixes)
        clauses: tuple[Rule | Constraint, ...] = (*self.rules, *self.constraints)
        statements = [clause_text(clause, namer, _LINE) for clause in clauses]
        declared = [
            f"@prefix {prefix}: {Constant.iri(prefixes[prefix])} ."
            for prefix in sorted(namer.used | set(self.prefixes))
        ]
        head = "\n".join(declared) + "\n\n" if declared else ""
        return head + "".join(statement + "\n" for statement in statements)
