"""SPARQL: LUBM's queries over its closure, two generated mixes, and relations kept as schemes.

Both stores have the same triples and are queried by the same Python (`bench/queries/measuring.py`),
turn by turn in separate processes, for separate peaks of memory. Claims compare our Arrow columns
with the peer's unread rows, and rows whose terms are all read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, Result, machine, run_once
from bench.inputs.data import lubm_file
from bench.queries.mixes import LUBM, PUBLICATIONS, SHOP
from bench.report import BenchReport, ReportTable, ratio
from bench.runs.modular import COMPRESSED, MODULE
from bench.workload import Workload, numbers
from bench.workloads.closure import RULES, ontology

OURS, PEER = "triplestore", "pyoxigraph"
Queries = dict[str, dict[str, Any]]

_LARGE = 50  # minimum universities for a limit of time

COLUMNS = (
    *("query", "rows", "Arrow ms", "rows ms", "terms ms", "alike ms", "unseen ms"),
    *(f"{PEER} rows ms", "terms ms ", "Arrow faster by", "terms faster by", "peak MB", "peak MB "),
)
NOTE = (
    "For this table and similar ones. Best times; the mean over a query's texts if it has "
    "several. Arrow: `to_arrow()`, triples of CONSTRUCT as rows. Rows: iterated and ignored. "
    "Terms: every term of every row is read. Alike: terms, for a new text after others with other "
    "constants. Unseen: terms, for a text unlike all earlier ones. Arrow is compared with the "
    "peer's rows, terms with its terms. Peak: beside the memory of the open store, ours and the "
    "peer's, with the comparison of answers."
)


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = ("triplestore", "numpy", "numba", "pyarrow", PEER)
    report = BenchReport("queries", WORKLOAD.summary, machine(packages))
    sizes = {LUBM: given.sizes, PUBLICATIONS: given.publications, SHOP: given.shop}
    wanted = [(name, size) for name, some in sizes.items() for size in some if size]
    growth = growth_table()
    for name, size in wanted:
        title = title_of(name, size)
        with harness.temporary() as folder:
            made = prepare(name, size, folder)
            within = given.within if name == LUBM and size >= _LARGE else 0.0
            results = ask(name, size, folder, given.seconds, harness, within)
        report.keep(results)
        ours, other = (least(result) for result in results)
        report.tables.append(table_of(title, ours, other))
        report.tables[0].note = NOTE
        add_growth(growth, title, made, results, ours, other)
        claim_answers(title, results, report)
        claim_speed(title, ours, other, report)
    report.tables.append(growth)
    if given.relations:
        report.tables.append(relations(given, harness, report))
    return report


def title_of(name: str, size: int) -> str:
    """The title of a mix with its data.

    >>> title_of("publications", 5)
    'publications, 5 thousand'
    """
    if name == LUBM:
        return f"LUBM-like {size}, closed by {'OWL 2 RL' if ontology() else RULES.name}"
    return f"{name}, {size} {'thousand' if name == PUBLICATIONS else 'hundred'}"


def prepare(name: str, size: int, folder: Path) -> dict[str, Any]:
    """Make the data of both stores, in a child."""
    if name != LUBM:
        case = Case(
            "bench.queries.measuring:generate",
            {"name": name, "size": size, "folder": str(folder)},
            f"data of {name}",
        )
        return run_once(case)
    source, axioms = lubm_file(size), ontology()
    arguments = {
        "source": str(source.path),
        "format": source.format,
        "ontology": str(axioms) if axioms else None,
        "rules": str(RULES),
        "folder": str(folder),
    }
    return run_once(Case("bench.queries.measuring:close", arguments, f"closure of {source.name}"))


def ask(
    name: str, size: int, folder: Path, seconds: float, harness: Harness, within: float = 0.0
) -> list[Result]:
    """All queries by both, each in new processes; they take about `within` minutes."""
    each = within * 60 / (2 * harness.repeats)
    shared = {"name": name, "size": size, "folder": str(folder), "seconds": seconds, "within": each}
    cases = [
        Case("bench.queries.measuring:measure", {"peer": peer, **shared}, f"{peer}: {name} {size}")
        for peer in (OURS, PEER)
    ]
    return harness.compare(cases, main="main")


def least(result: Result) -> Queries:
    """The minimum of each number over the runs, for each query; answers are those of the first."""
    first = result.runs[0]["queries"]
    return {
        query: {
            what: value
            if what in ("found", "bags")
            else min(run["queries"][query][what] for run in result.runs)
            for what, value in found.items()
        }
        for query, found in first.items()
    }


def total(queries: Queries, face: str) -> float:
    """Seconds of a mix: each query once."""
    return sum(float(found[face]) for found in queries.values())


def table_of(title: str, ours: Queries, other: Queries) -> ReportTable:
    """A row for each query, and one for the mix."""
    table = ReportTable(title, COLUMNS)
    for query, found in ours.items():
        peer = other[query]
        same = found["bags"] == peer["bags"]
        row = _times(lambda face, found=found: found[face], lambda face, peer=peer: peer[face])
        peaks = (found["peak bytes"] / 1e6, peer["peak bytes"] / 1e6)
        table.add(query if same else f"{query} (answers differ)", found["found"], *row, *peaks)
    row = _times(lambda face: total(ours, face), lambda face: total(other, face))
    table.add("all, each once", sum(found["found"] for found in ours.values()), *row, None, None)
    return table


def _times(ours: Any, peer: Any) -> list[Any]:
    return [
        *(ours(face) * 1e3 for face in ("arrow", "rows", "terms", "alike", "unseen")),
        *(peer(face) * 1e3 for face in ("rows", "terms")),
        ratio(ours("arrow"), peer("rows")),
        ratio(ours("terms"), peer("terms")),
    ]


def growth_table() -> ReportTable:
    return ReportTable(
        "Cost against the size of the data",
        [
            *("data", "triples", "Arrow ms", "ns a triple", "terms ms", f"{PEER} terms ms"),
            *("ns a triple ", "open s", "open s ", "open MB", "open MB ", "most MB", "most MB "),
        ],
        note="Of the whole mix, each query once. Open: until the first query can be asked; ours "
        "lies on disk, the peer's is loaded into memory. Most: of the process; ours first.",
    )


def add_growth(
    table: ReportTable,
    title: str,
    made: dict[str, Any],
    results: list[Result],
    ours: Queries,
    other: Queries,
) -> None:
    triples = int(made["triples"])
    arrow, terms, peer = total(ours, "arrow"), total(ours, "terms"), total(other, "terms")
    table.add(
        *(title, triples, arrow * 1e3, arrow / triples * 1e9, terms * 1e3),
        *(peer * 1e3, peer / triples * 1e9),
        *(result.least("open s") for result in results),
        *(result.least("opened bytes") / 1e6 for result in results),
        *(result.least("most bytes") / 1e6 for result in results),
    )


# --- claims --------------------------------------------------------------------------------------


def claim_answers(title: str, results: list[Result], report: BenchReport) -> None:
    """Both have the same number of triples and give the same answers."""
    ours, other = (result.runs[0] for result in results)
    report.claim(
        f"{title}: both have the same number of triples",
        f"{ours['triples']:,}, {other['triples']:,}",
        ours["triples"] == other["triples"],
    )
    differ = [
        query
        for query, found in ours["queries"].items()
        if found["bags"] != other["queries"][query]["bags"]
    ]
    report.claim(f"{title}: the same bags of answers", ", ".join(differ), not differ)


def claim_speed(title: str, ours: Queries, other: Queries, report: BenchReport) -> None:
    """What was to be shown of each mix."""

    def faster(query: str, mine: str, theirs: str) -> float:
        return float(other[query][theirs] / ours[query][mine])

    def at_least(what: str, wanted: float, measured: float) -> None:
        report.claim(f"{title}: {what}", f"{measured:.2f}", measured >= wanted)

    whole = total(other, "rows") / total(ours, "arrow")
    at_least("as Arrow, the mix at least 10 times faster than the peer's rows", 10, whole)
    long = [query for query in other if other[query]["rows"] > 5e-3]
    if long:
        slowest = min(long, key=lambda query: faster(query, "arrow", "rows"))
        at_least(
            f"as Arrow, queries over 5 ms at least 5 times; the least is {slowest}",
            5,
            faster(slowest, "arrow", "rows"),
        )
        slowest = min(long, key=lambda query: faster(query, "terms", "terms"))
        at_least(
            f"as terms, queries over 5 ms not slower; the least is {slowest}",
            1,
            faster(slowest, "terms", "terms"),
        )
    for face in ("terms", "rows"):
        whole = total(other, face) / total(ours, face)
        at_least(f"as {face}, the mix at least 3 times faster", 3, whole)
    short = [query for query in other if other[query]["rows"] < 1e-3]
    for face, when in (
        ("terms", "asked before"),
        ("alike", "asked before with other constants"),
        ("unseen", "like which none was asked"),
    ):
        late = [query.split()[0] for query in short if ours[query][face] > 0.5e-3]
        slowest_ms = max((ours[query][face] * 1e3 for query in short), default=0.0)
        report.claim(
            f"{title}: queries under 1 ms within 0.5 ms, {when}",
            f"{slowest_ms:.2f} ms at most; over: {', '.join(late) or 'none'} of {len(short)}",
            not late,
        )


# --- schemes -------------------------------------------------------------------------------------


def relations(given: argparse.Namespace, harness: Harness, report: BenchReport) -> ReportTable:
    """The paper's queries on relations written out and as schemes."""
    from bench.literature_modules import QUERIES

    shared = {"data": given.relations, "seconds": given.seconds}
    cases = [
        Case("bench.queries.relations:measure", {"way": way, **shared}, f"{given.relations}, {way}")
        for way in (MODULE, COMPRESSED)
    ]
    results = harness.compare(cases, main="main")
    report.keep(results)
    plain, compressed = (result.runs[0]["queries"] for result in results)
    columns = ["query", "counted", "written out ms", "scheme ms", "scheme / written out"]
    table = ReportTable(f"Transitive and union relations of {given.relations}", columns)
    for query, found in plain.items():
        expanded, scheme = (
            min(run["queries"][query]["s"] for run in result.runs) * 1e3 for result in results
        )
        table.add(query, found["found"], expanded, scheme, scheme / expanded)
    facts, sizes = zip(*((r["facts"], r["static bytes"] / 1e6) for r in results), strict=True)
    table.note = (
        f"{facts[0]:,} facts; {sizes[0]:.0f} MB written out, {sizes[1]:.0f} MB with schemes. "
        "The paper's (storage, table 3, on 609 M facts), scheme / written out, transitive and "
        "union: "
        + "; ".join(f"{name}: {tc / std:.2g} and {u / un:.2g}" for name, std, tc, un, u in QUERIES)
        + "."
    )
    report.claim(
        f"{given.relations}: schemes give the same counts",
        "",
        facts[0] == facts[1]
        and all(found["found"] == compressed[query]["found"] for query, found in plain.items()),
    )
    return table


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes", type=numbers, default=[10, 50], help="universities (10,50; 0: none)"
    )
    parser.add_argument("--publications", type=numbers, default=[5], help="thousands (5; 0: none)")
    parser.add_argument(
        "--shop", type=numbers, default=[10, 100], help="hundreds of products (10,100; 0: none)"
    )
    parser.add_argument("--relations", default="skos-1000000", help="setting; empty: none")
    parser.add_argument("--seconds", type=float, default=1.0, help="for a face of a query (1)")
    parser.add_argument(
        "--within",
        type=float,
        default=2.5,
        help="minutes to ask 50 universities or more in (2.5); 0: as long as it takes",
    )


WORKLOAD = Workload(
    "queries",
    "SPARQL queries over a closure and over generated data, as columns and as rows, beside "
    "pyoxigraph; over schemes beside relations written out.",
    options,
    run,
)
