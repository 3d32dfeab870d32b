"""What a caller may set of a closure on Spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How a closure is computed; nothing here changes what it is.

    driver_facts     up to so many stated facts are closed in the driver, by a store's own engine
    held_rows        up to so many facts are held by the driver, and a round is one task
    partitions       parts of the known facts, by their hash; None: by how many facts there are,
                     up to as many as Spark shuffles into
    broadcast_rows   up to so many rows are sent to every executor instead of being shuffled
    driver_edges     up to so many edges are looked at by the driver where graphs are taken apart
    most_rounds      a program that needs more rounds in one phase is stopped
    most_runs        of the known facts, before they are joined to one
    small_rows       runs of up to so many facts are joined with each round
    most_terms       a program whose expressions make more new terms is stopped
    most_constants   rules that only copy are joined to longer steps up to so many pairs
    representatives  one term stands for all that are the same while rules are applied, if possible

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
