"""The rows of relations whose closure is kept by a scheme: only their edges are written.

Start reading at `write_with_edges`. Such a relation has rows for its external facts, with statuses
and counts as everywhere. When a closure was written out until now, its other rows are removed; when
it is written out from now on, they are added.
"""

from __future__ import annotations

import numpy as np

from triplestore.maintenance.changed_rows import Closure, WrittenRows, moved_rows, write
from triplestore.maintenance.update_state import Work
from triplestore.relations import Tables
from triplestore.relations.facts.fact_sets import FactSet, RelationKey, SetOfKeys
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.packed_keys import U64
from triplestore.relations.relation import BLOCK


def write_with_edges(work: Work, asserted: Tables, before: set[int], after: set[int]) -> Closure:
    """The rows in which the new closure differs from the asserted tables.

    before, after  relations of which only edges are written: until now, and from now on
    """
    closed = before | after
    sets = (work.gone, work.added, work.plus, work.minus, work.rewritten)
    apart: list[dict[RelationKey, SetOfKeys]] = [
        {name: found.pop(name) for name in closed if name in found} for found in sets
    ]
    counts = {name: work.counts.taken(name) for name in closed}
    closure = write(work, asserted)
    for found, taken in zip(sets, apart, strict=True):
        found.update(taken)
    for name, pieces in counts.items():
        work.counts.put_back(name, pieces)
    for name in closed:
        rows = _rows(work, asserted, name, name in before, name in after)
        if len(rows.keys):
            closure.rows[name] = rows
        _count(work, name, closure)
    return closure


def _rows(
    work: Work, asserted: Tables, name: int, was_closed: bool, is_closed: bool
) -> WrittenRows:
    """The rows of one relation that differ from those in the asserted tables."""
    keys = work.counts.changed(name)[0]
    for sets in (work.plus, work.minus, work.rewritten):
        keys = unite(keys, sets.keys_of(name))
    if was_closed != is_closed:
        keys = unite(keys, work.stored.rows(name).array(0))
        if not is_closed:
            keys = unite(keys, sorted_distinct(work.new().pairs(name).keys()))
    parts = [  # in blocks, because most facts have no row to be written
        _moved(work, asserted, name, is_closed, keys[at : at + BLOCK])
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


def _moved(work: Work, asserted: Tables, name: int, is_closed: bool, keys: U64) -> WrittenRows:
    """The rows of some sorted facts that differ from those in the asserted tables."""
    was, kept = work.stored.rows(name).look_up(keys)
    is_asserted = work.asserted(name, keys, was)
    counts = work.counts.current(name, keys, kept)
    holds = is_asserted | (counts > 0) if is_closed else work.holds(name, keys)
    after = holds, is_asserted, np.where(holds, counts, 0).astype(np.uint32)
    look_up = asserted.stored_relation(name).look_up_keys
    return moved_rows(work, name, keys, (was, kept), after, look_up)[1]


def _count(work: Work, name: int, closure: Closure) -> None:
    """Add the changes of a relation to the numbers of the closure."""
    plus, minus = work.plus.keys_of(name), work.minus.keys_of(name)
    gone, added = _size(work.gone, name), _size(work.added, name)
    lost = int(np.count_nonzero(work.gone.contains(name, minus)))
    closure.inferred_added += added - int(np.count_nonzero(work.added.contains(name, plus)))
    closure.inferred_removed += gone - lost
    closure.still_entailed += len(minus) - lost


def _size(sets: FactSet, name: int) -> int:
    return len(sets[name]) if name in sets else 0
