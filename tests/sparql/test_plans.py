"""The shape of plans: what is looked up, what is scanned, what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from triplestore import Store
from triplestore.errors import BudgetError, TimeLimitError
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query as ask

SIZE = 3000


@pytest.fixture(scope="module")
def store() -> Store:
    """People who know each other; each has a name, and each hundredth is a chief."""
    made = Store()
    lines = []
    for i in range(SIZE):
        lines.append(f"<http://e/n{i}> <http://e/knows> <http://e/n{i * 7 % SIZE}> .")
        lines.append(f"<http://e/n{i}> <http://e/knows> <http://e/n{i * 13 % SIZE}> .")
        lines.append(f'<http://e/n{i}> <http://e/name> "name {i % 50}" .')
        if i % 100 == 0:
            lines.append(f"<http://e/n{i}> <http://e/is> <http://e/Chief> .")
    made.load("\n".join(lines), "nt")
    made.bind("", "http://e/")
    return made


def plan(store: Store, text: str, options: PlanOptions | None = None) -> dict[str, Any]:
    result = ask(store._view(), text, QueryOptions(planning=options))
    found: dict[str, Any] = result.explain_json()
    return found


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for child in tree["children"]:
        yield from nodes(child)


def kinds(tree: dict[str, Any]) -> list[str]:
    return [node["operator"] for node in nodes(tree) if node["operator"] != "project"]


def most_rows(tree: dict[str, Any]) -> int:
    return max(node["rows"] for node in nodes(tree))


def test_order__begins_with_the_rare_pattern(store: Store) -> None:
    text = "SELECT * { ?x :knows ?y . ?y :knows ?z . ?z :is :Chief }"
    tree = plan(store, text)
    assert kinds(tree) == ["probe", "probe", "scan"]
    assert most_rows(tree) < 200
    assert most_rows(plan(store, text, ALL_OFF)) >= 3 * SIZE


def test_order__does_not_depend_on_the_text(store: Store) -> None:
    texts = [
        "SELECT * { ?x :knows ?y . ?y :name ?n . ?x :is :Chief }",
        "SELECT * { ?x :is :Chief . ?x :knows ?y . ?y :name ?n }",
        "SELECT * { ?y :name ?n . ?x :is :Chief . ?x :knows ?y }",
    ]
    assert len({tuple(kinds(plan(store, text))) for text in texts}) == 1


def test_joins__sorted_inputs_are_merged(store: Store) -> None:
    assert kinds(plan(store, "SELECT * { ?x :knows ?y . ?x :name ?n }")) == [
        "merge join",
        "scan",
        "scan",
    ]


def test_filters__come_as_soon_as_they_can(store: Store) -> None:
    text = "SELECT * { ?x :name ?n . ?x :knows ?y . ?y :knows ?z FILTER(?n = 'name 7') }"
    tree = plan(store, text)
    filters = [node for node in nodes(tree) if node["operator"] == "filter"]
    assert filters[0]["children"][0]["operator"] == "scan"


def test_filters__an_iri_is_looked_up(store: Store) -> None:
    tree = plan(store, "SELECT * { ?x :knows ?y FILTER(?y = :n70) }")
    assert most_rows(tree) <= 2
    assert most_rows(plan(store, "SELECT * { ?x :knows ?y FILTER(?y = :n70) }", ALL_OFF)) >= SIZE


def test_optional__of_few_rows_does_not_compute_all_of_the_other_side(store: Store) -> None:
    text = "SELECT * { ?x :is :Chief OPTIONAL { ?x :knows ?y . ?y :name ?n } }"
    tree = plan(store, text)
    assert "for each block" in kinds(tree)
    assert most_rows(tree) < 200
    assert most_rows(plan(store, text, PlanOptions(seeds=False))) >= SIZE


def test_optional__denied_is_an_anti_join(store: Store) -> None:
    text = "SELECT * { ?x :name ?n OPTIONAL { ?x :is ?y } FILTER(!BOUND(?y)) }"
    tree = plan(store, text)
    assert any("(anti)" in node["detail"] for node in nodes(tree))
    assert tree["rows"] == plan(store, text, ALL_OFF)["rows"] == SIZE - 30
    assert "y" in tree["columns"]
    other = "SELECT * { ?x :name ?n OPTIONAL { ?x :is ?y } FILTER(!BOUND(?n)) }"
    assert not any("(anti)" in node["detail"] for node in nodes(plan(store, other)))


def test_exists__of_few_rows_neither(store: Store) -> None:
    text = "SELECT * { ?x :is :Chief FILTER NOT EXISTS { ?x :knows ?y . ?y :name 'name 7' } }"
    assert most_rows(plan(store, text)) < 200


@pytest.mark.parametrize(
    "inner",
    ["?o :knows ?z", "?z :knows ?o FILTER EXISTS { ?z :name ?n }", "?o :knows ?z . ?x :is ?t"],
    ids=["within", "three deep", "looks outside"],
)
def test_exists__one_in_another_is_joined_too(store: Store, inner: str) -> None:
    text = f"""SELECT * {{ ?x :knows ?y FILTER NOT EXISTS {{
      ?o :knows ?y FILTER NOT EXISTS {{ {inner} }} }} }}"""
    tree = plan(store, text)
    assert not any("one by one" in node["detail"] for node in nodes(tree))
    assert most_rows(tree) <= 4 * SIZE


def test_union__of_few_rows_neither(store: Store) -> None:
    text = "SELECT * { ?x :is :Chief { ?x :knows ?y } UNION { ?y :knows ?x } }"
    assert most_rows(plan(store, text)) < 400


def test_distinct__joins_only_for_existence(store: Store) -> None:
    tree = plan(store, "SELECT DISTINCT ?x { ?x :name ?n . ?x :knows ?y . ?y :name ?m }")
    assert most_rows(tree) <= 2 * SIZE
    assert any("(semi)" in node["detail"] for node in nodes(tree))


def test_projection__columns_that_nothing_needs_are_dropped(store: Store) -> None:
    tree = plan(store, "SELECT ?x { ?x :knows ?y . ?y :name ?n }")
    assert all("n" not in node["columns"] for node in nodes(tree))
    off = plan(store, "SELECT ?x { ?x :knows ?y . ?y :name ?n }", ALL_OFF)
    assert off["columns"] == ["x"]


def test_limit__stops_early(store: Store) -> None:
    tree = plan(store, "SELECT * { ?x :knows ?y . ?y :knows ?z . ?z :knows ?w } LIMIT 5")
    assert most_rows(tree) < 2 * SIZE + 1
    assert tree["rows"] == 5


def test_count__of_a_whole_relation_keeps_no_rows(store: Store) -> None:
    text = "SELECT (COUNT(*) AS ?n) { ?x :knows ?y . ?y :knows ?z }"
    tree = plan(store, text, PlanOptions(counting=False))
    (group,) = [node for node in nodes(tree) if node["operator"] == "group"]
    assert group["bytes"] < 10_000


def test_path__begins_at_the_end_that_is_known(store: Store) -> None:
    tree = plan(store, "SELECT ?x { ?x :knows+ :n70 . :n70 :is :Chief }")
    assert "path starts" not in kinds(tree)


def test_path__goes_from_what_is_bound(store: Store) -> None:
    tree = plan(store, "SELECT * { ?x :is :Chief . ?x (:knows/:knows)? ?y }")
    (path,) = [node for node in nodes(tree) if node["operator"] == "path"]
    assert path["children"][0]["rows"] == 30


@pytest.fixture(scope="module")
def hub() -> Store:
    """A node that all others know, and that knows all of them; few others know each other."""
    made = Store()
    lines = []
    for i in range(1, SIZE // 2):
        lines.append(f"<http://e/n0> <http://e/knows> <http://e/n{i}> .")
        lines.append(f"<http://e/n{i}> <http://e/knows> <http://e/n0> .")
        if i % 3 == 0:
            lines.append(f"<http://e/n{i}> <http://e/knows> <http://e/n{i * 7 % 100 + 1}> .")
    made.load("\n".join(lines), "nt")
    made.bind("", "http://e/")
    return made


CYCLES = {
    "triangle": "?x :knows ?y . ?y :knows ?z . ?x :knows ?z",
    "circle": "?x :knows ?y . ?y :knows ?z . ?z :knows ?x FILTER(?z != ?x)",
    "diagonals": "?x :knows ?y . ?y :knows ?z . ?z :knows ?x . ?x :knows ?w . ?w :knows ?y",
}


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("form", ["*", "(COUNT(*) AS ?n)", "DISTINCT ?x"])
def test_cyclic_patterns__hubs_make_no_long_way_round(hub: Store, name: str, form: str) -> None:
    text = f"SELECT {form} {{ {CYCLES[name]} }}"
    tree = plan(hub, text)
    assert "cyclic join" in kinds(tree)
    two = plan(hub, text, PlanOptions(cyclic=False))
    assert tree["rows"] == two["rows"]
    if form == "*":
        found = ask(hub._view(), text)
        assert sorted(map(str, found)) == sorted(
            map(str, ask(hub._view(), text, QueryOptions(planning=PlanOptions(cyclic=False))))
        )
    if name == "triangle":
        assert most_rows(tree) * 20 < most_rows(two)


def test_cyclic_patterns__are_joined_two_at_a_time_where_that_is_as_good(store: Store) -> None:
    tree = plan(store, "SELECT * { ?x :knows ?y . ?y :knows ?z . ?z :knows ?x }")
    (cycle,) = [node for node in nodes(tree) if node["operator"] == "cyclic join"]
    assert cycle["children"][1]["rows"] == cycle["rows"]
    assert cycle["children"][0]["rows"] > SIZE


def test_cyclic_patterns__stop_at_their_limits(hub: Store) -> None:
    text = f"SELECT * {{ {CYCLES['triangle']} }}"
    with pytest.raises(BudgetError):
        len(ask(hub._view(), text, QueryOptions(budget=60_000)))
    with pytest.raises(TimeLimitError):
        len(ask(hub._view(), text, QueryOptions(timeout=0.0)))
    assert len(ask(hub._view(), text + " LIMIT 3")) == 3


def test_cyclic_patterns__close_by_looking_up(store: Store) -> None:
    tree = plan(store, "SELECT * { ?x :knows ?y . ?y :knows ?z . ?z :knows ?x }")
    assert most_rows(tree) <= 4 * SIZE


def test_filters__comparisons_of_the_same_variables_are_one(store: Store) -> None:
    text = (
        "SELECT ?x { ?x :name ?n FILTER(?n > 'name 3') FILTER(?n < 'name 4' || ?n = 'name 9')"
        " FILTER(STRENDS(?n, '1')) FILTER(?n > 5 || ?n != 'name 31') }"
    )
    tree = plan(store, text)
    assert kinds(tree).count("filter") == 2
    assert len(store.query(text)) == 0
    assert len(store.query(text.replace("31", "30"))) == SIZE // 50
