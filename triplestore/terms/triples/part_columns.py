"""The triple terms of one segment, or of some live terms, as columns: their ids and their parts.

Start at `PartColumns`. Always true: `ids` ascend; row i says that the term ids[i] consists of
subjects[i], predicates[i] and objects[i]; the columns never change. A part is 0 if the dictionary
does not have it, which happens only to terms that a version without these columns wrote. An order
is a sort of one column, made when first needed and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.terms.spans import I64, U32, U64

SECTIONS = ("triple_ids", "triple_subjects", "triple_predicates", "triple_objects")
"""The sections of a file; the first has places in the segment, not ids."""

_HALF = np.uint64(32)


class PartColumns:
    """Triple terms and their parts.

    >>> parts = PartColumns.of([7, 9], [1, 1], [2, 2], [3, 7])
    >>> parts.rows_of(np.array([9, 8], np.uint32)).tolist(), parts.is_whole
    ([1, -1], True)
    """

    __slots__ = ("_columns", "_distinct", "_first", "_heads", "_ids", "_is_whole", "_orders")

    def __init__(self, first_id: int, columns: Sequence[Column]) -> None:
        self._first = np.uint32(first_id)
        self._columns = tuple(columns)
        self._ids: U32 | None = None
        self._orders: dict[int, U32] = {}
        self._heads: dict[int, U64 | U32] = {}
        self._distinct: dict[int, int] = {}
        self._is_whole: bool | None = None

    @classmethod
    def of(cls, ids: object, subjects: object, predicates: object, objects: object) -> PartColumns:
        """Columns from arrays; ids ascend."""
        arrays = [np.array(each, np.uint32) for each in (ids, subjects, predicates, objects)]
        return cls(0, [Column.of(array) for array in arrays])

    @classmethod
    def in_segment(cls, first_id: int, get: Callable[[str], Column]) -> PartColumns:
        """The columns of a segment, from its sections."""
        return cls(first_id, [get(name) for name in SECTIONS])

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def nbytes(self) -> int:
        """Size of the columns, without orders."""
        return sum(column.nbytes for column in self._columns)

    def column(self, place: int) -> U32:
        """The ids of the terms (0), or of their subjects (1), predicates (2) or objects (3)."""
        if place:
            return self._columns[place].all()
        if self._ids is None:
            self._ids = self._columns[0].all() + self._first
        return self._ids

    def columns(self) -> tuple[U32, U32, U32, U32]:
        """All four."""
        return self.column(0), self.column(1), self.column(2), self.column(3)

    @property
    def is_whole(self) -> bool:
        """True if the dictionary has all parts."""
        if self._is_whole is None:
            self._is_whole = all(bool(self.column(place).all()) for place in (1, 2, 3))
        return self._is_whole

    def sections(self, first_id: int) -> dict[str, U32]:
        """The arrays to write with a segment that begins with `first_id`."""
        ids, *parts = self.columns()
        places = ids - np.uint32(first_id)
        return dict(zip(SECTIONS, (places, *parts), strict=True))

    def rows_of(self, ids: U32) -> I64:
        """The rows of some terms, -1 for those that are not among these."""
        own = self.column(0)
        if len(own) == 0:
            return np.full(len(ids), -1, np.int64)
        rows = np.minimum(own.searchsorted(ids), len(own) - 1)
        rows[own[rows] != ids] = -1
        return rows

    def among(self, used: NDArray[np.bool_]) -> PartColumns:
        """Those whose ids are used; `used` has an entry for each id."""
        kept = used[self.column(0)]
        return PartColumns(0, [Column.of(column[kept]) for column in self.columns()])

    def renumbered(self, new_ids: U32) -> PartColumns:
        """The same terms with other ids; `new_ids` grows with the id, and keeps them all."""
        made: list[NDArray[np.uint32]] = [new_ids[column] for column in self.columns()]
        return PartColumns(0, [Column.of(column) for column in made])

    @staticmethod
    def joined(parts: Sequence[PartColumns]) -> PartColumns:
        """The columns of several, whose ids ascend from one to the next."""
        if len(parts) == 1:
            return parts[0]
        every = zip(*(part.columns() for part in parts), strict=True)
        return PartColumns(0, [Column.of(np.concatenate(each)) for each in every])

    # --- orders ----------------------------------------------------------------------------------

    def order(self, place: int) -> U32:
        """The rows sorted by a column: subjects then objects (1), predicates (2), objects (3)."""
        found = self._orders.get(place)
        if found is None:
            order = np.argsort(self._keys(place), kind="stable").astype(np.uint32)
            found = self._orders[place] = order
        return found

    def heads(self, place: int) -> U64 | U32:
        """What `order` sorted by, in that order; (subject, object) is packed in 64 bits."""
        found = self._heads.get(place)
        if found is None:
            found = self._heads[place] = self._keys(place)[self.order(place)]
        return found

    def distinct(self, place: int) -> int:
        """The number of distinct ids in a column."""
        found = self._distinct.get(place)
        if found is None:
            heads = self.heads(place) if place != 1 else self.heads(1) >> _HALF
            changes = int(np.count_nonzero(heads[1:] != heads[:-1]))
            found = self._distinct[place] = changes + min(1, len(heads))
        return found

    def _keys(self, place: int) -> U64 | U32:
        if place == 1:
            return self.column(1).astype(np.uint64) << _HALF | self.column(3)
        return self.column(place)


NO_PARTS = PartColumns.of([], [], [], [])
"""Of a segment without triple terms."""
