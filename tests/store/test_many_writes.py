"""Many single writes in one transaction: settled a set at a time, in the order they came."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from triplestore import Store
from triplestore.store.thresholds import STORE

GRAPHS = [DefaultGraph(), DefaultGraph(), NamedNode("http://e/g"), NamedNode("http://e/h")]


def some_quad(rng: random.Random) -> Quad:
    return Quad(
        NamedNode(f"http://e/{rng.randrange(9)}"),
        NamedNode(f"http://e/p{rng.randrange(2)}"),
        Literal(rng.randrange(7)),
        rng.choice(GRAPHS),
    )


@pytest.mark.parametrize("few", [0, 8, 10**6])
@pytest.mark.parametrize("settle_at", [1, 5, 10**6])
@pytest.mark.parametrize("seed", range(3))
def test_writes__the_last_word_on_a_quad_wins(
    few: int, settle_at: int, seed: int, tune: Callable[..., None]
) -> None:
    tune(STORE, single_writes=few, buffered_writes=settle_at)
    rng = random.Random(seed)
    store, model = Store(), set()
    for _ in range(4):
        stated, absent = 0, 0
        with store.transaction() as t:
            for _ in range(60):
                quad = some_quad(rng)
                if rng.random() < 0.6:
                    t.add(quad)
                    stated += quad in model
                    model.add(quad)
                else:
                    t.remove(quad)
                    absent += quad not in model
                    model.discard(quad)
        assert set(store) == model
        assert t.change.already_there == stated
        assert t.change.not_stated == absent


@pytest.mark.parametrize("few", [0, 8])
def test_remove__of_what_nobody_knows__adds_no_term(few: int, tune: Callable[..., None]) -> None:
    tune(STORE, single_writes=few)
    store = Store()
    unknown = Quad(NamedNode("http://e/s"), NamedNode("http://e/p"), Literal("o"), GRAPHS[-1])
    change = store.remove_all([unknown] * 3)
    assert (change.not_stated, change.removed) == (3, 0)
    assert store._database.dictionary.size == 0


def test_extend__with_what_is_no_quad__leaves_the_store_as_it_was() -> None:
    store = Store()
    quads = [some_quad(random.Random(n)) for n in range(20)]
    with pytest.raises(TypeError, match="expected a quad"):
        store.extend([*quads, "no quad"])
    assert len(store) == 0
