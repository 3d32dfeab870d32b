"""Warnings of reports: right where they are given, and not given where there is nothing wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import NamedNode, Quad
from support.fuzzing import seeds

from tests.reasoning.equal_stores import PREFIXES
from tests.reasoning.test_why_violations import documents
from triplestore import Store
from triplestore.errors import ParseError
from triplestore.reasoning.reports.warnings import _names_of
from triplestore.terms import term_of
from triplestore.terms.vocabulary import RDF_TYPE

MORE = """@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix o: <http://other.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
VOCABULARY = """:o a owl:Ontology ; dcterms:creator [ a foaf:Person ; foaf:name "Ada" ] .
    :Dog a owl:Class ; rdfs:subClassOf :Animal ; skos:definition "it barks" ; o:status "stable" .
    :owner a owl:ObjectProperty ; rdfs:domain :Dog ; o:note "of a dog" . :Animal a owl:Class .
    o:status a owl:AnnotationProperty . """


def warnings_of(text: str, *more: Quad) -> dict[str, str]:
    store = Store()
    store.load(PREFIXES + MORE + text, "turtle")
    store.extend(more)
    return {warning.code: warning.message for warning in store.reason("owl-rl").warnings}


# -- strangers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        VOCABULARY,
        VOCABULARY + ":rex a :Dog ; o:weight 3 .",
        VOCABULARY + "[] a owl:AllDifferent ; owl:members (:a :b) .",
        VOCABULARY + ":o owl:imports <http://other.org/> . o:x a o:Whale ; o:a 1 ; o:b 2 ; o:c 3 .",
        VOCABULARY + "o:x o:likes o:y .",
    ],
)
def test_strangers__are_not_seen_in_vocabularies(text: str) -> None:
    assert "strangers" not in warnings_of(text)


def test_strangers__data_of_something_else() -> None:
    data = " ".join(f"o:x{n} a o:Whale ; o:eats o:krill ." for n in range(5))
    message = warnings_of(VOCABULARY + data)["strangers"]
    assert "http://other.org/" in message and "http://ex.org/" in message
    assert "http-https" in warnings_of("<https://ex.org/rex> a <https://ex.org/Dog> ." + VOCABULARY)


# -- misspelt -------------------------------------------------------------------------------------

KNOWN = ":Person rdfs:subClassOf :Agent . :worksFor rdfs:domain :Person . :x a :Agent . "


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (":a a :Persn .", "Persn"),
        (":a a :person .", "person"),
        (":a a :Persons .", "Persons"),
        (":a :worksfor :b .", "worksfor"),
        (":a :worksFro :b .", None),  # two letters
        (":a :person :b .", None),  # a property beside a class
        (":a a :Persn . :Persn rdfs:label 'a word of its own' .", None),
        (":a a :Persn . :Persn a owl:Class .", None),
        (":a a o:Person .", None),  # another namespace
        (":a a :Person1 .", None),
        (":a a :Persn . :b a :Person .", None),  # both are in use
    ],
)
def test_misspelt__names_near_to_those_of_the_ontology(data: str, name: str | None) -> None:
    message = warnings_of(KNOWN + data).get("misspelt")
    assert (message is not None) == (name is not None), message
    if name is not None:
        assert f"<http://ex.org/{name}>" in str(message)


def test_misspelt__short_names_are_different_on_purpose() -> None:
    assert "misspelt" not in warnings_of(":Dog rdfs:subClassOf :E . :x a :E . :y a :Cog .")


# -- outside --------------------------------------------------------------------------------------


def test_outside__counts_what_is_stated() -> None:
    """Rules may conclude axioms here, so that inferred ones are read as well."""
    store = Store()
    some = "[ a owl:Restriction ; owl:onProperty :q ; owl:someValuesFrom :C ]"
    below = " ".join(f":C{n} rdfs:subClassOf :C{n + 1} ." for n in range(20))
    store.load(
        PREFIXES
        + f":below rdfs:subPropertyOf rdfs:subClassOf . {below} :C20 rdfs:subClassOf {some}"
        " . :C0 :below :C1 .",
        "turtle",
    )
    report = store.reason("owl-rl")
    assert report.outside_count == len(report.outside) == 1
    assert report.outside_reasons == {next(iter(report.outside_reasons)): 1}
    assert "C20" in report.outside[0]
    assert "1 outside" in str(report)


def test_outside__of_the_graph_of_an_ontology(tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    some = "[ a owl:Restriction ; owl:onProperty :q ; owl:someValuesFrom :C ]"
    file.write_text(PREFIXES + f":below rdfs:subPropertyOf rdfs:subClassOf . :A :below :B . "
                    f":Z rdfs:subClassOf :A . :B rdfs:subClassOf {some} .")  # fmt: skip
    store = Store()
    assert store.reason("owl-rl", ontology=file).outside_count == 1


# -- vocabularies of the wild ---------------------------------------------------------------------

FOLDERS = ("owl-real/dcat", "owl-real/ssn/ontology", "owl-real/doap", "owl-real/pizza", "lubm")
LONG = ("owl-real", "skos", "owl2bench", "owl-el", "owl2-testcases/rl-cases")
RIGHT = {"ciee(v1.1).ttl"}
"""Files in which the hints are right."""


@pytest.mark.parametrize(
    "folder", [*FOLDERS, *(pytest.param(one, marks=pytest.mark.long) for one in LONG)]
)
def test_vocabularies__of_the_wild_are_nobodys_strangers(shared_data: Path, folder: str) -> None:
    for file in documents(shared_data / folder):
        store = Store()
        try:
            store.load(path=file, base_iri="http://ex.org/base")
        except ParseError:
            continue
        found = {one.code: one.message for one in store.reason("owl-rl").warnings}
        assert "strangers" not in found, (file.name, found)
        assert "misspelt" not in found or file.name in RIGHT, (file.name, found)


@pytest.mark.fuzz
def test_misspelt__random_slips_in_data_of_a_real_vocabulary(shared_data: Path) -> None:
    """Data with names of a vocabulary, one of them with a slip: that one is named, and no other."""
    store = Store()
    store.load(path=shared_data / "lubm" / "univ-bench.owl", base_iri="http://ex.org/base")
    store.reason("owl-rl")
    rules = store._view().rules()
    assert rules is not None
    names = _names_of([rule for rule in rules.program.rules if rule.axioms])
    properties, classes = (sorted(term_of(key).value for key in part) for part in names)
    for seed in seeds(4):
        random = Random(seed)
        copy = Store()
        copy.extend(store.quads_for_pattern(None, None, None, facts="explicit"))
        facts = [_fact(random, random.choice(classes), random.choice(properties)) for _ in range(9)]
        space, _, name = random.choice(classes).rpartition("#")
        slip = _slipped(random, name)
        wrong = f"{space}#{slip}"
        used = {str(quad.object.value) for pair in facts for quad in pair}
        copy.extend(quad for pair in facts for quad in pair)
        copy.add(Quad(NamedNode("http://d/x"), NamedNode(RDF_TYPE), NamedNode(wrong)))
        hints = [w.message for w in copy.reason("owl-rl").warnings if w.code == "misspelt"]
        distinct = (
            min(len(slip), len(name)) >= 5
            and wrong not in classes
            and f"{space}#{name}" not in used
        )
        assert len(hints) == distinct, (name, slip, hints)
        assert all(f"<{wrong}>" in hint for hint in hints)


def _fact(random: Random, class_: str, property: str) -> tuple[Quad, Quad]:
    one, other = (NamedNode(f"http://d/{random.randrange(99)}") for _ in range(2))
    return Quad(one, NamedNode(RDF_TYPE), NamedNode(class_)), Quad(one, NamedNode(property), other)


def _slipped(random: Random, name: str) -> str:
    at = random.randrange(len(name))
    letter = random.choice("qxjzw")
    made = [name[:at] + name[at + 1 :], name[:at] + letter + name[at:]]
    made.append(name[:at] + letter + name[at + 1 :])
    return random.choice(made)
