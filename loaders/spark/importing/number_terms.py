"""The dictionary on Spark: distinct terms to dense ids in the order of their keys.

Start reading at `ordered_terms` and `numbered`. The plan:

1. The terms of all tasks (distinct in each chunk of a task, see `collect`) are partitioned by
   ranges of their keys. This is the only shuffle of strings; a term that is everywhere comes once
   from each chunk.
2. In its range each term becomes one row: its uses are added, its roles combined. The ranges are
   partitioned by key, so this shuffles nothing.
3. Each range is sorted and written, with a running number whose high bits are the number of
   the range. The counts of the ranges, a few numbers on the driver, turn it into the id: the
   rank of the key, which depends on the set of terms only, not on the ends of the ranges.

Always true: ids are 1, 2, ... without gaps, in the order of the keys' bytes, which is the order of
the local loader. `check_hashes` ensures that no two terms have the same hash.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

from triplestore.data_classes import data_class
from triplestore.errors import StorageError
from triplestore.loaders.spark.importing.collect import AS_GRAPH, AS_PREDICATE, TERM
from triplestore.terms.term_keys import to_ntriples

_RANGE_BITS = 33  # of a running number, by `monotonically_increasing_id`
_SHOWN = 3


def ordered_terms(collected: Any, partitions: int) -> Any:
    """The distinct terms (key, h1, h2, uses, roles, place), each range sorted by key.

    `place` is only right for the rows that are written: compute it once, and read it back.
    """
    terms = collected.where(sf.col("kind") == TERM).select("key", "h1", "h2", "uses", "roles")
    distinct = (
        terms.repartitionByRange(partitions, "key")
        .groupBy("key")
        .agg(
            sf.min("h1").alias("h1"),
            sf.min("h2").alias("h2"),
            sf.sum("uses").alias("uses"),
            sf.bit_or("roles").alias("roles"),
        )
    )
    return distinct.sortWithinPartitions("key").withColumn(
        "place", sf.monotonically_increasing_id()
    )


@data_class
class TermCounts:
    """Numbers of terms on the driver.

    ranges      for each range, the number of terms in the ranges before it
    terms       number of terms
    uses        number of uses of all terms together
    predicates  number of terms used as predicates
    graphs      number of terms used as names of graphs
    """

    ranges: tuple[int, ...]
    terms: int
    uses: int
    predicates: int
    graphs: int


def count_terms(ordered: Any) -> TermCounts:
    """The counts, by one pass over the result of `ordered_terms`."""
    by_range = (
        ordered.groupBy(sf.shiftright("place", _RANGE_BITS).cast("int").alias("range"))
        .agg(
            sf.count("*").alias("terms"),
            sf.sum("uses").alias("uses"),
            sf.sum(_is_used_as(AS_PREDICATE)).alias("predicates"),
            sf.sum(_is_used_as(AS_GRAPH)).alias("graphs"),
        )
        .collect()
    )
    sizes = {row["range"]: row["terms"] for row in by_range}
    before, starts = 0, []
    for number in range(max(sizes, default=-1) + 1):
        starts.append(before)
        before += sizes.get(number, 0)
    return TermCounts(
        tuple(starts),
        before,
        sum(row["uses"] for row in by_range),
        sum(row["predicates"] for row in by_range),
        sum(row["graphs"] for row in by_range),
    )


def numbered(spark: Any, ordered: Any, counts: TermCounts) -> Any:
    """The terms with their ids: a DataFrame of (id, key, h1, h2, uses, roles)."""
    starts = spark.createDataFrame(
        list(enumerate(counts.ranges)) or [(0, 0)], "range int, before long"
    )
    place = sf.col("place")
    return (
        ordered.withColumn("range", sf.shiftright(place, _RANGE_BITS).cast("int"))
        .join(sf.broadcast(starts), "range")
        .select(
            (sf.col("before") + place.bitwiseAND(sf.lit((1 << _RANGE_BITS) - 1)) + 1).alias("id"),
            "key",
            "h1",
            "h2",
            "uses",
            "roles",
        )
    )


def check_hashes(terms: Any) -> None:
    """Raise if two terms have the same hash; costs a shuffle of 16 bytes per term."""
    twice = terms.groupBy("h1", "h2").count().where(sf.col("count") > 1).limit(_SHOWN).collect()
    if not twice:
        return
    first = twice[0]
    same = (sf.col("h1") == first["h1"]) & (sf.col("h2") == first["h2"])
    keys = terms.where(same).select("key").orderBy("key").limit(_SHOWN).collect()
    shown = " and ".join(to_ntriples(bytes(row["key"])).decode() for row in keys)
    raise StorageError(
        f"{shown} have the same 128-bit hash, so their statements cannot be distinguished; nothing "
        f"was imported: run the job again with another hash (salt=1)"
    )


def _is_used_as(role: int) -> Any:
    return (sf.col("roles").bitwiseAND(sf.lit(role)) != 0).cast("long")
