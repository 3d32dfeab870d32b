"""Counts without rows: always those of the rows, whatever the pattern and the layers of a store."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.sparql.test_plans import nodes, plan
from triplestore import NamedNode, Quad, Store
from triplestore.errors import BudgetError, TimeLimitError, UsageError
from triplestore.sparql.plan.planner import PlanOptions
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query

ROWS = QueryOptions(planning=PlanOptions(counting=False))
PREFIX = "PREFIX : <http://ex.org/>\n"
PREDICATES = ("p", "q", "r", "part", "near", "missing")


def answers(store: Store, text: str, options: QueryOptions) -> list[tuple[str, ...]]:
    found = query(store._view(), PREFIX + text, options)
    return sorted(tuple(map(str, row)) for row in found)


def is_counted(store: Store, text: str) -> bool:
    return any(node["operator"] == "count" for node in nodes(plan(store, PREFIX + text)))


def check(store: Store, text: str, **given: object) -> bool:
    """Compares both ways; returns whether the text was counted without rows."""
    options = QueryOptions(**given)
    rows = QueryOptions(**given, planning=ROWS.planning)
    assert answers(store, text, options) == answers(store, text, rows), text
    return is_counted(store, text)


def iri(name: object) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def changed(store: Store, pick: random.Random, graph: bool) -> None:
    """Adds and removes some facts, in one commit."""
    with store.transaction() as transaction:
        for _ in range(25):
            quad = Quad(
                iri(f"n{pick.randrange(20)}"),
                iri(pick.choice(PREDICATES[:-1])),
                iri(f"n{pick.randrange(20)}"),
                *([iri("g")] if graph and pick.random() < 0.4 else []),
            )
            (transaction.add if pick.random() < 0.75 else transaction.remove)(quad)


def stores(pick: random.Random) -> Iterator[Store]:
    """A store of one layer, of several, with inference and schemes, and with rewritten equality."""
    store = Store()
    changed(store, pick, False)
    yield store
    for _ in range(4):
        changed(store, pick, True)
    yield store
    store.reason(
        rules="""PREFIX : <http://ex.org/>
        :part[?x, ?z] :- :part[?x, ?y], :part[?y, ?z] .
        :q[?x, ?y] :- :p[?x, ?y] .""",
    )
    yield store
    changed(store, pick, True)
    yield store
    same = Store()
    changed(same, pick, False)
    same.load(
        PREFIX
        + "PREFIX owl: <http://www.w3.org/2002/07/owl#> :n1 owl:sameAs :n2 . :n3 :p 1, 'x' .",
        "ttl",
    )
    same.reason("owl-rl", equality="rewrite")
    changed(same, pick, False)
    yield same


def pattern(pick: random.Random, names: list[str], depth: int = 2) -> str:
    """A pattern that hangs together by single variables, mostly."""
    parts, free = [], list(names)
    for _ in range(pick.randrange(1, 4)):
        new = f"?v{pick.randrange(10_000)}"
        ring = pick.choice(free) if pick.random() < 0.2 else new
        one, other = pick.choice(free), pick.choice((new, new, new, ring, ":n1"))
        if pick.random() < 0.5 and other != ":n1":
            one, other = other, one
        predicate = f":{pick.choice(PREDICATES[:-1])}"
        if pick.random() < 0.08:
            predicate = pick.choice((":missing", f"?w{new[2:]}"))
        parts.append(f"{one} {predicate} {other} .")
        free.append(new)
    if depth:
        inner = pick.choice(free)
        below = pattern(pick, [inner], depth - 1)
        kind = pick.randrange(7)
        if kind < 4:
            opening = ("OPTIONAL {", "MINUS {", "FILTER EXISTS {", "FILTER NOT EXISTS {")[kind]
            parts.append(f"{opening} {below} }}")
        elif kind == 4:
            parts.append(f"{{ {below} }} UNION {{ {pattern(pick, [inner], 0)} }}")
        elif kind == 5:
            parts.append(f'FILTER(STRENDS(STR({inner}), "{pick.randrange(10)}"))')
    return " ".join(parts)


TEMPLATES = (
    "SELECT (COUNT(*) AS ?n) {{ {0} }}",
    "SELECT (COUNT(?x) AS ?n) {{ {0} }}",
    "SELECT (COUNT(DISTINCT ?x) AS ?n) {{ {0} }}",
    "SELECT (COUNT(DISTINCT ?x) AS ?d) (COUNT(*) AS ?n) {{ {0} }}",
    "SELECT ?x (COUNT(*) AS ?n) {{ {0} }} GROUP BY ?x",
    "SELECT * {{ ?x :p ?y {{ SELECT ?x (COUNT(*) AS ?n) {{ {0} }} GROUP BY ?x }} }}",
)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 60))]
)
def test_counts__are_those_of_the_rows(seed: int) -> None:
    pick = random.Random(seed)
    counted = 0
    for store in stores(pick):
        for _ in range(8):
            text = pick.choice(TEMPLATES).format(pattern(pick, ["?x"]))
            facts = pick.choice(("all", "all", "explicit", "inferred"))
            counted += check(store, text, facts=facts)
            check(store, text, use_default_graph_as_union=True)
            check(store, text, default_graph=iri("g"))
            check(store, text, equality=pick.choice(("all", "representatives")))
    assert counted > 5


STATISTICS = (
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }",
    "SELECT (COUNT(?o) AS ?n) { ?s ?p ?o FILTER(ISIRI(?o)) }",
    "SELECT (COUNT(?o) AS ?n) { ?s ?p ?o FILTER(ISLITERAL(?o)) }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?o }",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p :n1 }",
    "SELECT ?s (COUNT(*) AS ?n) { ?s :part ?o } GROUP BY ?s",
    "SELECT (COUNT(*) AS ?n) { { ?s :p ?o } UNION { ?s :part ?o } }",
    "SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?x :q ?y } OPTIONAL { ?x :r ?z } }",
    "SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?x :q ?y MINUS { ?y :r ?z } FILTER EXISTS { ?y :p ?w } }",
)


@pytest.mark.parametrize("text", STATISTICS)
def test_statistics__are_exact_after_every_change(text: str) -> None:
    for store in stores(random.Random(text)):
        assert check(store, text) or ":n1" in text  # unless the store has no such term
        check(store, text, facts="explicit")


def test_counts__are_of_rows_where_parts_share_more() -> None:
    store = Store()
    store.load(PREFIX + ":a :p :b, :c . :b :p :a . :a :q :b, :d .", "ttl")
    for text in (
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y . ?x :q ?y }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y . ?y :p ?z . ?z :p ?x }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?x }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y . ?z :q ?w }",
        "SELECT (COUNT(?w) AS ?n) { ?x :p ?y OPTIONAL { ?y :q ?w } }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y FILTER(RAND() < 2) }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y OPTIONAL { ?x :q ?w } OPTIONAL { ?w :p ?v } }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y OPTIONAL { ?x :q ?w } ?v :p ?w . ?v :q ?y }",
        "SELECT (COUNT(*) AS ?n) { { ?x :p ?y OPTIONAL { ?x :q ?w } } { ?x :q ?v OPTIONAL"
        " { ?x :p ?w } } }",
        "SELECT (COUNT(*) AS ?n) { { ?x :p ?y { ?x :q ?w } UNION { ?x :p ?w } OPTIONAL"
        " { ?y :q ?v } } ?u :p ?w . ?u :q ?x }",
    ):
        assert not check(store, text), text


def test_counts__of_other_constants_use_a_kept_plan() -> None:
    store = Store()
    with store.transaction() as transaction:
        for i in range(200):
            transaction.add(Quad(iri(f"s{i}"), iri("p"), iri(f"o{i % 5}")))
            transaction.add(Quad(iri(f"s{i}"), iri("q"), iri(f"z{i % 3}")))
    for i in [0, 1, 2, 3, 4, 9]:
        least = f'FILTER(STR(?z) > "http://ex.org/z{i}")'
        check(store, f"SELECT (COUNT(*) AS ?n) {{ ?s :p :o{i} ; :q ?z {least} }}")


def test_numbers__over_64_bits_are_refused_not_wrong() -> None:
    store = Store()
    store.load(
        PREFIX + "".join(f":a :p{i} {', '.join(map(str, range(9)))} .\n" for i in range(21)), "ttl"
    )
    star = " . ".join(f"?s :p{i} ?o{i}" for i in range(19))
    (row,) = answers(store, f"SELECT (COUNT(*) AS ?n) {{ {star} }}", QueryOptions())
    assert str(9**19) in row[0]
    with pytest.raises(UsageError, match="which is more than 64 bits hold"):
        answers(
            store, f"SELECT (COUNT(*) AS ?n) {{ {star} . ?s :p19 ?y ; :p20 ?z }}", QueryOptions()
        )


def test_counts__keep_to_the_limits_and_leave_nothing_charged() -> None:
    store = Store()
    lines = [
        f"<http://ex.org/s{i}> <http://ex.org/p> <http://ex.org/o{i}> .\n" for i in range(30_000)
    ]
    store.load(
        "".join(lines) + "".join(line.replace("ex.org/p", "ex.org/q") for line in lines), "nt"
    )
    text = PREFIX + "SELECT (COUNT(*) AS ?n) { ?s :p ?o ; :q ?z }"
    with pytest.raises(BudgetError):
        list(store.select(text, budget=200_000))
    with pytest.raises(TimeLimitError):
        list(store.select(text, timeout=0.0))
    assert is_counted(store, text.removeprefix(PREFIX))
