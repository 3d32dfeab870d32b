"""Transient sets: which rows of one relation a transaction has put in D, A, Delta and the like.

Start reading at `RowSets`. The sets belong to one relation of a frozen snapshot and to one
transaction; dropping them undoes everything. They are kept as sorted arrays of keys while they are
small, and as one private column of masks beside the relation's rows once they are large
(`DENSE_SHARE`). What is asked of them is written as set expressions, and does not depend on how
they are kept.

Always true: `I` is the set of rows that hold in the snapshot, `E` that of the explicit ones; both
only change with the snapshot. A row of another set need not be in I.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from triplestore.kernels.mask import select_masked
from triplestore.tables.expressions import (
    MASK_BITS,
    SetExpression,
    Symbol,
    difference_sorted,
    union_sorted,
)
from triplestore.tables.plain import PlainRelation
from triplestore.tables.rows import (
    U8,
    Bools,
    Columns,
    Keys,
    columns_of,
    distinct,
    in_sorted,
    key_of,
)
from triplestore.tables.status import EXPLICIT, HOLDS
from triplestore.tables.wide import TupleRelation

DENSE_SHARE = 128
"""Sets become masks when they have together over one row for so many of the relation's."""

DENSE_FROM = 4096
"""And when they have together at least so many rows."""

KERNELS_FROM = 1 << 18
"""From so many rows on a compiled kernel filters them."""

CHUNK = 1 << 22
"""So many rows a kernel takes at a time: a few milliseconds."""

NAMES = ("D", "A", "Delta", "P", "C", "B")
"""The sets of the papers' algorithms, unless the caller names others."""


class RowSets:
    """Named sets of rows of one relation.

    Rows are given and returned as keys (`rows.key_of`): sorted uint64 for relations of two columns.

    >>> import numpy as np
    >>> from triplestore.tables import Layer, Tables
    >>> from triplestore.tables.expressions import keys, symbols
    >>> p, s, o = np.array([[9, 0, 1], [9, 0, 2], [9, 0, 3]], dtype=np.uint32).T
    >>> sets = RowSets(Tables([Layer.bulk(p, s, o)]).relation(9))
    >>> sets.add("D", keys(2, 3))
    >>> sets.add("A", keys(3, 4))
    >>> I, D, A = symbols("I D A")
    >>> sets.evaluate(I - (D - A)).tolist(), sets.evaluate((I - D) | A).tolist()
    ([1, 3], [1, 3, 4])
    """

    __slots__ = ("_bits", "_inside", "_masks", "_outside", "_outside_masks", "_sets", "relation")

    def __init__(
        self, relation: PlainRelation | TupleRelation, names: Iterable[str] = NAMES
    ) -> None:
        self.relation = relation
        self._bits = {"I": 0, "E": 1}
        for name in names:
            self._bits.setdefault(name, len(self._bits))
        if len(self._bits) > MASK_BITS:
            raise AssertionError(f"at most {MASK_BITS - 2} sets beside I and E")
        nothing = key_of([np.empty(0, dtype=np.uint32)] * relation.arity)
        self._sets: dict[str, Keys] = dict.fromkeys(list(self._bits)[2:], nothing)
        # Dense form: the relation's rows with their masks, and those of no row of the relation.
        self._inside: Keys | None = None
        self._masks: U8 = np.zeros(0, dtype=np.uint8)
        self._outside: Keys = nothing
        self._outside_masks: U8 = np.zeros(0, dtype=np.uint8)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(self.rows(name))}" for name in self._sets)
        return f"<sets of {self.relation!r}: {sizes}>"

    @property
    def dense(self) -> bool:
        """True if the sets are kept as masks beside the relation's rows."""
        return self._inside is not None

    # -- changing -------------------------------------------------------------------------------

    def add(self, name: str, keys: Keys) -> None:
        """Put rows into a set; they may be there already, and come in any order."""
        bit, keys = self._bit(name), _sorted(keys)
        if self.dense:
            self._mark(keys, bit, True)
            return
        self._sets[name] = union_sorted(self._sets[name], keys)
        size = sum(len(rows) for rows in self._sets.values())
        if size >= DENSE_FROM and size * DENSE_SHARE > len(self.relation):
            self.make_dense()

    def remove(self, name: str, keys: Keys) -> None:
        """Take rows out of a set; they need not be in it, and come in any order."""
        bit, keys = self._bit(name), _sorted(keys)
        if self.dense:
            self._mark(keys, bit, False)
        else:
            self._sets[name] = difference_sorted(self._sets[name], keys)

    def clear(self, name: str) -> None:
        """Make a set empty."""
        keep = np.uint8(0xFF ^ self._bit(name))
        if self.dense:
            self._masks &= keep
            self._outside_masks &= keep
        else:
            self._sets[name] = self._sets[name][:0]

    def make_dense(self) -> None:
        """Keep the sets as masks from now on."""
        if self.dense:
            return
        relation = self.relation
        self._inside = relation.keys(where=HOLDS)
        explicit = np.zeros(len(self._inside), dtype=np.bool_)
        if len(relation) and relation.count(EXPLICIT) == len(relation):
            explicit[:] = True
        elif relation.count(EXPLICIT):
            explicit = in_sorted(self._inside, relation.keys(where=EXPLICIT))
        self._masks = np.where(explicit, np.uint8(3), np.uint8(1))
        for name, keys in self._sets.items():
            self._mark(keys, self._bit(name), True)
            self._sets[name] = keys[:0]

    def _bit(self, name: str) -> int:
        if name not in self._sets:
            raise AssertionError(f"no set {name!r}; there are {', '.join(self._sets)}")
        return 1 << self._bits[name]

    def _mark(self, keys: Keys, bit: int, on: bool) -> None:
        assert self._inside is not None
        place = self._inside.searchsorted(keys)
        known = _is_at(self._inside, place, keys)
        _set_bit(self._masks, place[known], bit, on)
        others = keys[~known]
        if len(others) == 0:
            return
        if on:
            self._reserve_outside(others)
        place = self._outside.searchsorted(others)
        known = _is_at(self._outside, place, others)
        _set_bit(self._outside_masks, place[known], bit, on)

    def _reserve_outside(self, keys: Keys) -> None:
        """Make room for the masks of rows that are not in the relation."""
        together = union_sorted(self._outside, keys)
        if len(together) > len(self._outside):
            masks = np.zeros(len(together), dtype=np.uint8)
            masks[together.searchsorted(self._outside)] = self._outside_masks
            self._outside, self._outside_masks = together, masks

    # -- reading --------------------------------------------------------------------------------

    def rows(self, name: str) -> Keys:
        """The rows of one set, sorted."""
        if not self.dense:
            return self._sets[name]
        return self._evaluate_dense(Symbol(name).table(self._bits))

    def evaluate(self, expression: SetExpression) -> Keys:
        """The rows of a set expression, sorted.

        Costs the rows of the sets that are named, and those of the relation only if the
        result, or the way the sets are kept, makes it necessary.
        """
        if self.dense:
            return self._evaluate_dense(expression.table(self._bits))
        small = {name for name in expression.names if name in self._sets}
        if small == expression.names:
            return expression.of_sorted(self._sets)
        # Rows in none of the named sets are all in the result, or none of them.
        named = self._union(small)
        result = named[self.contains(expression, named)]
        rest = self._rest(expression)
        return union_sorted(difference_sorted(rest, named), result) if len(rest) else result

    def contains(self, expression: SetExpression, keys: Keys) -> Bools:
        """Which of these rows are in a set expression; keys come in any order."""
        if not self.dense:
            return expression.of_flags(lambda name: self._in_set(name, keys))
        flags: Bools = expression.table(self._bits)[self.masks_of(keys)] != 0
        return flags

    def masks_of(self, keys: Keys) -> U8:
        """The mask of each row: bit 0 for I, bit 1 for E, further bits for the other sets."""
        if self._inside is None:
            masks = np.zeros(len(keys), dtype=np.uint8)
            for name, bit in self._bits.items():
                masks[self._in_set(name, keys)] |= np.uint8(1 << bit)
            return masks
        masks = _masks_at(self._inside, self._masks, keys)
        if len(self._outside):
            masks |= _masks_at(self._outside, self._outside_masks, keys)
        return masks

    def blocks(self, expression: SetExpression, block_rows: int) -> Iterator[Columns]:
        """The rows of a set expression as columns, in blocks."""
        keys = self.evaluate(expression)
        for start in range(0, len(keys), block_rows):
            yield columns_of(keys[start : start + block_rows], self.relation.arity)

    def _in_set(self, name: str, keys: Keys) -> Bools:
        if name in self._sets:
            return in_sorted(keys, self._sets[name])
        where = HOLDS if name == "I" else EXPLICIT
        return self.relation.contains(columns_of(keys, self.relation.arity), where)

    def _union(self, names: Iterable[str]) -> Keys:
        filled = [self._sets[name] for name in names if len(self._sets[name])]
        return _sorted(np.concatenate(filled)) if filled else self._outside[:0]

    def _rest(self, expression: SetExpression) -> Keys:
        """The rows of the relation that are in the result when they are in no other set."""
        table = expression.table(self._bits)
        inferred, explicit = table[1], table[3]
        if explicit and inferred:
            return self.relation.keys(where=HOLDS)
        if explicit:
            return self.relation.keys(where=EXPLICIT)
        if inferred:
            return self.relation.keys(where=HOLDS & ~EXPLICIT)
        return self._outside[:0]

    def _evaluate_dense(self, table: U8) -> Keys:
        assert self._inside is not None
        inside = _select(self._inside, self._masks, table)
        if len(self._outside) == 0:
            return inside
        return union_sorted(inside, _select(self._outside, self._outside_masks, table))


def _sorted(keys: Keys) -> Keys:
    if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
        return distinct(np.sort(keys))
    return keys


def _is_at(within: Keys, place: Keys, keys: Keys) -> Bools:
    if len(within) == 0:
        return np.zeros(len(keys), dtype=np.bool_)
    found: Bools = within[np.minimum(place, len(within) - 1)] == keys
    return found


def _masks_at(within: Keys, masks: U8, keys: Keys) -> U8:
    place = within.searchsorted(keys)
    known = _is_at(within, place, keys)
    found = np.zeros(len(keys), dtype=np.uint8)
    found[known] = masks[place[known]]
    return found


def _set_bit(masks: U8, places: Sequence[int] | Keys, bit: int, on: bool) -> None:
    if on:
        masks[places] |= np.uint8(bit)
    else:
        masks[places] &= np.uint8(0xFF ^ bit)


def _select(keys: Keys, masks: U8, table: U8) -> Keys:
    """The keys whose mask the table lets pass."""
    if len(keys) < KERNELS_FROM or keys.dtype != np.uint64:
        passed: Keys = keys[table[masks] != 0]
        return passed
    found = []
    buffer = np.empty(min(CHUNK, len(keys)), dtype=np.uint64)
    for start in range(0, len(keys), CHUNK):
        stop = start + CHUNK
        size = select_masked(keys[start:stop], masks[start:stop], table, buffer)
        found.append(buffer[:size].copy())
    return np.concatenate(found)
