"""Facts that are not RDF triples: rules use them, and they are not shown.

Start reading at `is_triple`. Rules work on generalised triples: a rule may conclude one with a
literal as its subject or a blank node as its predicate. No RDF format can express these, so
look-ups, counts and dumps leave them out. The store keeps their number, and most programs cannot
make one (`Rules.may_hide`), so no row has to be read to know whether they exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import DefaultGraph, Quad

from triplestore.relations.lookup import QuadColumns
from triplestore.relations.packed_keys import U32, Bools, high, low
from triplestore.terms.term_keys import BLANK, IRI

if TYPE_CHECKING:
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.relations import Changes, Tables
    from triplestore.terms import Dictionary

FIRST_BLOCK = 64
"""The first block of an iteration is small, so that the first answer comes at once."""


def is_triple(dictionary: Dictionary, subjects: U32, predicates: U32) -> Bools:
    """Which rows are RDF triples, by their subjects and predicates."""
    fine: Bools = _are_nodes(dictionary, subjects) & (dictionary.kinds(predicates) == IRI)
    return fine


def shown(dictionary: Dictionary, blocks: Iterator[QuadColumns]) -> Iterator[QuadColumns]:
    """Blocks of rows, restricted to RDF triples."""
    for rows in blocks:
        fine = is_triple(dictionary, rows.subject, rows.predicate)
        if fine.all():
            yield rows
        elif fine.any():
            yield QuadColumns(*(column[fine] for column in rows))


def shown_changes(dictionary: Dictionary, changes: Changes) -> Changes:
    """Changes without facts that are not RDF triples."""
    p, s, _ = changes.facts.columns
    fine = is_triple(dictionary, s, p)
    return changes if fine.all() else replace(changes, facts=changes.facts.take(fine))


def quads_of(dictionary: Dictionary, blocks: Iterator[QuadColumns]) -> Iterator[Quad]:
    """Quads of pyoxigraph, decoded as they are asked for."""
    default = DefaultGraph()
    for rows in blocks:
        size, start, step = rows.size, 0, FIRST_BLOCK
        while start < size:
            stop = min(start + step, size)
            s, p, o, g = (_decode(dictionary, column[start:stop], default) for column in rows)
            yield from map(Quad, s, p, o, g)
            start, step = stop, min(step * 4, 8192)


def quads_of_few(
    dictionary: Dictionary, subject: int, object: int, few: list[tuple[int, list[int]]]
) -> list[Quad]:
    """The quads of the default graph that `few_facts` found for a subject or an object."""
    seen, term = dictionary.seen, dictionary.term
    one: Any = term(subject or object)
    quads = []
    for name, others in few:
        p: Any = seen.get(name) or term(name)
        terms: list[Any] = [seen.get(i) or term(i) for i in others]
        quads += [Quad(one, p, o) for o in terms] if subject else [Quad(s, p, one) for s in terms]
    return quads


def _decode(dictionary: Dictionary, ids: U32, default: DefaultGraph) -> list[Any]:
    """Terms of a column; a column of one value (a predicate, a graph) is looked up once."""
    if ids.strides == (0,) or len(ids) == 1:
        first = int(ids[0])
        return [dictionary.term(first) if first else default] * len(ids)
    return dictionary.terms(ids)


def hidden_more(dictionary: Dictionary, closure: Closure, after: Tables) -> int:
    """How many facts that are not RDF triples an update adds; negative if it removes some.

    after  the tables that it leads to
    """
    came, gone = hidden_moves(dictionary, closure, after)
    return came - gone


def hidden_moves(dictionary: Dictionary, closure: Closure, after: Tables) -> tuple[int, int]:
    """How many facts that are not RDF triples an update adds, and how many it removes. Of closures
    that are not written out only the difference is known.

    after  the tables that it leads to
    """
    before = closure.work.stored.tables
    closed = before.closed.keys() | after.closed.keys()
    came = sum(_hidden_in(dictionary, after, name) for name in closed)
    gone = sum(_hidden_in(dictionary, before, name) for name in closed)
    for name, rows in closure.rows.items():
        if not isinstance(name, int) or name in closed:
            continue
        change = (rows.status != 0).view(np.int8) - (rows.previous != 0).view(np.int8)
        (changed,) = change.nonzero()
        if len(changed) == 0:
            continue
        change, keys = change[changed], rows.keys[changed]
        if dictionary.kind(name) == IRI:
            subjects = (low if name == closure.work.type_id else high)(keys)
            change = change[~_are_nodes(dictionary, subjects)]
        came += int(np.count_nonzero(change > 0))
        gone += int(np.count_nonzero(change < 0))
    return came, gone


def _are_nodes(dictionary: Dictionary, ids: U32) -> Bools:
    """Which ids are of IRIs and blank nodes."""
    kinds = dictionary.kinds(ids)
    found: Bools = (kinds == IRI) | (kinds == BLANK)
    return found


def _hidden_in(dictionary: Dictionary, tables: Tables, name: int) -> int:
    """How many facts of a relation are not RDF triples, whether they are written out or not."""
    relation = tables.relation(name)
    subjects = relation.distinct(0)
    odd = subjects[~is_triple(dictionary, subjects, np.full(len(subjects), name, np.uint32))]
    if name in tables.closed:
        return int(tables.closed[name].match_counts(0, odd).sum())
    return len(relation.probe((0,), (odd,))[0])
