"""Property paths where equals are rewritten: as on a plain store of everything that is listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest
from pyoxigraph import NamedNode, Quad
from support.fuzzing import seeds

from tests.ontologies.random_ontologies import (
    EQUALITY,
    EVERYTHING,
    INDIVIDUALS,
    LINKED,
    MANY,
    MERGED,
    META,
    PROPERTIES,
    make_pool,
)
from tests.reasoning.equality_schedules import fresh
from triplestore import Store

PREFIXES = """PREFIX ex: <http://example.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
SAME = "owl:sameAs"
GRAPHS = [NamedNode("http://example.org/g1"), NamedNode("http://example.org/g2")]


def path(random: Random, depth: int = 2) -> str:
    """A random property path, often over owl:sameAs."""
    if depth == 0 or random.random() < 0.2:
        return random.choice([SAME, SAME, "a", "rdfs:subClassOf", *map(str, PROPERTIES)])
    inner = path(random, depth - 1)
    match random.randrange(7):
        case 0:
            return f"({inner})*"
        case 1 | 2:
            return f"({inner})+"
        case 3:
            return f"({inner})?"
        case 4:
            return f"^({inner})"
        case 5:
            return f"!({random.choice([SAME, f'^{SAME}', 'a'])}|{random.choice(PROPERTIES)})"
        case _:
            return f"({inner}){random.choice('/|')}({path(random, depth - 1)})"


def pattern(random: Random, names: str = "xy") -> str:
    ends = [f"?{name}" if random.random() < 0.7 else str(random.choice(MANY[:4])) for name in names]
    return f"{ends[0]} {path(random)} {ends[1]}"


def where(random: Random) -> str:
    """The pattern of a query, with paths in all places where one may stand."""
    one, other = pattern(random), pattern(random, random.choice(["yz", "xy", "yx"]))
    return random.choice(
        [
            one,
            f"{one} . {other}",
            f"{one} FILTER EXISTS {{ {other} }}",
            f"{one} FILTER NOT EXISTS {{ {other} }}",
            f"{one} MINUS {{ {other} }}",
            f"{one} OPTIONAL {{ {other} }}",
            f"{{ {one} }} UNION {{ {other} }}",
            f"{one} {{ SELECT DISTINCT ?y {{ {other} }} }}",
            f"GRAPH ?g {{ {one} }} {other}",
            f"GRAPH {GRAPHS[0]} {{ {one} }}",
            f"VALUES ?x {{ {MANY[0]} {MANY[1]} }} {one}",
        ]
    )


def query(random: Random) -> str:
    datasets = ["", "", "", f"FROM {GRAPHS[0]} FROM {GRAPHS[1]}"]
    heads = ["SELECT *", "SELECT DISTINCT *", "SELECT (COUNT(*) AS ?n)"]
    return f"{random.choice(heads)} {random.choice(datasets)} WHERE {{ {where(random)} }}"


def stated_in_graphs(random: Random, pool: list[tuple[object, ...]]) -> list[Quad]:
    chosen = random.sample(pool, min(len(pool), 6))
    return [Quad(*fact, random.choice(GRAPHS)) for fact in chosen]


def plain(store: Store, facts: str) -> Store:
    """A store without rules that states what another one lists."""
    found = Store()
    found.extend(Quad(*quad) for quad in store.quads_for_pattern(None, None, None, facts=facts))
    return found


def bag(store: Store, text: str, facts: str = "all") -> Counter[str]:
    return Counter(map(str, store.query(PREFIXES + text, facts=facts)))


@pytest.mark.fuzz
def test_paths__over_rewritten_terms_are_those_over_the_facts_listed() -> None:
    for seed in seeds(3):
        random = Random(seed)
        kind = random.choice([EQUALITY, LINKED, MERGED, EVERYTHING, META])
        pool = make_pool(random, kind, random.choice((15, 30)))
        with fresh(pool, "rewrite") as store:
            tuning = {"schemes": random.choice(("auto", "compressed"))}
            store.extend(stated_in_graphs(random, pool))
            store.reason(tuning=tuning, scope=random.choice(("default", "union")))
            for facts in ("all", "explicit", "inferred"):
                with plain(store, facts) as other:
                    for _ in range(8):
                        text = query(random)
                        if facts == "inferred" and ("GRAPH" in text or "FROM" in text):
                            continue  # these graphs are there, though they have no such facts
                        found, wanted = bag(store, text, facts), bag(other, text)
                        assert found == wanted, (kind.name, facts, text)


@pytest.mark.fuzz
def test_updates__with_paths_over_rewritten_terms() -> None:
    for seed in seeds(2):
        random = Random(seed)
        pool = make_pool(random, random.choice([EQUALITY, LINKED]), 20)
        stores = [fresh(pool, mode) for mode in ("rules", "rewrite")]
        in_graphs = stated_in_graphs(random, pool)
        for store in stores:
            store.extend(in_graphs)
        for _ in range(4):
            p = random.choice(PROPERTIES)
            # Words of the vocabulary would become the same as each other.
            named = " ".join(map(str, INDIVIDUALS[:4]))
            chosen = f"{where(random)} VALUES ?x {{ {named} }} VALUES ?y {{ {named} }}"
            template = random.choice(["?x ex:p ?y", f"?y {p} ?x"])
            written = f"?x {p} ?y"
            text = random.choice(
                [
                    f"DELETE {{ {written} }} WHERE {{ {chosen} }}",
                    f"INSERT {{ {template} }} WHERE {{ {chosen} }}",
                    f"DELETE {{ {written} }} INSERT {{ {template} }} WHERE {{ {chosen} }}",
                ]
            )
            done = [store.update(PREFIXES + text) for store in stores]
            one, other = (listed(store) for store in stores)
            assert one == other, text
            assert done[0].added == done[1].added, text
            assert done[0].removed == done[1].removed, text


def listed(store: Store) -> set[str]:
    """All that is listed, but types in classes without a name."""
    quads: Iterable[Quad] = store.quads_for_pattern(None, None, None, None)
    return {str(quad) for quad in quads if not str(quad.object).startswith("_:")}


def test_paths__of_owl_same_as_lead_back_to_where_they_began() -> None:
    store = Store()
    store.load(f"{PREFIXES} ex:a {SAME} ex:b . ex:b {SAME} ex:c . ex:b ex:p ex:x .", "turtle")
    store.reason("owl-rl", equality="rewrite")
    assert len([*store.query(f"{PREFIXES} SELECT * {{ ?x {SAME} ?y }}")]) == 6
    assert len([*store.query(f"{PREFIXES} SELECT * {{ ?x {SAME}+ ?y }}")]) == 9
    assert store.query(f"{PREFIXES} ASK {{ ex:c {SAME}+ ex:c }}")
    assert store.query(f"{PREFIXES} ASK {{ ex:c {SAME}/ex:p ex:x }}")
