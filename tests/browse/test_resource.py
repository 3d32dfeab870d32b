"""Resource pages beside loops over all quads."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from browse.random_stores import EX, OWL, TYPE, ex, inferred, random_store, triples, value
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from triplestore import Store
from triplestore.browse.resource import resource, resource_values
from triplestore.browse.term_data import plain_term
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import UsageError


def expected(store: Store, node, direction: str) -> dict[str, dict]:
    """Property -> neighbour -> whether it is only inferred."""
    found: dict = defaultdict(dict)
    only_inferred = inferred(store)
    for s, p, o in triples(store):
        own, other = (s, o) if direction == "out" else (o, s)
        if own == node:
            found[p.value][str(plain_term(other))] = (s, p, o) in only_inferred
    return dict(found)


def shown(page: dict, direction: str) -> dict[str, dict]:
    strip = ("short", "label")
    return {
        value(each["property"]): {
            str({k: v for k, v in one["term"].items() if k not in strip}): one["inferred"]
            for one in each["values"]
        }
        for each in page[direction]
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("regimes", "equality"),
    [((), None), (("rdfs",), None), (("owl-rl",), None), (("owl-rl",), "rewrite")],
)
def test_resource__has_all_facts_around_it_marked(seed, regimes, equality):
    store = random_store(seed, *regimes, equality=equality)
    nodes = {term for s, _, o in triples(store) for term in (s, o)}
    for node in sorted(nodes, key=str)[:12]:
        page = resource(store, node, limit=1000)
        for direction in ("out", "in"):
            assert shown(page, direction) == expected(store, node, direction)
            for each in page[direction]:
                assert each["count"] == len(each["values"])
                marks = [one["inferred"] for one in each["values"]]
                assert each["asserted"] == marks.count(False)
                assert marks == sorted(marks), "asserted values come first"
        json.dumps(page)


@pytest.mark.parametrize("seed", range(6))
def test_resource_values__pages_make_up_the_whole(seed):
    store = random_store(seed, "owl-rl")
    whole = resource(store, ex("i0"), limit=1000)["out"]
    for each in whole:
        name = NamedNode(value(each["property"]))
        pages, offset = [], 0
        while True:
            page = resource_values(store, ex("i0"), name, offset=offset, limit=2)
            pages += page["values"]
            offset += 2
            if not page["more"]:
                break
        assert pages == each["values"]


def test_resource__names_the_graphs_of_a_fact():
    store = Store()
    quad = Quad(ex("a"), ex("p"), ex("b"), ex("g"))
    store.extend([quad, Quad(ex("a"), ex("p"), ex("c"))])
    (only,) = resource(store, ex("a"))["out"]
    graphs = {value(one["term"]): one.get("graphs") for one in only["values"]}
    assert graphs[EX + "c"] is None
    assert [value(graph) for graph in graphs[EX + "b"]] == [EX + "g"]


def test_resource__labels_types_and_equals_stand_out():
    store = Store()
    store.load(
        f"""@prefix : <{EX}> . @prefix owl: <{OWL}> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :a a :C ; owl:sameAs :b ; rdfs:label "Ding"@de, "thing"@en ; rdfs:comment "What"@en .
        :C rdfs:subClassOf :D .""",
        "ttl",
    )
    store.reason("owl-rl")
    page = resource(store, ex("a"))
    assert page["term"]["label"] == "thing"
    assert {each["value"] for each in page["labels"]} == {"Ding", "thing"}
    assert {value(each["term"]): each["inferred"] for each in page["types"]} == {
        EX + "C": False,
        EX + "D": True,
    }
    assert [value(each) for each in page["equal"]] == [EX + "b"]
    assert page["comment"]["value"] == "What"
    german = resource(store, ex("a"), language="de")
    assert german["term"]["label"] == "Ding"


def test_resource__labels_and_descriptions_are_in_the_first_language_that_has_them():
    store = Store()
    texts = {"de": "Ding", "en": "thing", "fr": "chose", "": "plain"}
    tagged = {name: f'"{text}"' + (f"@{name}" if name else "") for name, text in texts.items()}
    store.load(
        f"""@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :a rdfs:label {", ".join(tagged.values())} ; rdfs:comment {", ".join(tagged.values())} .
        :b rdfs:label "Stiege"@de-at, {tagged["en"]} ; rdfs:comment {tagged[""]}, {tagged["fr"]} .
        """,
        "ttl",
    )
    for language, wanted in (("fr,en", "chose"), ("it,de", "Ding"), ("it,es", "plain")):
        page = resource(store, ex("a"), language=language)
        assert (page["term"]["label"], page["comment"]["value"]) == (wanted, wanted), language
    assert resource(store, ex("b"), language="de,en")["term"]["label"] == "Stiege"
    assert resource(store, ex("b"), language="en,de")["term"]["label"] == "thing"
    assert resource(store, ex("b"), language="de,en")["comment"]["value"] == "plain"


@pytest.mark.parametrize("tag", ["zh", "zh-TW", "zh-Hant", "zh-419"])
def test_resource__a_label_of_a_region_is_in_the_language(tag):
    store = Store()
    labels = f'"wanted"@{tag}, "another"@zhx, "more"@en'
    store.load(f"<{EX}a> <http://www.w3.org/2000/01/rdf-schema#label> {labels} .", "ttl")
    assert resource(store, ex("a"), language="zh,en")["term"]["label"] == "wanted"


def test_resource__a_description_is_a_text_before_a_link():
    store = Store()
    comment = "http://www.w3.org/2000/01/rdf-schema#comment"
    store.load(
        f'<{EX}a> <{comment}> <{EX}link>, "text"@fr . <{EX}b> <{comment}> <{EX}link> .', "ttl"
    )
    assert resource(store, ex("a"))["comment"]["value"] == "text"
    assert resource(store, ex("b"))["comment"]["value"] == f"{EX}link"


def test_resource__an_unknown_one_is_empty():
    page = resource(Store(), ex("nothing"))
    assert page["known"] is False
    assert page["out"] == page["in"] == page["labels"] == []


def test_resource__literals_and_blank_nodes_have_pages_too():
    store = Store()
    store.add(Quad(BlankNode("b"), ex("p"), Literal("x")))
    assert resource(store, Literal("x"))["in"][0]["values"][0]["term"]["value"] == "b"
    assert resource(store, BlankNode("b"))["out"][0]["count"] == 1


def test_resource__only_what_is_shown_is_decoded():
    store = Store()
    store.extend(Quad(ex(i), TYPE, ex("C")) for i in range(5000))
    page = resource(store, ex("C"), limit=3)
    (only,) = page["in"]
    assert (only["count"], len(only["values"]), only["more"]) == (5000, 3, True)
    far = resource_values(store, ex("C"), TYPE, "in", offset=4999, limit=10)
    assert len(far["values"]) == 1 and not far["more"]


def test_resource__more_properties_than_listed_are_counted():
    store = Store()
    store.extend(Quad(ex("a"), ex(f"p{i}"), ex("b")) for i in range(9))
    with BROWSE.changed(listed_properties=4):
        page = resource(store, ex("a"))
    assert len(page["out"]) == 4 and page["more_out"] == 5


def test_resource__facts_that_are_no_triples_are_left_out():
    store = Store()
    prefix = f"@prefix : <{EX}> . "
    store.load(prefix + ':a :p "x" .', "ttl")
    store.reason(rules=prefix + ":q[?y, ?x] :- :p[?x, ?y] .")
    assert [value(each["property"]) for each in resource(store, ex("a"))["in"]] == []
    assert len(resource(store, ex("a"))["out"]) == 1


def test_resource_values__another_direction_is_refused():
    with pytest.raises(UsageError, match="direction"):
        resource_values(Store(), ex("a"), ex("p"), "up")
