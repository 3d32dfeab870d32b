"""Relations defined by chains, against evaluating the rules one by one."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.closures.reading import Pair, all_keys, check_pairs, check_readable, keys_of, pairs_of
from triplestore.closures.chains import product_graph
from triplestore.closures.chains.automaton import Automaton
from triplestore.closures.chains.regular_closure import Fact, RegularClosure
from triplestore.closures.chains.regular_rules import ChainRule, regular_system
from triplestore.closures.thresholds import CLOSURES
from triplestore.errors import BudgetError
from triplestore.relations.pair_relation import PairRelation

Relations = dict[Hashable, set[Pair]]


def rules_of(text: str) -> list[ChainRule]:
    """Rules such as `p <- q r-, p <- e`, where `-` turns a relation around."""
    found = []
    for line in text.split(","):
        head, body = line.split("<-")
        letters = tuple((name.rstrip("-"), name.endswith("-")) for name in body.split())
        found.append(ChainRule(head.strip(), letters))
    return found


def evaluated(rules: Sequence[ChainRule], edges: Mapping[Hashable, Iterable[Pair]]) -> Relations:
    """Each rule on all facts, until nothing is new."""
    facts: Relations = {name: set(pairs) for name, pairs in edges.items()}
    defined = {rule.head for rule in rules}
    while True:
        size = sum(map(len, facts.values()))
        for head, body in rules:
            found: set[Pair] | None = None
            for name, turned in body:
                pairs = facts.get(name, set())
                pairs = {(b, a) for a, b in pairs} if turned else pairs
                found = pairs if found is None else joined(found, pairs)
            facts.setdefault(head, set()).update(found or ())
        if sum(map(len, facts.values())) == size:
            return {name: facts.get(name, set()) for name in defined}


def joined(left: set[Pair], right: set[Pair]) -> set[Pair]:
    after: dict[int, list[int]] = {}
    for a, b in right:
        after.setdefault(a, []).append(b)
    return {(a, c) for a, b in left for c in after.get(b, ())}


def packed(edges: Mapping[Hashable, Iterable[Pair]]) -> dict[Hashable, np.ndarray]:
    return {name: keys_of(pairs) for name, pairs in edges.items()}


def automaton_of(rules: Sequence[ChainRule]) -> Automaton:
    found = regular_system(rules)
    assert found is not None
    return found


REGULAR = [
    "p <- e",
    "p <- e f- e",
    "p <- e, p <- p f",
    "p <- e, p <- f p",
    "p <- e, p <- p p",
    "p <- e, p <- p-, p <- p f",
    "p <- e, p <- p-, p <- p p, p <- f p",
    "p <- e, p <- p p, p <- p f, p <- g p",
    "p <- e, p <- p f, p <- g p, p <- p",
    "p <- e, p <- p f g p, p <- p p",
    "p <- e, q <- f, p <- e q, q <- f p, p <- g-",
    "p <- p",
    "p <- e q, q <- f p, q <- g",
    "p <- q e, q <- p f, q <- g, p <- q",
    "p <- e, q <- p-, p <- q-, p <- p p",
    "p <- e, q <- p-, p <- q-, q <- q f",
    "p <- e, q <- p, p <- q-, p <- p p",
    "p <- e, q <- p-, p <- q-, p <- p f, r <- q g, t <- g q-",
    "p <- q, q <- p, p <- p f, q <- e p",
    "p <- e, p <- p p, q <- f p-, q <- q p",
    "t <- e, t <- t t, u <- t, u <- f, u <- u u, v <- u- t",
    "p <- p p",
    "p <- p f, q <- e p-",
    "p <- q r, q <- e q, q <- e, r <- f, r <- r r",
]
NOT_REGULAR = [
    "p <- e, q <- f, p <- e q, q <- f p g-",
    "p <- e, p <- p p p-, p <- p-",
    "p <- e, p <- e p f",
    "p <- e, p <- p-  f",
    "p <- e, p <- p e p e p",
    "p <- e q f, q <- p, p <- e",
    "p <- e, q <- p e, p <- e q, q <- f",
    "p <- q q, q <- p e, q <- f",
]


@pytest.mark.parametrize("text", NOT_REGULAR)
def test_regular_system__other_recursions_have_no_automaton(text: str) -> None:
    assert regular_system(rules_of(text)) is None


def test_regular_system__too_many_states_have_no_automaton() -> None:
    """A relation used as a letter is copied: p9 would be a chain of 2 ** 9 edges."""
    rules = rules_of("p0 <- e" + "".join(f", p{i} <- p{i - 1} p{i - 1}" for i in range(1, 10)))
    assert regular_system(rules) is None
    assert regular_system(rules[:4]) is not None


@pytest.mark.parametrize(
    ("text", "states", "arcs"),
    [
        ("p <- e, p <- p p", 1, 1),
        ("p <- e, p <- p p, p <- p-", 1, 2),
        ("p <- e, p <- p f", 2, 2),
        ("p <- e, q <- p-, p <- q-, p <- p p", 1, 1),
        ("p <- e, p <- p p, q <- p, q <- f, q <- q q", 2, 3),
    ],
)
def test_reduced__is_small(text: str, states: int, arcs: int) -> None:
    found = automaton_of(rules_of(text))
    assert (found.states, len(found.arcs)) == (states, arcs)
    assert found.reduced() == found


def random_edges(rng: random.Random, nodes: list[int], most: int) -> Relations:
    def some() -> set[Pair]:
        return {(rng.choice(nodes), rng.choice(nodes)) for _ in range(rng.randrange(most))}

    return {label: some() for label in ("e", "f", "g", "not a label")}


def check_history(rules: list[ChainRule], seed: int, steps: int = 6) -> None:
    """Build it, change it, and compare each version and each difference with the oracle."""
    rng = random.Random(seed)
    nodes = rng.sample(range(20), 4) + rng.choice([[], [2**32 - 1], [7_000_000_000 % 2**32]])
    automaton = automaton_of(rules)
    edges = random_edges(rng, nodes, rng.choice([2, 8]))
    closure = RegularClosure.build(automaton, packed(edges))
    expected = evaluated(rules, edges)
    if rng.random() < 0.5:
        assert {n: closure.relation(n).count() for n in expected}  # counted before the change
    for _ in range(steps):
        if rng.random() < 0.3:
            nodes.append(rng.randrange(100))
        added, removed = random_edges(rng, nodes, 3), random_edges(rng, nodes, 2)
        for label, pairs in edges.items():
            removed[label] |= set(rng.sample(sorted(pairs), min(len(pairs), rng.randrange(3))))
        before, old = expected, closure
        closure, differences = old.changed(packed(removed), packed(added))
        edges = {label: (edges[label] - removed[label]) | added[label] for label in edges}
        expected = evaluated(rules, edges)
        assert differences.keys() == expected.keys()
        for name, pairs in expected.items():
            check_pairs(differences[name].lost, before[name] - pairs)
            check_pairs(differences[name].gained, pairs - before[name])
            assert closure.relation(name).count() == len(pairs)
            assert old.relation(name).count() == len(before[name])
    for name, pairs in expected.items():
        check_few(RegularClosure.build(automaton, packed(edges)).relation(name), pairs, nodes)
        check_readable(closure.relation(name), pairs, nodes)
        for a in nodes[:3]:
            for b in nodes[:3]:
                check_proof(closure, edges, automaton, name, a, b, (a, b) in pairs)
    assert {n: k.tolist() for n, k in closure.edges.items()} == {
        label: keys_of(sorted(edges.get(label, ()))).tolist() for label in automaton.labels
    }


def check_few(relation: PairRelation, pairs: set[Pair], nodes: list[int]) -> None:
    """Look-ups of few nodes before anything else was asked."""
    ids = np.array(nodes, np.uint32)
    for turned in (False, True):
        wanted = [
            (i, b)
            for i, node in enumerate(nodes)
            for a, b in sorted((y, x) if turned else (x, y) for x, y in pairs)
            if a == node
        ]
        owners, others = relation.match(int(turned), ids)
        assert list(zip(owners.tolist(), others.tolist(), strict=True)) == wanted
        counts = relation.match_counts(int(turned), ids)
        assert counts.tolist() == np.bincount(owners, minlength=len(nodes)).tolist()


def check_proof(
    closure: RegularClosure,
    edges: Relations,
    automaton: Automaton,
    name: Hashable,
    start: int,
    end: int,
    holds: bool,
) -> None:
    """Its facts are edges, lead from one node to the other, and spell a word of the relation."""
    facts = closure.proof(name, start, end)
    assert bool(facts) == holds
    words = automaton.defined[name]
    states, at = {words.start}, start
    for label, subject, obj in facts[::-1] if words.turned else facts:
        assert (subject, obj) in edges[label]
    chain = facts[::-1] if words.turned else facts
    goal = end
    if words.turned:
        at, goal = end, start
    positions = {(state, at) for state in states}
    for fact in chain:
        positions = {
            (arc.target, fact.subject if arc.turned else fact.object)
            for arc in automaton.arcs
            for state, node in positions
            if arc.source == state
            and arc.label == fact.label
            and node == (fact.object if arc.turned else fact.subject)
        }
    if holds:
        assert {(state, goal) for state in words.accepting} & positions


@pytest.mark.parametrize("text", REGULAR)
def test_closure__is_what_the_rules_derive(text: str) -> None:
    for seed in range(3):
        check_history(rules_of(text), seed)


@pytest.mark.parametrize("text", REGULAR)
def test_closure__with_edges_of_no_use_left_out(text: str, trimming: None) -> None:
    for seed in range(2):
        check_history(rules_of(text), 100 + seed, 5)


@pytest.fixture
def trimming(tune: Callable[..., None]) -> None:
    """Edges that are on no way from a start to an end are always left out."""
    tune(CLOSURES, useful_share=2.0)


letters = st.sampled_from(["p", "p", "q", "p-", "q-", "e", "e", "f", "g-"])
bodies = st.lists(letters, min_size=1, max_size=3).map(" ".join)
systems = st.lists(st.tuples(st.sampled_from(["p", "q"]), bodies), min_size=1, max_size=5)


@given(systems, st.integers(0, 1000))
def test_regular_system__any_rules_that_have_an_automaton(
    system: list[tuple[str, str]], seed: int
) -> None:
    rules = rules_of(",".join(f"{head} <- {body}" for head, body in system))
    if regular_system(rules) is not None:
        with CLOSURES.changed(useful_share=2.0 * (seed % 2)):
            check_history(rules, seed, 2)


@pytest.mark.long
@given(systems, st.integers(0, 10**6))
def test_regular_system__any_rules_longer(system: list[tuple[str, str]], seed: int) -> None:
    rules = rules_of(",".join(f"{head} <- {body}" for head, body in system))
    if regular_system(rules) is not None:
        with CLOSURES.changed(useful_share=2.0 * (seed % 2)):
            check_history(rules, seed, 6)


def test_build__leaves_out_what_is_on_no_way() -> None:
    """Parts far away from what is located are not closed over."""
    rules = rules_of("in <- near, in <- in part")
    edges = {"near": [(1, 2)], "part": [(i, i + 1) for i in range(2, 1000)]}
    closure = RegularClosure.build(automaton_of(rules), packed(edges))
    assert closure.relation("in").count() == 999
    far = {"near": [(1, 990)], "part": edges["part"]}
    small = RegularClosure.build(automaton_of(rules), packed(far))
    assert small.relation("in").count() == 11
    assert small.nbytes() < closure.nbytes() / 1.5
    larger, difference = small.changed({}, packed({"near": [(5, 500)]}))
    assert difference["in"].gained.count() == 501 == larger.relation("in").count() - 11


def gene_ontology(folder: Path) -> Relations:
    """Its five relations between terms, by their numbers."""
    names = {
        "rdfs:subClassOf": "is",
        "obo:BFO_0000050": "part",
        "obo:RO_0002211": "regulates",
        "obo:RO_0002212": "negatively",
        "obo:RO_0002213": "positively",
    }
    found: Relations = {name: set() for name in names.values()}
    text = gzip.decompress((folder / "go-edges.ttl.gz").read_bytes()).decode()
    for statement in re.findall(r"^GO:.*?\.$", text, re.DOTALL | re.MULTILINE):
        relation, subject = "", -1
        for name, number in re.findall(r"(?:GO:(?=\d)|([a-z]+:\w+))(\d*)", statement):
            if name:
                relation = names[name]
            elif subject < 0:
                subject = int(number)
            else:
                found[relation].add((subject, int(number)))
    return found


def test_closure__of_the_gene_ontology_is_the_published_one(shared_data: Path) -> None:
    """Offspring by all relations; and what regulates is inherited by and along `is` and `part`."""
    folder = shared_data / "go-2022"
    edges = gene_ontology(folder)
    chains = ", ".join(f"all <- {name}" for name in edges) + ", all <- all all"
    chains += ", is+ <- is, is+ <- is+ is, of <- part, of <- of of, of <- is+ of, of <- of is+"
    closure = RegularClosure.build(automaton_of(rules_of(chains)), packed(edges))
    published = gzip.decompress((folder / "go-offspring-closure.tsv.gz").read_bytes()).decode()
    pairs = [tuple(map(int, line.split())) for line in published.splitlines() if line[0].isdigit()]
    assert pairs_of(all_keys(closure.relation("all"))) == sorted(pairs)
    counts = {name: closure.relation(name).count() for name in ("is+", "of", "all")}
    assert (counts["is+"], counts["all"]) == (484_697, 748_391)
    assert sum(map(len, closure.relation("of").blocks(swapped=True))) == counts["of"]
    some = {name: keys[::50] for name, keys in packed(edges).items()}
    smaller, lost = closure.changed(some, {})
    larger, gained = smaller.changed({}, some)
    for name, count in counts.items():
        assert lost[name].lost.count() == gained[name].gained.count() > 0
        assert smaller.relation(name).count() == count - lost[name].lost.count()
        assert larger.relation(name).count() == count


def test_proof__names_the_edges() -> None:
    rules = rules_of("in <- near, in <- in part-")
    closure = RegularClosure.build(
        automaton_of(rules), packed({"near": [(1, 2)], "part": [(3, 2), (4, 3)]})
    )
    assert closure.proof("in", 1, 4) == [
        Fact("near", 1, 2),
        Fact("part", 3, 2),
        Fact("part", 4, 3),
    ]
    assert closure.proof("in", 2, 4) == [] == closure.proof("in", 1, 99)


def test_build__too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_graph, "NONE", 5)
    rules = automaton_of(rules_of("p <- e, p <- p f"))
    with pytest.raises(BudgetError, match="3 nodes with 2 states"):
        RegularClosure.build(rules, packed({"e": [(1, 2), (2, 3)]}))
