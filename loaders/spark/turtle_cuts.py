"""Turtle and TriG cut between statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a document, with all that a parser needs to read it alone.

    header : the prefixes and the base in force where it begins, and the graph it begins in
    closing : what ends that graph, or the one it ends in
    nodes_before, nodes : anonymous nodes before it and in it
    """

    start: int
    stop: int
    header: bytes
    closing: bytes
    nodes_before: int
    nodes: int


def find_cuts(spark: Any, files: Any, options: Any) -> dict[int, list[Cut]]:
    """None yet."""
    return {}
