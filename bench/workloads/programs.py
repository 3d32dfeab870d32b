"""Programs of papers on Datalog, beside other engines (`bench.inputs.classical`)."""

from __future__ import annotations

import argparse
import hashlib

from bench.harness import Harness, machine
from bench.inputs.classical import CLASSICAL
from bench.inputs.programs import Setting
from bench.reasoners import REASONERS
from bench.reasoners.runs import OURS, compare, table_of, with_import
from bench.reasoners.task import Columns, Task, make_task
from bench.report import BenchReport
from bench.workload import Workload, names
from bench.workloads.closure import PEER, TASKS


def task_of(setting: Setting) -> Task:
    """The task of a program with its data, made if it does not exist yet."""
    rules = str(setting.program)
    digest = hashlib.blake2b(rules.encode(), digest_size=6)
    for column in (setting.s, setting.p, setting.o):
        digest.update(column.tobytes())
    columns = Columns(setting.s, setting.p, setting.o, setting.numbers)
    return make_task(TASKS / f"{setting.name}-{digest.hexdigest()}", setting.name, rules, columns)


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = sorted({package for name in given.reasoners for package in REASONERS[name].packages})
    report = BenchReport("programs", WORKLOAD.summary, machine(packages))
    runs = []
    for name in given.programs:
        task = task_of(CLASSICAL[name]())
        compared = compare(task, given.reasoners, harness, report, given.seconds)
        runs.append(compared)
        if len(compared.results) > 1:
            report.claim(f"{name}: all find the same facts", "", compared.agree())
        ours, peer = compared.results.get(OURS), compared.results.get(PEER)
        if ours and peer:
            faster = with_import(peer) / with_import(ours)
            text = f"{name}: at least as fast as {PEER}, with the import of the same integers"
            report.claim(text, f"{faster:.1f}", faster >= 1)
    report.tables.append(table_of("Classical programs", runs))
    return report


def options(parser: argparse.ArgumentParser) -> None:
    every, some = list(CLASSICAL), ["triplestore", PEER]
    parser.add_argument("--programs", type=names, default=every, help=f"of {', '.join(every)}")
    parser.add_argument("--reasoners", type=names, default=some, help="who is measured")
    parser.add_argument("--seconds", type=float, default=60, help="that a run may take (60)")


WORKLOAD = Workload(
    "programs",
    "Classical Datalog programs (reachability, same generation, points-to and alias analysis, "
    "triangles, diamonds, stars, completion of ontologies, histories), beside other engines.",
    options,
    run,
)
