"""Many rules: subclass rules of real hierarchies with instances, and deep taxonomies.

The cost should depend on the facts, not on the rules. Peers get the rules themselves, and then as
data for one general rule, as their users would write them. (A single relation of classes and
members with a rule for each subclass is too slow: Nemo needs over a minute for 5,000 rules and
100,000 instances, but 0.4 s with a relation for each class.)
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from bench.harness import Case, Harness, MeasurementError, Result, machine
from bench.inputs.datasets import dataset, draw, made
from bench.reasoners import OURS, REASONERS
from bench.reasoners.runs import compare, table_of
from bench.reasoners.task import Columns, Task, make_task
from bench.report import BenchReport, ReportTable
from bench.runs.maintained import AUTO, Maintained
from bench.workload import Workload, names, numbers, quantile
from bench.workloads.closure import TASKS

if TYPE_CHECKING:
    from bench.inputs.programs import Setting

GENERAL = """@prefix : <http://example.org/> .
[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], :below[?c, ?d] .
"""


def measure(data: str, updates: int) -> dict[str, Any]:
    """In a child: close, then remove and assert single facts."""
    OURS.start()  # the work of a first closure in a process
    kept = Maintained(dataset(data))
    closed = kept.reason(AUTO)
    before = kept.count()
    columns = kept.columns()
    rows = draw("uniform", columns, min(updates, len(columns[0])), 1)
    seconds: dict[str, list[float]] = {"remove": [], "add": []}
    for quad in kept.quads(column[rows] for column in columns):
        seconds["remove"].append(kept.remove([quad]).commit)
        seconds["add"].append(kept.add([quad]).commit)
    if kept.count() != before:
        raise AssertionError(f"{data}: not as it was before")
    return {
        "rules": len(kept.program),
        "facts": len(columns[0]),
        "closure": before,
        "closed s": closed.seconds,
        "call s": closed.commit,
        "rounds": closed.rounds,
        **{f"{name} ms": quantile(sorted(each), 0.5) * 1e3 for name, each in seconds.items()},
    }


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    used = sorted({package for name in given.reasoners for package in REASONERS[name].packages})
    report = BenchReport("rules", WORKLOAD.summary, machine(used))
    wide = [f"{given.hierarchy}-{count}-{given.instances}" for count in sorted(given.rules)]
    deep = [f"deep-{given.levels}", f"deep-{given.levels}-{given.unrelated}"]
    if OURS.name in given.reasoners:
        ours(wide, deep, given.updates, report, harness)
    if peers := [name for name in given.reasoners if not REASONERS[name].rdf]:
        tasks = [
            task
            for data in (wide[0], f"deep-{min(given.levels, 1000)}")
            for task in tasks_of(data, harness)
        ]
        runs = [compare(task, peers, harness, report, given.seconds) for task in tasks]
        report.tables.append(table_of("Beside other reasoners, at smaller sizes", runs))
        for each in runs:
            report.claim(f"{each.task.name}: all find the same facts", "", each.agree())
    return report


def ours(
    wide: list[str], deep: list[str], updates: int, report: BenchReport, harness: Harness
) -> None:
    cases = [
        Case(f"{__name__}:measure", {"data": data, "updates": updates}, data)
        for data in (*wide, *deep)
    ]
    results = harness.compare(cases, main="closed s")
    report.keep(results)
    report.tables.append(our_table(results))
    costs = [result["closed s"] / result["closure"] for result in results[: len(wide)]]
    report.claim(
        "the cost depends on the facts: with most rules, a fact of the closure costs at most 1.5 "
        "times its cost with fewest",
        f"{costs[-1] / costs[0]:.2f}",
        costs[-1] <= 1.5 * costs[0],
    )
    for result in results:
        name = result.case.label
        slowest = max(result.least("remove ms"), result.least("add ms"))
        if name in wide:
            report.claim(f"{name}: a single fact in under 2 ms", f"{slowest:.2f} ms", slowest < 2)
        else:
            seconds = result["closed s"]
            report.claim(f"{name}: closed in under 0.3 s", f"{seconds:.3f}", seconds < 0.3)


def our_table(results: list[Result]) -> ReportTable:
    table = ReportTable(
        "Closure and single facts",
        [
            "data",
            "rules",
            "facts",
            "closure",
            "reason s",
            "whole call s",
            "ns per fact of the closure",
            "rounds",
            "remove one, ms",
            "add one, ms",
        ],
        note="Whole call: with reading the program's constants, planning and the commit. Single "
        "facts: medians of whole commits in memory.",
    )
    for result in results:
        table.add(
            result.case.label,
            result["rules"],
            result["facts"],
            result["closure"],
            result["closed s"],
            result.least("call s"),
            result["closed s"] / result["closure"] * 1e9,
            result["rounds"],
            result.least("remove ms"),
            result.least("add ms"),
        )
    return table


def tasks_of(data: str, harness: Harness) -> list[Task]:
    """The tasks with rules as rules and with rules as data; empty if the data is missing."""
    kind, *sizes = data.split("-")
    folders = [TASKS / f"{data}-{form}" for form in ("rules", "data")]
    if all((folder / "task.json").exists() for folder in folders):
        return [Task.open(folder) for folder in folders]
    try:
        generated = made(kind, [int(size) for size in sizes])
    except MeasurementError as error:
        harness.say(str(error))
        return []
    columns = Columns(generated.s, generated.p, generated.o, generated.numbers)
    program = str(generated.program)
    return [
        make_task(folders[0], f"{data}, rules", program, columns),
        make_task(folders[1], f"{data}, rules as data", GENERAL, as_data(generated), "typed"),
    ]


def as_data(generated: Setting) -> Columns:
    """Subclass rules as statements, beside the others; number 2 is that of the new property."""
    import numpy as np

    from bench.reasoners.program import number_constants, translate
    from triplestore.datalog.text import read

    clauses = translate(generated.program, generated.numbers, "typed")
    pairs = [(clause.body[0].terms[1], clause.head.terms[1]) for clause in clauses]
    below = np.array(pairs, np.uint32)

    def moved(column: Any) -> Any:
        return column + (column > 1)

    s = np.concatenate((moved(generated.s), moved(below[:, 0])))
    p = np.concatenate((moved(generated.p), np.full(len(below), 2, np.uint32)))
    o = np.concatenate((moved(generated.o), moved(below[:, 1])))
    s, p, o = (column.astype(np.uint32) for column in (s, p, o))
    return Columns(s, p, o, number_constants(read(GENERAL)))


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hierarchy", default="go", help="of the shared data (go)")
    parser.add_argument("--rules", type=numbers, default=[10_000, 20_000, 40_000])
    parser.add_argument("--instances", type=int, default=1_000_000, help="(1,000,000)")
    parser.add_argument("--levels", type=int, default=10_000, help="of the taxonomy (10,000)")
    parser.add_argument("--unrelated", type=int, default=5_000_000, help="rows beside it")
    parser.add_argument("--updates", type=int, default=200, help="single facts (200)")
    parser.add_argument("--reasoners", type=names, default=list(REASONERS), help="who is measured")
    parser.add_argument("--seconds", type=float, default=120, help="that a peer's run may take")


WORKLOAD = Workload(
    "rules",
    "Tens of thousands of rules: real hierarchies with a million instances, deep taxonomies.",
    options,
    run,
)
