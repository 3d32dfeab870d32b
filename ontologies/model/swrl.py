"""SWRL rules, as data.

Start at `SwrlRule`. Atoms and variables are expressions like those of `expressions`: frozen, what
they say in their positional fields, with the node and the triples they were read from.
"""

from __future__ import annotations

from typing import TypeAlias

from triplestore.data_classes import data_class
from triplestore.ontologies.model.axioms import Axiom
from triplestore.ontologies.model.expressions import (
    ClassExpression,
    Expression,
    Node,
    PropertyExpression,
)
from triplestore.terms import Term


@data_class(eq=False, repr=False)
class SwrlVariable(Expression):
    """A variable, named by its node."""

    name: Node


@data_class(eq=False, repr=False)
class ClassAtom(Expression):
    """The argument is in a class."""

    described: ClassExpression
    argument: Argument


@data_class(eq=False, repr=False)
class DataRangeAtom(Expression):
    """The argument, a literal, is in a data range."""

    range: ClassExpression
    argument: Argument


@data_class(eq=False, repr=False)
class IndividualPropertyAtom(Expression):
    """The property relates two individuals."""

    property: PropertyExpression
    subject: Argument
    value: Argument


@data_class(eq=False, repr=False)
class DatavaluedPropertyAtom(Expression):
    """The property relates an individual to a literal."""

    property: PropertyExpression
    subject: Argument
    value: Argument


@data_class(eq=False, repr=False)
class SameIndividualAtom(Expression):
    """Both are the same."""

    left: Argument
    right: Argument


@data_class(eq=False, repr=False)
class DifferentIndividualsAtom(Expression):
    """They are not the same."""

    left: Argument
    right: Argument


@data_class(eq=False, repr=False)
class BuiltinAtom(Expression):
    """A function or test of values, such as swrlb:greaterThan."""

    builtin: Node
    arguments: tuple[Argument, ...]


Argument: TypeAlias = SwrlVariable | Term
"""What an atom is about."""

SwrlAtom: TypeAlias = (
    ClassAtom
    | DataRangeAtom
    | IndividualPropertyAtom
    | DatavaluedPropertyAtom
    | SameIndividualAtom
    | DifferentIndividualsAtom
    | BuiltinAtom
)
"""Every kind of atom."""


@data_class(repr=False)
class SwrlRule(Axiom):
    """If all atoms of the body hold, all of the head hold; an empty head is a contradiction.

    >>> from pyoxigraph import NamedNode
    >>> x = SwrlVariable(NamedNode("urn:swrl#x"))
    >>> a, b = NamedNode("http://example.org/A"), NamedNode("http://example.org/B")
    >>> SwrlRule((ClassAtom(a, x),), (ClassAtom(b, x),))
    SwrlRule((ClassAtom(<http://example.org/A> SwrlVariable(<urn:swrl#x>)))
        (ClassAtom(<http://example.org/B> SwrlVariable(<urn:swrl#x>))))
    """

    body: tuple[SwrlAtom, ...]
    head: tuple[SwrlAtom, ...]
