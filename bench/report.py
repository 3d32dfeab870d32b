"""The report of a workload: tables, claims and plots, written as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Cell = str | int | float | None


@dataclass
class ReportTable:
    """Columns with a heading each, and rows of cells."""

    title: str
    columns: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    note: str = ""

    def add(self, *cells: Cell) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(list(cells))

    def markdown(self) -> str:
        lines = [
            f"### {self.title}",
            "",
            "| " + " | ".join(self.columns) + " |",
            "|" + "|".join("---" if i == 0 else "---:" for i in range(len(self.columns))) + "|",
        ]
        lines += ["| " + " | ".join(format_cell(cell) for cell in row) + " |" for row in self.rows]
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines)


@dataclass(frozen=True)
class Claim:
    """A claim, the measured value, and whether the claim holds."""

    text: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Plot:
    """Lines through points, one line for each name."""

    name: str
    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    logarithmic: bool = False


@dataclass
class BenchReport:
    """The results of one workload."""

    workload: str
    summary: str
    machine: dict[str, Any] = field(default_factory=dict)
    tables: list[ReportTable] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    made: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    def claim(self, text: str, measured: str, holds: bool) -> None:
        self.claims.append(Claim(text, measured, holds))

    def keep(self, results: Sequence[Any]) -> None:
        """Put all runs of the results into the JSON."""
        for result in results:
            self.runs.append({"label": result.case.label, "main": result.main, "runs": result.runs})

    def markdown(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        parts = [f"# {self.workload}", "", self.summary, "", f"{self.made}. {facts}.", ""]
        if self.claims:
            parts += ["### Claims", "", "| claim | measured | holds |", "|---|---|---|"]
            parts += [
                f"| {claim.text} | {claim.measured} | {'yes' if claim.holds else '**no**'} |"
                for claim in self.claims
            ]
            parts.append("")
        for table in self.tables:
            parts += [table.markdown(), ""]
        parts += [f"![{plot.title}]({self.workload}-{plot.name}.svg)" for plot in self.plots]
        return "\n".join(parts).rstrip() + "\n"

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "made": self.made,
            "machine": self.machine,
            "claims": [vars(claim) for claim in self.claims],
            "tables": [
                {"title": t.title, "columns": list(t.columns), "rows": t.rows} for t in self.tables
            ],
            "runs": self.runs,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write `<workload>.json`, `<workload>.md` and the plots; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        as_json, as_text = (folder / f"{self.workload}.{end}" for end in ("json", "md"))
        as_json.write_text(json.dumps(self.as_dict(), indent=1) + "\n")
        drawn = [path for plot in self.plots if (path := draw(plot, folder, self.workload))]
        if len(drawn) < len(self.plots):
            self.plots = []  # no matplotlib: the text must not link missing pictures
        as_text.write_text(self.markdown())
        return [as_json, as_text, *drawn]


def draw(plot: Plot, folder: Path, workload: str) -> Path | None:
    """Draw a plot as SVG, if matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = workload  # the same picture from the same numbers
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, points in plot.lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    if plot.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    axes.legend()
    path = folder / f"{workload}-{plot.name}.svg"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    return path


def format_cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return format_number(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def format_number(number: float) -> str:
    """Three significant digits, without an exponent: 0.0123, 1.23, 123, 12,300."""
    if number == 0:
        return "0"
    if abs(number) >= 100:
        return f"{float(f'{number:.3g}'):,.0f}"
    text = f"{number:.3g}"
    return f"{number:.6f}".rstrip("0").rstrip(".") if "e" in text else text


def ratio(ours: float, peer: float) -> str:
    """The peer's value divided by ours: `5.1 x`."""
    return f"{float(f'{peer / ours:.2g}'):g} x" if ours else "-"


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Least squares line through points: (y per x, y at zero)."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if not spread:
        return 0.0, mean_y
    rise = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return rise, mean_y - rise * mean_x
