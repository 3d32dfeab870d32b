"""Columns of values, as tables and constants give them, and what marks and keys say at once.

Start at `ValueColumn`. What is always true: both columns have a row for each term asked about, zero
where the term has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.values.encode_values import U8, U64
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    EXACT,
    NOTHING,
    SPACE_OF,
    TYPED,
    doubles_of,
    entry_of,
)


class ValueColumn(NamedTuple):
    """What is known by value of some terms, one row for each; marks are 0 where nothing is."""

    marks: U8
    keys: U64

    @classmethod
    def of(cls, keys: Sequence[bytes]) -> ValueColumn:
        """The values of terms given by their term keys, such as the constants of a query."""
        rows = [entry_of(key[1:]) if key[0] == TYPED else NOTHING for key in keys]
        return cls(
            np.array([row.mark for row in rows], dtype=np.uint8),
            np.array([row.key for row in rows], dtype=np.uint64),
        )

    @property
    def classes(self) -> U8:
        """Their `Class`: keys compare inside one class."""
        return CLASS_OF[self.marks]

    @property
    def spaces(self) -> U8:
        """Their `Space`: the primitive value space."""
        return SPACE_OF[self.marks]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """True where an equal exact key of the same space means an equal value, and vice versa."""
        exact: NDArray[np.bool_] = (self.marks & np.uint8(EXACT)) != 0
        return exact

    @property
    def doubles(self) -> NDArray[np.float64]:
        """The nearest doubles of NUMERIC rows (of others: nothing sensible)."""
        return doubles_of(self.keys)
