"""`text:query` in SPARQL: its forms, what it is joined with, its limits and its mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

from tests.text_search.oracle import matching, some_query, some_text
from triplestore import Store
from triplestore.errors import (
    BudgetError,
    CancelledError,
    QuerySyntaxError,
    TimeLimitError,
    UsageError,
)

PREFIXES = """PREFIX text: <http://jena.apache.org/text#> PREFIX : <http://ex.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> """
DATA = """
@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Device ; rdfs:label "Solar panel"@en ; :note "a solar thing" .
:b a :Device ; rdfs:label "Solar heating of water"@en , "Solarheizung"@de .
:c rdfs:label "Wind turbine" ; rdfs:seeAlso "solar" ; :size 12 .
:g1 { :d rdfs:label "Solar farm" . :a rdfs:label "Solar panel"@en }
:g2 { :e rdfs:label "Solar car" }
"""
DEFAULT = NamedNode("urn:x-arq:DefaultGraphNode")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    made = Store()
    made.load(DATA, "trig")
    made.index_text(["rdfs:label", "http://ex.org/note"])
    yield made
    made.close()


def rows(store: Any, where: str, **options: Any) -> list[dict[str, str]]:
    """The rows of a pattern, sorted, by the values of their terms."""
    found = store.select(f"{PREFIXES} SELECT * WHERE {{ {where} }}", **options)
    names = [str(name).lstrip("?") for name in found.variables]
    made = [{name: row[name].value for name in names if row[name]} for row in found]
    return sorted(made, key=lambda row: sorted(row.items()))


def subjects(store: Any, where: str, **options: Any) -> str:
    """The last letters of the values of ?x, sorted."""
    return "".join(sorted(row["x"][-1] for row in rows(store, where, **options)))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ('?x text:query "solar"', "aab"),
        ('?x text:query ("solar")', "aab"),
        ('?x text:query (rdfs:label "solar")', "ab"),
        ('?x text:query (:note "solar")', "a"),
        ('?x text:query (:note rdfs:label "solar")', "aab"),
        ('?x text:query ("sol*" "lang:de")', "b"),
        ('?x text:query ("solar" "lang:EN")', "ab"),
        ('?x text:query ("solar" "lang:none")', "a"),
        ('?x text:query ("solar" 1)', "a"),
        ('?x text:query ("solar" 0)', ""),
        ('?x text:query ("solar" -1)', "aab"),
        ('?x text:query (rdfs:label "solar" 100 "lang:en")', "ab"),
        ('(?x) text:query "solar"', "aab"),
        ('(?x ?s) text:query "solar"', "aab"),
        ('?x text:query ("solar" ?s ?l)', "aab"),
        ('(?x ?s ?l) text:query (rdfs:label "solar" 2)', "ab"),
        ('?x text:query "solar" ; a :Device', "aab"),
        ('?x rdfs:label ?z ; text:query (:note "solar")', "a"),
        ('VALUES ?x { :b :c } ?x text:query "solar"', "b"),
        ('?x a :Device FILTER NOT EXISTS { ?x text:query "heating" }', "a"),
        ('?x a :Device MINUS { ?x text:query "heating" }', "a"),
        ('{ ?x text:query "wind" } UNION { ?x text:query "heating" }', "bc"),
        ('GRAPH :g1 { ?x text:query "solar" }', "ad"),
        ('GRAPH ?g { ?x text:query "solar" }', "ade"),
        ('GRAPH ?g { ?x text:query ("+solar farm car" 1) }', "de"),
        ('GRAPH ?g { ?x text:query "solar" } ?x a :Device', "a"),
        ('VALUES ?q { "wind" "heating" } ?x text:query ?q', "bc"),
        ('BIND("wind" AS ?q) ?x text:query ?q', "c"),
        ('{ SELECT ?x { ?x text:query "wind" } }', "c"),
        ('?x text:query "wind" . ?x text:query "solar"', ""),
        ('?x text:query "no such word"', ""),
    ],
)
def test_forms__find_these_subjects(store: Store, where: str, expected: str) -> None:
    assert subjects(store, where) == expected
    assert subjects(store.snapshot(), where) == expected


def test_outputs__are_score_literal_graph_and_property(store: Store) -> None:
    for where in (
        '(?x ?s ?l ?g ?p) text:query ("+solar +water")',
        '?x text:query ("+solar +water" ?s ?l ?g ?p)',
    ):
        (row,) = store.select(f"{PREFIXES} SELECT * {{ {where} }}")
        assert row["x"] == NamedNode("http://ex.org/b")
        assert row["l"] == Literal("Solar heating of water", language="en")
        assert row["p"] == NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
        assert row["g"] == DEFAULT
        score = row["s"]
        assert isinstance(score, Literal)
        assert score.datatype.value.endswith("#float")
        assert float(score.value) > 0


def test_outputs__the_graph_is_the_active_one(store: Store) -> None:
    for where in (
        'GRAPH ?g { (?x ?s ?l ?g) text:query "solar" }',
        'GRAPH :g2 { (?x ?s ?l ?g) text:query "solar" }',
    ):
        found = {(row["x"][-1], row["g"][-2:]) for row in rows(store, where)}
        assert ("e", "g2") in found
    assert subjects(store, '(?x ?s ?l :g1) text:query "solar"') == ""
    assert subjects(store, f'(?x ?s ?l {DEFAULT}) text:query "wind"') == "c"


def test_outputs__may_be_constants_and_repeated(store: Store) -> None:
    assert subjects(store, '(?x ?s "Solarheizung"@de) text:query "sol*"') == "b"
    assert subjects(store, '(?x ?s ?l ?g :note) text:query "solar"') == "a"
    assert subjects(store, '(?x ?s ?s) text:query "solar"') == ""
    (row,) = rows(store, '(:a ?s ?l) text:query (:note "solar")')
    assert row["l"] == "a solar thing"


def test_scores__order_the_answer(store: Store) -> None:
    where = '(?x ?s) text:query "panel solar"'
    query = f"{PREFIXES} SELECT ?x {{ {where} }} ORDER BY DESC(?s) LIMIT 1"
    assert [row["x"].value for row in store.select(query)] == ["http://ex.org/a"]
    (best,) = rows(store, '(?x ?s) text:query ("panel solar" 1)')
    assert float(best["s"]) == max(float(row["s"]) for row in rows(store, where))


@pytest.mark.parametrize("properties", [None, ["http://ex.org/p"], ["http://ex.org/p", ":q"]])
def test_limits__give_the_best_of_many(properties: list[str] | None) -> None:
    random = Random(5)
    store = Store()
    store.bind("", "http://ex.org/")
    texts = {n: " ".join(["sun"] * random.randrange(1, 9) + ["x"] * (n % 7)) for n in range(900)}
    data = "".join(f'<http://ex.org/{n}> :p "{text} {n}" .' for n, text in texts.items())
    store.load(f"@prefix : <http://ex.org/> . {data}", "ttl")
    store.index_text(properties)
    removed = [n for n in texts if n % 3]
    store.update(
        f"{PREFIXES} DELETE WHERE {{ ?x :p ?o }} ;"
        "INSERT DATA {"
        + "".join(f'<http://ex.org/{n}> :p "{texts[n]} {n}" .' for n in removed)
        + "}"
    )
    every = rows(store, '(?x ?s) text:query "sun"')
    assert len(every) == len(removed)
    scores = sorted((float(row["s"]) for row in every), reverse=True)
    for limit in (1, 5, 40, 500, 5000):
        for given in (f'"sun" {limit}', f':p "sun" {limit}'):
            best = rows(store, f"(?x ?s) text:query ({given})")
            found = sorted((float(row["s"]) for row in best), reverse=True)
            assert found == scores[:limit]
    few = store.select(f'{PREFIXES} SELECT ?x {{ ?x text:query "sun" }} LIMIT 3')
    assert len(few) == 3


def test_substitutions__give_query_strings_and_outputs(store: Store) -> None:
    asked = store.prepare(f"{PREFIXES} SELECT * {{ (?x ?s ?l) text:query ?q }}")
    for word, expected in (("wind", "c"), ("heating", "b"), ("wind", "c"), ("nothing", "")):
        found = asked(q=Literal(word))
        assert "".join(sorted(row["x"].value[-1] for row in found)) == expected
    label = Literal("Solar panel", language="en")
    assert subjects(store, '(?x ?s ?l) text:query "solar"', substitutions={"l": label}) == "a"
    x = {"x": NamedNode("http://ex.org/b")}
    assert len(rows(store, '(?x ?s ?l) text:query "solar"', substitutions=x)) == 1


def test_kept_plans__are_not_used_for_other_query_strings(store: Store) -> None:
    for _ in range(3):
        for word, expected in (("wind", "c"), ("heating", "b"), ("panel", "a")):
            assert subjects(store, f'?x text:query "{word}"') == expected
            assert subjects(store, f'?x text:query (rdfs:label "{word}" 5)') == expected
            assert subjects(store, f'VALUES ?q {{ "{word}" }} ?x text:query ?q') == expected
            assert subjects(store, f'BIND("{word}" AS ?q) ?x text:query ?q') == expected
            assert subjects(store, f'?x text:query "solar" ; :note "{word}"') == ""
        assert subjects(store, '?x text:query "solar" ; :note "a solar thing"') == "aa"
        for limit, expected in ((1, "a"), (2, "ab")):
            assert subjects(store, f'?x text:query (rdfs:label "solar" {limit})') == expected
        for tag, expected in (("de", "b"), ("en", "ab")):
            assert subjects(store, f'?x text:query ("sol*" "lang:{tag}")') == expected


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("?x text:query ()", "the query string is missing"),
        ("?x text:query (rdfs:label)", "the query string is missing"),
        ("?x text:query (5)", "must be a plain string"),
        ('?x text:query "a"@en', "must be a plain string"),
        ('?x text:query ("a" "b")', "is not expected here"),
        ('?x text:query ("a" 1 2)', "is not expected here"),
        ('?x text:query ("a" 1.5)', "limit must be an integer"),
        ('?x text:query ("a" "highlight:s:b")', "highlighting is not supported"),
        ('() text:query "a"', "the list before text:query is empty"),
        ('(?x ?a ?b ?c ?d ?e) text:query "a"', "too many variables"),
        ('(?x ?s) text:query ("a" ?l)', "on both sides"),
        ('?x text:query ("a" ?s 5)', "must be before the variables"),
        ('GRAPH ?g { (?x ?s ?l ?h) text:query "a" }', "write ?g for it"),
    ],
)
def test_forms__that_are_wrong_say_why(store: Store, where: str, problem: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        rows(store, where)
    assert problem in str(error.value)


def test_queries__that_cannot_be_answered_say_why(store: Store) -> None:
    with pytest.raises(UsageError, match="the bracket is not closed, at character 1"):
        rows(store, '?x text:query "(solar"')
    query = f'{PREFIXES} SELECT ?x {{ ?x text:query (rdfs:label "(solar" 5) }}'
    with pytest.raises(UsageError, match="the bracket is not closed, at character 1"):
        store.select(query)  # before rows are read
    with pytest.raises(UsageError, match="has no value when the index is asked"):
        rows(store, "?x rdfs:label ?q . ?x text:query ?q")
    with pytest.raises(UsageError, match="seeAlso> is not in the text index, which has <http"):
        rows(store, '?x text:query (rdfs:seeAlso "solar")')
    with pytest.raises(UsageError, match="needs a text index"):
        rows(Store(), '?x text:query "solar"')
    with pytest.raises(UsageError, match="a subscription cannot follow"):
        store.subscribe(f'{PREFIXES} SELECT ?x {{ ?x text:query "solar" }}')


def test_limits__of_queries_hold() -> None:
    store = Store()
    data = "".join(f'<http://ex.org/{n}> <http://ex.org/p> "sun {n}" .' for n in range(5000))
    store.load(data, "ttl")
    store.index_text()
    with pytest.raises(BudgetError):
        rows(store, '?x text:query "sun"', budget=100_000)
    with pytest.raises(TimeLimitError):
        rows(store, '?x text:query "sun"', timeout=0.0)

    class Now:
        def is_set(self) -> bool:
            return True

    with pytest.raises(CancelledError):
        rows(store, '?x text:query "sun"', cancel=Now())
    assert len(rows(store, '?x text:query "sun"')) == 5000


def test_explain__shows_the_search(store: Store) -> None:
    found = store.select(f'{PREFIXES} SELECT ?x {{ ?x text:query ("solar" "lang:en") }}')
    assert 'text search "solar" lang:en' in str(found.explain())


def test_updates__use_text_queries() -> None:
    store = Store()
    store.load(DATA, "trig")
    store.index_text()
    store.update(
        f'{PREFIXES} INSERT {{ ?x :hit true }} WHERE {{ ?x text:query "heating" }} ;'
        f'INSERT DATA {{ :z rdfs:label "heating" }} ;'
        f'INSERT {{ ?x :hit2 true }} WHERE {{ ?x text:query "heating" }}'
    )
    assert subjects(store, "?x :hit true") == "b"
    assert subjects(store, "?x :hit2 true") == "bz"


def test_datasets__are_those_of_the_query(store: Store) -> None:
    query = f'{PREFIXES} SELECT ?x FROM :g1 FROM :g2 {{ ?x text:query "solar" }}'
    assert sorted(row["x"].value[-1] for row in store.select(query)) == ["a", "d", "e"]
    assert subjects(store, '?x text:query (rdfs:label "solar")', use_default_graph_as_union=True)


@pytest.mark.parametrize("seed", range(3))
def test_queries__agree_with_the_oracle_on_random_data(seed: int) -> None:
    random = Random(seed)
    store = Store()
    texts: dict[object, str] = {f"http://ex.org/{n}": some_text(random) for n in range(80)}
    store.extend(
        (NamedNode(str(name)), NamedNode("http://ex.org/p"), Literal(text))
        for name, text in texts.items()
    )
    store.index_text(languages=[])
    for _ in range(30):
        query = some_query(random)
        found = rows(store, "?x text:query ?q", substitutions={"q": Literal(query)})
        assert {row["x"] for row in found} == matching(query, texts), query
