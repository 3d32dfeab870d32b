"""Views over several relations, against the union of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.closures.reading import Pair, check_readable, keys_of, pairs_of
from tests.closures.test_components import closed
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.closures.union_view import UnionView, is_within
from triplestore.relations.packed_keys import NO_KEYS
from triplestore.relations.pair_relation import Inverse, PairRelation, SortedRelation

pair = st.tuples(st.integers(0, 6), st.integers(0, 6))
pairs = st.sets(pair, max_size=10)
kinds = st.sampled_from(["rows", "symmetric", "inverse", "transitive"])


def relation(kind: str, given_pairs: set[Pair]) -> tuple[PairRelation, set[Pair]]:
    """A relation of some kind made of these pairs, and what it should have."""
    if kind == "symmetric":
        return SymmetricClosure.build(keys_of(given_pairs)), closed(given_pairs)
    if kind == "transitive":
        return TransitiveClosure.build(keys_of(given_pairs)), steps(given_pairs)
    rows = SortedRelation(keys_of(sorted(given_pairs)))
    if kind == "inverse":
        return Inverse(rows), {(b, a) for a, b in given_pairs}
    return rows, given_pairs


def steps(edges: set[Pair]) -> set[Pair]:
    """The pairs that one or more edges lead between."""
    found = set(edges)
    while more := {(a, c) for a, b in found for d, c in edges if d == b} - found:
        found |= more
    return found


class Counting:
    """A relation that may be counted and asked for its nodes, not looked at."""

    def __init__(self, of: PairRelation) -> None:
        self.of = of

    def __getattr__(self, name: str) -> Any:
        if name not in ("count", "distinct", "match_counts"):
            raise AssertionError(f"{name} looks at pairs")
        return getattr(self.of, name)


@pytest.mark.parametrize("small", [512, 0])
@given(st.lists(st.tuples(kinds, pairs), max_size=4), pairs)
def test_union__reads_as_the_union_of_sets(small: int, parts: Any, own: set[Pair]) -> None:
    with CLOSURES.changed(kernel_rows=small, looked_up_pairs=8):
        made = [relation(kind, given_pairs) for kind, given_pairs in parts]
        view = UnionView([part for part, _ in made], keys_of(sorted(own)))
        expected = own.union(*[found for _, found in made])
        check_readable(view, expected, range(8))
        check_readable(Inverse(view), {(b, a) for a, b in expected}, range(8))


def test_union__a_pair_of_two_parts_is_given_once() -> None:
    rows = SortedRelation(keys_of([(1, 2)]))
    view = UnionView([rows, SortedRelation(keys_of([(1, 2)]))], keys_of([(3, 4)]))
    assert view.count() == 2
    assert view.match(0, np.array([1], np.uint32))[1].tolist() == [2]
    assert [pairs_of(block) for block in view.blocks()] == [[(1, 2)], [(3, 4)]]


def test_union__own_rows_alone() -> None:
    check_readable(UnionView([], keys_of([(3, 4)])), {(3, 4)}, [3, 4])


def large_clique(first: int) -> SymmetricClosure:
    return SymmetricClosure.build(keys_of([(i, i + 1) for i in range(first, first + 100_000)]))


def test_count__disjoint_parts_are_not_looked_at() -> None:
    one, other = large_clique(0), large_clique(200_000)
    parts: list[Any] = [Counting(one), Counting(other)]
    assert UnionView(parts).count() == 2 * 100_001**2


def test_count__parts_without_a_common_object_are_not_looked_at() -> None:
    parts: list[Any] = [
        Counting(SortedRelation(keys_of([(1, 2)]))),
        Counting(SortedRelation(keys_of([(1, 3)]))),
    ]
    assert UnionView(parts).count() == 2


def test_count__a_contained_closure_is_not_looked_at() -> None:
    whole, part = large_clique(0), large_clique(0)
    part, _ = part.changed(keys_of([(7, 8)]), NO_KEYS)
    assert is_within(part, whole) and not is_within(whole, part)
    assert is_within(Inverse(part), Inverse(whole)) and is_within(part, Inverse(whole))
    view = UnionView([part, whole, whole], keys_of([(3, 90_000), (200_000, 1)]))
    assert view.count() == 100_001**2 + 1
    assert next(view.blocks()).tolist()[:3] == [0, 1, 2]


def test_count__looks_at_the_smaller_side_of_an_overlap() -> None:
    """A few rows over a large closure cost what the rows have."""
    rows = SortedRelation(keys_of([(3, 4), (3, 200_001), (200_000, 5)]))
    view = UnionView([large_clique(0), rows])
    assert view.count() == 100_001**2 + 2
    counts = view.match_counts(0, np.array([200_000, 5], np.uint32)).tolist()
    assert counts == [1, 100_001]


def test_is_within__edges_decide() -> None:
    """A symmetric closure needs its edges both ways round in a transitive one."""
    edges = keys_of([(1, 2), (2, 3)])
    directed, undirected = TransitiveClosure.build(edges), SymmetricClosure.build(edges)
    cycle = TransitiveClosure.build(keys_of([(1, 2), (2, 3), (3, 1)]))
    assert is_within(directed, undirected) and is_within(undirected, cycle)
    assert not is_within(undirected, directed) and not is_within(cycle, directed)
    assert is_within(SortedRelation(edges), directed) and not is_within(
        directed, SortedRelation(edges)
    )
    assert is_within(Inverse(directed), cycle) and not is_within(Inverse(directed), directed)
