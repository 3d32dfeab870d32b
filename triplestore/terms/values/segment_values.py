"""The values of the literals of one term segment, in columns, and the canonical ids of its terms.

Start at `ValueTable`, which `canonical_ids.build_values` makes. `ValueStack` (value_stack.py)
answers the same questions over several tables and the live terms; `compare_values` compares two
columns of values.

Always true: entries are dense, in the order of ids, one for each literal that has a value (and one
for each plain string that is not its own canonical id, because `"a"^^xsd:token` came before `"a"`);
`order` lists them by class, key and id. A canonical id never changes when terms are added: ids
grow, and the least of a value is the first that came.
Costs 13 bytes per literal (mark 1, key 8, order 4), at most 4 more where ids are scattered (a run
of ids costs 8 bytes), and 4 more per literal if most have an older variant (else 8 per variant).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column, Side
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values.encode_values import I64, U8, U32, U64, ValueColumn
from triplestore.terms.values.value_keys import CLASS_OF, Class

__all__ = ["ValueColumn", "ValueTable"]

_CLASSES = 32  # room for classes to come
_SAMPLE = 256  # every 256th key of `order` is stored again, so that searches touch few blocks


class ValueTable:
    """Marks, keys and canonical ids of the literals of one segment; see the module."""

    __slots__ = (
        "_alias_at",
        "_alias_to",
        "_class_stops",
        "_counts",
        "_keys",
        "_marks",
        "_order",
        "_run_at",
        "_run_from",
        "_samples",
        "first_id",
        "size",
    )

    def __init__(self, first_id: int, size: int, get: Callable[[str], Column]) -> None:
        self.first_id = first_id
        self.size = size
        self._marks = get("marks")
        self._keys = get("keys")
        self._order = get("order")
        self._samples = get("samples")
        self._run_from = get("run_from")
        self._run_at = get("run_at")
        self._alias_at = get("alias_at")
        self._alias_to = get("alias_to")
        self._counts = get("class_counts")
        self._class_stops: list[int] | None = None

    # -------------------------------------------------------------------------- construction

    @classmethod
    def of_entries(cls, first_id: int, size: int, entries: Entries) -> ValueTable:
        """The table of a segment of `size` terms with these entries."""
        own = (entries.places + first_id).astype(np.uint32)
        alias_at = np.flatnonzero(entries.canonical != own).astype(np.uint32)
        columns = (entries.places, entries.marks, entries.keys, entries.order)
        return cls._with(first_id, size, *columns, alias_at, entries.canonical[alias_at])

    @classmethod
    def _with(
        cls,
        first_id: int,
        size: int,
        places: I64,
        marks: U8,
        keys: U64,
        order: U32,
        alias_at: U32,
        alias_to: U32,
    ) -> ValueTable:
        run_from, run_at = _runs(places)
        if 2 * len(alias_at) > len(marks):  # most are aliases: one column by position is smaller
            own = (places + first_id).astype(np.uint32)
            own[alias_at] = alias_to
            alias_at, alias_to = alias_at[:0], own
        counts = np.bincount(CLASS_OF[marks], minlength=_CLASSES).astype(np.uint32)
        arrays: dict[str, NDArray[Any]] = {
            "marks": marks,
            "keys": keys,
            "order": order,
            "samples": keys[order[::_SAMPLE]],
            "run_from": run_from,
            "run_at": run_at,
            "alias_at": alias_at,
            "alias_to": alias_to,
            "class_counts": counts,
        }
        return cls(first_id, size, lambda name: Column.of(arrays[name]))

    @classmethod
    def from_sections(cls, first_id: int, size: int, get: Callable[[str], Column]) -> ValueTable:
        """The table of a segment of `size` terms; `get` finds columns by their section names."""
        return cls(first_id, size, get)

    def sections(self) -> dict[str, NDArray[Any]]:
        """All columns, by name (read-only views; some may be empty)."""
        return {
            "marks": self._marks.all(),
            "keys": self._keys.all(),
            "order": self._order.all(),
            "samples": self._samples.all(),
            "run_from": self._run_from.all(),
            "run_at": self._run_at.all(),
            "alias_at": self._alias_at.all(),
            "alias_to": self._alias_to.all(),
            "class_counts": self._counts.all(),
        }

    @staticmethod
    def merge(tables: Sequence[ValueTable]) -> ValueTable:
        """One table for all terms of adjacent segments; canonical ids stay as they are."""
        first_id = tables[0].first_id
        marks = np.concatenate([table._marks.all() for table in tables])
        keys = np.concatenate([table._keys.all() for table in tables])
        places = np.concatenate([table._places() + (table.first_id - first_id) for table in tables])
        aliases = [table._aliases() for table in tables]
        bases = np.cumsum([0, *(len(table) for table in tables)])
        alias_at = np.concatenate(
            [at + np.uint32(base) for (at, _), base in zip(aliases, bases, strict=False)]
        )
        alias_to = np.concatenate([to for _, to in aliases])
        size = tables[-1].stop_id - first_id
        order = sort_entries(marks, keys)
        return ValueTable._with(first_id, size, places, marks, keys, order, alias_at, alias_to)

    # ------------------------------------------------------------------------------ look-ups

    def __len__(self) -> int:
        return len(self._marks)

    def __repr__(self) -> str:
        return f"<value table of {len(self)} literals from id {self.first_id} on>"

    @property
    def stop_id(self) -> int:
        """The id after the last of the segment."""
        return self.first_id + self.size

    @property
    def nbytes(self) -> int:
        """Size of all columns, in memory or in the file."""
        columns = (
            self._marks,
            self._keys,
            self._order,
            self._samples,
            self._run_from,
            self._run_at,
            self._alias_at,
            self._alias_to,
            self._counts,
        )
        return sum(column.nbytes for column in columns)

    def values(self, ids: U32) -> ValueColumn:
        """Marks and keys of these ids, which are ids of this segment, in any order."""
        at, has = self._find(ids)
        if has is None:
            return ValueColumn(self._marks.take(at), self._keys.take(at))
        marks = np.zeros(len(ids), dtype=np.uint8)
        keys = np.zeros(len(ids), dtype=np.uint64)
        marks[has] = self._marks.take(at)
        keys[has] = self._keys.take(at)
        return ValueColumn(marks, keys)

    def canonical(self, ids: U32) -> U32:
        """For each id the least id of the same value; the id itself for all other terms."""
        if len(self._alias_to) == 0:
            return ids
        at, has = self._find(ids)
        if len(self._alias_at) == 0:
            to: U32 = self._alias_to.take(at)
            found: Any = slice(None)
        else:
            aliases = self._alias_at.all()
            where = np.minimum(np.searchsorted(aliases, at.astype(np.uint32)), len(aliases) - 1)
            found = np.flatnonzero(aliases[where] == at)
            to = self._alias_to.take(where[found])
        result = ids.copy()
        result[found if has is None else has[found]] = to
        return result

    def candidates(self, kind: Class, key: int) -> U32:
        """Ids of the terms of a class that have this key, ascending."""
        lo, hi = self.class_range(kind)
        lo = stop = self._search(key, lo, hi, "left")
        while stop < hi and self._keys.at(self._order.at(stop)) == key:
            stop += 1
        return self.ids_at(self._order[lo:stop]) if lo < stop else _NONE

    def between(self, kind: Class, low: int, high: int) -> U32:
        """Ids of the terms of a class with low <= key <= high, by key, then by id."""
        lo, hi = self.class_range(kind)
        lo = self._search(low, lo, hi, "left")
        hi = self._search(high, lo, hi, "right")
        return self.ids_at(self._order[lo:hi])

    def class_range(self, kind: Class) -> tuple[int, int]:
        """Where the entries of a class stand in `order`: [lo, hi)."""
        if self._class_stops is None:
            self._class_stops = [0, *np.cumsum(self._counts.all(), dtype=np.int64).tolist()]
        return self._class_stops[kind], self._class_stops[kind + 1]

    def count(self, kind: Class) -> int:
        """How many entries a class has."""
        lo, hi = self.class_range(kind)
        return hi - lo

    def search_many(self, kind: Class, keys: U64) -> tuple[I64, I64]:
        """For ascending keys of one class: the ranges [lo, hi) of `order` that have them."""
        lo, hi = self.class_range(kind)
        if len(keys) <= TERMS.searched_keys:
            wanted = keys.tolist()
            left = [self._search(key, lo, hi, "left") for key in wanted]
            right = [self._search(key, lo, hi, "right") for key in wanted]
            return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
        if len(keys) * TERMS.gathered_share > hi - lo:
            known = self.keys_between(lo, hi)
            starts = known.searchsorted(keys, "left").astype(np.int64) + lo
            return starts, known.searchsorted(keys, "right").astype(np.int64) + lo
        starts = self._side_by_side(keys, lo, hi, "left")
        return starts, self._side_by_side(keys, lo, hi, "right")

    def _side_by_side(self, keys: U64, low: int, high: int, side: Side) -> I64:
        """Binary searches for many keys, each step for all of them at once."""
        first, last = -(-low // _SAMPLE), -(-high // _SAMPLE)
        after = self._samples.search_many(keys, first, max(first, last), side)
        lo: I64 = np.where(after == first, low, (after - 1) * _SAMPLE)
        hi = np.minimum(high, after * _SAMPLE)
        is_before = np.less if side == "left" else np.less_equal
        for _ in range(_SAMPLE.bit_length()):
            middle = (lo + hi) >> 1
            open_ = lo < hi
            here = self._keys.take(self._order.take(np.minimum(middle, high - 1)))
            before = is_before(here, keys)
            lo = np.where(open_ & before, middle + 1, lo)
            hi = np.where(open_ & ~before, middle, hi)
        return lo

    def positions(self, rows: I64) -> U32:
        """Positions of the entries at these rows of `order`."""
        found: U32 = self._order.take(rows)
        return found

    def marks_at(self, at: NDArray[Any]) -> U8:
        """Marks of the entries at these positions."""
        return self._marks.take(at)

    def keys_between(self, lo: int, hi: int) -> U64:
        """Keys of the entries at positions [lo, hi) of `order`, ascending within a class."""
        return self._keys.take(self._order[lo:hi])

    def ids_at(self, at: NDArray[Any]) -> U32:
        """Ids of the entries at these positions."""
        run_from = self._run_from.all()
        if len(self._run_at) == 0:
            local = run_from[at]
        elif len(run_from) == 1:
            local = at.astype(np.uint32) + run_from[0]
        else:
            run_at = self._run_at.all()
            run = np.searchsorted(run_at, at.astype(np.uint32), "right") - 1
            local = run_from[run] + (at.astype(np.uint32) - run_at[run])
        ids: U32 = local + np.uint32(self.first_id)
        return ids

    # ------------------------------------------------------------------------------ internal

    def _find(self, ids: U32) -> tuple[I64, I64 | None]:
        """Positions of the entries of these ids, and which of the ids have one (None: all)."""
        local = ids - np.uint32(self.first_id)
        run_from = self._run_from.all()
        if len(run_from) == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        run = np.searchsorted(run_from, local, "right") - 1
        if len(self._run_at) == 0:
            good = (run >= 0) & (run_from[run] == local)
            at = run
        else:
            stops = np.append(self._run_at.all(), np.uint32(len(self))).astype(np.int64)
            at = stops[run] + local - run_from[run]
            good = (run >= 0) & (at < stops[run + 1])
        if good.all():
            return at, None
        has = np.flatnonzero(good)
        return at[has], has

    def _search(self, key: int, lo: int, hi: int, side: Side) -> int:
        """Binary search in `order`, touching only the blocks that it needs."""
        if lo >= hi:
            return lo
        first, last = -(-lo // _SAMPLE), -(-hi // _SAMPLE)
        before = self._samples.search(key, first, last, side) if first < last else first
        lo = lo if before == first else (before - 1) * _SAMPLE
        hi = min(hi, before * _SAMPLE)
        keys, order = self._keys.at, self._order.at
        while lo < hi:
            middle = (lo + hi) >> 1
            here = keys(order(middle))
            if here < key or (side == "right" and here == key):
                lo = middle + 1
            else:
                hi = middle
        return lo

    def _places(self) -> I64:
        return self.ids_at(np.arange(len(self))).astype(np.int64) - self.first_id

    def _aliases(self) -> tuple[U32, U32]:
        if len(self._alias_to) and len(self._alias_at) == 0:
            own = self.ids_at(np.arange(len(self)))
            to = self._alias_to.all()
            at = np.flatnonzero(to != own).astype(np.uint32)
            return at, to[at]
        return self._alias_at.all(), self._alias_to.all()


_NONE: U32 = np.zeros(0, dtype=np.uint32)
_NONE.flags.writeable = False


def _runs(places: I64) -> tuple[U32, U32]:
    """Ascending places as runs (first place, position of it), or all of them and no positions."""
    first = np.flatnonzero(np.diff(places, prepend=-2) != 1)
    if 2 * len(first) > len(places):
        return places.astype(np.uint32), np.zeros(0, dtype=np.uint32)
    return places[first].astype(np.uint32), first.astype(np.uint32)


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
