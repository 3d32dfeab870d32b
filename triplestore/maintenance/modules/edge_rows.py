"""The rows of relations whose closure is kept by a scheme: only their edges are written.

Start reading at `written`. Such a relation has rows for the facts that come from outside, with
statuses and counts as everywhere; when it is a closure that was written out until now, the other
rows go, and when it is written out from now on, they come.
"""

from __future__ import annotations

import numpy as np

from triplestore.maintenance.changed_rows import Closure, WrittenRows, write
from triplestore.maintenance.update_state import Work
from triplestore.relations import EXPLICIT, INFERRED, Tables
from triplestore.relations.facts.fact_sets import FactSet, RelationKey, SetOfKeys
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.packed_keys import U64
from triplestore.relations.relation import BLOCK


def written(work: Work, stated: Tables) -> Closure:
    """The rows in which the new closure differs from the stated tables."""
    before, after = work.closed_relations()
    closed = before | after
    if not closed:
        return write(work, stated)
    sets = (work.gone, work.added, work.plus, work.minus, work.rewritten)
    apart: list[dict[RelationKey, SetOfKeys]] = [
        {name: found.pop(name) for name in closed if name in found} for found in sets
    ]
    counts = {name: work.counts.taken(name) for name in closed}
    closure = write(work, stated)
    for found, taken in zip(sets, apart, strict=True):
        found.update(taken)
    for name, pieces in counts.items():
        work.counts.put_back(name, pieces)
    for name in closed:
        rows = _rows(work, stated, name, name in before, name in after)
        if len(rows.keys):
            closure.rows[name] = rows
        _count(work, name, closure)
    return closure


def _rows(work: Work, stated: Tables, name: int, was_closed: bool, is_closed: bool) -> WrittenRows:
    """The rows of one relation that are new, or others than in the stated tables."""
    keys = work.counts.changed(name)[0]
    for sets in (work.plus, work.minus, work.rewritten):
        keys = unite(keys, sets.keys_of(name))
    if was_closed != is_closed:
        keys = unite(keys, work.stored.rows(name).array(0))
        if not is_closed:
            keys = unite(keys, sorted_distinct(work.new().pairs(name).keys()))
    parts = [  # in blocks, because mostly nothing is to be written of any
        _moved(work, stated, name, is_closed, keys[at : at + BLOCK])
        for at in range(0, max(1, len(keys)), BLOCK)
    ]
    if len(parts) == 1:
        return parts[0]
    return WrittenRows(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.previous for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def _moved(work: Work, stated: Tables, name: int, is_closed: bool, keys: U64) -> WrittenRows:
    """Those of some sorted facts whose rows are new, or others than in the stated tables."""
    was, kept = work.stored.rows(name).look_up(keys)
    is_stated = work.stated(name, keys, was)
    counts = work.counts.current(name, keys, kept)
    holds = is_stated | (counts > 0) if is_closed else work.holds(name, keys)
    status = np.where(holds, np.where(is_stated, EXPLICIT, INFERRED), 0).astype(np.uint8)
    count = np.where(holds, counts, 0).astype(np.uint32)
    previous, count_before = was, kept
    other = np.zeros(len(keys), dtype=np.bool_)
    for sets in (work.plus, work.minus, work.rewritten):
        other |= sets.contains(name, keys)
    if other.any():  # these rows are others in the stated tables than in the closed ones
        previous, count_before = was.copy(), kept.copy()
        relation = stated.stored_relation(name)
        previous[other], count_before[other] = relation.look_up_keys(keys[other])
    moved = (status != previous) | ((count != count_before) & holds)
    return WrittenRows(keys[moved], status[moved], previous[moved], count[moved])


def _count(work: Work, name: int, closure: Closure) -> None:
    """Add what came, went and stayed to the figures."""
    plus, minus = work.plus.keys_of(name), work.minus.keys_of(name)
    gone, added = _size(work.gone, name), _size(work.added, name)
    lost = int(np.count_nonzero(work.gone.contains(name, minus)))
    closure.inferred_added += added - int(np.count_nonzero(work.added.contains(name, plus)))
    closure.inferred_removed += gone - lost
    closure.still_entailed += len(minus) - lost


def _size(sets: FactSet, name: int) -> int:
    return len(sets[name]) if name in sets else 0
