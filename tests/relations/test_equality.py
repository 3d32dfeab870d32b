"""Relations of representatives answer as the facts they stand for; oracle: sets of tuples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest

from triplestore.relations import EXPLICIT, HOLDS, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.packed_keys import high, low, pack
from triplestore.relations.views.equality import Classes, representatives, with_equality
from triplestore.relations.views.virtual import AllFacts

SAME, P, Q = 100, 101, 102
TERMS = range(1, 13)

Fact = tuple[int, int, int]


class World:
    """Random asserted facts and classes, and by sets what holds of representatives and of all."""

    def __init__(self, random: Random) -> None:
        self.heads = dict.fromkeys(TERMS, 0)
        for term in TERMS:
            self.heads[term] = random.choice([term, term, min(term, random.choice(TERMS))])
        for term in TERMS:  # a representative stands for itself
            self.heads[term] = self.heads[self.heads[term]]
            self.heads[term] = self.heads[self.heads[term]]
        self.members: dict[int, list[int]] = {}
        for term, head in self.heads.items():
            self.members.setdefault(head, []).append(term)
        pairs = [(random.choice(TERMS), random.choice(TERMS)) for _ in range(14)]
        self.stated: set[Fact] = {(random.choice([P, Q]), *pair) for pair in pairs}
        self.stated |= {
            (SAME, a, b) for a, b in product(TERMS, TERMS) if self.same(a, b) and a % 3 == b % 2
        }
        many = {head for head, found in self.members.items() if len(found) > 1}
        inferred = {(P, self.heads[random.choice(TERMS)], self.heads[random.choice(TERMS)])}
        images = {(p, self.heads[s], self.heads[o]) for p, s, o in self.stated}
        self.images = images | {(SAME, head, head) for head in many}
        self.reasoned = self.images | inferred
        self.all = {
            (p, s, o)
            for p, a, b in self.reasoned
            for s, o in product(self.members[a], self.members[b])
            if p != SAME or s != o or (p, s, o) in self.stated
        }

    def same(self, a: int, b: int) -> bool:
        return self.heads[a] == self.heads[b] and len(self.members[self.heads[a]]) > 1

    @property
    def classes(self) -> Classes:
        found = {t: h for t, h in self.heads.items() if len(self.members[h]) > 1}
        return Classes.of(np.array([*found], np.uint32), np.array([*found.values()], np.uint32))

    def tables(self) -> tuple[Tables, Tables]:
        """The stored rows, and the tables of representatives."""
        told = {row for row in self.reasoned if row[0] != SAME}  # classes say that of owl:sameAs
        rows = sorted(self.stated | told)
        p, s, o = (np.array(column, np.uint32) for column in zip(*rows, strict=True))
        status = [EXPLICIT if row in self.stated else INFERRED for row in rows]
        facts = ChangedRows.of((p, s, o), status, count=np.arange(len(rows)))
        stored = Tables([Layer.build(Changes(facts=facts))])
        return stored, representatives(stored, self.classes, SAME)


@pytest.fixture(params=range(30))
def world(request: pytest.FixtureRequest) -> World:
    return World(Random(request.param))


def facts_of(tables: Tables, where: int = HOLDS) -> Iterator[Fact]:
    for s, p, o in AllFacts(tables).scan(where):
        yield from zip(p.tolist(), s.tolist(), o.tolist(), strict=True)


def test_representatives__are_the_images_of_what_is_stated(world: World) -> None:
    stored, reasoned = world.tables()
    assert set(facts_of(reasoned)) == world.reasoned
    assert set(facts_of(reasoned, EXPLICIT)) == world.images
    assert reasoned.total(EXPLICIT) == len(world.images)
    assert reasoned.total() == len(world.reasoned)
    for p, s, o in sorted(world.reasoned):  # counters are those of the stored rows
        row = (np.array([s], np.uint32), np.array([o], np.uint32))
        assert reasoned.relation(p).count_of(row) == stored.relation(p).count_of(row)


def test_expanded__all_facts_and_those_that_are_stated(world: World) -> None:
    stored, reasoned = world.tables()
    seen = with_equality(stored, reasoned, world.classes, SAME)
    for where, wanted in (
        (HOLDS, world.all),
        (EXPLICIT, world.stated),
        (INFERRED, world.all - world.stated),
    ):
        assert sorted(facts_of(seen, where)) == sorted(wanted)
        assert seen.total(where) == len(wanted)


def test_expanded__every_way_to_look(world: World) -> None:
    stored, reasoned = world.tables()
    seen = with_equality(stored, reasoned, world.classes, SAME)
    ids = np.array([*TERMS, 50], np.uint32)
    for name in (SAME, P, Q):
        wanted = {(s, o) for p, s, o in world.all if p == name}
        relation = seen.relation(name)
        every = np.array(sorted(product(ids.tolist(), ids.tolist())), np.uint32)
        held = relation.contains((every[:, 0], every[:, 1]))
        assert {tuple(pair) for pair in every[held].tolist()} == wanted
        for place in (0, 1):
            for where in (HOLDS, EXPLICIT, INFERRED):
                index, (found,) = relation.probe((place,), (ids,), where)
                pairs = [(int(ids[i]), int(x)) for i, x in zip(index, found, strict=True)]
                rows = {
                    (pair[place], pair[1 - place])
                    for pair in wanted
                    if where == HOLDS or ((name, *pair) in world.stated) == (where == EXPLICIT)
                }
                assert pairs == sorted(rows)
            sizes = [sum(pair[place] == term for pair in wanted) for term in ids.tolist()]
            assert relation.fanout((place,), (ids,)).tolist() == sizes
            assert relation.distinct(place).tolist() == sorted({pair[place] for pair in wanted})
            keys = np.concatenate([*relation.scan_keys(order=place, block_rows=3), *[[]]])
            ordered = sorted((pair[place], pair[1 - place]) for pair in wanted)
            keys = keys.astype(np.uint64)
            assert list(zip(high(keys).tolist(), low(keys).tolist(), strict=True)) == ordered


def test_classes__without_any() -> None:
    none = Classes.of([], [])
    ids = np.array([3, 4], np.uint32)
    assert none.representatives(ids).tolist() == [3, 4]
    assert none.expand(ids)[1].tolist() == [3, 4]
    assert none.images(pack(ids, ids)).tolist() == pack(ids, ids).tolist()
    assert none == Classes.of(ids[:0], ids[:0]) != Classes.of([1, 2], [1, 1])
