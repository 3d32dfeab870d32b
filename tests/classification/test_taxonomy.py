"""Taxonomies: direct edges, equivalent and unsatisfiable classes."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pytest
from pyoxigraph import NamedNode

from tests.classification.medicine import NONSENSE, medicine
from triplestore import Store
from triplestore.classification.reduction import direct_pairs
from triplestore.errors import UsageError


def names(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> list[tuple[str, str]]:
    return [(one.value[9:], other.value[9:]) for one, other in pairs]


def test_taxonomy__has_the_classes_just_above() -> None:
    edges = names(medicine().taxonomy().edges)
    assert ("Endocarditis", "Inflammation") in edges
    assert ("Endocarditis", "CardiacDisease") in edges
    assert ("Endocarditis", "Disease") not in edges


def test_taxonomy__has_all_that_are_above_if_asked() -> None:
    edges = names(medicine().taxonomy(direct=False).edges)
    assert ("Endocarditis", "Disease") in edges


def test_taxonomy__equivalent_classes_are_one_node_named_by_the_first() -> None:
    groups = medicine().taxonomy().equivalents
    assert [[one.value[9:] for one in group] for group in groups] == [
        ["CardiacDisease", "HeartDisease"]
    ]


def test_taxonomy__unsatisfiable_classes_are_apart() -> None:
    taxonomy = medicine(NONSENSE).taxonomy()
    assert [one.value for one in taxonomy.unsatisfiable] == ["http://e/Nonsense"]
    assert "Nonsense" not in {one for pair in names(taxonomy.edges) for one in pair}
    assert str(taxonomy).splitlines()[-2:] == ["owl:Nothing", "  :Nonsense"]


def test_taxonomy__is_a_tree_of_lines() -> None:
    lines = str(medicine().taxonomy()).splitlines()
    assert lines[0] == ":Disease"
    assert "  :CardiacDisease = :HeartDisease" in lines
    assert "    :Endocarditis" in lines


def test_taxonomy__without_a_regime_is_refused() -> None:
    with pytest.raises(UsageError, match="owl-el"):
        Store().taxonomy()


@pytest.mark.parametrize("seed", range(20))
def test_direct_pairs__are_the_pairs_without_one_between(seed: int) -> None:
    draw = random.Random(seed)
    size = draw.randint(2, 12)
    above = {(a, b) for a in range(size) for b in range(a + 1, size) if draw.random() < 0.3}
    while more := {(a, d) for a, b in above for c, d in above if b == c} - above:
        above |= more
    wanted = {
        (a, b)
        for a, b in above
        if not any((a, c) in above and (c, b) in above for c in range(size))
    }
    keys = np.sort(np.array([a << 32 | b for a, b in above], dtype=np.uint64))
    found = {(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in direct_pairs(keys)}
    assert found == wanted
