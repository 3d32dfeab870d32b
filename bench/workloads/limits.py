"""Limits: the cost of every hostile query, set of rules and document until its end.

The lists are in the tests, which run some entries; here all entries run, each in a new process.
Limits of time are CPU time, so other work of the machine does not count. An entry that exceeds its
limits needs a reason in its list (`why`), or the claim fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import REPOSITORY, Harness, machine
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, names

if TYPE_CHECKING:
    from tests.sparql.hostile_run import Found

Entry = tuple["Found", str]
"""The result of an entry, and the reason in its list why it exceeds its limits."""

COLUMNS = ["entry", "processor s", "wall s", "MB more", "holds", "how it ended"]
SIZE = 100_000
"""Number of repetitions in documents."""

MAX_CPU = 60
"""Processor seconds after which a process is ended from outside."""


def queries(given: argparse.Namespace) -> Iterator[Entry]:
    from tests.sparql.hostile_more import EVERY
    from tests.sparql.hostile_run import Limits, results

    chosen = {name: one for name, one in EVERY.items() if is_named(name, given)}
    limits = Limits(given.seconds, given.memory, most=MAX_CPU, processor=True)
    for found in results(chosen, limits):
        yield found, EVERY[found.name].why


def rules(given: argparse.Namespace) -> Iterator[Entry]:
    from tests.reasoning.limits.hostile import CASES

    # A large time limit, since joins under a time limit make fewer rows at once.
    tuning = {"processor": given.seconds, "max_seconds": 3600, "max_bytes": given.memory}
    chosen = [name for name in CASES if is_named(name, given)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda name: reasoned(name, json.dumps(tuning)), chosen)
        yield from zip(found, [CASES[name].why for name in chosen], strict=True)


def reasoned(name: str, tuning: str) -> Found:
    """The cost of a case of reasoning, in a new process."""
    from tests.sparql.hostile_run import Found

    command = [sys.executable, "-m", "tests.reasoning.limits.measure", name, tuning]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode != 0:
        return Found(name, f"DIED {' '.join(done.stderr.split())[-90:]}", MAX_CPU, MAX_CPU, 0)
    said = json.loads(done.stdout.splitlines()[-1])
    ended = f"{said['ended']}: {said['message'][:90]}"
    return Found(name, ended, said["wall"], said["cpu"], int(said["megabytes"] * 1e6))


def documents(given: argparse.Namespace) -> Iterator[Entry]:
    from tests.loaders.hostile import ATTACKS
    from tests.sparql.hostile_results import ATTACKS as OF_RESULTS
    from tests.sparql.hostile_run import forked, measured, prepare_kernels

    attacks = ATTACKS | {f"results: {name}": attack for name, attack in OF_RESULTS.items()}
    prepare_kernels()
    with tempfile.TemporaryDirectory() as folder:
        for name, (ending, document) in attacks.items():
            if is_named(name, given):
                path = Path(folder) / f"case.{ending}"
                path.write_bytes(document(SIZE))

                def measure(name: str = name, path: Path = path) -> Found:
                    return measured(name, lambda: read(path, given.seconds))

                yield forked(f"{name} ({path.stat().st_size / 1e6:.0f} MB)", measure, MAX_CPU), ""


def read(path: Path, seconds: float) -> str:
    """Read a document of statements or results, with a limit of CPU seconds."""
    from tests.loaders.hostile_worker import RESULTS, read_back
    from tests.sparql.hostile_run import Spent
    from triplestore import Store
    from triplestore.operators.context import Context, running

    spent = Spent(seconds)
    if path.suffix[1:] in RESULTS:
        with running(Context(cancel=spent)):
            return f"{read_back(path)} rows"
    with Store() as store:
        store.load(path=path, cancel=spent.is_set)
        return f"{len(store)} statements"


def is_named(name: str, given: argparse.Namespace) -> bool:
    return not given.entries or any(part in name for part in given.entries)


LISTS: dict[str, Callable[[argparse.Namespace], Iterator[Entry]]] = {
    "queries": queries,
    "rules": rules,
    "documents": documents,
}


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("limits", WORKLOAD.summary, machine(["numpy", "numba", "triplestore"]))
    for name in given.lists:
        table = ReportTable(f"{name}: {given.seconds:g} s, {given.memory / 1e6:g} MB", COLUMNS)
        if name == "documents":
            table.note = (
                "A load has a limit of time only; its memory depends on the size of the file."
            )
        broken = []
        for found, why in LISTS[name](given):
            holds = verdict(found, given, of_memory=name != "documents")
            broken += [] if holds == "yes" or why else [found.name]
            ended = found.outcome.replace("|", "\\|").replace(tempfile.gettempdir(), "")
            grown = round(found.grown / 1e6)
            entry = found.name.replace("|", "\\|")
            table.add(entry, found.cpu, found.wall, grown, f"{holds} {why}".strip(), ended)
            harness.say(f"{found} {holds}")
        report.tables.append(table)
        claim = f"all {len(table.rows)} {name} end within limits (10 % and 0.1 s; 10 % of memory)"
        report.claim(f"{claim}, or the list says why not", ", ".join(broken) or "all", not broken)
    return report


def verdict(found: Found, given: argparse.Namespace, of_memory: bool) -> str:
    """`yes`, or the exceeded limits."""
    broken = []
    if not found.is_regular:
        broken.append("not regular")
    if found.cpu > 1.1 * given.seconds + 0.1:
        broken.append("time")
    if of_memory and found.grown > 1.1 * given.memory:
        broken.append("memory")
    return " and ".join(broken) + ":" if broken else "yes"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=2.0, help="of the processor (2)")
    parser.add_argument("--memory", type=int, default=200_000_000, help="bytes (200,000,000)")
    parser.add_argument("--lists", type=names, default=list(LISTS), help="queries,rules,documents")
    parser.add_argument("--entries", type=names, default=[], help="only names with one of these")


WORKLOAD = Workload(
    "limits", "Hostile queries, rules and documents, and the cost of each.", options, run
)
