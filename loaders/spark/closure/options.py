"""What a caller may set of a closure on Spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How a closure is computed; nothing here changes the result.

    driver_facts     maximum number of asserted facts that are closed in the driver
    held_rows        maximum number of facts that the driver holds; a round is then one task
    partitions       parts of the known facts, by their hash; None: by the number of facts, at most
                     as many as Spark shuffles into
    broadcast_rows   maximum number of rows that are sent to every executor instead of shuffled
    driver_edges     maximum number of edges of a graph that the driver handles
    most_rounds      maximum number of rounds of one phase; more are an error
    most_runs        maximum number of runs of the known facts, before they are joined to one
    small_rows       maximum number of facts of runs that are joined with each round
    most_terms       maximum number of new terms that expressions make; more are an error
    most_constants   maximum number of pairs of rules that only copy, joined to longer steps
    representatives  whether one of several equal terms stands for all while rules are applied

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
