"""Pattern look-ups: which quads have these terms in these places, as columns of ids.

Start reading at `match`. Blocks are yielded as they are read, each from one relation, so that the
first rows of a large result are fast. Within a relation rows are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from triplestore.relations import HOLDS, OBJECT, SUBJECT, Tables
from triplestore.relations.packed_keys import U32, Columns
from triplestore.relations.relation import BLOCK
from triplestore.relations.views.plain import PlainRelation

FEW = 64
"""Maximum number of rows of a relation that are read as a list."""

ANY_GRAPH = -1
"""Stands for the default graph and all named graphs."""


class QuadColumns(NamedTuple):
    """Some quads as columns of ids; graph 0 is the default graph. The columns are frozen views."""

    subject: U32
    predicate: U32
    object: U32
    graph: U32

    @property
    def size(self) -> int:
        """The number of quads."""
        return len(self.subject)


def match(
    tables: Tables,
    subject: int = 0,
    predicate: int = 0,
    object: int = 0,
    graph: int = ANY_GRAPH,
    where: int = HOLDS,
    block_rows: int = BLOCK,
) -> Iterator[QuadColumns]:
    """The quads with these ids (0: any) in this graph (0: the default graph), in blocks."""
    if graph in (ANY_GRAPH, 0):
        for name in _fact_names(tables, subject, predicate, object):
            yield from _facts(tables, name, subject, object, where, block_rows)
    if graph == ANY_GRAPH:
        for name in _quad_names(tables, subject, predicate, object):
            yield from _quads(tables, name, subject, object, where, block_rows)
    elif graph:
        yield from _graph(tables, graph, subject, predicate, object, where, block_rows)


def few_facts(
    tables: Tables, subject: int, object: int, where: int = HOLDS
) -> list[tuple[int, list[int]]] | None:
    """The facts of the default graph with a subject, or with an object, as lists of ids:
    (predicate, ids in the other place), which is much faster than `match`. None if a predicate has
    many, or if there are closures. One of the two ids is 0.
    """
    if tables.schemes:
        return None
    role, one = (SUBJECT, subject) if subject else (OBJECT, object)
    found = []
    for name in tables.predicates_of_one(one, role).tolist():
        others = tables.relation(name).few(role, one, where, FEW)
        if others is None:
            return None
        if others:
            found.append((name, others))
    return found


def _facts(
    tables: Tables, name: int, s: int, o: int, where: int, block_rows: int
) -> Iterator[QuadColumns]:
    relation = tables.relation(name)
    for subjects, objects in _pairs(relation, s, o, where, block_rows):
        yield _rows(subjects, name, objects, 0)


def _quads(
    tables: Tables, name: int, s: int, o: int, where: int, block_rows: int
) -> Iterator[QuadColumns]:
    relation = tables.quads(name)
    blocks: Iterator[Columns]
    if s and o:
        _, (graphs,) = relation.probe((SUBJECT, OBJECT), (_one(s), _one(o)), where)
        blocks = iter([(_full(s, len(graphs)), _full(o, len(graphs)), graphs)])
    elif s or o:
        order = SUBJECT if s else OBJECT
        blocks = relation.scan(where, order=order, first=s or o, block_rows=block_rows)
    else:
        blocks = relation.scan(where, block_rows=block_rows)
    for subjects, objects, graphs in blocks:
        if len(subjects):
            yield QuadColumns(subjects, _full(name, len(subjects)), objects, graphs)


def _graph(
    tables: Tables, graph: int, s: int, p: int, o: int, where: int, block_rows: int
) -> Iterator[QuadColumns]:
    view = tables.graph(graph)
    if p:
        names = [p]
    elif s or o:
        # A term mostly occurs with fewer predicates than the graph has.
        names = _quad_names(tables, s, 0, o)
    else:
        names = _listed(view.names())
    for name in names:
        if o and not s:
            # Quads are not sorted by object within a graph: look the object up in all graphs.
            for rows in _quads(tables, name, 0, o, where, block_rows):
                same = rows.graph == np.uint32(graph)
                if same.any():
                    yield QuadColumns(*(column[same] for column in rows))
            continue
        for subjects, objects in _pairs(view.relation(name), s, o, where, block_rows):
            yield _rows(subjects, name, objects, graph)


def _pairs(
    relation: PlainRelation, s: int, o: int, where: int, block_rows: int
) -> Iterator[tuple[U32, U32]]:
    """The rows of a relation of two columns, without empty blocks."""
    if s and o:
        if relation.has(s, o, where):
            yield _one(s), _one(o)
        return
    if s:
        objects = relation.by_first(s, where)
        if len(objects):
            yield _full(s, len(objects)), objects
        return
    if o:
        subjects = relation.by_second(o, where)
        if len(subjects):
            yield subjects, _full(o, len(subjects))
        return
    for subjects, objects in relation.scan(where, block_rows=block_rows):
        if len(subjects):
            yield subjects, objects


def _fact_names(tables: Tables, s: int, p: int, o: int) -> list[int]:
    if p:
        return [p]
    if s or o:
        return _occurring(tables, s, o)
    return _listed(tables.names())


def _quad_names(tables: Tables, s: int, p: int, o: int) -> list[int]:
    if p:
        return [p] if tables.quad_total() else []
    if not tables.quad_total():
        return []
    if s or o:
        return _occurring(tables, s, o)
    return _listed(tables.quad_names())


def _occurring(tables: Tables, s: int, o: int) -> list[int]:
    """The predicates with which subject and object may occur: their characteristic sets."""
    names = tables.predicates_of(_one(s), SUBJECT)[1] if s else None
    if o:
        others = tables.predicates_of(_one(o), OBJECT)[1]
        names = others if names is None else np.intersect1d(names, others)
    assert names is not None
    return _listed(names)


def _listed(ids: U32) -> list[int]:
    listed: list[int] = ids.tolist()
    return listed


def _rows(subjects: U32, name: int, objects: U32, graph: int) -> QuadColumns:
    size = len(subjects)
    return QuadColumns(subjects, _full(name, size), objects, _full(graph, size))


def _one(value: int) -> U32:
    return np.array([value], dtype=np.uint32)


def _full(value: int, size: int) -> U32:
    """A column of one value: a view of four bytes, whatever its length."""
    # The same as `np.broadcast_to`, in a tenth of the time.
    column: U32 = np.ndarray((size,), np.uint32, _one(value), strides=(0,))
    column.flags.writeable = False
    return column
