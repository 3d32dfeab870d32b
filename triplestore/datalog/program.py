"""Programs as data: atoms, rules and constraints, and sets of them.

Start at `Program`, then `Rule`. What is always true: everything is frozen and compares by
structure; where a rule came from (`source`, `name`, `axioms`) is no part of what it is. All three
ways to write a fact of the graph are one kind of atom:

    ex:C[?x]          TripleAtom(?x, rdf:type, ex:C)
    ex:p[?x, ?y]      TripleAtom(?x, ex:p, ?y)
    [?x, ?p, ?y]      TripleAtom(?x, ?p, ?y)
    ex:r[?x, ?y, ?z]  TupleAtom(ex:r, (?x, ?y, ?z))      a relation of its own, of three or more

Constants are term keys, so a program depends on no store. Terms of atoms may be any constants:
triples are generalised, and literals may be subjects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from triplestore.expr.tree import Constant, Expression, Variable, substitute, variables_of
from triplestore.terms.vocabulary import RDF_TYPE

__all__ = [
    "TYPE",
    "Aggregate",
    "Atom",
    "Bind",
    "Constant",
    "Constraint",
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
]

Term: TypeAlias = Variable | Constant
"""What stands in a place of an atom."""

TYPE = Constant.iri(RDF_TYPE)
"""rdf:type as a constant."""


@dataclass(frozen=True, slots=True)
class TripleAtom:
    """A triple with variables: the fact p(s, o), or o(s) where p is rdf:type."""

    s: Term
    p: Term
    o: Term

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms in their places: s, p, o."""
        return (self.s, self.p, self.o)

    def map(self, change: Callable[[Term], Term]) -> TripleAtom:
        """The atom with each of its terms changed."""
        return TripleAtom(change(self.s), change(self.p), change(self.o))

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class TupleAtom:
    """A row of a user's relation, known by its name and number of columns."""

    name: Constant
    args: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms in their places."""
        return self.args

    def map(self, change: Callable[[Term], Term]) -> TupleAtom:
        """The atom with each of its terms changed."""
        return TupleAtom(self.name, tuple(map(change, self.args)))

    def __str__(self) -> str:
        return _printed(self)


Atom: TypeAlias = TripleAtom | TupleAtom


@dataclass(frozen=True, slots=True)
class Not:
    """True where its body has no match.

    exists  variables that were named by NOT EXISTS ... IN; any other variable that occurs nowhere
            else in the rule is read the same way
    """

    body: tuple[Item, ...]
    exists: tuple[Variable, ...] = ()

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class Filter:
    """True where the effective boolean value of an expression is (an error is false)."""

    expression: Expression

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class Bind:
    """Gives a variable the value of an expression; where that is an error there is no match."""

    expression: Expression
    variable: Variable

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class Result:
    """One result of an aggregate.

    function   count sum min max avg sample group_concat, in small letters
    argument   of which values; None for count(*)
    variable   which gets the result
    distinct   whether each different value is looked at once
    separator  of group_concat
    """

    function: str
    argument: Expression | None
    variable: Variable
    distinct: bool = False
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One match for each group of the matches of its body, and results over that group.

    Only `groups` and the variables of `results` are seen outside. Without groups there is one
    group, if the body has a match at all.
    """

    body: tuple[Item, ...]
    groups: tuple[Variable, ...]
    results: tuple[Result, ...]

    def __str__(self) -> str:
        return _printed(self)


Item: TypeAlias = Atom | Not | Filter | Bind | Aggregate
"""What a body is made of."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule was written: the first character of its statement, and its text.

    >>> print(Source("family.dlog", 3, 1))
    family.dlog:3:1
    """

    file: str | None = None
    line: int = 1
    column: int = 1
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file or 'input'}:{self.line}:{self.column}"


class Clause:
    """What rules and constraints have in common: a body."""

    __slots__ = ()
    body: tuple[Item, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The positive atoms of the body, in order."""
        return tuple(item for item in self.body if isinstance(item, TripleAtom | TupleAtom))

    @property
    def nots(self) -> tuple[Not, ...]:
        """The negations of the body."""
        return tuple(item for item in self.body if isinstance(item, Not))

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters of the body."""
        return tuple(item for item in self.body if isinstance(item, Filter))

    @property
    def binds(self) -> tuple[Bind, ...]:
        """The BINDs of the body."""
        return tuple(item for item in self.body if isinstance(item, Bind))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates of the body."""
        return tuple(item for item in self.body if isinstance(item, Aggregate))


@dataclass(frozen=True, slots=True)
class Rule(Clause):
    """If the body matches, all heads hold. A rule without a body states facts.

    name    for reports and proofs
    source  where it was written
    axioms  the triples it was made from, if an ontology's axiom was translated
    """

    heads: tuple[Atom, ...]
    body: tuple[Item, ...] = ()
    name: str = field(default="", compare=False)
    source: Source | None = field(default=None, compare=False)
    axioms: tuple[TripleAtom, ...] = field(default=(), compare=False)

    def canonical(self) -> Rule:
        """The same rule with its variables named 0, 1, 2, ... as they come, and nothing else.

        Two rules are the same for a `Program` if their canonical forms are equal: the order of
        heads and body items counts, names of variables do not.

        >>> x, y, z = map(Variable, "xyz")
        >>> one = Rule((TripleAtom(x, TYPE, y),), (TripleAtom(x, z, y),))
        >>> other = Rule((TripleAtom(y, TYPE, z),), (TripleAtom(y, x, z),), name="other")
        >>> one == other, one.canonical() == other.canonical()
        (False, True)
        """
        rename = _Renaming()
        return Rule(_rename_atoms(self.heads, rename), _rename_items(self.body, rename))

    def split(self) -> tuple[Rule, ...]:
        """One rule for each head (itself if it has just one)."""
        if len(self.heads) == 1:
            return (self,)
        return tuple(replace(self, heads=(head,)) for head in self.heads)

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class Constraint(Clause):
    """Each match of the body is an inconsistency, reported under `id` with the message."""

    id: str
    message: str
    body: tuple[Item, ...]
    source: Source | None = field(default=None, compare=False)

    def canonical(self) -> Constraint:
        """The same constraint with its variables named as they come."""
        return Constraint(self.id, self.message, _rename_items(self.body, _Renaming()))

    def __str__(self) -> str:
        return _printed(self)


class Program:
    """A set of rules and constraints, in the order they came, with prefixes to print them by.

    Programs are equal if they have the same rules and constraints but for the names of variables
    and the order; `+` and `-` add and take away by that. Prefixes are no part of it. Making one of
    n rules costs about 10 us for each.

    >>> x, knows = Variable("x"), Constant.iri("http://example.org/knows")
    >>> program = Program([Rule((TripleAtom(x, TYPE, knows),), (TripleAtom(x, knows, x),))])
    >>> len(program), program + program == program, len(program - program)
    (1, True, 0)
    """

    __slots__ = ("_constraints", "_prefixes", "_rules")

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        constraints: Iterable[Constraint] = (),
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self._rules: dict[Rule, Rule] = {}
        for rule in rules:
            self._rules.setdefault(rule.canonical(), rule)
        self._constraints: dict[Constraint, Constraint] = {}
        for constraint in constraints:
            self._constraints.setdefault(constraint.canonical(), constraint)
        self._prefixes = dict(prefixes or {})

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules as they were written, without repetitions."""
        return tuple(self._rules.values())

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints, without repetitions."""
        return tuple(self._constraints.values())

    @property
    def prefixes(self) -> Mapping[str, str]:
        """Prefix -> namespace."""
        return MappingProxyType(self._prefixes)

    def __add__(self, other: Program) -> Program:
        """Both; where they share a rule or prefix, this one's is kept."""
        made = self._copy()
        made._rules = {**self._rules}
        for key, rule in other._rules.items():
            made._rules.setdefault(key, rule)
        made._constraints = {**self._constraints}
        for name, constraint in other._constraints.items():
            made._constraints.setdefault(name, constraint)
        made._prefixes = {**other._prefixes, **self._prefixes}
        return made

    def __sub__(self, other: Program) -> Program:
        """What this one has and the other does not."""
        made = self._copy()
        made._rules = {k: v for k, v in self._rules.items() if k not in other._rules}
        made._constraints = {
            k: v for k, v in self._constraints.items() if k not in other._constraints
        }
        return made

    def _copy(self) -> Program:
        made = Program()
        made._rules, made._constraints = self._rules, self._constraints
        made._prefixes = dict(self._prefixes)
        return made

    def __contains__(self, clause: object) -> bool:
        if isinstance(clause, Rule):
            return clause.canonical() in self._rules
        return isinstance(clause, Constraint) and clause.canonical() in self._constraints

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

    def __str__(self) -> str:
        from triplestore.datalog.text import write

        return write(self)


# --- walking -------------------------------------------------------------------------------------


def is_atom(item: object) -> bool:
    """True for atoms, of triples and of tuples."""
    return isinstance(item, TripleAtom | TupleAtom)


def variables_in(item: Item) -> Iterator[Variable]:
    """Every variable of an item as often as it occurs, those local to it too."""
    if isinstance(item, TripleAtom | TupleAtom):
        yield from (term for term in item.terms if isinstance(term, Variable))
    elif isinstance(item, Filter):
        yield from variables_of(item.expression)
    elif isinstance(item, Bind):
        yield from variables_of(item.expression)
        yield item.variable
    else:
        yield from (item.exists if isinstance(item, Not) else item.groups)
        for part in item.body:
            yield from variables_in(part)
        if isinstance(item, Aggregate):
            for result in item.results:
                if result.argument is not None:
                    yield from variables_of(result.argument)
                yield result.variable


def atoms_in(items: Iterable[Item], positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """All atoms of a body; False beside those under a negation or an aggregate."""
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item, positive
        elif isinstance(item, Not | Aggregate):
            yield from atoms_in(item.body, False)


# --- canonical names of variables ----------------------------------------------------------------


class _Renaming(dict[Term, Term]):
    """Variables to the canonical ones, numbered as they are met; constants to themselves."""

    def __missing__(self, term: Term) -> Term:
        if isinstance(term, Constant):
            return term
        made = self[term] = _canonical_variable(len(self))
        return made


_CANONICAL: list[Variable] = []


def _canonical_variable(number: int) -> Variable:
    while len(_CANONICAL) <= number:
        _CANONICAL.append(Variable(str(len(_CANONICAL))))
    return _CANONICAL[number]


def _rename_atoms(atoms: tuple[Atom, ...], rename: _Renaming) -> tuple[Atom, ...]:
    return tuple([atom.map(rename.__getitem__) for atom in atoms])


def _rename_items(items: tuple[Item, ...], rename: _Renaming) -> tuple[Item, ...]:
    return tuple([_rename_item(item, rename) for item in items])


def _rename_item(item: Item, rename: _Renaming) -> Item:
    if isinstance(item, TripleAtom | TupleAtom):
        return item.map(rename.__getitem__)
    if isinstance(item, Filter):
        return Filter(_rename_expression(item.expression, rename))
    if isinstance(item, Bind):
        return Bind(_rename_expression(item.expression, rename), _name(item.variable, rename))
    if isinstance(item, Not):
        body = _rename_items(item.body, rename)
        return Not(body)  # which variables are local follows from where they occur
    body = _rename_items(item.body, rename)
    groups = tuple(_name(variable, rename) for variable in item.groups)
    return Aggregate(body, groups, tuple(_rename_result(one, rename) for one in item.results))


def _rename_result(result: Result, rename: _Renaming) -> Result:
    argument = result.argument
    if argument is not None:
        argument = _rename_expression(argument, rename)
    return replace(result, argument=argument, variable=_name(result.variable, rename))


def _rename_expression(expression: Expression, rename: _Renaming) -> Expression:
    return substitute(expression, {v: _name(v, rename) for v in variables_of(expression)})


def _name(variable: Variable, rename: _Renaming) -> Variable:
    made = rename[variable]
    assert isinstance(made, Variable)
    return made


def _printed(part: Atom | Item | Rule | Constraint) -> str:
    from triplestore.datalog.text import show

    return show(part)
