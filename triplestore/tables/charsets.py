"""Characteristic sets: with which predicates a term occurs, in one role.

Start reading at `CharacteristicSets.names_of`. Millions of terms share a few sets (the 207,000
subjects of LUBM-10 have 20), so a term costs two bytes or six. A look-up with a variable in the
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

from triplestore.columns import Column
from triplestore.tables.order import Order
from triplestore.tables.reading import ranges
from triplestore.tables.rows import (
    I64,
    NO_KEYS,
    U32,
    U64,
    distinct,
    frozen,
    high,
    low,
    start_of_runs,
)


class CharacteristicSets:
    """The sets, and for each term which of them is its own.

    lists, starts   set k is lists[starts[k] : starts[k + 1]], increasing
    sizes           how many terms have set k
    first, codes    dense: term id x has set codes[x - first] - 1; 0 means the term does not occur
    ids, codes      sparse: the term ids[i] has set codes[i] - 1
    """

    __slots__ = ("codes", "first", "ids", "lists", "sizes", "starts")

    def __init__(
        self, lists: U32, starts: I64, sizes: I64, first: int, ids: Column | None, codes: Column
    ) -> None:
        self.lists = frozen(lists)
        self.starts = frozen(starts)
        self.sizes = frozen(sizes)
        self.first = first
        self.ids = ids
        self.codes = codes

    @classmethod
    def build(cls, orders: Sequence[Order]) -> CharacteristicSets:
        """The sets of the first ids of the rows of these orders."""
        pairs = [_distinct_pairs(order) for order in orders if len(order)]
        if len(pairs) == 1:
            keys = np.sort(pairs[0])
        elif pairs:
            keys = distinct(np.sort(np.concatenate(pairs)))
        else:
            keys = NO_KEYS
        return cls._of_pairs(keys)

    @classmethod
    def _of_pairs(cls, keys: U64) -> CharacteristicSets:
        """The sets of sorted distinct pairs term << 32 | name."""
        terms, names = high(keys), low(keys)
        starts = start_of_runs(terms)
        codes, examples = _number_groups(names, starts)
        sizes = np.bincount(codes, minlength=len(examples)).astype(np.int64)
        lengths = np.diff(starts)[examples]
        set_starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        lists = names[ranges(starts[examples], lengths)]
        return cls(lists, set_starts, sizes, *_terms_and_codes(terms[starts[:-1]], codes + 1))

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        arrays = self.lists.nbytes + self.starts.nbytes + self.sizes.nbytes
        return arrays + self.codes.nbytes + (self.ids.nbytes if self.ids is not None else 0)

    @property
    def terms(self) -> int:
        """How many terms occur."""
        return int(self.sizes.sum())

    def __len__(self) -> int:
        return len(self.sizes)

    def predicates(self, number: int) -> U32:
        """The names in set `number`: a view."""
        return self.lists[self.starts[number] : self.starts[number + 1]]

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
        lengths = self.starts[numbers + 1] - self.starts[numbers]
        return np.repeat(known, lengths), self.lists[ranges(self.starts[numbers], lengths)]

    def sections(self, label: str) -> dict[str, NDArray[Any]]:
        """All columns by name, for a file."""
        sections: dict[str, NDArray[Any]] = {
            f"{label}.lists": self.lists,
            f"{label}.starts": self.starts,
            f"{label}.sizes": self.sizes,
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
            get(f"{label}.lists").all(),
            get(f"{label}.starts").all(),
            get(f"{label}.sizes").all(),
            int(first[0]) if len(first) else 0,
            None if len(first) else get(f"{label}.ids"),
            get(f"{label}.codes"),
        )


def _distinct_pairs(order: Order) -> U64:
    """term << 32 | name for the distinct (name, first id) of an order; not sorted."""
    firsts = order.keys.all() >> np.uint64(32)
    begins = np.ones(len(firsts), dtype=np.bool_)
    np.not_equal(firsts[1:], firsts[:-1], out=begins[1:])
    begins[order.starts[:-1]] = True
    sizes = np.add.reduceat(begins, order.starts[:-1], dtype=np.int64)
    pairs: U64 = firsts[begins] << np.uint64(32)
    pairs |= np.repeat(order.names, sizes)
    return pairs


def _number_groups(names: U32, starts: I64) -> tuple[I64, I64]:
    """For each group of names the number of its set, and for each set one group that has it."""
    if len(starts) == 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lengths = np.diff(starts)
    seed = 0x9E3779B97F4A7C15
    while True:
        mixed = _mix(names, np.uint64(seed))
        hashes = np.add.reduceat(mixed, starts[:-1])
        _, examples, codes = np.unique(hashes, return_index=True, return_inverse=True)
        chosen = examples[codes]
        # Equal sums are taken for equal sets only after a look at the sets themselves.
        if np.array_equal(lengths[chosen], lengths) and np.array_equal(
            names[ranges(starts[chosen], lengths)], names
        ):
            return codes, examples
        seed = (seed * 0xD1342543DE82EF95 + 1) & 0xFFFFFFFFFFFFFFFF


def _mix(names: U32, seed: np.uint64) -> U64:
    mixed = names.astype(np.uint64)
    mixed += seed
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _terms_and_codes(terms: U32, codes: I64) -> tuple[int, Column | None, Column]:
    """(first, None, dense codes) or (0, ids, sparse codes), whichever is smaller."""
    kind = np.uint16 if len(codes) == 0 or int(codes.max()) < 1 << 16 else np.uint32
    if len(terms) == 0:
        return 0, None, Column.of(np.zeros(0, dtype=kind))
    first, span = int(terms[0]), int(terms[-1]) - int(terms[0]) + 1
    width = np.dtype(kind).itemsize
    if span * width > len(terms) * (width + 4):
        return 0, Column.of(terms), Column.of(codes.astype(kind))
    dense = np.zeros(span, dtype=kind)
    dense[terms.astype(np.int64) - first] = codes
    return first, None, Column.of(dense)
