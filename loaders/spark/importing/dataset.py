"""Importing on Spark: from files or tables to a store, or to Parquet tables for `pull`.

Start reading at `import_dataset`. These are the stages. Each is written to the work directory, and
a job that is started again does not repeat it:

    statements  parsed, in chunks: distinct terms, and numbers of them  statements.py, chunks.py
    terms       distinct terms in order                                 number_terms.py
    ids         terms with ids, for tables and closure="spark"          number_terms.py
    triples     statements as ids, for the same                         encode.py
    closure     inferred facts, with closure="spark"                    closure/

Then, on the driver, `write_store` makes a store beside its final place and `put_in_place` renames
it, or `existing_store` changes a store in one commit. So a failed job leaves no store that opens,
and a job that is started again repeats nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from triplestore.errors import UsageError
from triplestore.loaders.spark.closure.options import Options as ClosureOptions
from triplestore.loaders.spark.importing.import_job import Import, ImportRequest
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.write_store import Imported
from triplestore.loaders.spark.jobs.check_workers import check_workers
from triplestore.loaders.spark.jobs.places import is_uri
from triplestore.loaders.spark.jobs.stages import StageListener
from triplestore.storage.files.system import Files, RealFiles

MODES = ("add", "delete", "replace")
CLOSURES = ("local", "spark", "later")


def import_dataset(
    spark: Any,
    source: Any,
    target: str | Path,
    *,
    mode: str = "add",
    graph: Any = None,
    format: str | None = None,
    lenient: bool = False,
    base_iri: str | None = None,
    reason: str | Sequence[str] = (),
    rules: Any = None,
    ontology: Any = None,
    closure: str = "local",
    driver_facts: int | None = None,
    tables: str | None = None,
    work: str | Path | None = None,
    keep_work: bool = False,
    job: str | None = None,
    partitions: int | None = None,
    options: SourceOptions | None = None,
    progress: StageListener | None = None,
    files: Files | None = None,
) -> Imported:
    """Import files (paths, folders, globs, URIs) or a DataFrame of terms into a store.

    target  a path that all nodes share, for a new or existing store; or a URI (`s3a://...`,
        `hdfs://...`) for tables that `pull` turns into a store
    mode  "add" or "delete" the statements of the source, or "replace" the contents of `graph`
    graph  the graph for statements of the default graph: a term, or an IRI
    format, lenient, base_iri, options  how the source is read, see `SourceOptions`
    reason, rules, ontology  arguments of `Store.reason`
    closure  where to infer: "local", in this process; "spark"; "later", in the next process that
        writes to the store
    driver_facts  maximum number of asserted facts that the driver closes itself; 0 for none
    tables  a folder or URI that also gets tables of terms and triples, in Parquet with 64-bit ids
    work  the folder for the results of stages; by default beside the target
    job  the name of the job: a committed job is not done again. Without a name, a job that is
        started again after a failure is recognised by its work directory
    partitions  number of parts of a shuffle

    `progress` is called after each stage with its name and figures.
    """
    graph = ox.NamedNode(graph) if isinstance(graph, str) else graph
    names = (reason,) if isinstance(reason, str) else tuple(reason)
    wish = ImportRequest(
        mode,
        graph,
        names,
        rules,
        ontology,
        closure,
        partitions or _partitions_of(spark),
        files or RealFiles(),
        ClosureOptions() if driver_facts is None else ClosureOptions(driver_facts=driver_facts),
    )
    _check(wish, str(target))
    check_workers(spark)
    reading = options or SourceOptions()
    given = {"format": format, "base_iri": base_iri, "to_graph": graph}
    reading = replace(reading, **{name: value for name, value in given.items() if value})
    reading = replace(reading, lenient=lenient or reading.lenient)
    place = _work_place(str(target), work)
    task = Import(spark, source, str(target), wish, reading, place, job, tables, progress)
    return task.run(keep_work)


def _check(wish: ImportRequest, target: str) -> None:
    if wish.mode not in MODES:
        raise UsageError(f"mode must be one of {', '.join(MODES)}, not {wish.mode!r}")
    if wish.closure not in CLOSURES:
        raise UsageError(f"closure must be one of {', '.join(CLOSURES)}, not {wish.closure!r}")
    if is_uri(target) and (wish.mode != "add" or (wish.infers and wish.closure != "spark")):
        raise UsageError(
            f"{target} is a URI, which gets tables for `pull`: use mode='add', and closure='spark' "
            f"to infer; or give a path for a store"
        )


def _partitions_of(spark: Any) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions", "200"))


def _work_place(target: str, work: str | Path | None) -> str:
    if work is not None:
        return str(work)
    return f"{target.rstrip('/')}.import"
