"""The picture of the README: four bar charts of numbers in `bench/results`.

Start at `panels`. Every number is read from a report, so the picture is drawn again when a report
changes: `python -m bench.picture` writes `docs/numbers.svg`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY
from bench.report import format_number

OURS = "triplestore"
RESULTS = REPOSITORY / "bench" / "results"
TARGET = REPOSITORY / "docs" / "numbers.svg"


@dataclass(frozen=True)
class Panel:
    """One chart: a bar for each system, in one unit."""

    title: str
    unit: str
    bars: dict[str, float]

    def ratio(self) -> float:
        """How many times faster ours is than the fastest other."""
        return min(value for name, value in self.bars.items() if name != OURS) / self.bars[OURS]


def panels(results: Path = RESULTS) -> list[Panel]:
    """Loading, closure, one change, and queries."""
    loading = _rows(results, "loading", "Load, parse to fsync")
    loads = {
        row["peer"]: row["load s"]
        for row in loading
        if row["input"] == "LUBM-like 1, N-Triples" and row["load s"] is not None
    }
    closing = _rows(results, "ontologies", "From files to the closure")
    closures = {row["reasoner"]: row["total s"] for row in closing if row["input"] == "LUBM-like 1"}
    (change,) = (
        row
        for row in _rows(results, "ontologies", "Single changes")
        if row["input"] == "LUBM-like 10" and row["class"] == "Person"
    )
    (anew,) = (
        row for row in closing if row["input"] == "LUBM-like 10" and row["reasoner"] == "reasonable"
    )
    changes = {
        OURS: change["instance removed, ms"],
        f"{OURS},\nfrom scratch": change["reasoning anew, ms"],
        "reasonable,\nfrom scratch": anew["reason s"] * 1000,
    }
    queries = _rows(results, "queries", "LUBM-like 10, closed by OWL 2 RL")
    means = {
        OURS: _mean([row["terms ms"] for row in queries]),
        "pyoxigraph": _mean([row["terms ms "] for row in queries]),
    }
    return [
        Panel("Load 120,487 triples", "s", loads),
        Panel("... and close them (OWL 2 RL)", "s", closures),
        Panel("Remove one fact, 2 M in the closure", "ms", changes),
        Panel("LUBM queries (geometric mean)", "ms", means),
    ]


def _rows(results: Path, workload: str, title: str) -> list[dict[str, Any]]:
    report = json.loads((results / f"{workload}.json").read_text())
    (table,) = (table for table in report["tables"] if table["title"] == title)
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def draw(target: Path = TARGET) -> Path:
    """Write the picture."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "numbers"
    matplotlib.rcParams["svg.fonttype"] = "none"  # texts stay texts: tests read the numbers
    from matplotlib import pyplot

    made = panels()
    figure, axes = pyplot.subplots(1, len(made), figsize=(13, 2.6))
    for panel, place in zip(made, axes, strict=True):
        names = list(panel.bars)
        colours = ["#1f6fb4" if name == OURS else "#b8c4d0" for name in names]
        bars = place.barh(names, list(panel.bars.values()), color=colours, log=True)
        texts = [f"{format_number(value)} {panel.unit}" for value in panel.bars.values()]
        place.bar_label(bars, texts, padding=3, fontsize=8)
        place.set_title(panel.title, fontsize=9)
        place.invert_yaxis()
        place.set_xlim(right=max(panel.bars.values()) * 12)
        place.xaxis.set_visible(False)
        place.tick_params(axis="y", labelsize=8, length=0)
        place.spines[["top", "right", "bottom"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})
    pyplot.close(figure)
    return target


if __name__ == "__main__":
    print(draw())
