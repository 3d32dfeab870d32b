"""Tables of terms and triples in Parquet, for other tools and for `pull`.

Start reading at `write_tables`, which writes to a path or a URI:

    terms/          id long, key binary, term string (N-Triples); sorted by id
    triples/        s, p, o long; g long, null in the default graph; status int, count long
    manifest.json   written last: the list of files, by which `pull` sees whether all have arrived

Ids have 64 bits. `key` is the dictionary's own form of a term (a byte of kind, and text).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as sf

from triplestore.loaders.spark.importing.pull import MANIFEST, VERSION
from triplestore.loaders.spark.importing.write_store import Extra
from triplestore.loaders.spark.jobs.places import is_uri, join, write_text
from triplestore.loaders.spark.jobs.workers import mapped
from triplestore.terms.term_keys import to_ntriples

_TERMS = pa.schema({"id": pa.int64(), "key": pa.binary(), "term": pa.string()})


def write_tables(
    spark: Any,
    place: str,
    terms: Any,
    triples: Any,
    term_count: int,
    meta: Mapping[str, bytes],
    extra: Extra,
    *,
    sources: int = 0,
    bad: int = 0,
) -> None:
    """Write terms and triples, then the manifest, without which `pull` refuses them."""
    place = place if is_uri(place) else f"file://{place}"
    write_text(spark, join(place, MANIFEST), "{}")  # invalidates the manifest of an earlier job
    spelt = mapped(terms.select("id", "key"), spell, "id long, key binary, term string")
    spelt.write.mode("overwrite").parquet(join(place, "terms"))
    rows = triples
    if "status" not in rows.columns:
        rows = rows.withColumn("status", sf.lit(1)).withColumn("count", sf.lit(0).cast("long"))
    rows.write.mode("overwrite").parquet(join(place, "triples"))
    manifest = {
        "format": VERSION,
        "terms": term_count,
        "triples": spark.read.parquet(join(place, "triples")).count(),
        "files": {name: listed(spark, join(place, name)) for name in ("terms", "triples")},
        "sources": sources,
        "bad": bad,
        "extra": replace(extra, meta={**meta, **extra.meta}).to_json(),
    }
    write_text(spark, join(place, MANIFEST), json.dumps(manifest))


def listed(spark: Any, place: str) -> dict[str, int]:
    """The files of a table and their lengths, as listed by Spark."""
    rows = spark.read.format("binaryFile").load(place).select("path", "length").collect()
    return {row["path"].rsplit("/", 1)[-1]: row["length"] for row in rows}


def spell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The terms with their N-Triples and their keys."""
    for batch in batches:
        keys = batch.column(1)
        terms = pa.array([to_ntriples(key).decode() for key in keys.to_pylist()], pa.string())
        yield pa.RecordBatch.from_arrays([batch.column(0), keys, terms], schema=_TERMS)
