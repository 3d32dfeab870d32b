"""Facts that are no triples of RDF hold, take part in rules, and are not shown.

Start reading at `is_triple`. Rules work on generalised triples: a rule may conclude one with a
literal as its subject or a blank node as its predicate. No format of RDF can write these down, so
look-ups, counts and dumps leave them out. Whether there are any is known without looking at a row:
the store keeps their number, and most programs cannot make one (`Rules.may_hide`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.store.matching import Rows
from triplestore.tables.rows import U32, Bools, high, low
from triplestore.terms.model import BLANK, IRI

if TYPE_CHECKING:
    from triplestore.engine.write import Closure
    from triplestore.tables import Tables
    from triplestore.terms import Dictionary


def is_triple(dictionary: Dictionary, subjects: U32, predicates: U32) -> Bools:
    """Which rows are triples of RDF, by their subjects and predicates."""
    kinds = dictionary.kinds(subjects)
    fine: Bools = ((kinds == IRI) | (kinds == BLANK)) & (dictionary.kinds(predicates) == IRI)
    return fine


def shown(dictionary: Dictionary, blocks: Iterator[Rows]) -> Iterator[Rows]:
    """Blocks of rows without those that are no triples of RDF."""
    for rows in blocks:
        fine = is_triple(dictionary, rows.subject, rows.predicate)
        if fine.all():
            yield rows
        elif fine.any():
            yield Rows(*(column[fine] for column in rows))


def hidden_more(dictionary: Dictionary, closure: Closure, after: Tables) -> int:
    """How many more facts than before an update makes that are no triples of RDF.

    after  the tables that it leads to
    """
    before = closure.work.stored.tables
    closed = before.closed.keys() | after.closed.keys()
    more = sum(_hidden_in(dictionary, after, name) for name in closed)
    more -= sum(_hidden_in(dictionary, before, name) for name in closed)
    names = [name for name in closure.rows if isinstance(name, int) and name not in closed]
    if not names:
        return more
    sayable = dictionary.kinds(np.array(names, dtype=np.uint32)) == IRI
    for name, fine in zip(names, sayable.tolist(), strict=True):
        rows = closure.rows[name]
        change = (rows.status != 0).view(np.int8) - (rows.previous != 0).view(np.int8)
        if fine:
            changed = change != 0
            of_subject = low if name == closure.work.type_id else high
            kinds = dictionary.kinds(of_subject(rows.keys[changed]))
            change = change[changed][(kinds != IRI) & (kinds != BLANK)]
        more += int(change.sum())
    return more


def _hidden_in(dictionary: Dictionary, tables: Tables, name: int) -> int:
    """How many facts of a relation are no triples of RDF, whether they are written or not."""
    relation = tables.relation(name)
    subjects = relation.distinct(0)
    odd = subjects[~is_triple(dictionary, subjects, np.full(len(subjects), name, np.uint32))]
    if name in tables.closed:
        return int(tables.closed[name].fanout(0, odd).sum())
    return len(relation.probe((0,), (odd,))[0])
