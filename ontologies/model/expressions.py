"""Class expressions, data ranges and property expressions of OWL 2, as data.

Start at `Expression`. What is always true: a class, datatype or property that has a name stands as
that name, an expression is one of the dataclasses here; everything is frozen; the content of an
expression is its positional fields, so `match` and `content` see exactly what it says. Whether a
property relates individuals or literals is often undeclared and makes no difference to the rules:
`SomeValuesFrom(p, f)` stands for the object and the data form alike, and data ranges are built of
the same `IntersectionOf`, `UnionOf` and `OneOf` as classes.

Every expression knows the node it was read from and its `own` triples: those that the W3C rules
name when they speak of it (list cells included), and no declarations, which they do not need.
Nesting may be deep: comparing, printing and walking use no recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Protocol, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from triplestore.data_classes import data_class
from triplestore.ontologies.model.axiom_text import content, text
from triplestore.terms import Term

Node: TypeAlias = NamedNode | BlankNode
"""What can be a subject."""

Triple: TypeAlias = tuple[Term, Term, Term]
"""A triple as found; inferred ones may have literals anywhere."""


@data_class(eq=False, repr=False)
class Expression:
    """Something that several triples say about one node.

    node  the node of the graph that stands for it (None if it was made by hand)
    own   the triples that say it, without those of the expressions inside

    Two are equal if they say the same of the same node by the same triples, all the way down.

    >>> p, c = NamedNode("http://example.org/p"), NamedNode("http://example.org/C")
    >>> SomeValuesFrom(p, ComplementOf(c))
    SomeValuesFrom(<http://example.org/p> ComplementOf(<http://example.org/C>))
    """

    node: Node | None = field(default=None, kw_only=True)
    own: tuple[Triple, ...] = field(default=(), kw_only=True)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """All triples that say it: its own, then those of the expressions inside, each once."""
        return triples_of(self.own, (self,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and _same(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self.node, self.own))

    def __repr__(self) -> str:
        return text(self)


@data_class(eq=False, repr=False)
class IntersectionOf(Expression):
    """What is in each of the operands (classes or data ranges)."""

    operands: tuple[ClassExpression, ...]


@data_class(eq=False, repr=False)
class UnionOf(Expression):
    """What is in one of the operands (classes or data ranges)."""

    operands: tuple[ClassExpression, ...]


@data_class(eq=False, repr=False)
class ComplementOf(Expression):
    """The individuals that are not in a class."""

    operand: ClassExpression


@data_class(eq=False, repr=False)
class DatatypeComplementOf(Expression):
    """The literals that are not in a data range."""

    operand: ClassExpression


@data_class(eq=False, repr=False)
class OneOf(Expression):
    """These individuals, or these literals."""

    members: tuple[Term, ...]


@data_class(eq=False, repr=False)
class SomeValuesFrom(Expression):
    """What has a value of the property in the filler."""

    property: PropertyExpression
    filler: ClassExpression


@data_class(eq=False, repr=False)
class AllValuesFrom(Expression):
    """What has values of the property in the filler only."""

    property: PropertyExpression
    filler: ClassExpression


@data_class(eq=False, repr=False)
class NarySomeValuesFrom(Expression):
    """What has values of several data properties that are together in an n-ary data range."""

    properties: tuple[PropertyExpression, ...]
    filler: ClassExpression


@data_class(eq=False, repr=False)
class NaryAllValuesFrom(Expression):
    """What has values of several data properties only together in an n-ary data range."""

    properties: tuple[PropertyExpression, ...]
    filler: ClassExpression


@data_class(eq=False, repr=False)
class HasValue(Expression):
    """What has this value (an individual or a literal) of the property."""

    property: PropertyExpression
    value: Term


@data_class(eq=False, repr=False)
class HasSelf(Expression):
    """What is related to itself by the property."""

    property: PropertyExpression


@data_class(eq=False, repr=False)
class MinCardinality(Expression):
    """What has at least `number` values of the property (in the filler; None: any)."""

    number: int
    property: PropertyExpression
    filler: ClassExpression | None = None


@data_class(eq=False, repr=False)
class MaxCardinality(Expression):
    """What has at most `number` values of the property (in the filler; None: any)."""

    number: int
    property: PropertyExpression
    filler: ClassExpression | None = None


@data_class(eq=False, repr=False)
class ExactCardinality(Expression):
    """What has exactly `number` values of the property (in the filler; None: any)."""

    number: int
    property: PropertyExpression
    filler: ClassExpression | None = None


@data_class(eq=False, repr=False)
class Facet(Expression):
    """One bound of a datatype restriction, such as xsd:minInclusive 5."""

    facet: NamedNode
    value: Literal


@data_class(eq=False, repr=False)
class DatatypeRestriction(Expression):
    """The literals of a datatype that keep within all facets."""

    datatype: ClassExpression
    facets: tuple[Facet, ...]


@data_class(eq=False, repr=False)
class InverseOf(Expression):
    """A property the other way round (an expression; see `InverseProperties` for the axiom)."""

    property: PropertyExpression


Description: TypeAlias = (
    IntersectionOf
    | UnionOf
    | ComplementOf
    | DatatypeComplementOf
    | OneOf
    | SomeValuesFrom
    | AllValuesFrom
    | NarySomeValuesFrom
    | NaryAllValuesFrom
    | HasValue
    | HasSelf
    | MinCardinality
    | MaxCardinality
    | ExactCardinality
    | DatatypeRestriction
)
"""A class or data range that is described, not named."""

ClassExpression: TypeAlias = NamedNode | BlankNode | Description
"""A class or data range. A blank node is one without a description, with several, or described by
itself: treat it as a name."""

PropertyExpression: TypeAlias = NamedNode | BlankNode | InverseOf
"""A property by its name (or a blank node to be treated as one), or the inverse of one."""


def inside(thing: object) -> Iterator[Expression]:
    """The expressions directly inside an expression or axiom, in order."""
    for part in content(thing):
        if isinstance(part, Expression):
            yield part
        elif type(part) is tuple:
            for item in part:
                if isinstance(item, Expression):
                    yield item


def innermost_first(*things: object) -> list[Expression]:
    """All expressions inside of expressions or axioms, and those given; each after what is in it.

    What is used in several places comes once. A translation that goes through this list needs no
    recursion.

    >>> c = ComplementOf(NamedNode("http://example.org/C"))
    >>> innermost_first(ComplementOf(c)) == [c, ComplementOf(c)]
    True
    """
    done: dict[int, Expression] = {}
    stack: list[tuple[object, bool]] = [(thing, False) for thing in reversed(things)]
    while stack:
        thing, left = stack.pop()
        if left:
            assert isinstance(thing, Expression)
            done.setdefault(id(thing), thing)
        elif id(thing) not in done:
            if isinstance(thing, Expression):
                stack.append((thing, True))
            stack.extend((part, False) for part in reversed(list(inside(thing))))
    return list(done.values())


def triples_of(own: tuple[Triple, ...], things: Iterable[object]) -> tuple[Triple, ...]:
    """`own`, then the triples of everything inside the things, without repetitions."""
    parts = [part for thing in things for part in inside(thing)]
    if not parts:
        return own
    found = dict.fromkeys(own)
    seen: set[int] = set()
    parts.reverse()
    while parts:
        part = parts.pop()
        if id(part) not in seen:
            seen.add(id(part))
            found.update(dict.fromkeys(part.own))
            parts.extend(reversed(list(inside(part))))
    return tuple(found)


def premises_of(thing: Stated) -> tuple[Triple, ...]:
    """The triples that the W3C rules name where they speak of an axiom or expression: its own, and
    those of the inverses in it, which have no rules of their own. The classes inside have: what
    they say is a premise of those rules.

    >>> p, v, r = NamedNode("http://example.org/p"), BlankNode("v"), BlankNode("r")
    >>> turned = (v, NamedNode("http://www.w3.org/2002/07/owl#inverseOf"), p)
    >>> on = (r, NamedNode("http://www.w3.org/2002/07/owl#onProperty"), v)
    >>> loop = HasSelf(InverseOf(p, node=v, own=(turned,)), node=r, own=(on,))
    >>> premises_of(loop) == (on, turned)
    True
    """
    inverses = [part for part in inside(thing) if isinstance(part, InverseOf)]
    if not inverses:
        return thing.own
    return tuple(dict.fromkeys((*thing.own, *(one for part in inverses for one in part.triples))))


class Stated(Protocol):
    """An axiom or an expression."""

    @property
    def own(self) -> tuple[Triple, ...]:
        """The triples that state it."""


def _same(left: Expression, right: Expression) -> bool:
    """Whether two expressions are equal, without recursion."""
    stack: list[tuple[object, object]] = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while stack:
        a, b = stack.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, Expression) and isinstance(b, Expression):
            seen.add((id(a), id(b)))
            if a.node != b.node or a.own != b.own:
                return False
            stack.extend(zip(content(a), content(b), strict=True))
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b, strict=True))
        elif a != b:
            return False
    return True
