"""Numbers in the text format of Prometheus: start at `MetricText`, `Counts` and `Times`.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
"""Upper bounds of the buckets of times, in seconds."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class MetricText:
    r"""A document of metrics.

    >>> text = MetricText()
    >>> text.add("runs_total", "counter", "Runs.", [({"of": 'a"b'}, 3)])
    >>> print(text)
    # HELP runs_total Runs.
    # TYPE runs_total counter
    runs_total{of="a\"b"} 3
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(
        self,
        name: str,
        kind: str,
        about: str,
        values: Iterable[tuple[Mapping[str, str], float]],
    ) -> None:
        """Add a metric with its values."""
        self.head(name, kind, about)
        for labels, value in values:
            self.line(name, labels, value)

    def head(self, name: str, kind: str, about: str) -> None:
        """Begin a metric."""
        self._lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]

    def line(self, name: str, labels: Mapping[str, str], value: float) -> None:
        """Add a value."""
        inside = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels.items())
        number = f"{value:.17g}" if isinstance(value, float) else str(value)
        self._lines.append(f"{name}{{{inside}}} {number}" if inside else f"{name} {number}")

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"


class Counts:
    """A counter for each combination of labels."""

    def __init__(self, *labels: str) -> None:
        self._labels = labels
        self._counts: dict[tuple[str, ...], float] = {}

    def add(self, *values: str, amount: float = 1) -> None:
        """Count one more, or `amount` more."""
        self._counts[values] = self._counts.get(values, 0) + amount

    def rows(self) -> list[tuple[dict[str, str], float]]:
        """Labels and counts."""
        found = sorted(self._counts.items())
        return [(dict(zip(self._labels, key, strict=True)), count) for key, count in found]


class Times:
    """A histogram of seconds for each endpoint.

    >>> times = Times("of", bounds=(1.0, 2.0))
    >>> for seconds in (0.5, 1.0, 3.0):
    ...     times.add("a", seconds)
    >>> text = MetricText()
    >>> times.write(text, "s", "Seconds.")
    >>> print(str(text).replace("# HELP s Seconds.", ""))
    <BLANKLINE>
    # TYPE s histogram
    s_bucket{of="a",le="1"} 2
    s_bucket{of="a",le="2"} 2
    s_bucket{of="a",le="+Inf"} 3
    s_sum{of="a"} 4.5
    s_count{of="a"} 3
    <BLANKLINE>
    """

    def __init__(self, label: str, bounds: Sequence[float] = BOUNDS) -> None:
        self._label, self._bounds = label, bounds
        self._found: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def add(self, value: str, seconds: float) -> None:
        """Note one time."""
        counts = self._found.get(value)
        if counts is None:
            counts = self._found[value] = [0] * (len(self._bounds) + 1)
        counts[bisect_left(self._bounds, seconds)] += 1
        self._sums[value] = self._sums.get(value, 0.0) + seconds

    def write(self, text: MetricText, name: str, about: str) -> None:
        """Add the histograms to a document."""
        text.head(name, "histogram", about)
        limits = [*(f"{bound:g}" for bound in self._bounds), "+Inf"]
        for value, counts in sorted(self._found.items()):
            total = 0
            for limit, count in zip(limits, counts, strict=True):
                total += count
                text.line(f"{name}_bucket", {self._label: value, "le": limit}, total)
            text.line(f"{name}_sum", {self._label: value}, self._sums[value])
            text.line(f"{name}_count", {self._label: value}, total)
