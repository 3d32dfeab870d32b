"""Rows followed over random commits are those of asking anew, under rules and equality too."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed, seeds

from tests.live.followed import Followed
from tests.ontologies.random_ontologies import (
    EQUALITY,
    INDIVIDUALS,
    PLAIN,
    PROPERTIES,
    make_pool,
    schedule,
)
from tests.sparql.generate import BLANKS, GRAPHS, LITERALS, NODES, PREDICATES, Queries, random_data
from triplestore import Quad, Store
from triplestore.rules.thresholds import RULES

PREFIX = "PREFIX ex: <http://ex.org/> "
LATER = ox.NamedNode("http://ex.org/later")  # a graph that comes and goes

RULES_TEXT = """PREFIX ex: <http://ex.org/>
ex:q[?x, ?z] :- ex:q[?x, ?y], ex:q[?y, ?z] .
ex:r[?y, ?x] :- ex:p[?x, ?y], NOT ex:s[?x, ?y] .
ex:s[?x, ?x] :- ex:knows[?y, ?x], ex:q[?x, ?x] .
"""

FIXED = [
    "SELECT * { ?s ?p ?o }",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
    "SELECT ?x ?z { ?x ex:p ?y . ?y ex:q ?z }",
    "SELECT ?x ?y ?z { ?x ex:q ?y OPTIONAL { ?y ex:r ?w . ?w ex:p ?z } }",
    "SELECT DISTINCT ?z { ?x ex:p ?y . ?y ex:q ?z }",
    "SELECT ?z (SUM(?y) AS ?n) { ?x ex:p ?z ; ex:q ?w . ?w ex:r ?v OPTIONAL { ?x ex:s ?y } } "
    "GROUP BY ?z",
    "SELECT ?x ?y { ?x (ex:p|^ex:q)+ ?y FILTER NOT EXISTS { ?y ex:r ?z . ?z ex:s ?x } }",
    "SELECT ?x (CONCAT(STR(?x), STR(?y)) AS ?t) "
    "{ { ?x ex:p ?y } UNION { ?x ex:q ?y MINUS { ?y ex:r ?z } } }",
    "SELECT ?x { ?x ex:p ex:unknown }",
    "SELECT ?x ?y ?z FROM ex:g FROM ex:h { ?x ex:p|ex:q ?y OPTIONAL { ?y ex:r ?z } }",
    "SELECT * FROM ex:g FROM NAMED ex:h { ?x ex:p ?z OPTIONAL { GRAPH ?g { ?x ?q ?y } } }",
    "SELECT ?x ?y FROM ex:later FROM ex:g { ?x ex:p+ ?y }",
    "SELECT ?n { ?x ex:q ?z { SELECT ?z (COUNT(?y) AS ?n) { ?z ex:p ?y } GROUP BY ?z } }",
]

SLICED = [
    "SELECT ?x ?y { ?x ex:p ?y } ORDER BY ?x ?y LIMIT 3",
    "SELECT ?x (COUNT(*) AS ?n) { ?x ex:q ?y } GROUP BY ?x ORDER BY DESC(?n) ?x LIMIT 2 OFFSET 1",
    "SELECT ?x ?z { ?x ex:p ?y { SELECT ?z { ?w ex:q ?z } ORDER BY ?z LIMIT 2 } }",
]


def write_some(rng: Random, store: Store) -> None:
    """One commit of one or a few random quads, added or removed."""
    with store.transaction() as transaction:
        for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
            present = list(store.quads_for_pattern(None, None, None, None, facts="explicit"))
            if rng.random() < 0.5 and present:
                transaction.remove(rng.choice(present))
                continue
            objects = NODES + BLANKS + (LITERALS if rng.random() < 0.5 else [])
            graph = rng.choice([*GRAPHS, LATER]) if rng.random() < 0.3 else ox.DefaultGraph()
            quad = ox.Quad(
                rng.choice(NODES + BLANKS), rng.choice(PREDICATES), rng.choice(objects), graph
            )
            transaction.add(quad)


def follow(seed: int, queries: int, commits: int, rules: str | None = None, **options: Any) -> int:
    """Follow random queries over random commits; how many changes there were."""
    rng = random.Random(seed)
    store = Store()
    store.extend(random_data(rng))
    if rules is not None:
        store.reason(rules=rules)
    followed = Followed(store)
    maker = Queries(rng, 2)
    while len(followed.subscriptions) < queries:
        followed.add(PREFIX + maker.query(), **options)
    for text in FIXED + SLICED:
        followed.add(PREFIX + text)
    for _ in range(commits):
        write_some(rng, store)
        followed.check()
    followed.close()
    return followed.changed


@each_seed(range(3))
def test_subscriptions__equal_asking_anew(seed: int) -> None:
    assert follow(seed, 6, 10) > 20


@each_seed(range(2))
def test_subscriptions_under_rules__equal_asking_anew(seed: int) -> None:
    assert follow(seed, 4, 8, RULES_TEXT) > 20


@pytest.mark.parametrize(
    "options",
    [
        {"facts": "explicit"},
        {"facts": "inferred"},
        {"use_default_graph_as_union": True},
        {"default_graph": [GRAPHS[0], ox.DefaultGraph()], "named_graphs": [GRAPHS[1]]},
    ],
    ids=["explicit", "inferred", "union", "chosen graphs"],
)
def test_subscriptions_to_a_part__equal_asking_anew(options: dict[str, Any]) -> None:
    assert follow(3, 8, 8, RULES_TEXT, **options) > 8


A, B = (str(term) for term in INDIVIDUALS[:2])
P, Q = (str(term) for term in PROPERTIES[:2])
OWL = "PREFIX owl: <http://www.w3.org/2002/07/owl#> "
OF_ONTOLOGIES = [
    OWL + text
    for text in (
        "SELECT * { ?s ?p ?o }",
        "SELECT * { ?s owl:sameAs ?o }",
        f"SELECT * {{ {A} ?p ?o }}",
        f"SELECT * {{ ?x {P} ?y . ?y {Q} ?z }}",
        f"SELECT * {{ ?x {P}|{Q} ?y OPTIONAL {{ ?y {Q} ?z }} }}",
        f"SELECT * {{ ?x {P}+ ?y }}",
        "SELECT * { ?x owl:sameAs* ?y }",
        f"SELECT * {{ ?x {P} ?y FILTER NOT EXISTS {{ ?y {Q} ?x }} }}",
        "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s ?p ?o } GROUP BY ?p",
        "SELECT ?c (COUNT(?x) AS ?n) { ?x a ?c } GROUP BY ?c",
        f"SELECT DISTINCT ?c {{ ?x a ?c ; {P} ?y FILTER(?y = {A} || ?y != {B}) }}",
    )
]


def follow_ontology(seed: int, kind: Any, size: int, steps: int, **reason: Any) -> int:
    """The same over random axioms and facts."""
    rng = Random(seed)
    pool = make_pool(rng, kind, size)
    store = Store()
    written = schedule(rng, pool, steps)
    _, first = next(written)
    store.extend(Quad(*fact) for fact in first)
    store.reason("owl-rl", **reason)
    followed = Followed(store)
    for text in OF_ONTOLOGIES:
        assert followed.add(text)
    for removed, added in written:
        with store.transaction() as transaction:
            for fact in removed:
                transaction.remove(Quad(*fact))
            for fact in added:
                transaction.add(Quad(*fact))
        followed.check()
    followed.close()
    return followed.changed


@pytest.mark.parametrize("equality", ["rules", "rewrite"])
def test_subscriptions_with_equals__equal_asking_anew(equality: str) -> None:
    assert follow_ontology(1, EQUALITY, 40, 12, equality=equality) > 10


def test_subscriptions_where_classes_merge_and_part__equal_asking_anew() -> None:
    store = Store()
    store.update(
        "PREFIX : <http://ex.org/> INSERT DATA "
        "{ :a :p :c . :b :q :d . :c :p :e . :d :q :a . :e a :C . :b :p 1 }"
    )
    store.reason("owl-rl", equality="rewrite")
    followed = Followed(store)
    for text in OF_ONTOLOGIES:
        assert followed.add(text)
    same = "PREFIX : <http://ex.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
    for change in (
        "INSERT DATA { :a owl:sameAs :b }",
        "INSERT DATA { :c owl:sameAs :d }",
        "INSERT DATA { :b owl:sameAs :c ; :p :f }",
        "DELETE DATA { :c owl:sameAs :d }",
        "INSERT DATA { :b owl:sameAs :b }",
        "DELETE DATA { :a owl:sameAs :b }",
        "DELETE DATA { :b owl:sameAs :c }",
    ):
        before = followed.changed
        store.update(same + change)
        followed.check()
        assert followed.changed > before, change
    followed.close()


def test_subscriptions_over_compressed_closures__equal_asking_anew(
    tune: Callable[..., None],
) -> None:
    tune(RULES, compressed_pairs=0, compression=0.0, still_compressed=0)
    assert follow_ontology(2, PLAIN, 50, 12) > 10
    assert follow(5, 4, 10, RULES_TEXT) > 20


def follow_another(seed: int, folder: Path, commits: int, optimize: bool) -> int:
    """The same for a store that follows the commits of another one."""
    rng = random.Random(seed)
    with Store(folder) as writer:
        writer.extend(random_data(rng))
        writer.reason(rules=RULES_TEXT)
        followed = Followed(Store.read_only(folder))
        maker = Queries(rng, 2)
        while len(followed.subscriptions) < 6:
            followed.add(PREFIX + maker.query())
        for text in FIXED + SLICED:
            followed.add(PREFIX + text)
        for step in range(commits):
            for _ in range(rng.choice([1, 1, 3])):
                write_some(rng, writer)
            if optimize and step % 3 == 2:
                writer._database.upkeep.run()
            if followed.store.refresh():
                followed.check()
        followed.close()
    return followed.changed


def test_subscriptions_of_a_reader__follow_another_writer(tmp_path: Path) -> None:
    assert follow_another(1, tmp_path / "one", 8, optimize=False) > 20
    assert follow_another(2, tmp_path / "two", 8, optimize=True) > 20


@pytest.mark.fuzz
def test_subscriptions__equal_asking_anew__fuzz() -> None:
    for seed in seeds(2):
        follow(seed, 8, 8, RULES_TEXT if seed % 2 else None)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_subscriptions__equal_asking_anew_over_ten_thousand_commits(part: int) -> None:
    for seed in range(25):
        follow(1000 + 100 * part + seed, 6, 40, RULES_TEXT if seed % 3 == 0 else None)
