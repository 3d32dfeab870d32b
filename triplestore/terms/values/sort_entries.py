"""The entries of a segment's literals, and their order by class and key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triplestore.terms.values.encode_values import I64, U8, U32, U64
from triplestore.terms.values.value_keys import CLASS_OF


class Entries(NamedTuple):
    """The entries of a new segment: ascending places in it, and what is stored of each."""

    places: I64
    marks: U8
    keys: U64
    canonical: U32
    order: U32


def sort_entries(marks: U8, keys: U64) -> U32:
    """Positions of entries by class, key, position."""
    classes = CLASS_OF[marks]
    parts = [_sorted_part(np.flatnonzero(classes == kind), keys) for kind in np.unique(classes)]
    return np.concatenate([np.zeros(0, dtype=np.uint32), *parts])


def _sorted_part(at: I64, keys: U64) -> U32:
    values = keys[at]
    if len(values) > 1 and not bool((values[1:] >= values[:-1]).all()):
        by_key = np.argsort(values)  # not stable, but several times faster than the stable sorts
        values = values[by_key]
        at = at[by_key]
        repeated = tied(values)
        again = np.lexsort((at[repeated], values[repeated]))
        at[repeated] = at[repeated][again]
    return at.astype(np.uint32)


def tied(ascending: U64 | I64) -> I64:
    """Positions whose value occurs more than once in an ascending array."""
    same = ascending[1:] == ascending[:-1]
    tied = np.zeros(len(ascending), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    return np.flatnonzero(tied)
