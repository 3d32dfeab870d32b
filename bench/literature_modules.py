"""Figures that the papers print for modules and for storage schemes, to stand beside ours.

    modular  Hu, Motik, Horrocks: Modular materialisation of Datalog programs, AAAI (2019):
             tables 1 and 2
    thesis   Hu: Efficient computation and maintenance of Datalog materialisations, doctoral
             thesis, Oxford (2019): tables 5.5 to 5.7, the same experiments on another machine
    storage  Optimised storage for Datalog reasoning, AAAI (2024): tables 1 to 3

Seconds are of their machines, of one thread of a system in C++, and of much larger data.
"""

from __future__ import annotations

from typing import NamedTuple

from bench.report import ReportTable


class Modules(NamedTuple):
    """Seconds with rules alone and with modules; small updates are 1,000 facts, large ones 25 %."""

    data: str
    mat: float
    mat_mod: float
    small_delete: float
    small_delete_mod: float
    small_insert: float
    small_insert_mod: float
    large_delete: float
    large_delete_mod: float

    def ratios(self) -> tuple[float, float, float, float]:
        """How many times faster modules are: closing, small deletions, insertions, large ones."""
        return (
            self.mat / self.mat_mod,
            self.small_delete / self.small_delete_mod,
            self.small_insert / self.small_insert_mod,
            self.large_delete / self.large_delete_mod,
        )


MODULAR = (
    Modules("Claros-LE", 3593.32, 733.55, 1035.28, 0.93, 0.80, 0.17, 3616.93, 314.33),
    Modules("LUBM-LE", 1100.22, 291.90, 3.87, 0.32, 0.01, 0.01, 1369.77, 182.93),
    Modules("DBpedia-SKOS", 3623.37, 103.23, 691.32, 21.77, 2.78, 0.20, 3826.87, 111.28),
    Modules("DAG-R", 3238.86, 29.60, 3005.11, 64.92, 116.78, 14.56, 4316.71, 62.48),
)
THESIS = (
    Modules("Claros-LE", 4034.92, 896.67, 1216.86, 1.22, 1.11, 0.25, 4288.69, 358.47),
    Modules("LUBM-LE", 1352.37, 404.99, 4.80, 0.64, 0.02, 0.02, 1612.28, 213.49),
    Modules("DBpedia-SKOS", 4315.10, 121.60, 856.92, 29.80, 3.36, 0.29, 4669.25, 205.76),
    Modules("DAG-R", 3727.62, 34.56, 3493.52, 101.10, 128.50, 19.70, 4807.37, 160.37),
)


class Schemes(NamedTuple):
    """Storage, table 2: seconds, peak and static GB of three ways to reason."""

    data: str
    explicit: float
    facts: float
    standard: tuple[float, float, float] | None
    module: tuple[float, float, float] | None
    multi: tuple[float, float, float]


STORAGE = (
    Schemes("DB25%", 23.0e6, 32.7e6, (33.42, 2.7, 2.2), (33.88, 3.2, 2.7), (31.39, 3.6, 3.1)),
    Schemes(
        "DB50%", 46.0e6, 608.7e6, (12879.9, 30.8, 25.4), (984.86, 31.8, 26.4), (479.35, 8.7, 7.7)
    ),
    Schemes("DB75%", 69.0e6, 8.6e9, None, None, (5973.34, 16.3, 14.9)),
    Schemes("DBAll", 92.0e6, 34.9e9, None, None, (23092.37, 17.3, 15.1)),
    Schemes("DAG-R", 100e3, 22.9e6, (3973.21, 1.1, 0.9), (36.04, 1.2, 1.0), (26.45, 0.9, 0.9)),
    Schemes(
        "Relations", 845.8e3, 212.2e6, (14277, 11, 9.3), (2046.36, 11.1, 9.4), (6905.72, 4.9, 4.1)
    ),
)


class Broader(NamedTuple):
    """Storage, table 1: (seconds, peak MB, static MB) of a step on DBpedia's `broader`."""

    step: str
    pairs: int
    standard: tuple[float, float, float] | None
    module: tuple[float, float, float]
    scheme: tuple[float, float, float]


BROADER = (
    Broader(
        "small, 159,561 edges",
        29_086_642,
        (2845.08, 1480.58, 1251.77),
        (28.24, 1554.44, 1320.64),
        (8.44, 249.64, 248.01),
    ),
    Broader(
        "small, 1,000 edges more",
        29_807_285,
        (96.02, 1483.22, 1275.57),
        (15.5, 1564.41, 1358.62),
        (0.84, 249.74, 248.01),
    ),
    Broader(
        "small, the third 1,000",
        53_928_267,
        (6352.03, 2750.76, 2340.1),
        (39.42, 2845.42, 2414.81),
        (6.06, 284.93, 278.26),
    ),
    Broader(
        "large, 1,426,588 edges",
        1_949_306_188,
        None,
        (3295.25, 97940.15, 82348.18),
        (443.8, 2447.91, 2304),
    ),
    Broader(
        "large, 1,000 edges more",
        1_950_379_470,
        None,
        (138.4, 97940.15, 82101.52),
        (2.22, 2447.91, 2304.84),
    ),
    Broader(
        "large, the third 1,000",
        1_953_752_969,
        None,
        (1519.99, 98406.95, 82548.45),
        (14.84, 2447.91, 2304.87),
    ),
)

QUERIES = (
    ("all pairs (Q0)", 8.38, 22.43, 25.5, 338.9),
    ("all pairs, joined (Q1)", 27.7, 20.64, 77.0, 393.0),
    ("the largest look-up (Q8)", 0.13, 0.35, 0.15, 2.93),
)
"""Storage, table 3 (DB50%): seconds of a transitive relation as rows and as a scheme, of a union as
rows and as a scheme. Look-ups of some hundreds of rows take 0.03 s in all four."""


def modules_table(ours: dict[str, tuple[float | None, ...]]) -> ReportTable:
    """Ratios of ours (closing, small deletions, small insertions, large deletions) and theirs."""
    table = ReportTable(
        "How many times faster with modules than with rules, beside modular and thesis",
        ["data", "closing", "small deletions", "small insertions", "deleting 25 %"],
        note="modular: Hu, Motik, Horrocks, AAAI (2019), tables 1, 2; thesis: Hu, Oxford (2019), "
        "tables 5.5 to 5.7. Where ours has a dash, rules alone were late.",
    )
    for name, ratios in ours.items():
        table.add(name, *ratios)
    for source, rows in (("modular", MODULAR), ("thesis", THESIS)):
        for row in rows:
            table.add(f"{source}: {row.data}", *row.ratios())
    return table


def schemes_table(ours: dict[str, dict[str, tuple[float, float, float]]]) -> ReportTable:
    """Ours (seconds, peak and static bytes by way) beside storage, table 2."""
    table = ReportTable(
        "Standard, module and scheme, beside storage, table 2",
        [
            *("data", "rules: s", "peak MB", "static MB", "module: s", "peak MB ", "static MB "),
            *("scheme: s", "peak MB  ", "static MB  ", "rules / scheme", "module / scheme"),
        ],
        note="Peak: memory of closing beside the statements and everything imported. Static: "
        "rows with counters, and schemes. storage: Optimised storage for Datalog reasoning, AAAI "
        "(2024); its figures in GB are given in MB.",
    )
    for name, ways in ours.items():
        figures = [ways.get(way) for way in ("rules", "module", "compressed")]
        _ways(table, name, [f and (f[0], f[1] / 1e6, f[2] / 1e6) for f in figures])
    for row in STORAGE:
        given = [f and (f[0], f[1] * 1e3, f[2] * 1e3) for f in (row.standard, row.module)]
        multi = (row.multi[0], row.multi[1] * 1e3, row.multi[2] * 1e3)
        _ways(table, f"storage: {row.data}", [*given, multi])
    return table


def _ways(table: ReportTable, name: str, figures: list[tuple[float, float, float] | None]) -> None:
    cells = [value for f in figures for value in (f or (None, None, None))]
    scheme = figures[-1]
    ratios = [f[0] / scheme[0] if f and scheme and scheme[0] else None for f in figures[:-1]]
    table.add(name, *cells, *ratios)


def broader_table(ours: list[tuple[str, int, float, float, float]]) -> ReportTable:
    """Ours (step, pairs, seconds, peak and static MB) beside storage, table 1."""
    table = ReportTable(
        "A network of broader categories, beside storage, table 1",
        [
            "step",
            "pairs",
            "s",
            "peak MB",
            "static MB",
            "their module: s",
            "static MB ",
            "their rules: s",
        ],
        note="storage: Optimised storage for Datalog reasoning, AAAI (2024): the scheme's seconds "
        "and memory; then its module, and rules alone. The last step merged components.",
    )
    for step in ours:
        table.add(*step, None, None, None)
    for row in BROADER:
        standard = row.standard[0] if row.standard else "over 38 h"
        table.add(
            f"storage: {row.step}", row.pairs, *row.scheme, row.module[0], row.module[2], standard
        )
    return table
