"""Proofs, reports and rules as plain data."""

from __future__ import annotations

import json

import pytest
from browse.random_stores import EX, OWL, ex, inferred, random_store, told, triples, value
from pyoxigraph import NamedNode

from triplestore import Store
from triplestore.browse.proof_data import why_data, why_not_data
from triplestore.browse.report import report, violation_proof
from triplestore.browse.rules import check_text, rules_data
from triplestore.browse.store_data import store_data
from triplestore.browse.term_data import plain_term, term_of_text
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import ConflictError, UsageError

PREFIX = f"@prefix : <{EX}> . "


def bare(term: dict) -> str:
    return json.dumps({k: v for k, v in term.items() if k not in ("short", "label")})


def plain(fact) -> tuple:
    return tuple(json.dumps(plain_term(term)) for term in fact)


def nodes_of(proof: dict) -> list[dict]:
    found, open_ = [], [proof]
    while open_:
        node = open_.pop()
        found.append(node)
        open_ += node.get("because", ())
    return found


@pytest.mark.parametrize("seed", range(6))
def test_why__leaves_are_asserted_facts(seed):
    store = random_store(seed, "owl-rl", graphs=False)
    asserted = {plain(fact) for fact in triples(told(store))}
    for fact in sorted(inferred(store), key=str)[:15]:
        proof = why_data(store, fact)
        assert proof["holds"] and not proof["asserted"]
        assert tuple(map(bare, proof["fact"])) == plain(fact)
        proved = {node["id"] for node in nodes_of(proof) if node.get("because")}
        for node in nodes_of(proof):
            if node["asserted"]:
                assert tuple(map(bare, node["fact"])) in asserted
            elif "shared" in node:
                assert node["shared"] in proved
            else:
                assert node["because"] or node["rule"]["axioms"]
        ids = {node["id"] for node in proof["graph"]["nodes"]}
        assert all({edge["from"], edge["to"]} <= ids for edge in proof["graph"]["edges"])
        json.dumps(proof)


def test_why__a_fact_needed_twice_is_proved_once():
    store = Store()
    store.reason(
        rules=PREFIX
        + ":A[:a] . :B[?x] :- :A[?x] . :C[?x] :- :B[?x] . :D[?x] :- :B[?x] . "
        + ":E[?x] :- :C[?x], :D[?x] ."
    )
    proof = why_data(store, ":a a :E")
    again = [node for node in nodes_of(proof) if "shared" in node]
    assert len(again) == 1 and again[0]["because"] == []


def test_why__a_deep_proof_is_cut_and_fits_json():
    store = Store()
    store.load(PREFIX + " ".join(f":n{i} :next :n{i + 1} ." for i in range(400)), "ttl")
    store.load(PREFIX + ":n0 a :Reached .", "ttl")
    store.reason(rules=PREFIX + ":Reached[?y] :- :Reached[?x], :next[?x, ?y] .")
    proof = why_data(store, ":n400 a :Reached")
    assert proof["height"] == 400
    json.dumps(proof)
    assert any(node.get("more") for node in nodes_of(proof))
    with BROWSE.changed(proof_depth=3, proof_facts=10):
        proof = why_data(store, ":n400 a :Reached")
        assert len(nodes_of(proof)) < 12 and len(proof["graph"]["nodes"]) == 10


def test_why__conditions_are_told():
    store = Store()
    store.load(PREFIX + ":a :age 5 .", "ttl")
    store.reason(rules=PREFIX + ":Child[?x] :- :age[?x, ?n], FILTER(?n < 18), NOT :Dog[?x] .")
    kinds = {each["kind"] for each in why_data(store, ":a a :Child")["conditions"]}
    assert kinds == {"condition", "absent"}


def test_why_not__says_what_is_missing():
    store = Store()
    store.load(PREFIX + ":a a :A .", "ttl")
    store.reason(rules=PREFIX + "rule 'both' :C[?x] :- :A[?x], :B[?x] .")
    found = why_not_data(store, ":a a :C")
    (reason,) = found["reasons"]
    assert reason["rule"]["id"] == "both"
    assert [value(term) for term in reason["missing"]["fact"]][::2] == [EX + "a", EX + "B"]
    assert not found["holds"] and not why_data(store, ":a a :C")["holds"]
    assert why_not_data(store, ":a a :A")["holds"]
    with pytest.raises(UsageError, match="not a fact"):
        why_not_data(store, "nonsense")


def test_report__counts_rules_violations_and_what_is_outside():
    store = Store()
    store.load(
        PREFIX
        + f"""@prefix owl: <{OWL}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :loves a owl:IrreflexiveProperty . :n :loves :n . :Cat rdfs:subClassOf :Animal . :t a :Cat .
        :Some rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :Cat ] .""",
        "ttl",
    )
    store.reason("owl-rl", rules=PREFIX + "rule 'mine' :Mine[?x] :- :Cat[?x] .")
    found = report(store, counts=True)
    assert found["regimes"] == ["owl-rl"]
    rules = {one["id"]: one for one in found["rules"]}
    assert rules["mine"]["user"] and rules["mine"]["inferred"] == 1
    assert rules["cax-sco"]["inferred"] == 1 and not rules["cax-sco"]["user"]
    assert found["violations"]["total"] == 1 == found["violations"]["by_constraint"]["prp-irp"]
    assert found["outside"] and found["outside_count"] == len(found["outside"])
    proof = violation_proof(store, 0)
    assert proof["rule"]["id"] == "prp-irp" and proof["because"][0]["asserted"]
    (item,) = found["violations"]["items"]
    assert violation_proof(store, 0, item["text"])["holds"]
    with pytest.raises(ConflictError, match="have changed"):
        violation_proof(store, 0, "another one")
    with pytest.raises(UsageError, match="violation number 1 does not exist"):
        violation_proof(store, 1)
    json.dumps(found)


def test_report__violations_are_paged():
    store = Store()
    store.load(PREFIX + " ".join(f":n{i} a :Bad ." for i in range(5)), "ttl")
    store.reason(rules=PREFIX + 'constraint "bad" "is bad" :- :Bad[?x] .')
    with BROWSE.changed(shown_violations=2):
        pages = [report(store, offset=at)["violations"]["items"] for at in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [one["number"] for page in pages for one in page] == list(range(5))
    assert len({json.dumps(one["bindings"]) for page in pages for one in page}) == 5


def test_report__a_store_without_rules():
    found = report(Store())
    assert found["rules"] == [] and found["violations"]["total"] == 0


def test_rules__text_can_be_read_again():
    store = random_store(0, "owl-rl")
    store.reason(rules=PREFIX + "rule 'r' :B[?x] :- :A[?x] . constraint 'c' :- :B[?x], :C0[?x] .")
    found = rules_data(store)
    assert [item["id"] for item in found["items"]] == ["r", "c"]
    other = Store()
    other.reason(rules=found["text"])
    assert rules_data(other)["items"][0]["text"] == found["items"][0]["text"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (":B[?x] :- :A[?x] .", []),
        (":B[?x] :- :A[?y] .", ["unsafe-variable"]),
        (":B[?x :- :A[?x] .", ["syntax"]),
        ("/etc/passwd", ["syntax"]),
        ("", []),
    ],
)
def test_check__problems_have_places(text, codes):
    store = Store()
    store.bind("", EX)
    found = check_text(store, text)
    assert [one["code"] for one in found if not one["warning"]] == codes
    assert all(one["line"] == 1 and one["column"] for one in found if not one["warning"])


def test_store_data__is_what_the_store_has():
    store = random_store(4, "owl-rl")
    found = store_data(store)
    assert found["quads"]["all"] == len(store) == sum(one["count"] for one in found["graphs"])
    assert found["quads"]["asserted"] == len(told(store))
    assert {value(one["name"]) for one in found["graphs"][1:]} == {
        graph.value for graph in store.named_graphs()
    }
    json.dumps(found)


@pytest.mark.parametrize(
    "text", ["<http://e/a>", '"x"', '"x"@en', '"1"^^<http://e/t>', "_:b", "rdf:type", "5", ":a"]
)
def test_term_of_text__reads_what_is_written(text):
    assert term_of_text(text, {"": EX}) is not None
    assert term_of_text(" <http://ex.org/a> ") == ex("a") == NamedNode(EX + "a")


@pytest.mark.parametrize(
    "text",
    ["", "nix:a", "<a b>", "<http://e/a> , <http://e/b>", "<http://e/a> . <x:s> <x:p> 1", "[]"],
)
def test_term_of_text__refuses_what_is_not_one_term(text):
    if text == "[]":
        assert term_of_text(text) is not None  # a new blank node, which no store has
        return
    with pytest.raises(UsageError, match="term"):
        term_of_text(text)
