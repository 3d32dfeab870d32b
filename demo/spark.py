"""The demo's data through Spark: `python -m demo.spark [folder]`, or `make demo-spark`.

The result is the store that loading and inferring on this machine makes: the digests are equal.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from demo.__main__ import QUESTIONS, RULES, title, triplestore
from demo.files import make_files
from demo.vocabulary import name
from triplestore import Store, TripleStoreError
from triplestore.loaders.spark.java import find_java
from triplestore.loaders.spark.session import pyspark_module

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo-spark"
MASTER = "local[2]"
REGIMES = ("owl-rl", "skos")
CLOSURE = "spark"


def main(folder: Path = FOLDER) -> None:
    require_spark()
    if folder.exists():
        shutil.rmtree(folder)
    title("The files: a city's public transport, made for this demo")
    files = make_files(folder)
    in_default = [path for what, path in files.items() if what != "register"]
    graph = name("graph:register").value
    for what, path in files.items():
        print(f"  {what:<10} {path.name:<16} {path.stat().st_size / 1000:8.1f} kB")

    on_spark, here = folder / "spark.db", folder / "local.db"
    title("Importing them with Spark: one job, stage by stage, into a store")
    chosen = ("--master", MASTER, "--partitions", "4", "--report", folder / "report.json")
    regimes = [part for regime in REGIMES for part in ("--reason", regime)]
    infer = (*regimes, "--rules", RULES, "--closure", CLOSURE)
    triplestore("import", "-l", on_spark, *chosen, *infer, *in_default)
    title("Another file into the same store, as a named graph")
    triplestore("import", "-l", on_spark, "--master", MASTER, "--graph", graph, files["register"])

    title("The same on this machine alone: load, and infer")
    triplestore("load", "-l", here, "--quiet", *(p for path in in_default for p in ("-f", path)))
    triplestore("load", "-l", here, "--quiet", "-f", files["register"], "--graph", graph)
    chosen_regimes = [part for regime in REGIMES for part in ("--regime", regime)]
    triplestore("reason", "-l", here, "--quiet", *chosen_regimes, "--rules", RULES)

    title("Are they the same?   store.digest()")
    compare(on_spark, here)
    for question, query in QUESTIONS.items():
        title(question)
        triplestore("query", "-l", on_spark, "-q", query)
    title("It is a store like any other: deleting a stop removes what was inferred from it")
    with Store(on_spark) as store:
        print(f"  {store.update('DELETE WHERE { stop:112 ?p ?o }')}")
    triplestore("verify", "-l", on_spark, "--closure")
    print(f"\nThe store remains in {on_spark}, the job's report in {folder / 'report.json'}")


def require_spark() -> None:
    """End with a message of one line if a requirement is missing."""
    try:
        pyspark_module()
        find_java()
    except TripleStoreError as error:
        sys.exit(f"triplestore: {error}")


def compare(*places: Path) -> None:
    digests = []
    for place in places:
        with Store.read_only(place) as store:
            digests.append(store.digest())
            counts = f"{store.count('explicit'):,} asserted, {store.count('inferred'):,} inferred"
            print(f"  {place.name:<10} {digests[-1]}   {counts}")
    if len(set(digests)) > 1:
        sys.exit("the digests differ, which is a bug: please report it")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
