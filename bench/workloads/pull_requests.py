"""What a pull request infers, beside closing both of its sides.

For each repository (`bench.inputs.pull_requests`) one process makes the closure of `main` for the
cache, then, for each range, compares its sides with `triplestore.comparison.diff`, causes and
report included, and in turn closes both sides from their files and compares the sets of all facts.
Numbers are processor time, those of git included.
"""

from __future__ import annotations

import argparse
import gc
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, machine, run_once
from bench.inputs.pull_requests import History, repository
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, names

WINS = 30
"""Minimum gain where under 1 % of the asserted triples change."""

LARGE = 100_000
"""Minimum number of triples for the claim: with fewer, both take some hundredths of a second."""


def measure(name: str) -> dict[str, Any]:
    """In a child: for each range the seconds of both ways, and what was found."""
    with tempfile.TemporaryDirectory() as folder:
        history = repository(name, Path(folder) / "work")
        found = [_measured(history, range_, Path(folder) / "cache") for range_ in history.ranges]
    return {"found": found}


def _measured(history: History, range_: str, cache: Path) -> dict[str, Any]:
    """One range, both ways."""
    from triplestore.comparison import diff

    options: dict[str, Any] = {"reason": history.regimes, "rules": history.rules}
    options |= {"folder": history.folder, "cache": cache}
    old = range_.partition("..")[0]
    diff(old, old, **options)  # the closure of the old side, and all that is loaded late
    taken, changes = _timed(lambda: diff(range_, **options))
    report, _ = _timed(lambda: changes.report("markdown"))
    twice, (count, came, went) = _timed(lambda: _closed_twice(history, range_))
    metrics = changes.metrics
    added = metrics["added"] + metrics["inferred"]
    removed = metrics["removed"] + metrics["inferred-removed"]
    return {
        "range": range_,
        "seconds": taken + report,
        "twice": twice,
        "triples": count,
        "metrics": metrics,
        "agree": came <= added and went <= removed,
        "unexplained": changes.unexplained,
        "inexact": changes.inexact,
    }


def _closed_twice(history: History, range_: str) -> tuple[int, int, int]:
    """Asserted triples of the old side; how many facts only one of both closures has."""
    from triplestore import Store
    from triplestore.comparison.sides.files_of_side import files_in_git

    facts, asserted = [], 0
    for revision in range_.split(".."):
        side = files_in_git(revision, history.folder)
        store = Store()
        with store.transaction() as transaction:
            for file in side.files:
                transaction.load(file.read(), "nt")
            rules = [side.read(one) or b"" for one in history.rules]
            transaction.reason(*history.regimes, rules=b"\n".join(rules).decode() or None)
        asserted = asserted or store.count("explicit")
        facts.append({line for line in _lines(store) if "_:" not in line})
    old, new = facts
    return asserted, len(new - old), len(old - new)


def _lines(store: Any) -> list[str]:
    dumped: bytes = store.dump(format="nq", facts="all")
    return dumped.decode().splitlines()


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    start = _seconds()
    found = work()
    return _seconds() - start, found


def _seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("pull-requests", WORKLOAD.summary, machine(("triplestore", "numpy")))
    worst: tuple[float, str] | None = None
    agree = True
    for name in given.data:
        found = run_once(Case(f"{__name__}:measure", {"name": name}, name))["found"]
        report.runs.append({"label": name, "main": "", "runs": found})
        harness.say(f"{name}: done")
        heads = ["range", "triples", "changed", "inferred +", "inferred -", "violations +"]
        table = ReportTable(name, [*heads, "diff s", "closing twice s", "times", "no cause"])
        for row in found:
            numbers, gain = row["metrics"], row["twice"] / row["seconds"]
            changed = numbers["added"] + numbers["removed"]
            table.add(
                row["range"],
                row["triples"],
                changed,
                numbers["inferred"],
                numbers["inferred-removed"],
                numbers["violations"],
                row["seconds"],
                row["twice"],
                gain,
                row["unexplained"],
            )
            agree &= row["agree"]
            if row["triples"] >= LARGE and changed < row["triples"] / 100:
                here = (gain, f"{name}, {row['range']}")
                worst = here if worst is None else min(worst, here)
        report.tables.append(table)
    report.claim("both ways find the same facts", "compared without blank nodes", agree)
    if worst is not None:
        text = f"{WINS} times faster where under 1 % of at least {LARGE:,} triples change"
        report.claim(text, f"at least {worst[0]:.1f} times ({worst[1]})", worst[0] >= WINS)
    return report


def options(parser: argparse.ArgumentParser) -> None:
    inputs = ["city", "lubm10", "obo-ro", "uat"]
    parser.add_argument("--data", type=names, default=inputs, help=",".join(inputs))


WORKLOAD = Workload(
    "pull-requests", "What a pull request infers, beside closing both sides.", options, run
)
