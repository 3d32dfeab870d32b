"""Rules and constraints as data.

Start at `Rule`; `items` has the parts of heads and bodies. Always true: everything is
frozen and compares by structure; the origin of a rule (`source`, `name`, `axioms`) is not compared.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace

from triplestore.data_classes import data_class
from triplestore.datalog.canonical import renamed, signed
from triplestore.datalog.items import (
    Aggregate,
    Atom,
    Bind,
    Filter,
    Item,
    Not,
    TripleAtom,
    TupleAtom,
    atom_text,
    item_text,
    string_text,
)
from triplestore.expressions.text.expression_printer import Namer


@data_class
class Source:
    """The place of a rule: the first character of its statement, and its text.

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
    """The base of rules and constraints, which have a body."""

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


@data_class
class Rule(Clause):
    """If the body matches, all heads hold. A rule without a body asserts facts.

    name    for reports and proofs
    source  the place where it was written
    axioms  the triples of the axiom it was made from, if it comes from an ontology
    """

    heads: tuple[Atom, ...]
    body: tuple[Item, ...] = ()
    name: str = field(default="", compare=False)
    source: Source | None = field(default=None, compare=False)
    axioms: tuple[TripleAtom, ...] = field(default=(), compare=False)
    signed: Hashable = field(default=None, init=False, repr=False, compare=False)
    """Its signature, cached by `signature`: rules outlive programs."""

    def canonical(self) -> Rule:
        """The same rule with its variables named 0, 1, 2, ... by first occurrence.

        Two rules are the same for a `Program` if their canonical forms are equal: the order of
        heads and body items matters, names of variables do not.

        >>> from triplestore.datalog.items import TYPE, Variable
        >>> x, y, z = map(Variable, "xyz")
        >>> one = Rule((TripleAtom(x, TYPE, y),), (TripleAtom(x, z, y),))
        >>> other = Rule((TripleAtom(y, TYPE, z),), (TripleAtom(y, x, z),), name="other")
        >>> one == other, one.canonical() == other.canonical()
        (False, True)
        """
        return Rule(*renamed(self.heads, self.body))

    def split(self) -> tuple[Rule, ...]:
        """One rule for each head (itself if it has only one)."""
        if len(self.heads) == 1:
            return (self,)
        return tuple(replace(self, heads=(head,)) for head in self.heads)

    def __str__(self) -> str:
        return clause_text(self, Namer())


@data_class
class Constraint(Clause):
    """Each match of the body is an inconsistency, reported under `id` with the message.

    axioms  the triples of the axiom it was made from, if it comes from an ontology
    """

    id: str
    message: str
    body: tuple[Item, ...]
    source: Source | None = field(default=None, compare=False)
    axioms: tuple[TripleAtom, ...] = field(default=(), compare=False)

    def canonical(self) -> Constraint:
        """The same constraint with its variables named by first occurrence."""
        return Constraint(self.id, self.message, renamed((), self.body)[1])

    def __str__(self) -> str:
        return clause_text(self, Namer())


_WIDE = 96 * 96
"""Maximum width of one line; it must not change, as names of helper relations have such texts."""


def signature(clause: Rule | Constraint) -> Hashable:
    """A value that is equal for two rules (or constraints) if only names of variables differ.

    Computed once for each rule object.
    """
    if isinstance(clause, Constraint):
        return (clause.id, clause.message, signed((), clause.body)[1])
    if clause.signed is None:
        object.__setattr__(clause, "signed", signed(clause.heads, clause.body))
    return clause.signed


def clause_text(clause: Rule | Constraint, namer: Namer, width: int = _WIDE) -> str:
    """The text of a rule or constraint: in one line, or with one line per item of the body if it is
    wider than `width`."""
    head = _rule_head(clause, namer) if isinstance(clause, Rule) else _constraint_head(clause)
    if not clause.body:
        return f"{head} ."
    items = [item_text(item, namer) for item in clause.body]
    line = f"{head} :- {', '.join(items)} ."
    if len(line) <= width:
        return line
    return f"{head} :-\n    " + ",\n    ".join(items) + " ."


def _rule_head(rule: Rule, namer: Namer) -> str:
    head = ", ".join(atom_text(atom, namer) for atom in rule.heads)
    if rule.name:
        head = f"rule {string_text(rule.name)} {head}"
    return head


def _constraint_head(constraint: Constraint) -> str:
    head = f"constraint {string_text(constraint.id)}"
    if constraint.message:
        head += f" {string_text(constraint.message)}"
    return head
