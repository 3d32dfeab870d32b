"""Characteristic sets: the predicates with which a term occurs in one role.

Start reading at `CharacteristicSets.names_of`. Millions of terms share a few sets (the 207,000
subjects of LUBM-10 have 20), so a term costs one to six bytes. A look-up with a variable in the
predicate's place asks here which predicates are worth looking at, instead of trying every one.

Always true: the set of a term is exactly the set of names under which the layer has rows with the
term in this role, removed rows included; so over a stack of layers the union of its sets may be too
large where rows were removed, never too small. Terms are kept as a dense array of codes over a
range of ids, or as sorted ids with codes, whichever is smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.kernels.rows.characteristic_sets import number_sets, reenter_sets
from triplestore.relations.layers.sort_rows import term_name_pairs
from triplestore.relations.layers.sorted_order import Order, ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    distinct,
    frozen,
    high,
    low,
    start_of_runs,
)
from triplestore.relations.thresholds import RELATIONS

NO_COUNTS: I64 = np.zeros(0, dtype=np.int64)


class CharacteristicSets:
    """The sets, and the number of each term's set.

    names           all names that occur, increasing
    lists, starts   set k is names[lists[starts[k] : starts[k + 1]]], increasing
    sizes           the number of terms with set k
    first, codes    dense: term id x has set codes[x - first] - 1; 0 means the term does not occur
    ids, codes      sparse: the term ids[i] has set codes[i] - 1
    """

    __slots__ = ("codes", "first", "ids", "lists", "names", "sizes", "starts")

    def __init__(
        self,
        names: U32,
        lists: Column,
        starts: Column,
        sizes: Column,
        first: int,
        ids: Column | None,
        codes: Column,
    ) -> None:
        self.names = frozen(names)
        self.lists = lists
        self.starts = starts
        self.sizes = sizes
        self.first = first
        self.ids = ids
        self.codes = codes

    @classmethod
    def build(cls, orders: Sequence[tuple[Order, I64]]) -> CharacteristicSets:
        """The sets of the first ids of the rows of some orders, given with the distinct
        numbers of first ids of their names."""
        parts = [
            term_name_pairs(order.names, order.starts, order.keys.all(), firsts)
            for order, firsts in orders
            if len(order)
        ]
        if not parts:
            return cls._of_pairs(NO_KEYS)
        pairs = parts.pop() if len(parts) == 1 else np.concatenate(parts)
        parts.clear()
        pairs.sort()
        return cls._of_pairs(distinct(pairs))

    @classmethod
    def _of_pairs(cls, pairs: U64) -> CharacteristicSets:
        """The sets of sorted distinct pairs term << 32 | name."""
        if len(pairs) == 0:
            return cls._of_lists(NO_IDS, NO_COUNTS, NO_COUNTS, *_terms_and_codes(NO_IDS, NO_IDS))
        number = _number_sets if len(pairs) < RELATIONS.kernel_rows else _number_many_sets
        terms, codes, sizes, examples, lengths = number(pairs)
        lists = low(pairs[ranges(examples, lengths)])
        coded = _terms_and_codes(terms, codes + np.uint32(1))
        return cls._of_lists(lists, lengths, sizes, *coded)

    @classmethod
    def _of_lists(
        cls, lists: U32, lengths: I64, sizes: I64, first: int, ids: Column | None, codes: Column
    ) -> CharacteristicSets:
        """With all numbers in the narrowest types that hold them."""
        names = np.unique(lists)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        return cls(
            names,
            Column.of(_narrow(names.searchsorted(lists), len(names))),
            Column.of(_narrow(starts, len(lists))),
            Column.of(_narrow(sizes, int(sizes.max(initial=0)))),
            first,
            ids,
            codes,
        )

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        columns = (self.lists, self.starts, self.sizes, self.codes, self.ids)
        return self.names.nbytes + sum(column.nbytes for column in columns if column is not None)

    @property
    def terms(self) -> int:
        """How many terms occur."""
        return int(self.sizes.all().sum())

    def __len__(self) -> int:
        return len(self.sizes)

    def predicates(self, number: int) -> U32:
        """The names in set `number`."""
        return self.names[self.lists[self.starts.at(number) : self.starts.at(number + 1)]]

    def set_of(self, term: int) -> int:
        """The number of the term's set, or -1."""
        if self.ids is None:
            place = term - self.first
            return self.codes.at(place) - 1 if 0 <= place < len(self.codes) else -1
        place = self.ids.search(term)
        known = place < len(self.ids) and self.ids.at(place) == term
        return self.codes.at(place) - 1 if known else -1

    def sets_of(self, terms: U32) -> I64:
        """The numbers of the terms' sets; -1 for those that do not occur."""
        numbers = np.full(len(terms), -1, dtype=np.int64)
        if len(self.codes) == 0 or len(terms) == 0:
            return numbers
        if self.ids is None:
            place = terms.astype(np.int64) - self.first
            known = (place >= 0) & (place < len(self.codes))
        else:
            place = np.minimum(self.ids.search_many(terms), len(self.ids) - 1)
            known = self.ids.take(place) == terms
        numbers[known] = self.codes.take(place[known]).astype(np.int64) - 1
        return numbers

    def names_of(self, terms: U32) -> tuple[I64, U32]:
        """Pairs (position in `terms`, name): every name under which that term occurs."""
        numbers = self.sets_of(terms)
        known = np.flatnonzero(numbers >= 0)
        numbers = numbers[known]
        starts = self.starts.take(numbers).astype(np.int64)
        lengths = self.starts.take(numbers + 1).astype(np.int64) - starts
        return np.repeat(known, lengths), self.names[self.lists.take(ranges(starts, lengths))]

    def sections(self, label: str) -> dict[str, NDArray[Any]]:
        """All columns by name, for a file."""
        sections: dict[str, NDArray[Any]] = {
            f"{label}.names": self.names,
            f"{label}.lists": self.lists.all(),
            f"{label}.starts": self.starts.all(),
            f"{label}.sizes": self.sizes.all(),
            # The first id of dense codes; nothing for sparse ones.
            f"{label}.first": np.array([self.first] if self.ids is None else [], dtype=np.uint32),
            f"{label}.codes": self.codes.all(),
        }
        if self.ids is not None:
            sections[f"{label}.ids"] = self.ids.all()
        return sections

    @classmethod
    def from_sections(cls, get: Callable[[str], Column], label: str) -> CharacteristicSets:
        """The sets that `sections` gave."""
        first = get(f"{label}.first").all()
        return cls(
            get(f"{label}.names").all(),
            get(f"{label}.lists"),
            get(f"{label}.starts"),
            get(f"{label}.sizes"),
            int(first[0]) if len(first) else 0,
            None if len(first) else get(f"{label}.ids"),
            get(f"{label}.codes"),
        )


def _number_sets(pairs: U64) -> tuple[U32, U32, I64, I64, I64]:
    """Terms and the number of each term's set; for each set the number of terms that have it, where
    the pairs of one such term begin, and its number of names."""
    heads, names = high(pairs), low(pairs)
    starts = start_of_runs(heads)
    begins, lengths = starts[:-1], np.diff(starts)
    seed = 0x9E3779B97F4A7C15
    while True:
        hashes = np.add.reduceat(_mix(names, np.uint64(seed)), begins)
        _, examples, codes = np.unique(hashes, return_index=True, return_inverse=True)
        chosen = examples[codes]
        # Equal sums prove nothing: the sets themselves are compared.
        if np.array_equal(lengths[chosen], lengths) and np.array_equal(
            names[ranges(begins[chosen], lengths)], names
        ):
            sizes: I64 = np.bincount(codes, minlength=len(examples)).astype(np.int64)
            numbers: U32 = codes.astype(np.uint32)
            return heads[begins], numbers, sizes, begins[examples], lengths[examples]
        seed = (seed * 0xD1342543DE82EF95 + 1) & 0xFFFFFFFFFFFFFFFF


def _number_many_sets(pairs: U64) -> tuple[U32, U32, I64, I64, I64]:
    """`_number_sets` by a kernel, with less memory: a hash table of the sets."""
    heads = _count_heads(pairs)
    terms, codes = np.empty(heads, dtype=np.uint32), np.empty(heads, dtype=np.uint32)
    slots = np.zeros(1 << 12, dtype=np.int64)
    examples, lengths, sizes = (np.zeros(1 << 11, dtype=np.int64) for _ in range(3))
    state = np.zeros(4, dtype=np.int64)
    while state[0] < len(pairs):
        number_sets(
            pairs, slots, examples, lengths, sizes, terms, codes, RELATIONS.piece_rows, state
        )
        if state[3]:  # half of the slots are taken
            examples, lengths, sizes = (_doubled(a) for a in (examples, lengths, sizes))
            slots = np.zeros(2 * len(slots), dtype=np.int64)
            reenter_sets(pairs, examples, lengths, int(state[2]), slots)
    sets = int(state[2])
    return terms, codes, sizes[:sets].copy(), examples[:sets], lengths[:sets]


def _count_heads(pairs: U64) -> int:
    """The number of terms in sorted pairs, counted piece by piece to save memory."""
    heads = 0
    for start in range(0, len(pairs), RELATIONS.piece_rows):
        terms = pairs[start : start + RELATIONS.piece_rows + 1] >> np.uint64(32)
        heads += int(np.count_nonzero(terms[1:] != terms[:-1]))
    return heads + 1


def _doubled(array: I64) -> I64:
    return np.concatenate((array, np.zeros_like(array)))


def _mix(names: U32, seed: np.uint64) -> U64:
    mixed = names.astype(np.uint64)
    mixed += seed
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _terms_and_codes(terms: U32, codes: U32) -> tuple[int, Column | None, Column]:
    """(first, None, dense codes) or (0, ids, sparse codes), whichever is smaller."""
    if len(terms) == 0:
        return 0, None, Column.of(codes)
    codes = _narrow(codes, int(codes.max()))
    first, span = int(terms[0]), int(terms[-1]) - int(terms[0]) + 1
    if span * codes.itemsize > len(terms) * (codes.itemsize + 4):
        return 0, Column.of(terms), Column.of(codes)
    dense = np.zeros(span, dtype=codes.dtype)
    dense[terms.astype(np.int64) - first] = codes
    return first, None, Column.of(dense)


def _narrow(values: NDArray[Any], largest: int) -> NDArray[Any]:
    """The values in the narrowest unsigned type that holds `largest`."""
    return values.astype(np.min_scalar_type(largest))
