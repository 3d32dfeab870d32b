"""The update operations of SPARQL 1.1 as data. Start at `Update`, the algebra of one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.sparql.algebra.nodes import DatasetClause, Node, QuadPattern


@data_class
class InsertData:
    """INSERT DATA. Blank nodes are labels: each execution makes one new blank node per label."""

    quads: tuple[ox.Quad, ...]


@data_class
class DeleteData:
    """DELETE DATA: without blank nodes."""

    quads: tuple[ox.Quad, ...]


@data_class
class Modify:
    """DELETE {} INSERT {} WHERE {}, and DELETE WHERE {}. The templates include WITH already.

    size     the number of tokens of the request's text
    graph    of WITH: the default graph of the WHERE if `dataset` (of USING) is None; the named
             graphs are then those of the store
    """

    delete: tuple[QuadPattern, ...]
    insert: tuple[QuadPattern, ...]
    pattern: Node
    dataset: DatasetClause | None = None
    graph: Constant | None = None
    size: int = field(default=0, compare=False, repr=False)


@data_class
class Load:
    """LOAD source [INTO GRAPH graph]."""

    source: Constant
    graph: Constant | None = None
    silent: bool = False


GraphTarget: TypeAlias = Constant | Literal["DEFAULT", "NAMED", "ALL"]


@data_class
class Clear:
    """CLEAR."""

    target: GraphTarget
    silent: bool = False


@data_class
class Drop:
    """DROP."""

    target: GraphTarget
    silent: bool = False


@data_class
class Create:
    """CREATE GRAPH."""

    graph: Constant
    silent: bool = False


@data_class
class Add:
    """ADD source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


@data_class
class Move:
    """MOVE source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


@data_class
class Copy:
    """COPY source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


Operation: TypeAlias = (
    InsertData | DeleteData | Modify | Load | Clear | Drop | Create | Add | Move | Copy
)


@data_class
class Update:
    """A request: operations in their order; each sees what those before it did."""

    operations: tuple[Operation, ...]
    base: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
