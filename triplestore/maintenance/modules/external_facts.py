"""Which facts of a group come from outside: stated, or derived by a rule that it does not own.

Start reading at `is_external`.
"""

from __future__ import annotations

import numpy as np

from triplestore.maintenance.steps.without_stratum import stored_counts, stored_keys
from triplestore.maintenance.update_state import Work
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.sorted_arrays import unite
from triplestore.relations.packed_keys import U64, Bools
from triplestore.relations.relation import BLOCK


def was_external(work: Work, name: int, keys: U64) -> Bools:
    """Which facts came from outside before the update."""
    status, counts = work.stored.pairs(name).look_up(keys)
    found: Bools = (status == EXPLICIT) | (counts > 0)
    return found


def is_external(work: Work, name: int, keys: U64) -> Bools:
    """Which facts come from outside now."""
    if len(keys) > BLOCK:  # what is looked up of them takes several times what they do
        blocks = range(0, len(keys), BLOCK)
        return np.concatenate([is_external(work, name, keys[at : at + BLOCK]) for at in blocks])
    status, counts = work.stored.pairs(name).look_up(keys)
    if work.counts.stored is None:  # everything is derived anew: old counters do not matter
        counts = np.zeros_like(counts)
    found: Bools = work.counts.current(name, keys, counts) > 0
    return found | work.stated(name, keys, status)


def all_external(work: Work, name: int) -> U64:
    """The facts that came from outside before the update."""
    found: U64 = stored_keys(work.stored, name, EXPLICIT)
    if work.counts.stored is None:
        return found
    return unite(found, stored_counts(work.stored, name)[0])
