"""What a pull request infers, beside closing both of its sides.

For each repository (`bench.inputs.pull_requests`) one process makes the closure of `main` for the
cache, then, for each range, compares its sides with `triplestore.comparison.diff`, causes and
report included, and in turn closes both sides from files on disk, without comparing them. Numbers
are processor time, that of git included.
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
    sides = [_exported(history, revision, cache.parent) for revision in range_.split("..")]
    twice, stores = _timed(lambda: [_closed(history, folder) for folder in sides])
    return {
        "range": range_,
        "seconds": taken + report,
        "twice": twice,
        "triples": stores[0].count("explicit"),
        "metrics": changes.metrics,
        "agree": _agree(stores, changes.metrics),
        "unexplained": changes.unexplained,
        "inexact": changes.inexact,
    }


def _exported(history: History, revision: str, scratch: Path) -> Path:
    """A folder with the files of a revision."""
    from triplestore.comparison.sides.files_of_side import files_in_git

    folder = Path(tempfile.mkdtemp(dir=scratch))
    side = files_in_git(revision, history.folder)
    for file in side.files:
        (folder / file.name).write_bytes(file.read())
    for name in history.rules:
        (folder / name).write_bytes(side.read(name) or b"")
    return folder


def _closed(history: History, folder: Path) -> Any:
    """A store of a folder's files, closed: the quickest way without a closure to begin with."""
    from triplestore import Store

    store = Store()
    with store.transaction() as transaction:
        transaction.load(path=folder)
        rules = [folder / name for name in history.rules]
        transaction.reason(*history.regimes, rules=rules or None)
    return store


def _agree(stores: list[Any], metrics: dict[str, int]) -> bool:
    """Whether as many triples came and went as the closures have; blank nodes are left out, and
    large stores are not compared."""
    if stores[0].count("explicit") >= LARGE:
        return True
    lines = []
    for store in stores:
        dumped: bytes = store.dump(format="nq", facts="all")
        lines.append({line for line in dumped.decode().splitlines() if "_:" not in line})
    came, went = len(lines[1] - lines[0]), len(lines[0] - lines[1])
    added = metrics["added"] + metrics["inferred"]
    return came <= added and went <= metrics["removed"] + metrics["inferred-removed"]


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
    report.claim(
        "both ways find the same facts", "where there are fewer than 100,000 triples", agree
    )
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
