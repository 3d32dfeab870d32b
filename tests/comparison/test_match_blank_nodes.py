"""Blank nodes that are matched: renaming and reordering are no change, for random graphs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from triplestore.comparison.sides.match_blank_nodes import match_blank_nodes
from triplestore.comparison.sides.quad_rows import columns_in, rows_of, within

Row = tuple[int, int, int]
SIZE = 4000


def rows(triples: list[Row]) -> np.ndarray:
    s, p, o = np.array(triples, np.uint32).T
    return rows_of(s, p, o, np.zeros(len(s), np.uint32))


def blanks() -> np.ndarray:
    """Ids from 1,000 on are blank nodes."""
    mask = np.zeros(SIZE, np.bool_)
    mask[1000:] = True
    return mask


def renamed(triples: list[Row], chance: random.Random) -> list[Row]:
    """The same triples with other blank nodes, in another order."""
    fresh = list(range(2500, SIZE))
    chance.shuffle(fresh)
    names: dict[int, int] = {}

    def name(term: int) -> int:
        return term if term < 1000 else names.setdefault(term, fresh[len(names)])

    made = [(name(s), p, name(o)) for s, p, o in triples]
    chance.shuffle(made)
    return made


def difference(old: list[Row], new: list[Row]) -> tuple[int, int]:
    """How many triples only one side has after the matching."""
    one, other = rows(old), rows(new)
    fresh, known = match_blank_nodes(one, other, blanks())
    assert len(set(fresh.tolist())) == len(fresh)
    assert len(set(known.tolist())) == len(known)
    names = np.arange(SIZE, dtype=np.uint32)
    names[fresh] = known
    s, p, o, g = (names[column] for column in columns_in(other))
    matched = rows_of(s, p, o, g)
    return int((~within(one, matched)).sum()), int((~within(matched, one)).sum())


def random_graph(chance: random.Random) -> list[Row]:
    size = chance.randrange(1, 25)
    nodes = [1000 + i for i in range(chance.randrange(1, 12))]
    found = set()
    for _ in range(size):
        terms = [chance.choice([*nodes, 1, 2, 3]) for _ in range(2)]
        found.add((terms[0], 10 + chance.randrange(3), terms[1]))
    return sorted(found)


def axioms(count: int) -> list[Row]:
    """Equivalent classes, each with a list of three and a restriction."""
    found: list[Row] = []
    for i in range(count):
        first, second, third, restriction, whole = (1000 + 5 * i + k for k in range(5))
        found += [(100 + i, 10, whole), (whole, 11, first), (first, 12, 50), (first, 13, second)]
        found += [(second, 12, restriction), (second, 13, third), (third, 12, 51 + i % 3)]
        found += [(third, 13, 9), (restriction, 14, 60 + i % 4), (restriction, 15, 70)]
    return found


def test_match__finds_renamed_random_graphs_equal() -> None:
    for seed in range(150):
        chance = random.Random(seed)
        graph = random_graph(chance)
        assert difference(graph, renamed(graph, chance)) == (0, 0), seed


@pytest.mark.long
def test_match__finds_many_renamed_random_graphs_equal() -> None:
    for seed in range(1000, 6000):
        chance = random.Random(seed)
        graph = random_graph(chance)
        assert difference(graph, renamed(graph, chance)) == (0, 0), seed


def test_match__finds_a_changed_member_of_a_list() -> None:
    old = axioms(40)
    new = [(s, p, 55 if (s, p) == (1002, 12) else o) for s, p, o in old]
    assert difference(old, renamed(new, random.Random(1))) == (1, 1)


def test_match__finds_a_new_axiom_among_equal_ones() -> None:
    old = axioms(20)
    new = axioms(21)
    assert difference(old, renamed(new, random.Random(2))) == (0, 10)
    assert difference(new, renamed(old, random.Random(3))) == (10, 0)


def test_match__keeps_alike_nodes_apart() -> None:
    twins = [(1, 10, 1000 + i) for i in range(30)]
    assert difference(twins, renamed(twins, random.Random(4))) == (0, 0)
    assert difference(twins, renamed(twins[:-1], random.Random(4))) == (1, 0)


def test_match__of_a_ring_of_alike_nodes() -> None:
    ring = [(1000 + i, 10, 1000 + (i + 1) % 7) for i in range(7)]
    two = [(1000 + i, 10, 1000 + (i + 1) % 3) for i in range(3)]
    two += [(1003 + i, 10, 1003 + (i + 1) % 4) for i in range(4)]
    assert difference(ring, renamed(ring, random.Random(5))) == (0, 0)
    assert difference(ring, renamed(two, random.Random(5))) != (0, 0)
