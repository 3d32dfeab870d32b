"""The two searches for proofs, with kernels and without.

For each input and size, facts are deleted under B/F^c and asserted again, in turns with each
search. The inputs have recursive strata, because other strata hardly need a search. Times are CPU
time of the engine only, so the machine may have other work.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from bench.harness import Case, Harness, machine, run_once
from bench.inputs.datasets import dataset, draw
from bench.report import BenchReport, ReportTable
from bench.runs.maintained import Maintained
from bench.workload import Workload, names

STRATEGY = "bf_c"
SIZES = (1, 10, 100)
SEARCHES = ("kernels", "arrays")
WINS = 1.5
"""Minimum gain by kernels, if a search without them takes over `WORTH`."""

WORTH = 0.005
"""Minimum seconds of a search for the claim."""


@contextmanager
def searching(which: str) -> Iterator[None]:
    """Let searches use kernels, or only arrays."""
    if which == "kernels":
        yield
        return
    with patch("triplestore.maintenance.search.kernel_search.loaded_kernels", lambda: None):
        yield


def measure(data: str, turns: int) -> dict[str, Any]:
    """In a child: for each size, the best seconds of each search, and its instances."""
    kept = Maintained(dataset(data))
    kept.reason()
    kept.use(STRATEGY)
    columns = kept.columns()
    order = draw("uniform", columns, len(columns[0]), 1)
    gc.disable()
    found: dict[str, Any] = {}
    for size in SIZES:
        quads = kept.quads(column[order[:size]] for column in columns)
        taken: dict[str, tuple[float, int]] = {}
        for which in SEARCHES * turns:
            with searching(which):
                gc.collect()
                done = kept.remove(quads)
            kept.add(quads)
            best = min(done.processor, taken.get(which, (done.processor, 0))[0])
            taken[which] = (best, done.derivations)
        found[str(size)] = taken
    return {"found": found}


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("searches", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    least: tuple[float, str] | None = None
    for data in given.data:
        case = Case(f"{__name__}:measure", {"data": data, "turns": given.turns}, data)
        found = run_once(case)
        report.runs.append({"label": data, "main": "", "runs": [found]})
        harness.say(f"{data}: done")
        table = ReportTable(
            data, ["facts deleted", *(f"{w} ms" for w in SEARCHES), "times", "instances"]
        )
        for size, taken in found["found"].items():
            seconds = [taken[which][0] for which in SEARCHES]
            ratio = seconds[1] / seconds[0]
            table.add(int(size), *(1e3 * s for s in seconds), ratio, taken["kernels"][1])
            if seconds[1] > WORTH:
                found_here = (ratio, f"{data}, {size} deleted")
                least = found_here if least is None else min(least, found_here)
        report.tables.append(table)
    if least is not None:
        text = f"kernels win {WINS} times where arrays take over {1e3 * WORTH:.0f} ms"
        report.claim(text, f"at least {least[0]:.2f} times ({least[1]})", least[0] >= WINS)
    return report


def options(parser: argparse.ArgumentParser) -> None:
    inputs = ["recursive-200-1000", "recursive-800-8000", "spread-20000", "lines-20000"]
    parser.add_argument("--data", type=names, default=inputs, help=",".join(inputs))
    parser.add_argument("--turns", type=int, default=3, help="of each search (3)")


WORKLOAD = Workload(
    "searches", "The searches for proofs with kernels and without, under B/F^c.", options, run
)
