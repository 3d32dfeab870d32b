"""Trees beside slow definitions by sets of pairs."""

from __future__ import annotations

import pytest
from browse.random_stores import (
    EQUIVALENT,
    EX,
    OWL,
    RDF,
    RDFS,
    SKOS,
    SUB_CLASS,
    TYPE,
    ex,
    inferred,
    random_store,
    told,
    triples,
    value,
)
from pyoxigraph import NamedNode, Quad

from triplestore import Store
from triplestore.browse.thresholds import BROWSE
from triplestore.browse.trees import tree_children, tree_path
from triplestore.errors import UsageError

VOCABULARY = (OWL, RDFS, RDF)


def is_node(term) -> bool:
    return isinstance(term, NamedNode) and not term.value.startswith(VOCABULARY)


def closure(pairs: set[tuple]) -> set[tuple]:
    found = set(pairs)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def slow_tree(store: Store) -> tuple[dict[frozenset, set[frozenset]], set[frozenset]]:
    """Children of each group of equal classes, and the groups without parents."""
    every = triples(store)
    pairs = {(s, o) for s, p, o in every if p == SUB_CLASS and s != o}
    reasoned = len(store.program.rules) > 0
    same = {(s, o) for s, p, o in every if p == EQUIVALENT}
    same = set() if reasoned else same | {(o, s) for s, o in same}
    asserted = {(s, o) for s, p, o in triples(told(store)) if p == SUB_CLASS and s != o}
    nodes = {o for _, p, o in every if p == TYPE} | {t for pair in same for t in pair}
    nodes |= {term for s, p, o in every if p == SUB_CLASS for term in (s, o)}
    nodes = {node for node in nodes if is_node(node)}
    below = closure(pairs if reasoned else asserted | same)
    group = {
        node: frozenset({node} | {o for o in nodes if (node, o) in below and (o, node) in below})
        for node in nodes
    }
    parents = {
        (group[a], group[b])
        for a in nodes
        for b in nodes
        if (a, b) in below and group[a] != group[b]
    }
    if reasoned:  # the transitive reduction
        direct = {
            (a, b)
            for a, b in parents
            if not any((a, c) in parents and (c, b) in parents for c in group.values())
        }
    else:  # all that is asserted, also over anonymous classes
        hops = asserted | same
        direct = {
            (group[a], group[b])
            for a, b in _over_anonymous(hops)
            if a in nodes and b in nodes and group[a] != group[b]
        }
    children: dict[frozenset, set[frozenset]] = {}
    for a, b in direct:
        children.setdefault(b, set()).add(a)
    return children, set(group.values()) - {a for a, _ in direct}


def _over_anonymous(pairs: set[tuple]) -> set[tuple]:
    found = set(pairs)
    for _ in range(4):
        found |= {
            (a, d) for a, b in found for c, d in pairs if b == c and not is_node(b) and a != d
        }
    return found


def group_of(item: dict) -> frozenset:
    terms = [item["term"], *item.get("equal", ())]
    return frozenset(NamedNode(value(term)) for term in terms)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("regimes", "equality"),
    [((), None), (("rdfs",), None), (("owl-rl",), None), (("owl-rl",), "rewrite")],
)
def test_class_tree__is_the_transitive_reduction_of_the_classes(seed, regimes, equality):
    store = random_store(seed, *regimes, graphs=False, equality=equality)
    children, roots = slow_tree(store)
    items = tree_children(store, "class")["items"]
    assert {group_of(item) for item in items} == roots
    open_, seen = items, set()
    while open_:
        item = open_.pop()
        group = group_of(item)
        if group in seen:
            continue
        seen.add(group)
        below = tree_children(store, "class", NamedNode(value(item["term"])))["items"]
        assert {group_of(each) for each in below} == children.get(group, set())
        assert item["children"] == len(below)
        open_ += below
    assert seen == roots | {a for found in children.values() for a in found}


@pytest.mark.parametrize("seed", range(8))
def test_class_tree__counts_asserted_and_inferred_members(seed):
    store = random_store(seed, "owl-rl")
    asserted = told(store)
    only_inferred = inferred(store)
    for item in tree_children(store, "class")["items"]:
        node = NamedNode(value(item["term"]))
        expected = sum(1 for quad in asserted if quad.predicate == TYPE and quad.object == node)
        assert item["asserted"] == expected
        more = sum(1 for _, p, o in only_inferred if p == TYPE and o == node)
        # In the default graph a triple may be inferred that a named graph asserts.
        elsewhere = sum(
            1
            for quad in store.quads_for_pattern(None, TYPE, node, facts="inferred")
            if (quad.subject, TYPE, node) not in only_inferred
        )
        assert item["inferred"] == more + elsewhere


@pytest.mark.parametrize("seed", range(6))
def test_property_tree__counts_triples(seed):
    store = random_store(seed, "rdfs")
    for item in tree_children(store, "property")["items"]:
        node = NamedNode(value(item["term"]))
        explicit = list(store.quads_for_pattern(None, node, None, facts="explicit"))
        more = list(store.quads_for_pattern(None, node, None, facts="inferred"))
        assert (item["asserted"], item["inferred"]) == (len(explicit), len(more))


def loaded(text: str, *regimes: str) -> Store:
    store = Store()
    prefixes = f"@prefix : <{EX}> . @prefix rdfs: <{RDFS}> . @prefix skos: <{SKOS}> .\n"
    store.load(prefixes + text, "ttl")
    if regimes:
        store.reason(*regimes)
    return store


def names(items: list[dict]) -> list[str]:
    return [value(item["term"]).removeprefix(EX) for item in items]


def test_tree__cycles_are_one_node_and_end():
    text = ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf :A , :D ."
    for regimes in ((), ("owl-rl",)):
        store = loaded(text, *regimes)
        (root,) = tree_children(store, "class")["items"]
        assert names([root]) == ["D"]
        (below,) = tree_children(store, "class", ex("D"))["items"]
        assert len(below["equal"]) == 2 and below["children"] == 0
        for name in "ABC":  # each of them opens the same node
            assert tree_children(store, "class", ex(name))["total"] == 0
            assert len(tree_path(store, "class", ex(name))) == 2


def test_tree__an_axiom_without_a_pair_gives_an_edge():
    owl = "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
    store = loaded(owl + ":C owl:equivalentClass [ owl:intersectionOf ( :A :B ) ] .", "owl-rl")
    assert names(tree_children(store, "class")["items"]) == ["A", "B"]
    assert names(tree_children(store, "class", ex("A"))["items"]) == ["C"]


def test_tree__a_rule_of_users_gives_an_edge():
    store = loaded(":A rdfs:subClassOf :B . :A :within :Z .", "rdfs")
    store.reason(
        rules=f"@prefix : <{EX}> . @prefix rdfs: <{RDFS}> . "
        "rdfs:subClassOf[?x, ?y] :- :within[?x, ?y] ."
    )
    assert names(tree_children(store, "class", ex("Z"))["items"]) == ["A"]


def test_tree__too_many_pairs_are_not_reduced():
    text = ":A rdfs:subClassOf :B , :C . :B rdfs:subClassOf :C ."
    store = loaded(text, "rdfs")
    assert names(tree_children(store, "class", ex("C"))["items"]) == ["B"]
    with BROWSE.changed(reduced_pairs=0):
        store = loaded(text, "rdfs")
        assert names(tree_children(store, "class", ex("C"))["items"]) == ["A", "B"]


def test_tree__children_are_sorted_by_label_and_paged():
    store = loaded(
        ':z rdfs:subClassOf :T ; rdfs:label "Alpha" . :y rdfs:subClassOf :T ; rdfs:label "beta" . '
        ":Gamma rdfs:subClassOf :T ."
    )
    whole = tree_children(store, "class", ex("T"))
    assert names(whole["items"]) == ["z", "y", "Gamma"]
    page = tree_children(store, "class", ex("T"), offset=1, limit=1)
    assert (names(page["items"]), page["total"], page["more"]) == (["y"], 3, True)
    with BROWSE.changed(sorted_children=1):
        assert set(names(tree_children(store, "class", ex("T"))["items"])) == {"z", "y", "Gamma"}


def test_tree__follows_commits():
    store = loaded(":A rdfs:subClassOf :B .", "rdfs")
    assert tree_children(store, "class", ex("B"))["total"] == 1
    before = store.snapshot()
    store.add(Quad(ex("X"), SUB_CLASS, ex("B")))
    assert tree_children(store, "class", ex("B"))["total"] == 2
    assert tree_children(before, "class", ex("B"))["total"] == 1
    store.remove(Quad(ex("A"), SUB_CLASS, ex("B")))
    assert names(tree_children(store, "class", ex("B"))["items"]) == ["X"]


def test_tree_path__is_a_way_of_direct_edges():
    store = loaded(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C , :D .", "owl-rl")
    way = [value(item["term"]) for item in tree_path(store, "class", ex("A"))]
    assert way in ([EX + "C", EX + "B", EX + "A"], [EX + "D", EX + "B", EX + "A"])
    assert tree_path(store, "class", ex("unknown")) == []


CONCEPTS = """
:s a skos:ConceptScheme ; skos:hasTopConcept :weather .
:weather a skos:Concept ; skos:narrower :rain . :snow skos:broader :weather .
:fog a skos:Concept ; skos:inScheme :s . :alone a skos:Concept . :doc :about :rain .
"""


@pytest.mark.parametrize("regimes", [(), ("skos",)])
def test_concept_tree__begins_with_schemes(regimes):
    store = loaded(CONCEPTS, *regimes)
    assert names(tree_children(store, "concept")["items"]) == ["alone", "s"]
    assert names(tree_children(store, "concept", ex("s"))["items"]) == ["fog", "weather"]
    below = tree_children(store, "concept", ex("weather"))["items"]
    assert names(below) == ["rain", "snow"]
    assert [(item["asserted"], item["inferred"]) for item in below] == [(1, 0), (0, 0)]


def test_tree__an_empty_store_has_empty_trees():
    for kind in ("class", "property", "concept"):
        assert tree_children(Store(), kind)["items"] == []


def test_tree__another_kind_is_refused():
    with pytest.raises(UsageError, match="kind"):
        tree_children(Store(), "things")
