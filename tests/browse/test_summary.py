"""The summary of a store, compared with plain loops over its quads."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store
from triplestore.browse.ontology_triples import ontology_triples
from triplestore.browse.summary import describe_store
from triplestore.browse.thresholds import BROWSE
from triplestore.terms.vocabulary import RDF_TYPE

PREFIXES = """@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
EX = "http://ex.org/"


def loaded(turtle: str) -> Store:
    store = Store()
    store.load(PREFIXES + turtle, "ttl")
    return store


def item(found: dict, section: str, short: str) -> dict:
    (each,) = [each for each in found[section]["items"] if each["term"]["short"] == short]
    return each


def shorts(terms: list[dict]) -> list[str]:
    return [term["short"] for term in terms]


# --- counts and shares beside plain loops --------------------------------------------------------

NODES = [NamedNode(f"{EX}{name}") for name in "abcd"]
CLASSES = [NamedNode(f"{EX}{name}") for name in ("A", "B", "C")]
PROPERTIES = [NamedNode(f"{EX}{name}") for name in ("p", "q")]

facts = st.one_of(
    st.builds(Quad, st.sampled_from(NODES), st.just(NamedNode(RDF_TYPE)), st.sampled_from(CLASSES)),
    st.builds(
        Quad,
        st.sampled_from(NODES),
        st.sampled_from(PROPERTIES),
        st.sampled_from([*NODES, Literal("x")]),
    ),
)


@settings(max_examples=40)
@given(st.lists(facts, min_size=1, max_size=14), st.booleans())
def test_summary__has_the_counts_of_plain_loops(some: list[Quad], infers: bool) -> None:
    store = Store()
    store.extend(some)
    if infers:
        store.reason(
            rules="@prefix : <http://ex.org/> . :B[?x] :- :A[?x] . :q[?x, ?y] :- :p[?x, ?y] ."
        )
    found = describe_store(store, shape=10)
    for section, key in (("classes", lambda q: q.object), ("properties", lambda q: q.predicate)):
        is_class = section == "classes"
        totals = [Counter(), Counter()]
        for number, which in enumerate(("explicit", "inferred")):
            for quad in store.quads_for_pattern(None, None, None, facts=which):
                if (quad.predicate.value == RDF_TYPE) == is_class:
                    totals[number][key(quad).value] += 1
        counted = {
            each["term"]["value"]: (each["asserted"], each["inferred"])
            for each in found[section]["items"]
        }
        assert counted == {
            name: (totals[0][name], totals[1][name]) for name in totals[0] | totals[1]
        }
        sums = [sum(counts) for counts in counted.values()]
        assert sums == sorted(sums, reverse=True)


@settings(max_examples=40)
@given(st.lists(facts, min_size=1, max_size=14), st.lists(facts, max_size=4))
def test_summary__has_the_shares_of_plain_loops(some: list[Quad], removed: list[Quad]) -> None:
    store = Store()
    store.extend(some)
    store.remove_all(removed)
    members, having = defaultdict(set), defaultdict(set)
    for quad in store:
        if quad.predicate.value == RDF_TYPE:
            members[quad.object].add(quad.subject)
        else:
            having[quad.predicate, "properties"].add(quad.subject)
            having[quad.predicate, "inverse"].add(quad.object)
    for each in describe_store(store, shape=10)["classes"]["items"]:
        own = members[NamedNode(each["term"]["value"])]
        for role in ("properties", "inverse"):
            shares = {shape["property"]["value"]: shape["share"] for shape in each[role]}
            assert shares == {
                name.value: round(len(own & nodes) / len(own), 3)
                for (name, of), nodes in having.items()
                if of == role and own & nodes
            }


# --- what is said --------------------------------------------------------------------------------


def test_summary__names_the_smallest_class_that_nearly_all_have() -> None:
    store = loaded(
        """ex:Dog rdfs:subClassOf ex:Animal . ex:Cat rdfs:subClassOf ex:Animal .
        ex:rex a ex:Dog ; ex:chases ex:tom , ex:kit . ex:tom a ex:Cat . ex:kit a ex:Cat .
        ex:ben a ex:Dog ; ex:chases ex:rex , ex:tom , ex:kit ; ex:weighs 3 , 4.5 , "much"@en ."""
    )
    store.reason("owl-rl")
    found = describe_store(store)
    chases = item(found, "properties", "ex:chases")
    assert shorts(chases["subjects"]) == ["ex:Dog"]
    assert shorts(chases["objects"]) == ["ex:Animal"]  # four cats of five are not nearly all
    weighs = item(found, "properties", "ex:weighs")
    assert set(shorts(weighs["objects"])) == {"xsd:integer", "xsd:decimal", "rdf:langString"}


def test_summary__has_what_axioms_state() -> None:
    store = loaded(
        """ex:p rdfs:domain ex:A ; rdfs:range ex:B ; rdfs:subPropertyOf ex:q .
        ex:A rdfs:subClassOf ex:Top ; rdfs:label "an A" ; rdfs:comment "what A is" .
        ex:x a ex:A ; ex:p ex:y ."""
    )
    found = describe_store(store)
    p, a = item(found, "properties", "ex:p"), item(found, "classes", "ex:A")
    assert (shorts(p["domain"]), shorts(p["range"])) == (["ex:A"], ["ex:B"])
    assert shorts(p["superproperties"]) == ["ex:q"]
    assert (a["term"]["label"], a["comment"]) == ("an A", "what A is")
    assert (shorts(a["superclasses"]), shorts(a["examples"])) == (["ex:Top"], ["ex:x"])
    assert shorts(p["objects"]) == ["rdfs:Resource"]


def test_summary__lists_the_most_used_and_says_how_many_there_are() -> None:
    store = loaded("".join(f"ex:x{n} a ex:C{n % 7} ; ex:p{n % 9} {n} ." for n in range(60)))
    found = describe_store(store, classes=2, properties=3, examples=0)
    assert found["classes"]["total"] == 7
    assert [each["term"]["short"] for each in found["classes"]["items"]] == ["ex:C0", "ex:C1"]
    assert (found["properties"]["total"], len(found["properties"]["items"])) == (9, 3)
    assert found["classes"]["items"][0]["examples"] == []


def test_summary__lists_terms_of_owl_apart() -> None:
    found = describe_store(loaded("ex:C a owl:Class . ex:x a ex:C ."))
    assert [each["term"]["short"] for each in found["classes"]["items"]] == ["ex:C"]
    listed = {each["term"]["short"]: each["asserted"] for each in found["vocabulary"]}
    assert listed == {"owl:Class": 1, "rdf:type": 2}


def test_summary__of_an_ontology_without_members_begins_with_the_most_general_classes() -> None:
    store = loaded(
        """ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C . ex:D a owl:Class .
        ex:p a owl:ObjectProperty . ex:q a owl:ObjectProperty ; rdfs:subPropertyOf ex:p ."""
    )
    store.reason("rdfs")
    found = describe_store(store)
    listed = [(each["term"]["short"], each["subclasses"]) for each in found["classes"]["items"]]
    assert listed == [("ex:C", 2), ("ex:B", 1), ("ex:A", 0), ("ex:D", 0)]
    listed = [(each["term"]["short"], each["axioms"]) for each in found["properties"]["items"]]
    assert listed == [("ex:p", 1), ("ex:q", 0)]
    assert {each["term"]["short"] for each in found["vocabulary"]} >= {"owl:Class", "rdf:type"}


def test_summary__about_some_terms_describes_only_these() -> None:
    store = loaded("ex:x a ex:A ; ex:p 1 . ex:y a ex:B ; ex:q 1 .")
    found = describe_store(store, about=[NamedNode(EX + "A"), NamedNode(EX + "q")])
    assert [each["term"]["short"] for each in found["classes"]["items"]] == ["ex:A"]
    assert [each["term"]["short"] for each in found["properties"]["items"]] == ["ex:q"]
    assert "vocabulary" not in found
    assert describe_store(store, about=[])["classes"]["items"] == []


def test_summary__counts_named_graphs() -> None:
    store = Store()
    store.load(
        PREFIXES + "ex:z a ex:A . GRAPH ex:g { ex:x a ex:A ; ex:p 1 } GRAPH ex:h { ex:y a ex:A }",
        "trig",
    )
    found = describe_store(store)
    assert item(found, "classes", "ex:A")["asserted"] == 3
    assert item(found, "classes", "ex:A")["properties"][0]["share"] == round(1 / 3, 3)
    graphs = found["graphs"]
    assert (graphs["total"], graphs["default"]) == (2, 1)
    assert [(each["name"]["short"], each["count"]) for each in graphs["items"]] == [
        ("ex:g", 2),
        ("ex:h", 1),
    ]


def test_summary__of_a_closure_counts_all_pairs() -> None:
    store = loaded("ex:p a owl:TransitiveProperty . ex:a ex:p ex:b . ex:b ex:p ex:c .")
    store.reason("owl-rl")
    p = item(describe_store(store), "properties", "ex:p")
    assert (p["asserted"], p["inferred"]) == (2, 1)


def test_summary__samples_large_classes_evenly() -> None:
    store = loaded(
        "".join(f"ex:x{n:03} a ex:C ; ex:{'p' if n % 4 else 'q'} 1 ." for n in range(200))
    )
    with BROWSE.changed(sampled_members=40):
        found = describe_store(store)
    shares = {
        s["property"]["short"]: s["share"] for s in item(found, "classes", "ex:C")["properties"]
    }
    assert sum(shares.values()) == 1
    assert item(found, "classes", "ex:C")["asserted"] == 200


def test_summary__is_plain_data_and_an_empty_store_has_one() -> None:
    found = describe_store(Store())
    assert found["quads"] == {"asserted": 0, "inferred": 0}
    assert found["classes"] == {"total": 0, "items": []}
    store = loaded('ex:a a ex:C ; ex:p "x"@en , _:b , <urn:x> ; rdfs:comment "c" .')
    assert json.loads(json.dumps(describe_store(store))) == describe_store(store)


def test_ontology__is_what_axioms_say_and_no_data() -> None:
    axioms = """ex:A rdfs:subClassOf ex:B , [ a owl:Restriction ; owl:onProperty ex:p ] .
        ex:B a owl:Class ; rdfs:label "a B" ; owl:unionOf ( ex:A ex:C ) .
        ex:p a owl:ObjectProperty ; rdfs:comment "a property" ."""
    data = """ex:a a ex:A ; ex:p ex:b ; rdfs:label "an individual" ; owl:sameAs ex:c .
        ex:b a ex:B ; rdfs:comment "another" ."""
    store = loaded(axioms + data)
    store.reason("owl-rl")
    found, total = ontology_triples(store, 100)
    alone = loaded(axioms)
    assert total == len(found) == len(alone)
    ours, theirs = (
        sorted(line for line in map(str, triples) if "_:" not in line)
        for triples in (found, (quad.triple for quad in alone))
    )
    assert ours == theirs
    assert ontology_triples(store, 3) == (found[:3], total)


def test_ontology__sees_axioms_of_named_graphs() -> None:
    store = Store()
    store.load(
        PREFIXES + "ex:A rdfs:subClassOf ex:B . GRAPH ex:g { ex:A rdfs:subClassOf ex:B , ex:C }",
        "trig",
    )
    found, total = ontology_triples(store, 100)
    assert (total, [triple.object.value for triple in found]) == (2, [EX + "B", EX + "C"])
