"""Encoding on Spark: statements as hashes become statements as ids.

Start reading at `encode`. Each column finds its ids by a join on the 128-bit hash. Such a join is
slow for a term in very many rows, because all rows of a term meet in one task. Therefore the
*common* terms (all predicates and names of graphs if they are few, and terms used more often than
a fair share of a task) are sent to every task and joined in place. Their rows still pass the join
of the other terms, with a key that no term has and that spreads them evenly. So for any data a row
is shuffled at most twice (for subject and object), without strings.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

from triplestore.loaders.spark.importing.collect import AS_GRAPH, AS_PREDICATE, STATEMENT
from triplestore.loaders.spark.importing.number_terms import TermCounts
from triplestore.loaders.spark.thresholds import SPARK


def encode(collected: Any, terms: Any, counts: TermCounts, partitions: int) -> Any:
    """The statements as ids (s, p, o, g; g null in the default graph), with repetitions."""
    statements = collected.where(sf.col("kind") == STATEMENT)
    names = counts.predicates + counts.graphs <= SPARK.broadcast_names
    common = _common(terms, counts, partitions, names)
    rows = statements.select("p1", "p2", "g1", "g2", "s1", "s2", "o1", "o2")
    rows = _with_ids(rows, "p", terms, common, everything=names)
    if counts.graphs:
        rows = _with_ids(rows, "g", terms, common, everything=names)
    else:
        rows = rows.drop("g1", "g2").withColumn("g", sf.lit(None).cast("long"))
    for role in ("s", "o"):
        rows = _with_ids(rows, role, terms, common, everything=False)
    return rows.select("s", "p", "o", "g")


def _common(terms: Any, counts: TermCounts, partitions: int, names: bool) -> Any:
    """The terms that are sent to every task."""
    many = counts.uses // (SPARK.fair_shares * max(partitions, 1)) + 1
    chosen = sf.col("uses") > many
    if names:
        chosen |= sf.col("roles").bitwiseAND(sf.lit(AS_PREDICATE | AS_GRAPH)) != 0
    return terms.where(chosen).select("h1", "h2", sf.col("id").alias("common"))


def _with_ids(rows: Any, role: str, terms: Any, common: Any, *, everything: bool) -> Any:
    """The rows with the ids of one column instead of its hashes.

    everything  whether all terms of this column are common
    """
    one, two = f"{role}1", f"{role}2"
    found = rows.join(sf.broadcast(_named(common, one, two)), [one, two], "left")
    if everything:
        return found.withColumnRenamed("common", role).drop(one, two)
    # Rows that are done match nothing: their second half is null. The first half spreads them.
    done = sf.col("common").isNotNull() | sf.col(one).isNull()
    others = [name for name in rows.columns if name not in (one, two)]
    anywhere = sf.xxhash64(*(sf.col(name) for name in others))
    spread = found.withColumn(one, sf.when(done, anywhere).otherwise(sf.col(one)))
    spread = spread.withColumn(two, sf.when(done, sf.lit(None)).otherwise(sf.col(two)))
    rest = _named(terms.select("h1", "h2", sf.col("id").alias("rare")), one, two)
    joined = spread.join(rest, [one, two], "left")
    return joined.withColumn(role, sf.coalesce("common", "rare")).drop(one, two, "common", "rare")


def _named(terms: Any, one: str, two: str) -> Any:
    return terms.withColumnRenamed("h1", one).withColumnRenamed("h2", two)
