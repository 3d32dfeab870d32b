"""The options of a closure on Spark."""

from __future__ import annotations

from triplestore.data_classes import data_class


@data_class
class Options:
    """How a closure is computed; no option changes the result.

    driver_facts     maximum number of asserted facts that are closed in the driver
    held_rows        maximum number of facts that the driver holds; a round is then one task
    partitions       number of parts of the known facts; None: by the number of facts, at most the
                     number of Spark's shuffle partitions
    broadcast_rows   maximum number of rows sent to every executor instead of shuffled
    driver_edges     maximum number of edges of a graph that the driver handles
    most_rounds      maximum number of rounds of one phase; more are an error
    most_runs        maximum number of tables of known facts, before they are merged
    small_rows       maximum number of facts of tables that are merged with each round
    most_terms       maximum number of new terms of expressions; more are an error
    most_constants   maximum number of longer steps made of rules that only copy
    representatives  whether one of several equal terms represents all while rules are applied

    >>> Options(partitions=4).most_rounds
    10000
    """

    driver_facts: int = 1_000_000
    held_rows: int = 10_000
    partitions: int | None = None
    broadcast_rows: int = 200_000
    driver_edges: int = 1_000_000
    most_rounds: int = 10_000
    most_runs: int = 8
    small_rows: int = 200_000
    most_terms: int = 1_000_000
    most_constants: int = 500_000
    representatives: bool = True
