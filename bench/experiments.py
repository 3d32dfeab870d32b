"""Shared parts of the papers' experiments on maintenance: means, break-even, nested sizes.

Start at `mean_interval` and `break_even`; the protocol is that of Motik, Nenov, Piro and Horrocks,
Maintenance of Datalog materialisations revisited, section 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Timing = Callable[[int], float]
"""From a number of facts to seconds."""


class Mean(NamedTuple):
    """A mean with half the width of its 95 % interval.

    >>> print(Mean(12.3456, 0.789))
    12.3 ± 0.79
    """

    value: float
    half: float

    def __str__(self) -> str:
        from bench.report import format_number

        return f"{format_number(self.value)} ± {float(f'{self.half:.2g}'):g}"


def mean_interval(values: Sequence[float]) -> Mean:
    """The mean ± 1.96 standard errors.

    >>> mean_interval([1.0, 2.0, 3.0])
    Mean(value=2.0, half=1.1316065276116665)
    """
    mean = sum(values) / len(values)
    if len(values) < 2:
        return Mean(mean, 0.0)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1))
    return Mean(mean, 1.96 * deviation / math.sqrt(len(values)))


def break_even(
    incremental: Timing, scratch: Timing, facts: int, steps: int = 10, tolerance: float = 0.025
) -> int:
    """The number of deleted facts at which both take the same time, by bisection from a half.

    Ends after `steps` steps, or when the two differ by less than `tolerance` of their mean.

    >>> break_even(lambda n: n, lambda n: 1000 - n, 800)
    500
    """
    low, high = 0, facts
    size = facts // 2
    for _ in range(steps):
        one, other = incremental(size), scratch(size)
        if abs(one - other) < tolerance * (one + other) / 2:
            break
        low, high = (size, high) if one < other else (low, size)
        if high - low < 2:
            break
        size = (low + high) // 2
    return size


def nested_sizes(points: Iterable[int], most: int = 12) -> list[int]:
    """A quarter, half, three quarters and the whole of each point, thinned out evenly to `most`.

    >>> nested_sizes([100, 1000])
    [25, 50, 75, 100, 250, 500, 750, 1000]
    """
    sizes = sorted({max(1, point * part // 4) for point in points for part in (1, 2, 3, 4)})
    if len(sizes) <= most:
        return sizes
    return [sizes[i * (len(sizes) - 1) // (most - 1)] for i in range(most)]


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Choice(NamedTuple):
    """One update: the times of `auto` and of the best other strategy."""

    where: str
    auto: float
    best: float
    name: str

    @property
    def ratio(self) -> float:
        """The time of `auto` divided by the best time."""
        return self.auto / self.best


def choices(where: str, seconds: Mapping[str, float], auto: str = "auto") -> list[Choice]:
    """The choice at one point, if `auto` and others were measured."""
    others = {name: taken for name, taken in seconds.items() if name != auto}
    if auto not in seconds or not others:
        return []
    best = min(others, key=others.__getitem__)
    return [Choice(where, seconds[auto], others[best], best)]
