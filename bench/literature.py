"""Figures that the papers print for the experiments repeated here, to stand beside ours.

    AIJ      Motik, Nenov, Piro, Horrocks: Maintenance of Datalog materialisations revisited,
             Artificial Intelligence 269 (2019): tables 3, 4 and 7
    thesis   Hu: Efficient computation and maintenance of Datalog materialisations, doctoral
             thesis, Oxford (2019): tables 4.2 to 4.4

Seconds are of the papers' machines, and of systems in C++ on much larger data; only ratios can be
compared, and only roughly.
"""

from __future__ import annotations

from typing import NamedTuple

from bench.report import ReportTable


class Deletion(NamedTuple):
    """AIJ tables 3 and 4: deleting 1,000 uniformly sampled facts, mean of 30 samples.

    Seconds and rule instances ("derivations") of counting, DRed and FBF; stratified by levels (Y).
    """

    name: str
    counting: float
    dred: float
    fbf: float
    counting_instances: float
    dred_instances: float
    fbf_instances: float


DELETIONS = (
    Deletion("Claros-L", 2.84, 0.04, 0.05, 5.20e3, 6.32e3, 7.66e3),
    Deletion("UOBM-L", 16.78, 0.04, 0.04, 3.11e3, 13.08e3, 7.30e3),
    Deletion("UOBM-R", 50.54, 0.50, 0.21, 10.37e3, 326.35e3, 148.36e3),
    Deletion("UniProt-R", 21.94, 8.97, 4.09, 6.75e3, 35.78e6, 17.53e6),
    Deletion("ChEMBL-R", 37.68, 9.22, 0.95, 6.07e3, 113.24e6, 14.41e6),
    Deletion("Reactome-R", 15.71, 40.63, 0.85, 170.36e3, 77.24e6, 325.82e3),
    Deletion("Claros-LE", 26.31, 1810, 472.54, 2.22e6, 7.02e9, 1.99e9),
)


class Counters(NamedTuple):
    """Thesis table 4.2: seconds of deleting 1,000 facts, with and without counters."""

    name: str
    dred_c: float
    dred: float
    bf_c: float
    bf: float


COUNTERS_SMALL = (
    Counters("UOBM-U", 179.24, 1185.87, 1.18, 31.96),
    Counters("UOBM-R", 0.29, 0.56, 0.26, 0.24),
    Counters("Reactome-U", 0.06, 1.03, 0.05, 1.0),
    Counters("Reactome-R", 26.57, 62.46, 0.89, 0.9),
    Counters("UniProt-R", 4.31, 8.71, 4.13, 4.36),
    Counters("ChEMBL-R", 7.91, 12.22, 1.27, 1.26),
    Counters("Claros-LE, average", 1143.55, 1741.66, 560.61, 653.04),
)


class Large(NamedTuple):
    """Thesis tables 4.3 and 4.4: the largest deletion that ties with rematerialising.

    Its share of the explicit facts, and seconds; `counted` is rematerialising with both counters.
    """

    name: str
    share: float
    dred_c: float
    dred: float
    bf_c: float
    bf: float
    rematerialise: float
    counted: float


COUNTERS_LARGE = (
    Large("UOBM-U", 0.50, 1540, 3660, 1640, 3110, 1560, 1610),
    Large("UOBM-R", 0.36, 3280, 5750, 2760, 2870, 4140, 4190),
    Large("Reactome-U", 0.68, 30.7, 6320, 39.16, 6330, 30.9, 31.32),
    Large("Reactome-R", 0.31, 1070, 1780, 920, 930, 910, 920),
    Large("UniProt-R", 0.47, 1570, 3470, 1920, 2860, 1980, 2000),
    Large("ChEMBL-R", 0.69, 4740, 7220, 3250, 4180, 2560, 2590),
    Large("Claros-LE", 0.08, 5010, 17810, 3490, 16740, 3360, 3600),
)


class BreakEven(NamedTuple):
    """AIJ table 7: the share of the explicit facts up to which deleting beats rematerialising."""

    name: str
    counting: float
    dred: float
    fbf: float


BREAK_EVEN = (
    BreakEven("Claros-L", 0.66, 0.28, 0.29),
    BreakEven("UOBM-L", 0.50, 0.31, 0.38),
    BreakEven("UOBM-R", 0.76, 0.06, 0.36),
    BreakEven("UniProt-R", 0.47, 0.27, 0.34),
    BreakEven("ChEMBL-R", 0.69, 0.19, 0.58),
    BreakEven("Reactome-R", 0.27, 0.14, 0.34),
    BreakEven("Claros-LE", 0.11, 0.01, 0.01),
)

Figures = dict[str, float]
"""By strategy."""


def _figures(row: Counters | BreakEven) -> Figures:
    return dict(zip(row._fields[1:], row[1:], strict=True))


def over(figures: Figures, above: str, below: str) -> float | None:
    """A ratio of two strategies' figures, if both are there."""
    return figures[above] / figures[below] if figures.get(above) and figures.get(below) else None


def deletion_table(ours: dict[str, tuple[Figures, Figures]]) -> ReportTable:
    """Ours beside AIJ tables 3 and 4; `ours` has seconds and instances by name of the data."""
    table = ReportTable(
        "Deleting 1,000 facts: ratios beside those of AIJ, tables 3 and 4",
        [
            "data",
            "time: counting / FBF",
            "DRed / FBF",
            "instances: counting / FBF",
            "DRed / FBF (instances)",
        ],
        note="AIJ: Motik, Nenov, Piro, Horrocks, Artificial Intelligence 269 (2019); uniform "
        "sampling, strata by levels.",
    )
    strategies = ("counting", "dred", "fbf")
    rows = {
        f"AIJ: {d.name}": (
            dict(zip(strategies, d[1:4], strict=True)),
            dict(zip(strategies, d[4:], strict=True)),
        )
        for d in DELETIONS
    }
    for name, (seconds, instances) in {**ours, **rows}.items():
        pairs = (("counting", "fbf"), ("dred", "fbf"))
        table.add(name, *(over(f, *pair) for f in (seconds, instances) for pair in pairs))
    return table


def counters_table(ours: dict[str, Figures]) -> ReportTable:
    """Ours beside thesis table 4.2."""
    table = ReportTable(
        "Deleting 1,000 facts: the gain by counters, beside thesis, table 4.2",
        ["data", "DRed / DRed^c", "B/F / B/F^c", "DRed^c / B/F^c"],
        note="Thesis: Hu, Efficient computation and maintenance of Datalog materialisations, "
        "Oxford (2019).",
    )
    rows = {f"thesis: {row.name}": _figures(row) for row in COUNTERS_SMALL}
    for name, f in {**ours, **rows}.items():
        table.add(name, over(f, "dred", "dred_c"), over(f, "bf", "bf_c"), over(f, "dred_c", "bf_c"))
    return table


def large_table(ours: dict[str, tuple[float, Figures]]) -> ReportTable:
    """Ours beside thesis tables 4.3 and 4.4; `ours` has the share deleted and seconds."""
    table = ReportTable(
        "The largest deletion that ties with rematerialising, beside thesis, tables 4.3, 4.4",
        ["data", "deleted", "DRed / DRed^c", "B/F / B/F^c", "best / rematerialise"],
    )
    rows = {
        f"thesis: {row.name}": (row.share, dict(zip(row._fields[2:], row[2:], strict=True)))
        for row in COUNTERS_LARGE
    }
    for name, (share, f) in {**ours, **rows}.items():
        incremental = [f[s] for s in ("dred_c", "dred", "bf_c", "bf") if s in f]
        full = f.get("rematerialise")  # it may have run out of time
        best = min(incremental) / full if incremental and full else None
        dred, bf = over(f, "dred", "dred_c"), over(f, "bf", "bf_c")
        table.add(name, f"{share:.0%}", dred, bf, best)
    return table


def break_even_table(ours: dict[str, Figures], strategies: list[str]) -> ReportTable:
    """Ours beside AIJ table 7: shares of the explicit facts."""
    table = ReportTable(
        "Break-even with rematerialising, as a share of the explicit facts, beside AIJ, table 7",
        ["data", *strategies],
    )
    rows = {f"AIJ: {row.name}": _figures(row) for row in BREAK_EVEN}
    for name, shares in {**ours, **rows}.items():
        table.add(name, *(None if s not in shares else f"{shares[s]:.1%}" for s in strategies))
    return table
