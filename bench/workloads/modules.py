"""Rules that define closures, evaluated as rules and by modules, beside the papers' figures.

Each setting has the shape of one of the papers', at sizes at which rules take a reasonable time.
Each way of evaluation has its own process. Updates are as in the papers: ten samples of 1,000
statements (at most a hundredth of all) are deleted and asserted again, then a quarter of all
statements is deleted; all by DRed with counters (DRed^c), with and without modules.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.harness import Case, Harness, machine, run_once
from bench.literature_modules import (
    MODULAR,
    QUERIES,
    modules_table,
    schemes_table,
)
from bench.report import BenchReport, ReportTable, format_number
from bench.runs.modular import COMPRESSED, MODULE, RULES
from bench.workload import Workload, names

Run = dict[str, Any]

NAMES = {
    "dagr": "DAG-R",
    "lubmle": "LUBM-LE",
    "claros": "Claros-LE",
    "skos": "DBpedia-SKOS",
    "relations": "Relations",
}
DATA = (
    "dagr-500-5000,dagr-1000-10000,lubmle-1,lubmle-3,claros-30000,claros-100000,"
    "skos-100000,skos-300000,relations-20000,relations-60000"
)
MODULES_ONLY = "dagr-10000-100000,lubmle-10,claros-400000,skos-1000000,relations-300000"
ASKED = "dagr-3000-30000:p,skos-1000000:broaderTransitive"
WAYS = (RULES, MODULE, COMPRESSED)
WHAT = ("closing", "small deletions", "small insertions", "deleting 25 %")


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("modules", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    measured: dict[str, dict[str, Run]] = {}
    for data in given.data + given.larger:
        wanted = WAYS if data in given.data else WAYS[1:]
        measured[data] = {way: one(data, way, given, harness, report) for way in wanted}
    report.tables.append(settings_table(measured))
    report.tables.append(updates_table(measured))
    ours = {data: ratios(ways) for data, ways in measured.items() if RULES in ways}
    report.tables.append(modules_table(ours))
    report.tables.append(instances_table(measured))
    report.tables.append(schemes_table({data: figures(ways) for data, ways in measured.items()}))
    for data, runs in measured.items():
        claim_agreement(data, runs, report)
    claim_ratios(measured, report)
    if given.asked:
        report.tables.append(queries_table(given.asked, harness, report))
    return report


def one(
    data: str, way: str, given: argparse.Namespace, harness: Harness, report: BenchReport
) -> Run:
    """One setting, closed in one way and updated; the best of some processes."""
    arguments = {
        "data": data,
        "way": way,
        "samples": given.samples,
        "facts": given.facts,
        "share": given.share,
        "seconds": given.seconds,
    }
    case = Case("bench.runs.module_runs:measure", arguments, f"{data}, {way}")
    (result,) = harness.compare([case], "close s", repeats=given.turns)
    report.keep([result])
    return dict(result.best)


def mean(run: Run, part: str) -> float | None:
    """The mean seconds of small updates, or the seconds of the large one; None if missing.

    >>> mean({"add": [{"seconds": 1.0}, {"seconds": 2.0}]}, "add")
    1.5
    """
    if part == "close":
        return None if "facts" not in run else float(run["close s"])
    if part == "large":
        return float(run["large"]["seconds"]) if "large" in run else None
    done = run.get(part) or []
    return sum(float(each["seconds"]) for each in done) / len(done) if done else None


PARTS = ("close", "delete", "add", "large")


def ratios(ways: dict[str, Run]) -> tuple[float | None, ...]:
    """The time of rules divided by that of modules, for each part."""
    found: list[float | None] = []
    for part in PARTS:
        rules, module = mean(ways[RULES], part), mean(ways[MODULE], part)
        found.append(rules / module if rules and module else None)
    return tuple(found)


def at_least(ways: dict[str, Run]) -> tuple[float | None, ...]:
    """The same for parts in which rules exceeded their time: a lower bound."""
    late = dict(ways[RULES].get("at least", {}))
    if "facts" not in ways[RULES]:
        late["close"] = ways[RULES]["close s"]
    found: list[float | None] = []
    for part in PARTS:
        module = mean(ways[MODULE], part)
        there = part in late and module and mean(ways[RULES], part) is None
        found.append(late[part] / module if there and module else None)
    return tuple(found)


def figures(ways: dict[str, Run]) -> dict[str, tuple[float, float, float]]:
    """Seconds, peak and static bytes of the ways that were not late."""
    return {
        way: (run["close s"], run["closing peak bytes"], run["static bytes"])
        for way, run in ways.items()
        if "facts" in run
    }


def settings_table(measured: dict[str, dict[str, Run]]) -> ReportTable:
    table = ReportTable(
        "Settings",
        ["data", "statements", "facts", "facts / statements", "instances of rules", "with modules"],
        note="Instances of rules: considered when closing.",
    )
    for data, ways in measured.items():
        module, rules = ways[MODULE], ways.get(RULES, {})
        if "facts" not in module:
            continue
        table.add(
            data,
            module["stated"],
            module["facts"],
            module["facts"] / module["stated"],
            rules.get("instances"),
            module["instances"],
        )
    return table


def updates_table(measured: dict[str, dict[str, Run]]) -> ReportTable:
    table = ReportTable(
        "Closing and updating",
        [
            *("data", "way", "closing, s", "small deletions, ms", "small insertions, ms"),
            *("deleting 25 %, s", "samples", "late"),
        ],
        note="Closing is the whole commit. Updates: the engine's seconds, means of the samples.",
    )
    for data, ways in measured.items():
        for way, run in ways.items():
            small = [mean(run, part) for part in ("delete", "add")]
            table.add(
                data,
                way,
                mean(run, "close"),
                *(None if seconds is None else 1e3 * seconds for seconds in small),
                mean(run, "large"),
                len(run.get("delete", ())),
                run.get("late", ""),
            )
    return table


def considered(run: Run, part: str) -> float | None:
    """The mean instances of small updates, or those of another part; None if missing.

    >>> considered({"add": [{"instances": 10}, {"instances": 30}]}, "add")
    20.0
    """
    if part == "close":
        return run.get("instances")
    done = [run["large"]] if part == "large" and "large" in run else run.get(part) or []
    return sum(float(each["instances"]) for each in done) / len(done) if done else None


def instances_table(measured: dict[str, dict[str, Run]]) -> ReportTable:
    """The reason for a ratio of times: the number of instances that modules save, and the number
    that rules consider per second."""
    table = ReportTable(
        "Instances that rules and modules consider",
        ["data", "part", "rules", "with modules", "rules / modules", "rules: millions a second"],
        note="Means of the samples. If this ratio is high and that of times is not, the rest of an "
        "update (terms, strata, writing rows) costs more than the remaining instances.",
    )
    for data, ways in measured.items():
        for what, part in zip(WHAT, PARTS, strict=True):
            rules, module = (considered(ways.get(way, {}), part) for way in (RULES, MODULE))
            seconds = mean(ways.get(RULES, {}), part)
            if rules and module and seconds:
                table.add(data, what, rules, module, rules / module, rules / seconds / 1e6)
    return table


def claim_agreement(data: str, ways: dict[str, Run], report: BenchReport) -> None:
    """All ways must have the same facts, at first and after each update."""
    done = [run for run in ways.values() if "facts" in run]
    shared = min((len(run["delete"]) for run in done), default=0)

    def seen(run: Run) -> tuple[Any, ...]:
        changes = (run[part][i]["inferred"] for part in ("delete", "add") for i in range(shared))
        return run["facts"], *changes

    same = len({seen(run) for run in done}) == 1
    left = {run["left"] for run in done if "left" in run}
    report.claim(
        f"{data}: all ways have the same facts and the same changes",
        ", ".join(f"{way} {run.get('facts', 'late')}" for way, run in ways.items()),
        same and len(left) <= 1,
    )


def claim_ratios(measured: dict[str, dict[str, Run]], report: BenchReport) -> None:
    """Compare the largest size of each setting with the papers' ratio.

    Nothing is claimed if rules exceeded their time too early for a lower bound.
    """
    largest = {data.split("-")[0]: data for data, ways in measured.items() if RULES in ways}
    papers = {row.data: row.ratios() for row in MODULAR}
    for kind, data in largest.items():
        if NAMES[kind] not in papers:
            continue
        ways, theirs = measured[data], papers[NAMES[kind]]
        for what, mine, bound, wanted in zip(
            WHAT, ratios(ways), at_least(ways), theirs, strict=True
        ):
            known = mine if mine is not None else bound
            if known is None or (mine is None and known < wanted):
                continue
            report.claim(
                f"{data}, {what}: modules are at least {format_number(wanted)} times faster than "
                f"rules, as in {NAMES[kind]}",
                f"{'' if mine is not None else 'over '}{format_number(known)} times",
                known >= wanted,
            )


def queries_table(asked: list[str], harness: Harness, report: BenchReport) -> ReportTable:
    table = ReportTable(
        "Look-ups in a closure as rows and as a scheme, beside storage, table 3",
        [
            *("data", "question", "rows of the answer", "as rows, ms", "as a scheme, ms"),
            *("scheme / rows", "union: scheme / rows"),
        ],
        note="Rows of ids, read to the last one. storage: on DB50%, with results in full.",
    )
    for each in asked:
        data, _, relation = each.partition(":")
        cases = [
            Case(
                "bench.runs.module_runs:queries",
                {"data": data, "way": way, "relation": relation},
                f"{data}, look-ups, {way}",
            )
            for way in (MODULE, COMPRESSED)
        ]
        results = []
        for case in cases:
            results.append(run_once(case)["seconds"])
            report.runs.append({"label": case.label, "main": "seconds", "runs": [results[-1]]})
            harness.say(f"{case.label}: done")
        rows, scheme = results
        for question, (seconds, count) in rows.items():
            other = scheme[question][0]
            table.add(data, question, count, 1e3 * seconds, 1e3 * other, other / seconds, None)
    for name, std, multi, union, union_multi in QUERIES:
        table.add("storage", name, None, 1e3 * std, 1e3 * multi, multi / std, union_multi / union)
    return table


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=names, default=names(DATA), help="settings for all ways")
    parser.add_argument(
        "--larger", type=_some, default=names(MODULES_ONLY), help="settings for modules only"
    )
    parser.add_argument("--asked", type=_some, default=names(ASKED), help="SETTING:RELATION,...")
    parser.add_argument("--samples", type=int, default=10, help="of small updates (10)")
    parser.add_argument("--facts", type=int, default=1000, help="of a small update (1000)")
    parser.add_argument("--share", type=float, default=0.25, help="of the large deletion (0.25)")
    parser.add_argument("--seconds", type=float, default=90, help="for each way of a setting (90)")
    parser.add_argument("--turns", type=int, default=1, help="processes for each way (1)")


def _some(text: str) -> list[str]:
    return names(text) if text else []


WORKLOAD = Workload(
    "modules",
    "Closures by rules alone, by modules, and kept as schemes: first closure, updates, memory and "
    "look-ups, beside the papers' tables.",
    options,
    run,
)
