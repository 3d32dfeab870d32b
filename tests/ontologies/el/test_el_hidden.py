"""Nothing of representatives is seen: not in answers, counts, dumps, digests, changes or diffs."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import NamedNode, Quad

from tests.classification.medicine import MEDICINE, medicine
from tests.ontologies.el.checking import SUB
from tests.ontologies.el.random_el import name
from triplestore import Store

MARKS = ("x-triplestore", "el:")


def assert_clean(text: str) -> None:
    assert not any(mark in text for mark in MARKS)


def test_answers__have_no_representatives() -> None:
    store = medicine()
    rows = [str(row) for row in store.query("SELECT * { ?s ?p ?o }")]
    assert len(rows) == len(store)
    assert_clean("\n".join(rows))
    assert_clean("\n".join(map(str, store)))


def test_dump__has_what_is_shown() -> None:
    store, other = medicine(), Store()
    dumped = store.dump(format="nq", facts="all")
    assert isinstance(dumped, bytes)
    assert_clean(dumped.decode())
    other.load(dumped, "nq")
    assert len(other) == len(store)


def test_digest__is_that_of_what_is_shown() -> None:
    store, other = medicine(), Store()
    for rule in ("owl-el", "none"):
        other.load(MEDICINE, "ttl") if rule == "owl-el" else None
        other.reason(rule)
    inferred = [quad for quad in store if quad not in other]
    other.reason(
        rules="\n".join(f"[{quad.subject}, {quad.predicate}, {quad.object}] ." for quad in inferred)
    )
    assert len(other) == len(store)
    assert other.digest() == store.digest()


def test_counts__of_changes_are_of_what_is_shown() -> None:
    store = medicine()
    before = len(store)
    change = store.remove(Quad(name("Heart"), SUB, name("Organ")))
    assert change.removed == 1
    assert len(store) == before - 1 - change.inferred_removed
    change = store.add(Quad(name("Heart"), SUB, name("Organ")))
    assert len(store) == before
    assert change.added == 1


def test_report__counts_what_is_shown() -> None:
    store = Store()
    store.load(MEDICINE, "ttl")
    before = len(store)
    report = store.reason("owl-el")
    assert report.inferred == report.inferred_added == len(store) - before


def test_diff__has_no_representatives() -> None:
    store = medicine()
    with store.transaction() as transaction:
        transaction.remove(Quad(name("Inflammation"), SUB, name("Disease")))
        difference = transaction.diff()
        assert len(difference.inferred_removed) == 6
        assert_clean(str(difference) + str(list(difference.inferred_removed)))


def test_reason_none__leaves_what_was_asserted() -> None:
    store, plain = medicine(), Store()
    plain.load(MEDICINE, "ttl")
    store.reason("none")
    assert store.digest() == plain.digest()
    assert len(store) == len(plain)


def test_audit__agrees_after_edits() -> None:
    store = medicine()
    store.remove(Quad(name("Heart"), SUB, name("Organ")))
    store.add(Quad(name("Heart"), SUB, name("Tissue")))
    assert store.audit()


def test_store_in_a_directory__is_the_same_when_opened(tmp_path: Path) -> None:
    with Store(tmp_path / "db") as store:
        store.load(MEDICINE, "ttl")
        store.reason("owl-el")
        digest = store.digest(facts="all")
    with Store(tmp_path / "db") as store:
        assert store.digest(facts="all") == digest
        store.remove(Quad(name("Inflammation"), SUB, name("Disease")))
        store.optimize()
        assert Quad(name("Endocarditis"), SUB, name("HeartDisease")) not in store
        store.add(Quad(name("Inflammation"), SUB, name("Disease")))
        assert store.digest(facts="all") == digest


def test_named_graphs__of_the_scope_have_axioms() -> None:
    store = Store()
    graph = NamedNode("http://e/g")
    store.load(MEDICINE, "ttl", to_graph=graph)
    store.reason("owl-el", scope="union")
    wanted = Quad(name("Endocarditis"), SUB, name("HeartDisease"))
    assert wanted in store
    store.remove(Quad(name("Inflammation"), SUB, name("Disease"), graph))
    assert wanted not in store


def test_ontology_files__have_axioms(tmp_path: Path) -> None:
    file = tmp_path / "medicine.ttl"
    file.write_text(MEDICINE)
    store = Store()
    store.reason("owl-el", ontology=file)
    wanted = Quad(name("Endocarditis"), SUB, name("HeartDisease"))
    assert wanted in store
    file.write_text(MEDICINE.replace(":Inflammation rdfs:subClassOf :Disease .", ""))
    store.reason("owl-el", ontology=file)
    assert wanted not in store


def test_owl_rl_beside__each_uses_what_the_other_concludes() -> None:
    store = medicine("""@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :suffersFrom owl:inverseOf :affects . :suffersFrom rdfs:domain :Patient ; rdfs:range :Case .
    :HeartDisease rdfs:subClassOf [ owl:onProperty :code ; owl:hasValue "I" ] .
    :case2 :affects :ann .
    """)
    store.reason("owl-rl")
    answers = store.select("SELECT ?x { ?x :code 'I' }")
    assert [row["x"] for row in answers] == [name("case1")]
    assert (
        Quad(
            name("ann"),
            NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
            name("Patient"),
        )
        in store
    )
    assert Quad(name("Endocarditis"), SUB, name("HeartDisease")) in store


def test_info__counts_predicates_that_are_shown() -> None:
    store = medicine()
    assert store.info().predicates == len({quad.predicate for quad in store})
