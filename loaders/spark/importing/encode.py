"""Encoding on Spark: statements as hashes become statements as ids.

Start reading at `encode`. Each column finds its ids by a join on the 128-bit hash. What would make
such joins slow are terms that are in very many rows: all rows of one term meet in one task.
Therefore the *common* terms (all predicates and names of graphs if they are few, and whatever is
used more often than a fair part of a task) go to every task and are joined in place. Their rows
still pass the join of the others, because they go the same way, but with a key that no term has
and that spreads them evenly. So a shuffle moves each row at most twice (for subject and object),
without strings, whatever the data look like.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

from triplestore.loaders.spark.importing.collect import AS_GRAPH, AS_PREDICATE, STATEMENT
from triplestore.loaders.spark.importing.number_terms import TermCounts

MOST_NAMES = 100_000
"""Maximum number of predicates and graph names that are all sent to every task; if there are more,
only common ones are."""

FAIR_SHARE = 8
"""A term is common if it alone makes up more than 1/8 of what a task has to join on average."""


def encode(collected: Any, terms: Any, counts: TermCounts, partitions: int) -> Any:
    """The statements as ids (s, p, o, g; g null in the default graph), with repetitions."""
    statements = collected.where(sf.col("kind") == STATEMENT)
    names = counts.predicates + counts.graphs <= MOST_NAMES
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
    """The terms that go to every task."""
    many = counts.uses // (FAIR_SHARE * max(partitions, 1)) + 1
    chosen = sf.col("uses") > many
    if names:
        chosen |= sf.col("roles").bitwiseAND(sf.lit(AS_PREDICATE | AS_GRAPH)) != 0
    return terms.where(chosen).select("h1", "h2", sf.col("id").alias("common"))


def _with_ids(rows: Any, role: str, terms: Any, common: Any, *, everything: bool) -> Any:
    """The rows with the ids of one column instead of its hashes.

    everything  whether all terms of this column are among the common ones
    """
    one, two = f"{role}1", f"{role}2"
    found = rows.join(sf.broadcast(_named(common, one, two)), [one, two], "left")
    if everything:
        return found.withColumnRenamed("common", role).drop(one, two)
    # Nothing to look for: no term has null as half of its hash, and the other half spreads them.
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
