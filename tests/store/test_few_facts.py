"""Look-ups of one subject or object, and descriptions: few facts are read as lists, like blocks."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad
from pyoxigraph import Store as Peer

from triplestore import Store
from triplestore.relations import lookup


def random_quads(random: Random) -> list[Quad]:
    nodes = [NamedNode(f"http://ex.org/n{i}") for i in range(6)]
    nodes += [BlankNode(f"b{i}") for i in range(4)]
    objects = [*nodes, Literal(1), Literal("x", language="en")]
    predicates = [NamedNode(f"http://ex.org/p{i}") for i in range(4)]
    return [
        Quad(random.choice(nodes), random.choice(predicates), random.choice(objects))
        for _ in range(random.choice([5, 60]))
    ]


@pytest.mark.parametrize("seed", range(10))
def test_few_facts__are_those_of_blocks_and_of_pyoxigraph(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    store, peer = Store(), Peer()
    for _ in range(3):  # several layers, with removals
        quads = random_quads(random)
        store.load("\n".join(f"{quad} ." for quad in quads), "nt")
        gone = random.sample(list(store), min(len(store), 3))
        for quad in list(store):
            peer.add(quad)
        store.remove_all(gone)
        for quad in gone:
            peer.remove(quad)
    if seed % 3 == 0:
        store.add(
            (
                NamedNode("http://ex.org/n1"),
                NamedNode("http://ex.org/p1"),
                Literal(2),
                NamedNode("g:1"),
            )
        )
        peer.add(
            Quad(
                NamedNode("http://ex.org/n1"),
                NamedNode("http://ex.org/p1"),
                Literal(2),
                NamedNode("g:1"),
            )
        )
    monkeypatch.setattr(lookup, "FEW", random.choice([1, 3, 64]))
    terms = {term for quad in store for term in (quad.subject, quad.object)}
    terms |= {NamedNode("http://ex.org/absent")}
    for term in terms:
        if not isinstance(term, Literal):
            found = list(store.quads_for_pattern(term, None, None))
            assert len(found) == len(set(found))
            assert set(found) == set(peer.quads_for_pattern(term, None, None))
        if isinstance(term, NamedNode):
            described = list(store.query(f"DESCRIBE {term}"))
            assert len(described) == len(set(described))
            monkeypatch.setattr(lookup, "FEW", -1)
            assert set(store.query(f"DESCRIBE {term}")) == set(described)
            monkeypatch.undo()
        assert set(store.quads_for_pattern(None, None, term)) == set(
            peer.quads_for_pattern(None, None, term)
        )


def test_few_facts__inferred_and_asserted_ones_are_told_apart() -> None:
    store = Store()
    a, p = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")
    store.add((a, p, a))
    store.add_rules("<http://ex.org/q>[?x, ?y] :- <http://ex.org/p>[?x, ?y] .")
    found = {
        facts: {
            quad.predicate.value[-1] for quad in store.quads_for_pattern(a, None, None, facts=facts)
        }
        for facts in ("all", "explicit", "inferred")
    }
    assert found == {"all": {"p", "q"}, "explicit": {"p"}, "inferred": {"q"}}
