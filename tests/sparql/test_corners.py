"""Corners of the standard: what counts, what is empty, what is silent."""

from __future__ import annotations

import pytest

from triplestore import Store
from triplestore.errors import UsageError

PREFIX = "PREFIX : <http://e/> "


@pytest.fixture
def store() -> Store:
    made = Store()
    made.update(
        f"{PREFIX} INSERT DATA {{ :a :p :m1, :m2 . :m1 :q :z . :m2 :q :z . :b :p :m1 . "
        ":a :n 1, 2, 3 . :b :n 1 . GRAPH :g { :a :p :b . :b :q :c } }"
    )
    return made


def rows(store: Store, text: str) -> list[tuple[str | None, ...]]:
    """The answers, by the last letters of their terms."""
    return sorted(
        tuple(None if v is None else str(v.value).rpartition("/")[2] for v in row)
        for row in store.query(PREFIX + text)
    )


# --- COUNT(DISTINCT *) ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("?x :p/:q ?y", 2),  # the nodes between are not shown
        ("?x :p _:m . _:m :q ?y", 2),
        ("?x :p [ :q ?y ]", 2),
        ("?x :p ?m . ?m :q ?y", 3),
        ("[] :n ?n", 3),
        ("[] :n []", 1),
        ("[] :nothing []", 0),
        ("?x :n [] { SELECT ?x { ?x :p ?hidden } }", 2),
        ("?x :n [] OPTIONAL { ?x :p/:q ?y }", 2),
        ("{ ?x :p [] } UNION { ?x :n [] }", 2),
        ("?x :n ?n BIND(1 AS ?one)", 4),
        ("GRAPH ?g { ?x :p [] }", 1),
        ("GRAPH ?g { ?x :p/:q ?y }", 1),
        ("?x (:p|:n)+ []", 2),
    ],
)
def test_count_distinct_rows__counts_what_is_shown(store: Store, pattern: str, count: int) -> None:
    text = f"SELECT (COUNT(DISTINCT *) AS ?c) {{ {pattern} }}"
    assert rows(store, text) == [(str(count),)]
    inside = f"SELECT (COUNT(*) AS ?c) {{ SELECT DISTINCT * {{ {pattern} }} }}"
    assert rows(store, inside) == [(str(count),)]


def test_count_distinct_rows__in_groups_and_beside_other_aggregates(store: Store) -> None:
    text = "SELECT ?x (COUNT(DISTINCT *) AS ?c) (COUNT(*) AS ?d) { ?x :p/:q ?y } GROUP BY ?x"
    assert rows(store, text) == [("a", "1", "2"), ("b", "1", "1")]
    text = "SELECT (COUNT(DISTINCT *) AS ?c) (SUM(?n) AS ?d) { ?x :n ?n } GROUP BY (?n > 1)"
    assert rows(store, text) == [("2", "2"), ("2", "5")]


# --- IN of nothing -------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [False, True])
def test_in_of_nothing__is_an_error_without_a_value(store: Store, many: bool) -> None:
    """As every function of what is unbound, but for BOUND, COALESCE and the logical ones."""
    table = " ".join(f"({n} {'UNDEF' if n % 2 else n})" for n in range(40 if many else 4))
    half = 20 if many else 2
    for test, count in (
        ("?v IN ()", 0),
        ("?v NOT IN ()", half),
        ("!(?v IN ())", half),
        ("!(?v NOT IN ())", 0),
        ("COALESCE(?v NOT IN (), true)", 2 * half),
        ("1/0 NOT IN ()", 0),
        ("?v NOT IN () || true", 2 * half),
    ):
        text = f"SELECT ?i {{ VALUES (?i ?v) {{ {table} }} FILTER({test}) }}"
        assert len(rows(store, text)) == count, test


# --- SERVICE -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("SERVICE SILENT <http://x/> { ?x :p ?y }", [(None, None)]),
        ("SERVICE SILENT ?where { ?x :p ?y }", [(None, None)]),
        ("?x :q ?y SERVICE SILENT <http://x/> { ?x :p ?y }", [("m1", "z"), ("m2", "z")]),
        ("?x :q :z OPTIONAL { SERVICE SILENT <x:x> { ?x :p ?y } }", [("m1", None), ("m2", None)]),
        ("?x :q ?y MINUS { SERVICE SILENT <http://x/> { ?x :p ?y } }", [("m1", "z"), ("m2", "z")]),
        ("?x :q ?y FILTER EXISTS { SERVICE SILENT <x:x> { ?x ?p 1 } }", [("m1", "z"), ("m2", "z")]),
        ("{ SERVICE SILENT <x:x> { ?x :p ?y } } UNION { ?x :q ?y FILTER(?x = :m1) }", None),
        ("GRAPH :g { SERVICE SILENT <x:x> { ?x :p ?y } ?x :q ?y }", [("b", "c")]),
        ("GRAPH ?g { SERVICE SILENT <x:x> { ?x :p ?y } ?x :q ?y }", [("b", "c")]),
        ("SERVICE SILENT <x:x> { ?x :p ?y FILTER(?y > 1) } VALUES ?y { 5 }", [(None, "5")]),
    ],
)
def test_silent_service__has_one_empty_solution(
    store: Store, pattern: str, wanted: list[tuple[str | None, ...]] | None
) -> None:
    text = f"SELECT ?x ?y {{ {pattern} }}"
    if wanted is None:
        assert len(rows(store, text.replace("?x ?y", "(COALESCE(?x, :none) AS ?n)"))) == 2
    else:
        assert rows(store, text) == wanted


def test_service__that_is_not_silent_is_refused_with_a_way_out(store: Store) -> None:
    with pytest.raises(UsageError, match=r"SERVICE <http://x/> is not allowed.*allow_service="):
        list(store.query("SELECT * { SERVICE <http://x/> { ?x ?y ?z } }"))
    with pytest.raises(UsageError, match="is not allowed"):
        list(store.query("SELECT * { ?x ?y ?z SERVICE ?x { ?x ?y ?z } }"))
    with pytest.raises(UsageError, match=r"\?where has no value; bind it in the same group"):
        list(store.query("SELECT * { ?x ?y ?z SERVICE ?where { ?x ?y ?z } }"))


def test_silent_service__in_an_update(store: Store) -> None:
    store.update(f"{PREFIX} INSERT {{ :new :is :here }} WHERE {{ SERVICE SILENT <x:x> {{ }} }}")
    assert store.query(f"{PREFIX} ASK {{ :new :is :here }}")
