"""Decisions of a generic join: whether to use it, and from which link each row continues.

The links of a cycle are relations between a known variable and the same new one; the *fan* of a
link is its number of values of the new variable for a row. Start at `by_smallest_fan`. Rules
(`evaluate.generic_join`) and queries (`sparql.evaluate.cyclic`) share this; each reads its own kind
of relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.operators.thresholds import OPERATORS

Fans = NDArray[np.integer[Any]]
"""For each link, its number of values for each row of a frame."""


def sampled_every(rows: int) -> int:
    """The step between the sampled rows on which the decision is based."""
    return max(1, rows // OPERATORS.sampled_rows)


def pays(fans: Fans, times: float, looks: float = 0.0) -> bool:
    """Whether the first link has many more values than the best link of each row.

    times  the minimum factor
    looks  the cost per row of reading the fans of all links, in values

    >>> pays(np.array([[9, 9], [1, 9]]), times=1.5), pays(np.array([[9, 9], [1, 9]]), times=2.0)
    (True, False)
    """
    best = float(fans.min(axis=0).sum())
    return bool(fans[0].sum() > times * best + looks * fans.shape[1])


def by_smallest_fan(fans: Fans) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each link that has the fewest values for some rows, and these rows.

    >>> [(link, rows.tolist()) for link, rows in by_smallest_fan(np.array([[3, 1, 2], [1, 1, 4]]))]
    [(0, [1, 2]), (1, [0])]
    """
    best = fans.argmin(axis=0)
    for link in range(len(fans)):
        rows = np.flatnonzero(best == link)
        if len(rows):
            yield link, rows
