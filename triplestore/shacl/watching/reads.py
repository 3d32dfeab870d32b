"""Which facts the results of a shape depend on: start at `ShapeRead`.

A read is a predicate, and the path from a focus node to one end of its facts. If a fact changes,
the focus nodes whose results may change are those from which that path leads to the end of the
fact. They are looked for in the state after the change: if several facts between a focus node and
a value change, the first of them has an unchanged path before it. What cannot be described so is
read as a whole: any change of the predicate concerns all focus nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.shacl.vocabulary import Key
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
)

ANY: Key = b""
"""Stands for every predicate."""


@data_class
class ShapeRead:
    """Facts on which the results of a shape depend.

    predicate  ANY for all
    at_object  whether `path` leads to the object of the fact, not to its subject
    path       from the focus node; None if it is the end of the fact itself
    of         only facts whose object is this class, or one of its sub-classes
    whole      whether a change concerns all focus nodes
    named      whether facts of named graphs are read as well
    """

    predicate: Key
    at_object: bool = False
    path: PathExpression | None = None
    of: Key | None = None
    whole: bool = False
    named: bool = False


def joined(before: PathExpression | None, after: PathExpression) -> PathExpression:
    """Two paths one after the other."""
    first = () if before is None else before.parts if isinstance(before, Sequence) else (before,)
    second = after.parts if isinstance(after, Sequence) else (after,)
    parts = (*first, *second)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def reads_of_path(
    path: PathExpression, before: PathExpression | None, backward: bool = False
) -> Iterator[ShapeRead]:
    """The reads of a path that begins where another one ends.

    >>> a, b = Constant.iri("http://a"), Constant.iri("http://b")
    >>> for read in reads_of_path(Sequence((a, Inverse(b))), None):
    ...     print(read.predicate, read.at_object, read.path)
    b'\\x01http://a' False None
    b'\\x01http://b' True <http://a>
    """
    match path:
        case Constant(key):
            yield ShapeRead(key, backward, before)
        case NegatedSet():
            yield ShapeRead(ANY, backward, before)
        case Inverse(inner):
            yield from reads_of_path(inner, before, not backward)
        case Sequence(parts):
            for part in reversed(parts) if backward else parts:
                yield from reads_of_path(part, before, backward)
                before = joined(before, Inverse(part) if backward else part)
        case Alternative(parts):
            for part in parts:
                yield from reads_of_path(part, before, backward)
        case ZeroOrMore(inner) | OneOrMore(inner):
            step: PathExpression = ZeroOrMore(Inverse(inner) if backward else inner)
            yield from reads_of_path(inner, joined(before, step), backward)
        case _:
            yield from reads_of_path(path.path, before, backward)
