"""Changes: the changed rows of one commit, as columns.

Start reading at `Changes`. There are four kinds of rows: facts (p, s, o) of the default graph;
quads (p, s, o, g) of named graphs; existing graphs (g); and tuples of user-defined relations, by
(name, arity). Each row has its new status and `previous`, the status it had before, so that totals
stay exact without reading other rows.

Always true: a row occurs at most once in one `Changes`; columns have one length and are frozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import (
    NO_IDS,
    NO_STATUS,
    U8,
    U32,
    Columns,
    ids,
    key_of,
    last_of_equals,
)
from triplestore.relations.status import EXPLICIT, INFERRED, STATUS_BITS

TupleName = tuple[int, int]
"""A relation of a user's rule: the id of its name, and its arity."""

GRAPHS: TupleName = (0, 1)
"""The key of the relation of one column in which layers keep the existing named graphs."""


@data_class
class ChangedRows:
    """Some rows of one kind: columns of ids, new status, status before, and counts or None."""

    columns: Columns
    status: U8
    previous: U8
    count: U32 | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[Any],
        status: int | Any = EXPLICIT,
        previous: int | Any = 0,
        count: Any = None,
    ) -> ChangedRows:
        """Rows from columns; a status given as one number applies to all rows."""
        frozen = tuple(_freeze(ids(column)) for column in columns)
        size = len(frozen[0])
        if any(len(column) != size for column in frozen):
            raise AssertionError("columns of different lengths")
        return cls(
            frozen,
            _statuses(status, size),
            _statuses(previous, size),
            None if count is None else _freeze(ids(count)),
        )

    def __len__(self) -> int:
        return len(self.status)

    def net(self, status: int) -> int:
        """How many more rows than before have this status."""
        now, before = self.status == status, self.previous == status
        return int(np.count_nonzero(now)) - int(np.count_nonzero(before))

    def take(self, rows: NDArray[Any]) -> ChangedRows:
        """The rows at these positions, or of this mask."""
        return ChangedRows(
            tuple(_freeze(column[rows]) for column in self.columns),
            _freeze(self.status[rows]),
            _freeze(self.previous[rows]),
            None if self.count is None else _freeze(self.count[rows]),
        )

    def validate(self) -> None:
        """Check what is always true (costs a sort)."""
        keys = np.sort(key_of(self.columns))
        if not last_of_equals(keys).all():
            raise AssertionError("a row occurs twice in one commit's changes")

    @staticmethod
    def concat(parts: Sequence[ChangedRows]) -> ChangedRows:
        """The parts, oldest first, as one: the newest status and the oldest `previous` of a row."""
        filled = [part for part in parts if len(part)]
        if len(filled) < 2:
            return filled[0] if filled else parts[0]
        by_place = zip(*(part.columns for part in filled), strict=True)
        columns = tuple(np.concatenate(column) for column in by_place)
        keys = key_of(columns)
        order = np.argsort(keys, kind="stable")
        last = last_of_equals(keys[order])
        first = np.concatenate(([True], last[:-1]))
        newest, oldest = order[last], order[first]
        count = None
        if any(part.count is not None for part in filled):
            count = np.concatenate([_counts(part) for part in filled])[newest]
        return ChangedRows.of(
            [column[newest] for column in columns],
            np.concatenate([part.status for part in filled])[newest],
            np.concatenate([part.previous for part in filled])[oldest],
            count,
        )


def _no_rows(arity: int) -> ChangedRows:
    return ChangedRows((NO_IDS,) * arity, NO_STATUS, NO_STATUS)


NO_FACTS, NO_QUADS, NO_GRAPHS = _no_rows(3), _no_rows(4), _no_rows(1)


@data_class
class Changes:
    """All changes of one commit: facts (p, s, o), quads (p, s, o, g), graphs (g), and tuples.

    >>> one = Changes(facts=ChangedRows.of(([7], [1], [2])))
    >>> two = Changes(facts=ChangedRows.of(([7], [1], [2]), status=0, previous=1))
    >>> both = Changes.concat([one, two])
    >>> len(both), both.facts.net(EXPLICIT)
    (1, 0)
    """

    facts: ChangedRows = NO_FACTS
    quads: ChangedRows = NO_QUADS
    graphs: ChangedRows = NO_GRAPHS
    tuples: Mapping[TupleName, ChangedRows] = field(default_factory=dict)

    def __len__(self) -> int:
        tuples = sum(len(rows) for rows in self.tuples.values())
        return len(self.facts) + len(self.quads) + len(self.graphs) + tuples

    def net(self) -> tuple[int, int]:
        """How many more explicit, and inferred, facts and quads hold than before."""
        facts, quads = self.facts, self.quads
        return (
            facts.net(EXPLICIT) + quads.net(EXPLICIT),
            facts.net(INFERRED) + quads.net(INFERRED),
        )

    def validate(self) -> None:
        """Check what is always true (costs a sort)."""
        for rows in (self.facts, self.quads, self.graphs, *self.tuples.values()):
            rows.validate()

    @classmethod
    def concat(cls, parts: Sequence[Changes]) -> Changes:
        """The changes of several commits, oldest first, as one."""
        if len(parts) == 1:
            return parts[0]
        names = dict.fromkeys(name for part in parts for name in part.tuples)
        return cls(
            ChangedRows.concat([part.facts for part in parts] or [NO_FACTS]),
            ChangedRows.concat([part.quads for part in parts] or [NO_QUADS]),
            ChangedRows.concat([part.graphs for part in parts] or [NO_GRAPHS]),
            {
                name: ChangedRows.concat([p.tuples[name] for p in parts if name in p.tuples])
                for name in names
            },
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All rows as named arrays, for the journal; kinds without rows are left out."""
        arrays: dict[str, NDArray[Any]] = {}
        for label, rows in self._labelled():
            if len(rows) == 0:
                continue
            for place, column in enumerate(rows.columns):
                arrays[f"{label}.{place}"] = column
            arrays[f"{label}.status"] = rows.status | (rows.previous << np.uint8(STATUS_BITS))
            if rows.count is not None:
                arrays[f"{label}.count"] = rows.count
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Changes:
        """The changes that `to_arrays` gave."""
        read = {
            label[: -len(".status")]: _read_rows(arrays, label[: -len(".status")])
            for label in arrays
            if label.endswith(".status")
        }
        tuples = {}
        for label, rows in read.items():
            kind, *name = label.split(".")
            if kind == "tuples":
                tuples[int(name[0]), int(name[1])] = rows
        return cls(
            read.get("facts", NO_FACTS),
            read.get("quads", NO_QUADS),
            read.get("graphs", NO_GRAPHS),
            tuples,
        )

    def _labelled(self) -> Iterable[tuple[str, ChangedRows]]:
        yield "facts", self.facts
        yield "quads", self.quads
        yield "graphs", self.graphs
        for (name, arity), rows in self.tuples.items():
            yield f"tuples.{name}.{arity}", rows


def _read_rows(arrays: Mapping[str, NDArray[Any]], label: str) -> ChangedRows:
    marks = arrays[f"{label}.status"]
    columns: list[Any] = []
    while (name := f"{label}.{len(columns)}") in arrays:
        columns.append(arrays[name])
    return ChangedRows.of(
        columns,
        marks & np.uint8((1 << STATUS_BITS) - 1),
        marks >> np.uint8(STATUS_BITS),
        arrays.get(f"{label}.count"),
    )


def _counts(rows: ChangedRows) -> U32:
    return np.zeros(len(rows), dtype=np.uint32) if rows.count is None else rows.count


def _statuses(status: int | Any, size: int) -> U8:
    if isinstance(status, int):
        return _freeze(np.full(size, status, dtype=np.uint8))
    statuses = np.ascontiguousarray(status, dtype=np.uint8)
    if len(statuses) != size:
        raise AssertionError("a status column of another length than its rows")
    return _freeze(statuses)


def _freeze(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
