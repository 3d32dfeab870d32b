"""Runs of several reasoners on one task, turn by turn, and why some cannot run.

Start at `compare`. Always true: a reasoner that is missing, refuses, fails or takes too long does
not stop the others; the result has the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.harness import Case, Harness, Result
from bench.reasoners import REASONERS, missing
from bench.reasoners.base import take_turns
from bench.reasoners.task import Task
from bench.report import BenchReport, ReportTable, ratio

OURS = "triplestore"

ONCE_IS_ENOUGH = 30.0
"""Seconds of reasoning beyond which a run is not repeated."""


@dataclass
class Compared:
    """The runs of a task: by name of the reasoner, in the order they were asked for."""

    task: Task
    results: dict[str, Result] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def agree(self) -> bool:
        """Whether all reasoners over integers found equally many facts."""
        found = {r["facts"] for name, r in self.results.items() if not REASONERS[name].rdf}
        return len(found) <= 1


def compare(
    task: Task, names: Iterable[str], harness: Harness, report: BenchReport, seconds: float
) -> Compared:
    """Run each reasoner several times, each in a process with a limit of seconds."""
    compared = Compared(task)
    for name in names:
        reasoner = REASONERS[name]
        if reason := missing(reasoner) or reasoner.refuses(task):
            compared.absent[name] = reason
            continue
        arguments = {"reasoner": name, "task": str(task.folder), "seconds": seconds}
        case = Case("bench.reasoners.base:child", arguments, f"{name}: {task.name}")
        compared.results[name] = Result(case, "total s")
    compared.absent |= take_turns(compared.results, harness, seconds, ONCE_IS_ENOUGH)
    report.keep(list(compared.results.values()))
    return compared


COLUMNS = [
    "input",
    "reasoner",
    "facts",
    "closure",
    "import s",
    "reason s",
    "parse s",
    "peak MB",
    "with import, ours is faster by",
    "without",
    "memory compared",
]

NOTE = (
    "Best of the runs by the sum of the steps. Import: from the task's files to the reasoner's "
    "tables; `triplestore-arrays` reads the same integers as arrays. Parse: of the rules. "
    "Memory: the peak of the process when the closure is there. OWL reasoners derive more than "
    "the rules state."
)


def table_of(title: str, runs: Iterable[Compared], note: str = NOTE) -> ReportTable:
    """One row for each reasoner and task, with the reason if it did not run."""
    table = ReportTable(title, COLUMNS, note=note)
    for compared in runs:
        task, ours = compared.task, compared.results.get(OURS)
        for name, result in compared.results.items():
            table.add(
                task.name,
                name,
                task.facts,
                result["facts"],
                result["import s"],
                result["reason s"],
                result["parse s"],
                result["reasoning peak bytes"] / 1e6,
                *(beside(ours, result) if ours and name != OURS else (None, None, None)),
            )
        for name, reason in compared.absent.items():
            table.add(task.name, f"{name}: {reason}", task.facts, *[None] * (len(COLUMNS) - 3))
    return table


def beside(ours: Result, other: Result) -> tuple[str, str, str]:
    """The ratios of the other to ours: time with import, time without, memory."""
    return (
        ratio(with_import(ours), with_import(other)),
        ratio(ours.least("reason s"), other.least("reason s")),
        ratio(ours["reasoning peak bytes"], other["reasoning peak bytes"]),
    )


def with_import(result: Result) -> float:
    """Minimum seconds of import and reasoning together."""
    return min(float(run["import s"]) + float(run["reason s"]) for run in result.runs)
