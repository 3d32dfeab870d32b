"""Few facts, held by the driver, so that a round is one task of one job.

Start reading at `Held`. The cost of a round of few facts is the cost of its jobs, and each
broadcast side of a join is a job. Here everything is a local relation in one partition, which Spark
joins without moving it. Tracks, joins and expressions are the same as for many facts (`joins`);
only hints differ (`Facts.single`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]

ONE_TASK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # Otherwise Spark 4.1 makes one task for all tracks, whose joins need too much memory.
    "spark.sql.unionOutputPartitioning": "false",
}
"""Settings for jobs on few rows: no code generation, no adaptive planning."""


class Held:
    """Rows of facts (k, c0, c1, ..., r) in arrays, in the order of their addition."""

    def __init__(self, rows: I64) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def new_among(self, candidates: I64) -> I64:
        """The rows (k, c0, ...; distinct) that are not held.

        >>> held = Held(np.array([[2, 5, 1, 1, 0]]))
        >>> held.new_among(np.array([[2, 5, 1, 1], [2, 5, 1, 2]])).tolist()
        [[2, 5, 1, 2]]
        """
        known, asked = _as_one(self.rows[:, :-1]), _as_one(candidates)
        new: I64 = candidates[~np.isin(asked, known)]
        return new

    def add(self, rows: I64, number: int) -> None:
        """Add the rows of a round."""
        numbers = np.full((len(rows), 1), number, np.int64)
        self.rows = np.concatenate([self.rows, np.concatenate([rows, numbers], axis=1)])


def groups_of(rows: I64, type_id: int, triple: int) -> tuple[I64, I64]:
    """The distinct (arity, name, class) of rows, class 0 for none, and their numbers of rows.

    >>> [each.tolist() for each in groups_of(np.array([[2, 1, 9, 7, 0], [2, 1, 8, 7, 0]]), 1, 2)]
    [[[2, 1, 7]], [2]]
    """
    of_class = (rows[:, 0] == triple) & (rows[:, 1] == type_id)
    named = np.stack([rows[:, 0], rows[:, 1], np.where(of_class, rows[:, 3], 0)], axis=1)
    found, counts = np.unique(named, axis=0, return_counts=True)
    return found, counts


def _as_one(rows: I64) -> Any:
    """Each row as one value, for look-ups."""
    whole = np.ascontiguousarray(rows, np.int64)
    return whole.view([("", np.int64)] * whole.shape[1]).reshape(-1)
