"""Search for terms by label or IRI, compared with plain loops."""

from __future__ import annotations

import random

import pytest
from browse.plain_search import plain_search
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from triplestore import Store, errors
from triplestore.browse.index.search_index import index_of, make_index, next_index
from triplestore.browse.search import search_terms
from triplestore.browse.thresholds import BROWSE
from triplestore.store.readable import ReadableStore, view_of
from triplestore.terms.vocabulary import (
    OWL_CLASS,
    RDF_TYPE,
    RDFS_LABEL,
    RDFS_SUB_CLASS_OF,
    SKOS_ALT_LABEL,
    SKOS_BROADER,
    SKOS_CONCEPT,
    SKOS_PREF_LABEL,
)

PREFIXES = """@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def loaded(turtle: str) -> Store:
    store = Store()
    store.load(PREFIXES + turtle, "ttl")
    return store


def names(store: ReadableStore, text: str, kinds: str = "any", limit: int = 20) -> list[str]:
    return [found["short"] for found in search_terms(store, text, kinds, limit)]


# --- beside plain loops --------------------------------------------------------------------------

WORDS = ["graz", "Straße", "café", "Bar", "bars", "barTender", "GO_0008150", "x", "Universität"]
IRIS = [f"http://ex.org/{name}" for name in ("fullName", "Full", "barTender2", "B12b", "XMLFile")]
IRIS += ["http://ex.org/onto#Person", "urn:isbn:bar", "http://bar.org/", "http://ex.org/a%20bar"]
PROPERTIES = [RDFS_LABEL, SKOS_ALT_LABEL, SKOS_PREF_LABEL, RDF_TYPE, RDFS_SUB_CLASS_OF]
PROPERTIES += [SKOS_BROADER, "http://ex.org/knowsBar"]
CLASSES = ["http://ex.org/Full", OWL_CLASS, SKOS_CONCEPT]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" - ".join)


@st.composite
def quads(draw: st.DrawFn) -> Quad:
    property_ = draw(st.sampled_from(PROPERTIES))
    subject = NamedNode(draw(st.sampled_from(IRIS)))
    if property_ in PROPERTIES[:3]:
        value = Literal(draw(texts), language=draw(st.sampled_from(["en", "de"])))
    elif property_ == RDF_TYPE:
        value = NamedNode(draw(st.sampled_from(CLASSES)))
    else:
        value = NamedNode(draw(st.sampled_from(IRIS)))
    graph = draw(st.sampled_from([None, NamedNode("http://ex.org/graph")]))
    return Quad(subject, NamedNode(property_), value, graph)


prefixes_of_words = st.sampled_from(WORDS).flatmap(
    lambda word: st.integers(1, len(word)).map(lambda size: word[:size])
)


@given(
    st.lists(quads(), min_size=1, max_size=12),
    st.lists(prefixes_of_words, min_size=1, max_size=2).map(" ".join),
    st.sampled_from(["any", "class", "property", "concept", "individual"]),
    st.integers(1, 5),
)
def test_search__finds_what_plain_loops_find(
    some: list[Quad], text: str, kind: str, limit: int
) -> None:
    store = Store()
    store.extend(some)
    found = [each["term"]["value"] for each in search_terms(store, text, kind, limit)]
    assert found == plain_search(store, text, kind, limit)


@settings(max_examples=40)
@given(st.lists(quads(), max_size=8), st.lists(st.tuples(st.booleans(), quads()), max_size=12))
def test_next_index__finds_what_a_new_index_finds(
    some: list[Quad], changes: list[tuple[bool, Quad]]
) -> None:
    store = Store()
    store.extend(
        [Quad(NamedNode("http://ex.org/a"), NamedNode(RDFS_LABEL), Literal("first")), *some]
    )
    for add, quad in changes:
        search_terms(store, "bar")
        store.add(quad) if add else store.remove(quad)
        for text in ("bar", "f", "go 8", "strasse"):
            found = [each["term"]["value"] for each in search_terms(store, text)]
            assert found == plain_search(store, text)


def test_next_index__is_made_of_the_last_one() -> None:
    store = loaded("".join(f"ex:thing{n} rdfs:label 'thing {n}' ." for n in range(300)))
    first = index_of(view_of(store))
    store.load(PREFIXES + "ex:new rdfs:label 'fresh' .", "ttl")
    view = view_of(store)
    second = index_of(view)
    assert second.base is first.base
    assert len(second.added) == 2  # its label and its name
    assert names(store, "fresh") == ["ex:new"]
    with BROWSE.changed(recounted_rows=0):
        assert next_index(first, view.tables, view.dictionary) is None


def test_next_index__counts_uses_as_a_new_index_does() -> None:
    choose = random.Random(7)
    store = Store()
    terms = [NamedNode(f"http://ex.org/t{n}") for n in range(12)]
    properties = [NamedNode(name) for name in (*PROPERTIES[3:], "http://ex.org/p")]
    store.add(Quad(terms[0], properties[0], terms[1]))
    for _ in range(150):
        quad = Quad(choose.choice(terms), choose.choice(properties), choose.choice(terms))
        store.add(quad) if choose.random() < 0.6 else store.remove(quad)
        view = view_of(store)
        made, anew = index_of(view), make_index(view.tables, view.dictionary)
        for ours, theirs in zip(made.usage, anew.usage, strict=True):
            assert ours.tolist() == theirs.tolist()


def test_search__follows_labels_that_go_and_come_back() -> None:
    store = loaded("ex:a rdfs:label 'thing' ; ex:p ex:b .")
    assert names(store, "thing") == ["ex:a"]
    store.update("DELETE DATA { ex:a rdfs:label 'thing' }")
    assert (names(store, "thing"), names(store, "a")) == ([], ["ex:a"])
    store.update("INSERT DATA { ex:a rdfs:label 'thing' }")
    assert names(store, "thing") == ["ex:a"]


def test_search__of_a_snapshot_shows_its_state() -> None:
    store = loaded("ex:old rdfs:label 'thing' .")
    snapshot = store.snapshot()
    store.load(PREFIXES + "ex:new rdfs:label 'thing' .", "ttl")
    assert names(store, "thing") == ["ex:old", "ex:new"]
    assert names(snapshot, "thing") == ["ex:old"]


def test_search__in_a_transaction_that_is_rolled_back_leaves_nothing() -> None:
    store = loaded("ex:old rdfs:label 'thing' .")
    with store.trial() as trial:
        trial.load(PREFIXES + "ex:first rdfs:label 'wrong' .", "ttl")
        assert names(trial, "wrong") == ["ex:first"]
    store.load(PREFIXES + "ex:second rdfs:label 'right' .", "ttl")
    assert names(store, "wrong") == []
    assert names(store, "right") == ["ex:second"]


# --- what is matched -----------------------------------------------------------------------------


def test_search__ranks_by_quality_then_by_use() -> None:
    store = loaded(
        """ex:a rdfs:label "professor" . ex:b rdfs:label "professor emeritus" .
        ex:c rdfs:label "full professor" . ex:d rdfs:label "professorship" .
        ex:e rdfs:label "the professorship" ; ex:p ex:f , ex:g .
        ex:f rdfs:label "a professors' house" ."""
    )
    assert names(store, "Professor") == ["ex:a", "ex:b", "ex:c", "ex:d", "ex:e", "ex:f"]


def test_search__compares_long_words_to_their_end() -> None:
    store = loaded('ex:a rdfs:label "professoriate" . ex:b rdfs:label "a professor" .')
    assert names(store, "professor") == ["ex:b", "ex:a"]
    assert names(store, "professori") == ["ex:a"]
    assert names(store, "a professorial") == []
    assert names(store, "a professor") == ["ex:b"]


def test_search__does_not_see_case_accents_or_punctuation() -> None:
    store = loaded('ex:a rdfs:label "Café-Société: “Zürich”" .')
    for text in ("cafe societe", "ZURICH café", "société", "cafe-soc"):
        assert names(store, text) == ["ex:a"]
    assert names(store, "afe") == []


def test_search__finds_words_within_names() -> None:
    store = loaded("ex:FullProfessor a owl:Class . ex:is_part_of a owl:ObjectProperty .")
    assert names(store, "prof") == ["ex:FullProfessor"]
    assert names(store, "fullprof") == ["ex:FullProfessor"]
    assert names(store, "part of") == ["ex:is_part_of"]


def test_search__finds_signs_of_scripts_without_spaces() -> None:
    store = loaded('ex:tokyo rdfs:label "東京都庁舎"@ja .')
    assert names(store, "京都") == ["ex:tokyo"]


def test_search__shows_the_label_that_matched_if_it_is_another() -> None:
    store = loaded('ex:a skos:prefLabel "car"@en ; skos:altLabel "automobile"@en .')
    (found,) = search_terms(store, "auto")
    assert (found["label"], found["match"]) == ("car", "automobile")
    (found,) = search_terms(store, "car")
    assert "match" not in found


def test_search__shows_preferred_labels_where_others_are_inferred() -> None:
    store = loaded(
        'ex:a a skos:Concept ; skos:prefLabel "car"@en ; skos:altLabel "automobile"@en .'
    )
    store.reason("skos")
    (found,) = search_terms(store, "automobile")
    assert (found["label"], found["match"]) == ("car", "automobile")


def test_search__of_an_iri_or_prefixed_name_finds_it_and_what_it_begins() -> None:
    store = loaded(
        'ex:Person rdfs:label "human" . ex:PersonName rdfs:label "x" . ex:Other ex:p ex:q .'
    )
    for text in ("ex:Person", "http://ex.org/Person", "<http://ex.org/Person>"):
        assert names(store, text) == ["ex:Person", "ex:PersonName"]
    assert names(store, "ex:p", "property") == ["ex:p"]
    assert set(names(store, "ex:")) >= {"ex:Person", "ex:Other", "ex:q"}
    assert names(store, "http://other.org/Person") == []


def test_search__of_an_empty_text_finds_what_is_used_most() -> None:
    store = loaded("ex:a a ex:C . ex:b a ex:C . ex:c a ex:D .")
    assert names(store, "", "class") == ["ex:C", "ex:D"]
    assert names(store, "...", "class") == []


def test_search__counts_members_triples_and_uses() -> None:
    store = loaded(
        """ex:C rdfs:subClassOf ex:D . ex:a a ex:C ; ex:knows ex:b , ex:c . ex:b a ex:C .
        """
    )
    store.reason("rdfs")
    counts = {each["short"]: (each["kind"], each["count"]) for each in search_terms(store, "ex:")}
    assert counts["ex:C"] == ("class", 2)
    assert counts["ex:D"] == ("class", 2)
    assert counts["ex:knows"] == ("property", 2)
    assert counts["ex:c"][0] == "individual"


def test_search__leaves_out_blank_nodes_and_terms_without_triples() -> None:
    store = loaded('ex:a rdfs:label "thing" . [] rdfs:label "thing" .')
    store.add(Quad(BlankNode("x"), NamedNode(RDFS_LABEL), Literal("thing")))
    assert names(store, "thing") == ["ex:a"]
    store.update("DELETE WHERE { ex:a rdfs:label ?x }")
    assert names(store, "thing") == []
    assert names(store, "a") == []


def test_search__sees_labels_of_named_graphs() -> None:
    store = Store()
    store.load(PREFIXES + "GRAPH ex:g { ex:a rdfs:label 'thing' }", "trig")
    assert names(store, "thing") == ["ex:a"]


def test_search__sees_equals_that_are_rewritten() -> None:
    store = loaded("ex:a rdfs:label 'thing' . ex:a owl:sameAs ex:b .")
    store.reason("owl-rl", equality="rewrite")
    assert set(names(store, "thing")) == {"ex:a", "ex:b"}


def test_search__of_many_texts_keeps_labels_and_schema_first() -> None:
    store = loaded("ex:a rdfs:label 'thing' ; a ex:Kind . ex:b a ex:Kind .")
    with BROWSE.changed(indexed_texts=4):
        index = make_index(view_of(store).tables, view_of(store).dictionary)
    assert not index.complete
    assert [text for text in ("thing", "kind", "type") if len(index.find([text])[0])] == [
        "thing",
        "kind",
        "type",
    ]


def test_search__finds_a_long_text_by_its_start() -> None:
    store = loaded(f'ex:a rdfs:label "begin {"x" * 300} end" .')
    assert names(store, "begin") == ["ex:a"]
    assert names(store, "end") == []


def test_search__refuses_an_unknown_kind_and_says_which_there_are() -> None:
    with pytest.raises(errors.UsageError, match="did you mean 'class'"):
        search_terms(Store(), "x", "clas")
    assert search_terms(Store(), "x") == []
    assert search_terms(loaded("ex:a ex:p ex:b ."), "a", limit=0) == []
