"""Closures of a real ontology as its makers publish them, and its history as changes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.closures.reading import all_keys
from triplestore.closures.scheme import PairStream
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.facts.sorted_arrays import without
from triplestore.relations.layers.swap_columns import turned

TRIPLE = re.compile(r"MONDO_(\d+)> <http://example.org/hier#parent> <\S*MONDO_(\d+)>")


def packed(pairs: Any) -> Any:
    return np.array(sorted({int(a) << 32 | int(b) for a, b in pairs}), dtype=np.uint64)


def edges_of(file: Path) -> Iterator[tuple[str, str]]:
    """The pairs of `M:a hier:parent M:b, M:c;` statements."""
    subject, listing = "", False
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            words = line.split('"')[0].replace(",", " ").split()
            for word in words:
                name = word.rstrip(";.")
                if word.startswith("M:") and listing:
                    yield subject, name[2:]
                elif word.startswith("M:"):
                    subject = name[2:]
                elif not word.startswith("@"):
                    listing = name == "hier:parent"
                if word.endswith((";", ".")):
                    listing = False


def published(file: Path) -> Any:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return packed(line.split() for line in lines)


def delta(file: Path) -> tuple[Any, Any]:
    """The edges that went and came."""
    found: dict[str, list[tuple[str, str]]] = {"D": [], "A": []}
    for line in file.read_text(encoding="utf-8").splitlines():
        match = TRIPLE.search(line)
        if match:
            found[line[0]].append((match[1], match[2]))
    return packed(found["D"]), packed(found["A"])


def same(pairs: PairStream, expected: Any) -> None:
    assert pairs.count() == len(expected)
    assert np.array_equal(all_keys(pairs), expected)
    back = np.concatenate([expected[:0], *pairs.blocks(swapped=True)])
    assert np.array_equal(back, turned(expected))


@pytest.mark.slow_kernels
def test_mondo__closures_of_two_releases_and_the_change_between_them(shared_data: Path) -> None:
    folder = shared_data / "obo-hierarchies"
    now = TransitiveClosure.build(packed(edges_of(folder / "mondo.ttl.gz")))
    after = published(folder / "mondo-closure.tsv.gz")
    before = published(folder / "mondo-2025-02-closure.tsv.gz")
    same(now, after)

    gone, come = delta(folder / "mondo-2025-02-to-current.delta.tsv")
    old, back = now.changed(come, gone)  # the earlier release
    same(old, before)
    same(back.lost, without(after, before))
    same(back.gained, without(before, after))

    again, difference = old.changed(gone, come)
    same(again, after)
    same(difference.lost, without(before, after))
    same(difference.gained, without(after, before))
