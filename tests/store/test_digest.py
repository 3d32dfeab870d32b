"""The digest: equal for equal data, however they came together, and for nothing else."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from triplestore import Store
from triplestore.cli import main
from triplestore.store import digest as module

NODE = [ox.NamedNode(f"http://e/n{i}") for i in range(3)]
BLANK = [ox.BlankNode(f"b{i}") for i in range(4)]
LITERAL = [ox.Literal("1"), ox.Literal("1", language="en"), ox.Literal(1)]
TERM = [*NODE, *BLANK, *LITERAL]

subjects = st.sampled_from([*NODE, *BLANK])
objects = st.sampled_from(TERM)
graphs = st.sampled_from([ox.DefaultGraph(), NODE[0], BLANK[0]])
inner = st.builds(ox.Triple, subjects, st.sampled_from(NODE), objects)
quads = st.builds(ox.Quad, subjects, st.sampled_from(NODE), objects | inner, graphs)
datasets = st.lists(quads, max_size=12)


def digest_of(data: Any) -> str:
    store = Store()
    store.extend(data)
    return store.digest()


def renamed(term: Any, names: dict[str, str]) -> Any:
    if isinstance(term, ox.BlankNode):
        return ox.BlankNode(names[term.value])
    if isinstance(term, ox.Triple):
        return ox.Triple(*(renamed(part, names) for part in term))
    return term


@given(datasets, st.randoms(use_true_random=False))
def test_digest__does_not_see_labels_order_or_commits(
    data: list[ox.Quad], chance: random.Random
) -> None:
    labels = [node.value for node in BLANK]
    others = [f"x{label}" for label in labels]
    chance.shuffle(others)
    names = dict(zip(labels, others, strict=True))
    turned = [ox.Quad(*(renamed(term, names) for term in quad)) for quad in data]
    chance.shuffle(turned)
    store = Store()
    store.extend([ox.Quad(BLANK[3], NODE[0], BLANK[2])])  # leaves terms behind, and other ids
    store.clear()
    for quad in turned:
        store.add(quad)
    assert store.digest() == digest_of(data)


@given(datasets.filter(bool), quads, st.data())
def test_digest__a_changed_quad_is_another(
    data: list[ox.Quad], new: ox.Quad, choice: st.DataObject
) -> None:
    """More or fewer quads are always told apart; the counts are in the digest."""
    distinct = list(dict.fromkeys(data))
    old = choice.draw(st.sampled_from(distinct))
    fewer = [quad for quad in distinct if quad != old]
    assert digest_of(fewer) != digest_of(distinct)
    if new not in distinct:
        assert digest_of([*distinct, new]) != digest_of(distinct)


ground = st.builds(
    ox.Quad,
    st.sampled_from(NODE),
    st.sampled_from(NODE),
    st.sampled_from([*NODE, *LITERAL]),
    st.sampled_from([ox.DefaultGraph(), NODE[0], NODE[1]]),
)


@given(st.sets(ground, max_size=4), st.sets(ground, max_size=4))
def test_digest__without_blank_nodes_is_equality(one: set[ox.Quad], other: set[ox.Quad]) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)


def chain(length: int, last: str) -> list[ox.Quad]:
    nodes = [ox.BlankNode(f"c{i}") for i in range(length)]
    steps = [ox.Quad(a, NODE[0], b) for a, b in pairwise(nodes)]
    return [
        *steps,
        ox.Quad(nodes[-1], NODE[1], ox.Literal(last)),
        ox.Quad(nodes[0], NODE[2], nodes[0]),
    ]


def test_digest__surroundings_reach_along_a_chain() -> None:
    """Two chains with their ends exchanged: only what is far away tells the beginnings apart."""
    start, other = ox.Literal("start"), ox.Literal("other")

    def pair(first: str, second: str) -> list[ox.Quad]:
        one = chain(100, first)
        two = [ox.Quad(*(_primed(term) for term in quad)) for quad in chain(100, second)]
        tags = [ox.Quad(one[0].subject, NODE[1], start), ox.Quad(two[0].subject, NODE[1], other)]
        return [*one, *two, *tags]

    assert digest_of(pair("a", "b")) != digest_of(pair("b", "a"))


def _primed(term: Any) -> Any:
    return ox.BlankNode(f"{term.value}x") if isinstance(term, ox.BlankNode) else term


def test_digest__sees_which_way_round_nodes_stand() -> None:
    a, b, c = BLANK[:3]
    cycle = [ox.Quad(a, NODE[0], b), ox.Quad(b, NODE[0], c), ox.Quad(c, NODE[0], a)]
    order = [ox.Quad(a, NODE[0], b), ox.Quad(b, NODE[0], c), ox.Quad(a, NODE[0], c)]
    assert digest_of(cycle) != digest_of(order)


def test_digest__cannot_tell_two_triangles_from_a_hexagon() -> None:
    """What its docstring says that it cannot."""
    node = [ox.BlankNode(f"v{i}") for i in range(6)]
    hexagon = [ox.Quad(node[i], NODE[0], node[(i + 1) % 6]) for i in range(6)]
    triangles = [ox.Quad(node[i], NODE[0], node[i // 3 * 3 + (i + 1) % 3]) for i in range(6)]
    assert digest_of(hexagon) == digest_of(triangles)


def test_digest__takes_a_bounded_number_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDS_AT_LEAST", 2)
    monkeypatch.setattr(module, "ROUND_ROWS", 0)
    assert digest_of(chain(50, "a")) == digest_of(reversed(chain(50, "a")))
    assert digest_of(chain(50, "a")) != digest_of(chain(50, "b"))


def test_digest__of_blank_nodes_in_triple_terms() -> None:
    def about(who: Any, other: Any) -> list[ox.Quad]:
        said = ox.Triple(who, NODE[0], ox.Triple(other, NODE[1], NODE[2]))
        return [ox.Quad(NODE[0], NODE[1], said), ox.Quad(BLANK[0], NODE[2], LITERAL[0])]

    assert digest_of(about(BLANK[0], BLANK[1])) != digest_of(about(BLANK[1], BLANK[0]))
    assert digest_of(about(BLANK[2], BLANK[1])) == digest_of(about(BLANK[1], BLANK[2]))
    assert digest_of(about(BLANK[1], BLANK[1])) != digest_of(about(BLANK[1], BLANK[2]))


def test_digest__sees_the_status() -> None:
    rules = "<http://e/n1>[?x, ?y] :- <http://e/n0>[?x, ?y] ."
    first = ox.Quad(BLANK[0], NODE[0], LITERAL[0])
    second = ox.Quad(BLANK[0], NODE[1], LITERAL[0])
    inferred, stated = Store(), Store()
    inferred.extend([first])
    inferred.reason(rules=rules)
    stated.extend([first, second])
    assert len(inferred) == len(stated)
    assert inferred.digest() != stated.digest()
    assert inferred.digest("explicit") == digest_of([first])
    assert inferred.digest("inferred") != stated.digest("inferred") == digest_of([])


def test_digest__sees_which_fact_has_which_status() -> None:
    """As many stated and as many inferred, but not the same ones."""
    forth, back = Store(), Store()
    forth.extend([ox.Quad(NODE[0], NODE[0], NODE[2])])
    forth.reason(rules="<http://e/n1>[?x, ?y] :- <http://e/n0>[?x, ?y] .")
    back.extend([ox.Quad(NODE[0], NODE[1], NODE[2])])
    back.reason(rules="<http://e/n0>[?x, ?y] :- <http://e/n1>[?x, ?y] .")
    assert set(forth) == set(back)
    assert forth.digest() != back.digest()


def test_digest__sees_what_is_no_triple_of_rdf() -> None:
    stores = [Store(), Store()]
    for store in stores:
        store.extend([ox.Quad(NODE[0], NODE[0], LITERAL[0])])
    stores[0].reason(rules="<http://e/n1>[?y, ?x] :- <http://e/n0>[?x, ?y] .")
    assert len(stores[0]) == len(stores[1])
    assert stores[0].digest() != stores[1].digest()


TURTLE = """@prefix : <http://e/> .
:a :p [ :q ( 1 2 [ :r "x"@en ] ) ], [ :q () ] ; :s 1.5, true, "a\\nb", :b .
_:n :p _:n ; :r :a .
"""


@pytest.mark.parametrize("name", ["nt", "ttl", "rdf", "jsonld", "nq", "trig"])
def test_digest__is_the_same_after_a_way_through_any_format(name: str, tmp_path: Path) -> None:
    store = Store()
    store.load(TURTLE, "ttl")
    whole = name in ("nt", "ttl", "rdf")
    text = store.dump(format=name, from_graph=ox.DefaultGraph() if whole else None)
    again = Store(tmp_path / "again")
    again.load(text, name)
    again.optimize()
    assert again.digest() == store.digest()
    again.update("INSERT DATA { <http://e/a> <http://e/s> <http://e/c> }")
    assert again.digest() != store.digest()
    again.update("DELETE DATA { <http://e/a> <http://e/s> <http://e/c> }")
    assert again.digest() == store.digest()
    again.close()


def test_digest__of_the_empty_store_is_one() -> None:
    assert Store().digest() == digest_of([])
    assert len(Store().digest()) == 32


def test_info__prints_the_digest_when_asked(tmp_path: Path) -> None:
    with Store(tmp_path / "db") as store:
        store.load(TURTLE, "ttl")
        expected = store.digest()
    command = ["info", "-l", str(tmp_path / "db")]
    runner = CliRunner()
    assert expected not in runner.invoke(main, command).stdout
    assert runner.invoke(main, [*command, "--digest"]).stdout.splitlines()[-1].split() == [
        "digest",
        expected,
    ]
    text = runner.invoke(main, [*command, "--digest", "--format", "json"]).stdout
    assert json.loads(text)["digest"] == expected
