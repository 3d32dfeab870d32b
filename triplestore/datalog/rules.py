"""Rules and constraints as data, and what they are made of.

Start at `Rule`. What is always true: everything is frozen and compares by
structure; where a rule came from (`source`, `name`, `axioms`) is no part of what it is. All three
ways to write a fact of the graph are one kind of atom:

    ex:C[?x]          TripleAtom(?x, rdf:type, ex:C)
    ex:p[?x, ?y]      TripleAtom(?x, ex:p, ?y)
    [?x, ?p, ?y]      TripleAtom(?x, ?p, ?y)
    ex:r[?x, ?y, ?z]  TupleAtom(ex:r, (?x, ?y, ?z))      a relation of its own, of three or more

Constants are term keys, so a rule depends on no store. Terms of atoms may be any constants:
triples are generalised, and literals may be subjects.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant, Expression, Variable, variables_of
from triplestore.terms.vocabulary import RDF_TYPE

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

    def __post_init__(self) -> None:
        if len(self.args) < 3:
            raise UsageError(
                f"a relation has three columns or more: {self.name} of one is a class, of two a "
                "property; make a TripleAtom"
            )

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
    signed: Hashable = field(default=None, init=False, repr=False, compare=False)
    """Its signature, once `canonical.signature` was asked for it: rules outlive programs."""

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
        from triplestore.datalog.canonical import canonical_rule

        return canonical_rule(self)

    def split(self) -> tuple[Rule, ...]:
        """One rule for each head (itself if it has just one)."""
        if len(self.heads) == 1:
            return (self,)
        return tuple(replace(self, heads=(head,)) for head in self.heads)

    def __str__(self) -> str:
        return _printed(self)


@dataclass(frozen=True, slots=True)
class Constraint(Clause):
    """Each match of the body is an inconsistency, reported under `id` with the message.

    axioms  the triples it was made from, if an ontology's axiom was translated
    """

    id: str
    message: str
    body: tuple[Item, ...]
    source: Source | None = field(default=None, compare=False)
    axioms: tuple[TripleAtom, ...] = field(default=(), compare=False)

    def canonical(self) -> Constraint:
        """The same constraint with its variables named as they come."""
        from triplestore.datalog.canonical import canonical_constraint

        return canonical_constraint(self)

    def __str__(self) -> str:
        return _printed(self)


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


def bound_by(items: Iterable[Item]) -> Iterator[Variable]:
    """The variables that a body gives values, as often as it does.

    A variable of a negation or an aggregate that is not among those of the body around it is
    local there, whatever the same name may be elsewhere.
    """
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield from (term for term in item.terms if isinstance(term, Variable))
        elif isinstance(item, Bind):
            yield item.variable
        elif isinstance(item, Aggregate):
            yield from item.groups
            yield from (result.variable for result in item.results)


def atoms_in(items: Iterable[Item], positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """All atoms of a body; False beside those under a negation or an aggregate."""
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item, positive
        elif isinstance(item, Not | Aggregate):
            yield from atoms_in(item.body, False)


def _printed(part: Atom | Item | Rule | Constraint) -> str:
    from triplestore.datalog.text import show

    return show(part)
