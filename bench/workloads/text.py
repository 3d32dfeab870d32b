"""Full-text search: an index of generated literals beside regular expressions, and its upkeep."""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from bench.child import Clock
from bench.harness import Case, Harness, folder_bytes, machine
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, fresh_folder

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PREFIXES = (
    f"PREFIX text: <http://jena.apache.org/text#> PREFIX rdfs: <{LABEL.removesuffix('label')}> "
)
WORDS = 50_000
"""Number of different words; the n-th is used 1/n times as often as the first."""

TRIES = 3
LONG = 0.5
"""Seconds of CPU for which one try is enough."""


def words() -> list[str]:
    """The words, most frequent first; always the same."""
    random = Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    made: dict[str, None] = {}
    while len(made) < WORDS:
        made["".join(random.choices(letters, k=random.randint(3, 9)))] = None
    return list(made)


def write_labels(path: Path, count: int) -> None:
    """A file of labels, each of eight words; every other one in English."""
    random, known = Random(2), words()
    shares = list(itertools.accumulate(1 / (n + 1) for n in range(WORDS)))
    with path.open("w") as stream:
        for start in range(0, count, 10_000):
            chosen = random.choices(known, cum_weights=shares, k=80_000)
            for n in range(start, min(start + 10_000, count)):
                at = 8 * (n - start)
                text = " ".join(chosen[at : at + 8])
                tag = "@en" if n % 2 else ""
                stream.write(f'<http://example.org/{n}> <{LABEL}> "{text}"{tag} .\n')


def questions() -> dict[str, tuple[str, str]]:
    """What is asked: by name a text query, and a regular expression that finds the same."""
    known = words()
    often, some, rare, other = known[0], known[100], known[20_000], known[1]
    return {
        "a rare word": (rare, rf"\\b{rare}\\b"),
        "a word": (some, rf"\\b{some}\\b"),
        "a frequent word": (often, rf"\\b{often}\\b"),
        "a phrase": (f'\\"{often} {other}\\"', rf"\\b{often} {other}\\b"),
        "a prefix": (f"{some[:3]}*", rf"\\b{some[:3]}"),
        "two words": (
            f"+{some} +{known[50]}",
            rf"\\b{some}\\b.*\\b{known[50]}\\b|\\b{known[50]}\\b.*\\b{some}\\b",
        ),
        "a fuzzy word": (f"{some}~1", ""),
        "the best 10": (often, ""),
    }


def timed(ask: Callable[[str], int], text: str) -> tuple[int, float]:
    """What it counts, and its CPU seconds: the best of some tries, of one if that takes long."""
    best, count = float("inf"), 0
    for _ in range(TRIES):
        start = time.process_time()
        count = ask(text)
        best = min(best, time.process_time() - start)
        if best > LONG:
            break
    return count, best


def measure_search(path: str, folder: str) -> dict[str, Any]:
    """In a child: load, index, search."""
    from triplestore import Store

    clock, found = Clock(), {}
    with fresh_folder(folder) as own:
        store = Store(own / "store")
        store.load(path=path)
        before = folder_bytes(own)
        store.index_text([LABEL], languages=["en"])
        with clock.part("index"):
            store.complete_text_index()
        size = folder_bytes(own) - before
        for name, (query, _) in questions().items():
            given = (
                f'("{query}" 10)'
                if name == "the best 10"
                else f'(rdfs:label "{query}" "lang:none")'
            )
            text = f"{PREFIXES} SELECT ?x {{ ?x text:query {given} }}"
            found[name] = timed(lambda asked: len(store.select(asked)), text)
        store.close()
        with Store(own / "store") as again, clock.part("first search after opening"):
            len(again.select(f'{PREFIXES} SELECT ?x {{ ?x text:query "{words()[20_000]}" }}'))
    return {"found": found, "size": size, **clock.seconds}


def filters() -> dict[str, str]:
    """Filters by parts of texts, by name."""
    known = words()
    rare, some, often = known[20_000], known[100], known[0]
    return {
        "CONTAINS, rare": f'CONTAINS(?l, "{rare}")',
        "CONTAINS, often": f'CONTAINS(?l, "{some}")',
        "CONTAINS, in half of all": f'CONTAINS(?l, "{often}")',
        "CONTAINS, never": 'CONTAINS(?l, "0000")',
        "CONTAINS in LCASE": f'CONTAINS(LCASE(?l), "{rare}")',
        "REGEX": f'REGEX(?l, "{rare[:3]}.{{0,3}} ")',
        "REGEX, any case": f'REGEX(?l, "^{rare}", "i")',
        "STRSTARTS": f'STRSTARTS(?l, "{some}")',
    }


def measure_filters(path: str, folder: str) -> dict[str, Any]:
    """In a child: filters without an index for them, and with one."""
    from triplestore import Store

    clock, found = Clock(), []
    with fresh_folder(folder) as own:
        store = Store(own / "store")
        store.load(path=path)
        for substrings in (False, True):
            store.index_text([LABEL], languages=["en"], substrings=substrings)
            with clock.part(f"index {substrings}"):
                store.complete_text_index()
            answers = {}
            for name, condition in filters().items():
                text = f"{PREFIXES} SELECT ?x {{ ?x rdfs:label ?l FILTER({condition}) }}"
                answers[name] = timed(lambda asked: len(store.select(asked)), text)
            found.append(answers)
        store.close()
    return {"found": found, **clock.seconds}


def measure_regex(peer: str, path: str, folder: str) -> dict[str, Any]:
    """In a child: the same questions as regular expressions."""
    ask: Callable[[str], int]
    with fresh_folder(folder) as own:
        if peer == "rdflib":
            import rdflib

            graph = rdflib.Graph()
            graph.parse(path, format="nt")

            def ask(text: str) -> int:
                return sum(1 for _ in graph.query(text))

        elif peer == "pyoxigraph":
            import pyoxigraph

            oxigraph = pyoxigraph.Store(str(own / "store"))
            oxigraph.bulk_load(path=path, format=pyoxigraph.RdfFormat.N_TRIPLES)

            def ask(text: str) -> int:
                found = oxigraph.query(text)
                assert isinstance(found, pyoxigraph.QuerySolutions)
                return sum(1 for _ in found)

        else:
            from triplestore import Store

            store = Store(own / "store")
            store.load(path=path)

            def ask(text: str) -> int:
                return len(store.select(text))

        answers = {}
        for name, (_, pattern) in questions().items():
            if pattern:
                condition = f'REGEX(?l, "{pattern}") && LANG(?l) = ""'
                text = f"{PREFIXES} SELECT ?x {{ ?x rdfs:label ?l FILTER({condition}) }}"
                answers[name] = timed(ask, text)
    return {"found": answers}


def measure_commits(indexed: bool, searched: bool, count: int, folder: str) -> dict[str, Any]:
    """In a child: commits of one label each, perhaps each with a search behind it."""
    from pyoxigraph import Literal, NamedNode, Quad

    from triplestore import Store

    clock, known = Clock(), words()
    label = NamedNode(LABEL)
    with fresh_folder(folder) as own, Store(own / "store", durability="group") as store:
        store.bind("rdfs", LABEL.removesuffix("label"))
        if indexed:
            store.index_text([LABEL])
            store.complete_text_index()
        store.add(Quad(NamedNode("http://example.org/x"), label, Literal("x")))
        asked = f'{PREFIXES} SELECT ?x {{ ?x text:query "{known[9]}" }}'
        with clock.part("commits"):
            for n in range(count):
                text = f"{known[n % 100]} {known[n % 777]} {n}"
                store.add(Quad(NamedNode(f"http://example.org/{n}"), label, Literal(text)))
                if searched:
                    len(store.select(asked))
        with clock.part("close"):
            store.close()
    return {"each": (clock.seconds["commits cpu s"] + clock.seconds["close cpu s"]) / count}


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = ["tantivy", "pyoxigraph", "rdflib", "numpy"]
    report = BenchReport("text", WORKLOAD.summary, machine(packages))
    with harness.temporary() as folder:
        report.tables.append(search_table(given.literals, folder, harness, report))
        report.tables.append(filter_table(given.literals, folder, harness, report))
        report.tables.append(commit_table(given.commits, folder, harness))
    return report


def search_table(count: int, folder: Path, harness: Harness, report: BenchReport) -> ReportTable:
    """The questions, asked in each way."""
    files = {"": folder / "labels.nt", "rdflib": folder / "few.nt"}
    few = max(1, count // 50)
    write_labels(files[""], count)
    write_labels(files["rdflib"], few)
    shown = ReportTable(
        f"Searches in {count:,} literals, ms of CPU",
        ["", "hits", "text:query", "REGEX here", "pyoxigraph REGEX", f"rdflib REGEX, {few:,}"],
        note="Best of three in one process. A regular expression finds the same literals; where "
        "there is none, only the index is asked.",
    )
    case = Case(
        f"{__name__}:measure_search", {"path": str(files[""]), "folder": str(folder)}, "index"
    )
    ours = harness.compare([case], main="index cpu s", repeats=1)[0]
    others = {}
    for peer in ("triplestore", "pyoxigraph", "rdflib"):
        arguments = {"peer": peer, "path": str(files.get(peer, files[""])), "folder": str(folder)}
        one = Case(f"{__name__}:measure_regex", arguments, f"{peer} REGEX")
        others[peer] = harness.compare([one], main="peak bytes", repeats=1)[0]["found"]
    agree = True
    for name, (hits, seconds) in ours["found"].items():
        cells: list[float | None] = []
        for peer, found in others.items():
            cells.append(found[name][1] * 1000 if name in found else None)
            agree = agree and (peer == "rdflib" or name not in found or found[name][0] == hits)
        shown.add(name, hits, seconds * 1000, *cells)
    report.claim("the index and the regular expressions find as many literals", str(agree), agree)
    index = ReportTable(
        "The index",
        [
            "literals",
            "built, CPU s",
            "literals/CPU s",
            "MB on disk",
            "first search after opening, ms",
        ],
    )
    built = ours["index cpu s"]
    first = ours["first search after opening cpu s"] * 1000
    index.add(count, built, count / built, ours["size"] / 1e6, first)
    report.tables.append(index)
    return shown


def filter_table(count: int, folder: Path, harness: Harness, report: BenchReport) -> ReportTable:
    """Filters with an index for parts of texts, and without."""
    arguments = {"path": str(folder / "labels.nt"), "folder": str(folder)}
    case = Case(f"{__name__}:measure_filters", arguments, "filters")
    result = harness.compare([case], main="peak bytes", repeats=1)[0]
    without, having = result["found"]
    shown = ReportTable(
        f"Filters on {count:,} literals, ms of CPU",
        ["", "hits", "without", "with substrings"],
        note=f"The index with substrings: {result['index True cpu s']:.1f} CPU s, instead of "
        f"{result['index False cpu s']:.1f}.",
    )
    agree = True
    for name, (hits, seconds) in without.items():
        shown.add(name, hits, seconds * 1000, having[name][1] * 1000)
        agree = agree and having[name][0] == hits
    report.claim("filters have the same answers with an index", str(agree), agree)
    return shown


def commit_table(count: int, folder: Path, harness: Harness) -> ReportTable:
    """What a commit costs, with an index and without."""
    shown = ReportTable(
        f"{count:,} commits of one label, CPU ms each",
        ["store", "a commit"],
        note="With what is done in the background and when the store is closed.",
    )
    ways = {
        "without an index": (False, False),
        "with an index": (True, False),
        "with an index, and a search after each commit": (True, True),
    }
    for name, (indexed, searched) in ways.items():
        arguments = {
            "indexed": indexed,
            "searched": searched,
            "count": count,
            "folder": str(folder),
        }
        case = Case(f"{__name__}:measure_commits", arguments, name)
        shown.add(name, harness.compare([case], main="each")[0]["each"] * 1000)
    return shown


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--literals", type=int, default=1_000_000, help="number of literals")
    parser.add_argument("--commits", type=int, default=2_000, help="number of commits")


WORKLOAD = Workload(
    "text",
    "Full-text search in generated literals beside regular expressions, and what commits cost.",
    options,
    run,
)
