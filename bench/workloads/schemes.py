"""Compressed closures: large graphs, large components, real hierarchies.

dag      DAG-R as in the papers, in one run with Nemo, and ten times as large
clique   10,000,000,000 pairs of a relation that is symmetric and transitive
broader  a network of categories beside the figures of the paper on storage schemes
real     real graphs, as rows and as schemes
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from bench.harness import Case, Harness, MeasurementError, machine, run_once
from bench.literature_modules import broader_table
from bench.reasoners import REASONERS, missing
from bench.reasoners.base import why_it_ended
from bench.report import BenchReport, ReportTable, format_number
from bench.runs.modular import AUTO, COMPRESSED, MODULE
from bench.workload import Workload, names, numbers

Run = dict[str, Any]

TURNS = 3
NEMO = "Nemo"


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = ("triplestore", "numpy", "numba", *REASONERS[NEMO].packages)
    report = BenchReport("schemes", WORKLOAD.summary, machine(packages))
    for part in given.parts:
        PARTS[part](given, Measured(harness, report, given.repeats))
    return report


class Measured:
    """Runs cases, keeps all runs, and takes the best."""

    def __init__(self, harness: Harness, report: BenchReport, repeats: int) -> None:
        self.harness = harness
        self.report = report
        self.repeats = repeats

    def best(
        self, function: str, label: str, main: str, once: bool = False, **arguments: Any
    ) -> Run:
        """The best of some runs, or of one."""
        case = Case(f"bench.runs.scheme_runs:{function}", arguments, label)
        (result,) = self.harness.compare([case], main, repeats=1 if once else self.repeats)
        self.report.keep([result])
        return dict(result.best)

    def structure(self, graph: str, singles: int, *, expand: bool, once: bool = False) -> Run:
        """A graph's scheme alone."""
        return self.best(
            "structure",
            f"{graph}, the scheme alone",
            "build s",
            once,
            name=graph,
            kind="transitive",
            batch=1000,
            singles=singles,
            turns=TURNS if expand or not once else 1,
            expand=expand,
        )

    def engine(
        self,
        graph: str,
        way: str,
        singles: int,
        *,
        kind: str = "transitive",
        once: bool = False,
    ) -> Run:
        """A graph's closure in a store."""
        return self.best(
            "engine",
            f"{graph}, {way}",
            "close s",
            once,
            name=graph,
            kind=kind,
            way=way,
            batch=1000,
            singles=singles,
            seconds=600,
            turns=1 if once else TURNS,
        )

    def claim(self, text: str, measured: float, limit: float, unit: str) -> None:
        """A claim that something is at most this much."""
        self.report.claim(text, f"{format_number(measured)} {unit}", measured <= limit)


CHANGES = (
    "pairs",
    "closing, s",
    "CPU s",
    "static MB",
    "peak MB",
    "deleting 1,000, s",
    "inserting them, s",
    "one edge: deleting, ms",
    "inserting, ms",
    "pairs that 1,000 edges change",
)


def row(found: Run) -> list[Any]:
    """The cells of `CHANGES`, of a scheme alone or in a store."""
    alone = "build s" in found
    return [
        found["pairs"],
        found["build s" if alone else "close s"],
        found["cpu s"],
        found["bytes" if alone else "static bytes"] / 1e6,
        found["peak bytes in all" if alone else "peak bytes of closing"] / 1e6,
        found["delete s"],
        found["insert s"],
        *(1e3 * found[f"single {what} s"] for what in ("delete", "insert")),
        found["changed"],
    ]


# --- DAG-R ---------------------------------------------------------------------------------------


def dag(given: argparse.Namespace, measured: Measured) -> None:
    name = f"dag-{given.nodes}-{10 * given.nodes}"
    large = f"dag-{10 * given.nodes}-{100 * given.nodes}"
    table = ReportTable(
        "Random edges from lower to higher nodes",
        ["graph", "how", *CHANGES],
        note="In a store: whole commits for closing, the engine's seconds for updates. Peak: "
        "beside the memory used before; of a scheme alone, with all changes. The exact set of "
        "changed pairs is always computed; a scheme alone also lists those of single edges.",
    )
    alone = measured.structure(name, given.singles, expand=True)
    scheme, chosen, rows = (
        measured.engine(name, way, given.singles) for way in (COMPRESSED, AUTO, MODULE)
    )
    table.add(name, "the scheme alone", *row(alone))
    table.add(name, "store, compressed", *row(scheme))
    table.add(name, "store, auto", *row(chosen))
    table.add(name, "store, written out", *row(rows))
    nemo = nemo_seconds(name, given, measured)
    if isinstance(nemo, str):
        table.add(f"{name}, {NEMO}, linear rule: {nemo}", *[None] * 11)
    else:
        pairs = int(nemo["facts"]) - 2 * int(scheme["edges"])  # it also counts its input
        cells = (nemo["reason s"], nemo["reason cpu s"], None, nemo["reasoning peak bytes"] / 1e6)
        table.add(name, f"{NEMO}, linear rule", pairs + scheme["edges"], *cells, *[None] * 5)
    if given.large:
        table.add(
            large, "the scheme alone", *row(measured.structure(large, 10, expand=False, once=True))
        )
        table.add(
            large, "store, compressed", *row(measured.engine(large, COMPRESSED, 10, once=True))
        )
    measured.report.tables.append(table)
    claim_dag(name, alone, scheme, rows, nemo, measured)


def claim_dag(
    name: str, alone: Run, scheme: Run, rows: Run, nemo: Run | str, measured: Measured
) -> None:
    if not isinstance(nemo, str):
        faster = nemo["reason s"] / scheme["close s"]
        by_cpu = nemo["reason cpu s"] / scheme["cpu s"]
        measured.report.claim(
            f"{name}: a closure that answers look-ups 600 times as fast as {NEMO}'s linear program",
            f"{format_number(faster)} times, {format_number(by_cpu)} by CPU seconds "
            f"({format_number(nemo['reason s'] / alone['build s'])} for the scheme alone)",
            min(faster, by_cpu) >= 600,
        )
    static = scheme["static bytes"] / 1e6
    measured.claim(f"{name}: static memory under 20 MB compressed", static, 20, "MB")
    measured.claim(f"{name}: under 2 s as rows in both orders", rows["close s"], 2, "s")
    for how, found, first in (
        ("the scheme alone", alone, "build s"),
        ("compressed", scheme, "close s"),
        ("written out", rows, "close s"),
    ):
        for what in ("delete", "insert"):
            text = f"{name}, {how}: 1,000 edges, {what}, at most the first closure"
            measured.claim(text, found[f"{what} s"] / found[first], 1, "of it")
            text = f"{name}, {how}: one edge, {what}, at most a tenth of it (median)"
            measured.claim(text, found[f"single {what} s"] / found[first], 0.1, "of it")


def nemo_seconds(name: str, given: argparse.Namespace, measured: Measured) -> Run | str:
    """Nemo's run for the same graph, or the reason for its absence."""
    reasoner = REASONERS[NEMO]
    if not given.nemo:
        return "not asked for"
    if why := missing(reasoner):
        return why
    from bench.runs.scheme_runs import make_linear

    arguments = {"reasoner": NEMO, "task": make_linear(name), "seconds": given.nemo_seconds}
    case = Case("bench.reasoners.base:child", arguments, f"{name}, {NEMO}")
    try:
        found = run_once(case)
    except MeasurementError as error:
        return why_it_ended(error, given.nemo_seconds)
    measured.report.runs.append({"label": case.label, "main": "reason s", "runs": [found]})
    measured.harness.say(f"{case.label}: reason s {found['reason s']:.4g}")
    return found


# --- cliques -------------------------------------------------------------------------------------

CLIQUE_SECONDS, CLIQUE_MB = 0.5, 50


def clique(given: argparse.Namespace, measured: Measured) -> None:
    table = ReportTable(
        "One component of a relation that is symmetric and transitive",
        [
            *("given by", "edges", "pairs", "closing, ms", "MB", "peak MB", "100,000 pairs, ms"),
            *("successors of 10, ms", "an edge that splits it, ms", "pairs lost"),
            *("stated again, ms", "an edge that does not, ms", "peak MB of all"),
        ],
        note="The tree has one edge in both directions: deleting one of these does not split it.",
    )
    for shape, edges in (("tree", given.clique), ("edges", given.clique * 10)):
        label = f"clique of {given.clique:,} by {shape}"
        found = measured.best(
            "clique", label, "build s", shape=shape, nodes=given.clique, edges=edges, turns=TURNS
        )
        ms = {key: 1e3 * value for key, value in found.items() if key.endswith(" s")}
        table.add(
            "a tree" if shape == "tree" else "random edges",
            found["edges"],
            found["pairs"],
            ms["build s"],
            found["bytes"] / 1e6,
            found["peak bytes of closing"] / 1e6,
            ms["100,000 pairs s"],
            ms["successors of 10 s"],
            ms["split s"],
            found["split lost"],
            ms["split undone s"],
            ms["keep s"],
            found["peak bytes in all"] / 1e6,
        )
        most = max(found[key] for key in ("build s", "successors of 10 s", "split s", "keep s"))
        text = (
            f"{label}: closed, queried, an edge gone with and without splitting, under 0.5 s each"
        )
        measured.claim(text, most, CLIQUE_SECONDS, "s")
        text = f"{label}: under 50 MB"
        measured.claim(text, found["peak bytes of closing"] / 1e6, CLIQUE_MB, "MB (peak)")
    measured.report.tables += [table, clique_in_store(given, measured)]


def clique_in_store(given: argparse.Namespace, measured: Measured) -> ReportTable:
    """The same by rules of a store; each edge deleted from the tree splits it."""
    table = ReportTable(
        "The same in a store, compressed",
        ["graph", *CHANGES],
        note="Static: with the asserted edges, which are rows. Any edge splits the tree.",
    )
    for name in (f"tree-{given.clique}", f"network-{given.clique}-{10 * given.clique}"):
        found = measured.engine(name, COMPRESSED, 20, kind="symmetric", once=True)
        table.add(name, *row(found))
        most = max(found["close s"], found["single delete s"], found["single insert s"])
        text = f"{name} in a store: closed, and single edges gone and back, under 0.5 s each"
        measured.claim(text, most, CLIQUE_SECONDS, "s")
    return table


# --- broader -------------------------------------------------------------------------------------


def broader(given: argparse.Namespace, measured: Measured) -> None:
    ours: list[tuple[str, int, float, float, float]] = []
    for edges in given.broader:
        name = f"broader-{edges}"
        found = measured.engine(name, COMPRESSED, 5, once=True)
        mb = found["peak bytes of closing"] / 1e6, found["static bytes"] / 1e6
        for step, first in (
            ("", "close s"),
            ("1,000 edges less", "delete s"),
            ("more", "insert s"),
        ):
            label = f"{found['edges']:,} edges" if not step else f"{found['edges']:,}: {step}"
            pairs = found["pairs"] - found["changed"] * (step == "1,000 edges less")
            ours.append((label, pairs, found[first], *mb))
        if found["pairs"] > 1e9:
            for text, what, limit in (
                ("closed in under 200 s", "close s", 200),
                ("1,000 edges inserted in under 3 s", "insert s", 3),
                ("1,000 edges deleted in under 10 s", "delete s", 10),
            ):
                measured.claim(f"{label.split(':')[0]} edges: {text}", found[what], limit, "s")
            measured.claim(f"{edges:,} edges: under 2 GB", mb[0], 2000, "MB (peak)")
    measured.report.tables.append(broader_table(ours))


# --- real graphs ---------------------------------------------------------------------------------


WRITTEN_OUT = 1 << 20
"""Closures of fewer pairs are stored as rows, so nothing is claimed about their size."""


def real(given: argparse.Namespace, measured: Measured) -> None:
    from bench.shapes.real import REAL
    from bench.shapes.real import real as found_edges

    table = ReportTable(
        "Real graphs: the scheme alone, and as rows in both orders",
        ["graph", "edges", *CHANGES, "written out in both orders, s", "MB of that"],
    )
    for name in given.real:
        if found_edges(name) is None:
            measured.harness.say(f"{name} is in the shared data, which is missing")
            continue
        found = measured.structure(name, given.singles, expand=True, once=True)
        size = 16 * found["pairs"] / 1e6
        table.add(REAL[name].what, found["edges"], *row(found), found["expand s"], size)
        if found["pairs"] < WRITTEN_OUT:
            continue
        measured.report.claim(
            f"{REAL[name].what}: the scheme takes less than rows in both orders",
            f"{format_number(found['bytes'] / 1e6)} of {format_number(size)} MB",
            found["bytes"] / 1e6 < size,
        )
    measured.report.tables.append(table)


PARTS: Mapping[str, Callable[[argparse.Namespace, Measured], None]] = {
    "dag": dag,
    "clique": clique,
    "broader": broader,
    "real": real,
}
GRAPHS = "wordnet,wordnetParts,go,chebi,mondo,uberon,fbbt,vertebrata,metazoa,debian"
THESAURI = "stw,unesco,uat,physh,hepph,vote"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", type=names, default=list(PARTS), help=",".join(PARTS))
    parser.add_argument("--nodes", type=int, default=10_000, help="of DAG-R; ten times the edges")
    parser.add_argument("--no-large", dest="large", action="store_false", help="not ten times that")
    parser.add_argument("--no-nemo", dest="nemo", action="store_false", help="not beside Nemo")
    parser.add_argument("--nemo-seconds", type=float, default=300, help="that it may take (300)")
    parser.add_argument("--singles", type=int, default=100, help="single edges (100)")
    parser.add_argument("--clique", type=int, default=100_000, help="nodes of one component")
    parser.add_argument(
        "--broader", type=numbers, default=[159_561, 1_426_588], help="edges of networks"
    )
    parser.add_argument("--real", type=names, default=names(f"{GRAPHS},{THESAURI}"), help="graphs")


WORKLOAD = Workload(
    "schemes",
    "Compressed closures: random and real graphs, large components, a network of two "
    "thousand million pairs, beside Nemo and the papers' tables.",
    options,
    run,
)
