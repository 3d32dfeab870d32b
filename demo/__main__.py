"""The demo: `python -m demo [folder]`. It uses only the public interface."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demo.files import make_files
from demo.vocabulary import name, shorten
from triplestore import Literal, Quad, Store, TripleStoreError

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo"
RULES = Path(__file__).resolve().parent / "rules.dlog"

QUESTIONS = {
    "Which rail lines serve the district of Hafen?   chains of properties, places in places": """
        SELECT ?line ?name {
          ?line a :RailLine ; :servesArea area:d3 ; rdfs:label ?name FILTER(LANG(?name) = "en")
        } ORDER BY ?line LIMIT 5""",
    "The stops with most lines   an aggregate in our rules": """
        SELECT ?name ?lines {
          ?stop a :Interchange ; :lineCount ?lines ; rdfs:label ?name FILTER(LANG(?name) = "en")
        } ORDER BY DESC(?lines) ?name LIMIT 3""",
    "All kinds of bad weather, at any depth   the axioms of SKOS": """
        SELECT ?concept ?name {
          ?concept skos:broaderTransitive thesaurus:weather ; skos:prefLabel ?name
          FILTER(LANG(?name) = "en")
        } ORDER BY ?concept""",
    "Step-free connections   recursion and negation": """
        SELECT (COUNT(DISTINCT ?x) AS ?connected) (COUNT(DISTINCT ?y) AS ?stranded) {
          { ?x :getsTo [] } UNION { ?y a :StrandedStop } }""",
}


def main(folder: Path = FOLDER) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    title("The files: a city's public transport, made for this demo")
    files = make_files(folder)
    for what, path in files.items():
        print(f"  {what:<10} {path.name:<16} {path.stat().st_size / 1000:8.1f} kB")

    place = folder / "city.db"
    title("Loading them into a durable store, all files in one commit")
    in_default = [path for what, path in files.items() if what != "register"]
    triplestore("load", "-l", place, *(part for path in in_default for part in ("-f", path)))
    triplestore(
        "load", "-l", place, "-f", files["register"], "--graph", name("graph:register").value
    )
    triplestore("info", "-l", place)

    start = time.perf_counter()
    with Store(place) as store:
        title(f"Opening it again took {1000 * (time.perf_counter() - start):.1f} ms")
        print(f"  {store!r}: {len(store):,} quads")
        contents(store)
        look_ups(store)
        courses(store)

    title("Inference by the ontology, the thesaurus and our own rules, from now on")
    triplestore("reason", "-l", place, "--regime", "owl-rl", "--regime", "skos")
    triplestore("check", "--rules", RULES)
    triplestore("reason", "-l", place, "--rules", RULES, "--quiet")
    for question, query in QUESTIONS.items():
        title(question)
        triplestore("query", "-l", place, "-q", query)
    with Store(place) as store:
        explicit, inferred = store.count("explicit"), store.count("inferred")
        print(f"\n  {explicit:,} quads were asserted, {inferred:,} were inferred")
        title("Why does it hold?   store.why(...)")
        print(store.why("line:10 :servesArea area:d3"))
        violations(store)
        changes(store)
        failing_load(store, folder)

    title("Checking every byte of the store, and that the inferred facts are exact")
    triplestore("verify", "-l", place, "--closure")
    print(f"\nThe store remains in {place}:\n  .venv/bin/triplestore info -l {place}")


def title(text: str) -> None:
    print(f"\n--- {text}\n", flush=True)


def triplestore(*arguments: object) -> None:
    """Run the command line as a user would, and show the command."""
    words = [str(argument) for argument in arguments]
    shown = " ".join(
        Path(word).name if word.startswith("/") else f"'{word}'" if "\n" in word else word
        for word in words
    )
    print(f"$ triplestore {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "triplestore.cli", *words], check=True)


def contents(store: Store) -> None:
    """Classes, properties and graphs with their counts, from columns of ids."""
    title("The contents of the store")
    rows = list(store.rows_for_pattern())
    show_counts(store, "graph", np.concatenate([block.graph for block in rows]))
    types = list(store.rows_for_pattern(predicate=name("rdf:type")))
    show_counts(store, "class", np.concatenate([block.object for block in types]))
    show_counts(store, "property", np.concatenate([block.predicate for block in rows]))


def show_counts(store: Store, what: str, column: NDArray[np.uint32], most: int = 12) -> None:
    ids, counts = np.unique(column, return_counts=True)
    terms = [
        "default graph" if i == 0 else shorten(store.terms(ids[k : k + 1])[0])
        for k, i in enumerate(ids.tolist())
    ]
    order = sorted(range(len(ids)), key=lambda k: (-int(counts[k]), terms[k]))
    print(f"  {len(ids)} of kind {what}:")
    for k in order[:most]:
        print(f"    {terms[k]:<28} {counts[k]:>7,}")
    if len(order) > most:
        print(f"    ... and {len(order) - most} more")


def look_ups(store: Store) -> None:
    title("The statements about stop:12   quads_for_pattern(stop:12, None, None)")
    show(store.quads_for_pattern(name("stop:12"), None, None))

    title("Which stops have a heated waiting room?   (None, :facility, thesaurus:heated-room)")
    found = store.quads_for_pattern(None, name(":facility"), name("thesaurus:heated-room"))
    labels = sorted(label(store, quad.subject, "en") for quad in found)
    print(f"  {len(labels)}: {', '.join(labels[:5])}, ...")

    title("Kinds of bad weather, in three languages   (None, skos:broader, thesaurus:weather)")
    for quad in store.quads_for_pattern(None, name("skos:broader"), name("thesaurus:weather")):
        words = store.quads_for_pattern(quad.subject, name("skos:prefLabel"), None)
        print("  " + ", ".join(sorted(shorten(each.object) for each in words)))

    title("The notices about line U2 in March   (None, :about, line:U2, graph:2025-03)")
    march = name("graph:2025-03")
    notices = store.quads_for_pattern(None, name(":about"), name("line:U2"), march)
    for quad in notices:
        show(store.quads_for_pattern(quad.subject, name("rdfs:comment"), None, march))


def show(quads: Iterable[Quad]) -> None:
    for quad in quads:
        print(f"  {shorten(quad.subject):<10} {shorten(quad.predicate):<12} {shorten(quad.object)}")


def label(store: Store, subject: Any, language: str) -> str:
    for quad in store.quads_for_pattern(subject, name("rdfs:label"), None):
        if isinstance(quad.object, Literal) and quad.object.language == language:
            return quad.object.value
    return shorten(subject)


def courses(store: Store) -> None:
    """Batches of look-ups: a join of four steps on columns of ids."""
    title("Which stops do most lines serve?   :call / :atPlatform / :platformOf, set at a time")
    start = time.perf_counter()
    calls = list(store.rows_for_pattern(predicate=name(":call")))
    line = np.concatenate([block.subject for block in calls])
    stop = np.concatenate([block.object for block in calls])
    for step in (":atPlatform", ":platformOf"):
        index, stop = store.objects_of(stop, name(step))
        line = line[index]
    served = np.unique(np.stack([stop, line]), axis=1)
    stops, lines = np.unique(served[0], return_counts=True)
    seconds = time.perf_counter() - start
    for k in np.argsort(-lines.astype(np.int64), kind="stable")[:5].tolist():
        (term,) = store.terms(stops[k : k + 1])
        print(f"  {label(store, term, 'en'):<32} {lines[k]} lines")
    print(f"  ({len(line):,} calls at {len(stops)} stops, in {1000 * seconds:.1f} ms)")


def violations(store: Store) -> None:
    title("The violations of constraints   store.violations()")
    found = store.violations()
    for violation in found[:3]:
        stop = label(store, violation.values["stop"], "en")
        print(f"  {violation.constraint}: {stop} {violation.message}")
    print(f"  ... {len(found)} in all")


def changes(store: Store) -> None:
    title("A transaction: a stop becomes step-free   transaction.diff()")
    stop, gets_to = name("stop:112"), name(":getsTo")
    step_free = name(":stepFree")
    before = len(list(store.quads_for_pattern(stop, gets_to, None)))
    with store.transaction() as transaction:
        for quad in list(transaction.quads_for_pattern(stop, step_free, None)):
            transaction.remove(quad)
        transaction.add(Quad(stop, step_free, Literal("true", datatype=name("xsd:boolean"))))
        difference = transaction.diff()
        print(f"  {len(difference.inferred_added):,} facts would be inferred, such as")
        show(list(difference.inferred_added)[:3])
    print(f"  {transaction.change}")
    after = len(list(store.quads_for_pattern(stop, gets_to, None)))
    print(f"  stops that one gets to from there without a step: {before} before, {after} after")
    print(f"  violations: {len(store.violations())}")


def failing_load(store: Store, folder: Path) -> None:
    title("A truncated file changes nothing")
    good = f'<{name("stop:900").value}> <{name(":fareZone").value}> "1" .\n'
    broken = folder / "broken.nt"
    broken.write_text(good * 3 + good[:60] + "\n")
    before = len(store)
    try:
        store.load(path=broken)
    except TripleStoreError as error:
        print(f"  {type(error).__name__}: {str(error).replace(str(folder) + '/', '')}")
    print(f"  {before:,} quads before, {len(store):,} after")
    assert len(store) == before


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
