"""Set expressions: written once with Python's operators, evaluated on masks or on sorted arrays.

Start reading at `SetExpression`. `I - (D - A)` is an expression over the names of three sets, and
says nothing about how these sets are kept. `table` compiles it to a truth table over masks that say
which sets a row is in; `of_sorted` evaluates it on sorted arrays of keys, and `of_flags` on columns
of Booleans.

    >>> I, D, A = symbols("I D A")
    >>> survivors = I - (D - A)
    >>> survivors, sorted(survivors.names)
    (I - (D - A), ['A', 'D', 'I'])
    >>> survivors.of_sorted({"I": keys(1, 2, 3), "D": keys(2, 3), "A": keys(3)}).tolist()
    [1, 3]
    >>> table = survivors.table({"I": 0, "D": 1, "A": 2})  # bit 0: in I, bit 1: in D, bit 2: in A
    >>> bool(table[0b001]), bool(table[0b011]), bool(table[0b111])
    (True, False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from triplestore.tables.rows import U8, U64, Bools, Keys, distinct, in_sorted

MASK_BITS = 8
"""A mask is one byte: so many sets can be told apart."""


class SetExpression:
    """An expression over named sets of rows: `|` union, `&` intersection, `-` difference."""

    __slots__ = ()

    def __or__(self, other: SetExpression) -> SetExpression:
        return Combination("|", self, other)

    def __and__(self, other: SetExpression) -> SetExpression:
        return Combination("&", self, other)

    def __sub__(self, other: SetExpression) -> SetExpression:
        return Combination("-", self, other)

    @property
    def names(self) -> frozenset[str]:
        """The names of the sets in it."""
        raise NotImplementedError

    def evaluate(self, value_of: Callable[[str], Any], combine: Mapping[str, Any]) -> Any:
        """Its value, given those of the sets and what the three operators do with values."""
        raise NotImplementedError

    def of_flags(self, flags_of: Callable[[str], Bools]) -> Bools:
        """For each row whether it is in the result, given for each row whether it is in a set."""
        flags: Bools = self.evaluate(flags_of, _ON_FLAGS)
        return flags

    def of_sorted(self, sets: Mapping[str, Keys]) -> Keys:
        """The result as a sorted array, given the sets as sorted arrays without repetitions."""
        found: Keys = self.evaluate(sets.__getitem__, _ON_SORTED)
        return found

    def table(self, bits: Mapping[str, int]) -> U8:
        """For each mask 1 if the rows with this mask are in the result, given each set's bit."""
        masks = np.arange(1 << MASK_BITS)
        return self.of_flags(lambda name: (masks >> bits[name]) & 1 == 1).astype(np.uint8)


@dataclass(frozen=True, slots=True, repr=False)
class Symbol(SetExpression):
    """The set of this name."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        """The name alone."""
        return frozenset((self.name,))

    def evaluate(self, value_of: Callable[[str], Any], combine: Mapping[str, Any]) -> Any:
        """The value of the set."""
        return value_of(self.name)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Combination(SetExpression):
    """Two expressions under one of the operators `| & -`."""

    operator: str
    left: SetExpression
    right: SetExpression

    @property
    def names(self) -> frozenset[str]:
        """The names in both parts."""
        return self.left.names | self.right.names

    def evaluate(self, value_of: Callable[[str], Any], combine: Mapping[str, Any]) -> Any:
        """The operator applied to the values of both parts."""
        left = self.left.evaluate(value_of, combine)
        right = self.right.evaluate(value_of, combine)
        return combine[self.operator](left, right)

    def __repr__(self) -> str:
        left, right = (
            f"({part!r})" if isinstance(part, Combination) else repr(part)
            for part in (self.left, self.right)
        )
        return f"{left} {self.operator} {right}"


def symbols(names: str) -> tuple[Symbol, ...]:
    """Symbols for names that are given in one text, separated by blanks."""
    return tuple(Symbol(name) for name in names.split())


def keys(*values: int) -> U64:
    """A column of keys from Python ints."""
    return np.array(values, dtype=np.uint64)


def union_sorted(left: Keys, right: Keys) -> Keys:
    """The union of two sorted arrays without repetitions."""
    if len(left) == 0 or len(right) == 0:
        return right if len(left) == 0 else left
    return distinct(np.sort(np.concatenate((left, right)), kind="stable"))


def intersect_sorted(left: Keys, right: Keys) -> Keys:
    """What two sorted arrays without repetitions have in common."""
    if len(left) > len(right):
        left, right = right, left
    return left[in_sorted(left, right)]


def difference_sorted(left: Keys, right: Keys) -> Keys:
    """What is in the one and not in the other of two sorted arrays without repetitions."""
    if len(left) == 0 or len(right) == 0:
        return left
    if len(left) <= 4 * len(right):
        return left[~in_sorted(left, right)]
    places = left.searchsorted(right)
    places = places[places < len(left)]
    kept = np.ones(len(left), dtype=np.bool_)
    kept[places[in_sorted(left[places], right)]] = False
    return left[kept]


_ON_FLAGS: Mapping[str, Any] = {
    "|": np.logical_or,
    "&": np.logical_and,
    "-": lambda left, right: left & ~right,
}
_ON_SORTED: Mapping[str, Any] = {
    "|": union_sorted,
    "&": intersect_sorted,
    "-": difference_sorted,
}
