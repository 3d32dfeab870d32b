"""The items of heads and bodies of rules: atoms, negations, filters, binds, aggregates.

Start at `TripleAtom`. Always true: everything is frozen and compares by structure; `str`
returns text that is parsed to the same. All three ways to write a fact of the graph are one kind of
atom:

    ex:C[?x]          TripleAtom(?x, rdf:type, ex:C)
    ex:p[?x, ?y]      TripleAtom(?x, ex:p, ?y)
    [?x, ?p, ?y]      TripleAtom(?x, ?p, ?y)
    ex:r[?x, ?y, ?z]  TupleAtom(ex:r, (?x, ?y, ?z))      a relation of three or more columns

Constants are term keys, so a rule depends on no store. Terms of atoms may be any constants:
triples are generalised, and literals may be subjects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Constant, Expression, Variable, variables_of
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import RDF_TYPE

Term: TypeAlias = Variable | Constant
"""A term of an atom."""

TYPE = Constant.iri(RDF_TYPE)
"""rdf:type as a constant."""


@data_class
class TripleAtom:
    """A triple with variables: the fact p(s, o), or o(s) if p is rdf:type."""

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
        return item_text(self, Namer())


@data_class
class TupleAtom:
    """A row of a user's relation, known by its name and number of columns."""

    name: Constant
    args: tuple[Term, ...]

    def __post_init__(self) -> None:
        if len(self.args) < 3:
            raise UsageError(
                f"a relation needs at least three columns: {self.name} with one is a class, with "
                "two a property; use a TripleAtom"
            )

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms in their places."""
        return self.args

    def map(self, change: Callable[[Term], Term]) -> TupleAtom:
        """The atom with each of its terms changed."""
        return TupleAtom(self.name, tuple(map(change, self.args)))

    def __str__(self) -> str:
        return item_text(self, Namer())


Atom: TypeAlias = TripleAtom | TupleAtom


@data_class
class Not:
    """True if its body has no match.

    exists  variables named by NOT EXISTS ... IN; other variables that occur nowhere else in the
            rule have the same meaning
    """

    body: tuple[Item, ...]
    exists: tuple[Variable, ...] = ()

    def __str__(self) -> str:
        return item_text(self, Namer())


@data_class
class Filter:
    """True if the effective boolean value of an expression is true (an error is false)."""

    expression: Expression

    def __str__(self) -> str:
        return item_text(self, Namer())


@data_class
class Bind:
    """Gives a variable the value of an expression; there is no match if that is an error."""

    expression: Expression
    variable: Variable

    def __str__(self) -> str:
        return item_text(self, Namer())


@data_class
class Result:
    """One result of an aggregate.

    function   count sum min max avg sample group_concat, in lower case
    argument   the expression for the values; None for count(*)
    variable   gets the result
    distinct   whether each distinct value is used once
    separator  of group_concat
    """

    function: str
    argument: Expression | None
    variable: Variable
    distinct: bool = False
    separator: str | None = None


@data_class
class Aggregate:
    """One match for each group of the matches of its body, with results of that group.

    Only `groups` and the variables of `results` are visible outside. Without groups there is one
    group, if the body has a match.
    """

    body: tuple[Item, ...]
    groups: tuple[Variable, ...]
    results: tuple[Result, ...]

    def __str__(self) -> str:
        return item_text(self, Namer())


Item: TypeAlias = Atom | Not | Filter | Bind | Aggregate
"""An item of a body."""


# --- walks ---------------------------------------------------------------------------------------


def variables_in(item: Item) -> Iterator[Variable]:
    """Every variable of an item as often as it occurs, including local ones."""
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
    """The variables that a body binds, as often as it does.

    A variable of a negation or an aggregate that the body around it does not have is local there,
    even if the same name occurs elsewhere.
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
    """All atoms of a body, each with False if it is inside of a negation or an aggregate."""
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item, positive
        elif isinstance(item, Not | Aggregate):
            yield from atoms_in(item.body, False)


# --- text ----------------------------------------------------------------------------------------


def _items(items: Iterable[Item], namer: Namer) -> str:
    return ", ".join(item_text(item, namer) for item in items)


def item_text(item: Item, namer: Namer) -> str:
    """The text of one item of a body, which is parsed to the same."""
    if isinstance(item, TripleAtom | TupleAtom):
        return atom_text(item, namer)
    if isinstance(item, Filter):
        return f"FILTER({expression_text(item.expression, namer)})"
    if isinstance(item, Bind):
        return f"BIND({expression_text(item.expression, namer)} AS {item.variable})"
    if isinstance(item, Not):
        return _not(item, namer)
    return _aggregate(item, namer)


def _not(item: Not, namer: Namer) -> str:
    body = _items(item.body, namer)
    if len(item.body) != 1 or not isinstance(item.body[0], TripleAtom | TupleAtom):
        body = f"({body})"
    if not item.exists:
        return f"NOT {body}"
    names = ", ".join(map(str, item.exists))
    return f"NOT EXISTS {names} IN {body if body[0] == '(' else f'({body})'}"


def _aggregate(item: Aggregate, namer: Namer) -> str:
    parts = [_items(item.body, namer)]
    if item.groups:
        parts.append("ON " + " ".join(map(str, item.groups)))
    parts += [f"BIND {_result(result, namer)} AS {result.variable}" for result in item.results]
    return f"AGGREGATE({' '.join(parts)})"


def _result(result: Result, namer: Namer) -> str:
    text = "*" if result.argument is None else expression_text(result.argument, namer)
    text = f"DISTINCT {text}" if result.distinct else text
    if result.separator is not None:
        text += f"; SEPARATOR = {string_text(result.separator)}"
    return f"{result.function}({text})"


def atom_text(atom: Atom, namer: Namer) -> str:
    """The text of an atom."""
    if isinstance(atom, TupleAtom):
        return f"{namer.term(atom.name)}[{', '.join(map(namer.term, atom.args))}]"
    s, p, o = atom.s, atom.p, atom.o
    if p == TYPE and isinstance(o, Constant) and o.kind == IRI:
        return f"{namer.term(o)}[{namer.term(s)}]"
    if isinstance(p, Constant) and p.kind == IRI:
        return f"{namer.term(p)}[{namer.term(s)}, {namer.term(o)}]"
    return f"[{namer.term(s)}, {namer.term(p)}, {namer.term(o)}]"


def string_text(text: str) -> str:
    """A string in quotes."""
    return str(Constant(b"\x03" + text.encode()))
