"""Ontology files that are not RDF: what is said of them, and that RDF is not taken for such."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner

from triplestore import Store
from triplestore.cli import main
from triplestore.errors import ParseError
from triplestore.terms.guards.other_syntaxes import other_syntax

FUNCTIONAL = "Prefix(:=<http://e/>)\nOntology(<http://e/o>\nSubClassOf(:A :B))"
MANCHESTER = "Prefix: : <http://e/>\n\nOntology: <http://e/o>\n\nClass: :A\n  SubClassOf: :B"
OBO = "format-version: 1.2\nontology: x\n\n[Term]\nid: X:1\nname: a\n"
XML = (
    '<?xml version="1.0"?>\n<!-- made by hand -->\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"'
)
XML_FILE = f'{XML} ontologyIRI="http://e/o"><Declaration><Class IRI="#A"/></Declaration></Ontology>'
FILES = [
    ("OWL functional syntax", FUNCTIONAL, "a.ofn"),
    ("OWL functional syntax", f"# a comment (of mine)\n\n{FUNCTIONAL}", "a.owl"),
    ("OWL functional syntax", "Ontology (<http://e/o>)", "a.ttl"),
    ("Manchester syntax", MANCHESTER, "a.omn"),
    ("Manchester syntax", "\ufeffOntology: <http://e/o>", "a.owl"),
    ("OBO format", OBO, "a.obo"),
    ("OBO format", "[Term]\nid: X:1\n", "a.owl"),
    ("OWL/XML", XML_FILE, "a.owx"),
    ("OWL/XML", XML_FILE.replace(' ontologyIRI="http://e/o"', ""), "a.owl"),
]
RDF = [
    "PREFIX : <http://e/> :a :b :c .",
    "prefix Prefix: <http://e/> Prefix:a Prefix:b Prefix:c .",
    "@prefix Ontology: <http://e/> . Ontology: a Ontology:o .",
    "# Ontology(x)\n<http://e/a> <http://e/b> <http://e/c> .",
    "# [Term]\n[] <http://e/b> <http://e/c> .",
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>',
    XML + ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:about="http://e/o"/>',
    "{}",
    "",
]


@pytest.mark.parametrize(("syntax", "text", "name"), FILES)
def test_files__that_are_no_rdf_are_named_with_what_to_do(
    tmp_path: Path, syntax: str, text: str, name: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    store = Store()
    for attempt in (
        lambda: store.load(path=file),
        lambda: store.load(path=file, lenient=True),
        lambda: store.reason("owl-rl", ontology=file),
        lambda: store.bound("lower", file),
    ):
        with pytest.raises(ParseError) as error:
            attempt()
        lines = str(error.value).splitlines()
        assert len(lines) == 1, "one line"
        assert f"this is {syntax}, not RDF; convert it first" in lines[0]
        assert f"robot convert --input {file}" in lines[0]
    assert len(store) == 0
    with pytest.raises(ParseError, match=f"this is {syntax}"):
        store.load(text, "turtle")


def test_command_line__says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.obo").write_text(OBO)
    for command in (["load", "-l", str(tmp_path / "s"), "-f"], ["check", "--ontology"]):
        result = CliRunner().invoke(main, [*command, str(tmp_path / "a.obo")])
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1 and "this is OBO format, not RDF" in result.stderr


def test_compressed_files__by_their_name(tmp_path: Path) -> None:
    file = tmp_path / "a.obo.gz"
    file.write_bytes(gzip.compress(OBO.encode()))
    with pytest.raises(ParseError, match="this is OBO format"):
        Store().load(path=file)


@pytest.mark.parametrize("text", RDF)
def test_rdf__is_not_taken_for_another_syntax(text: str) -> None:
    assert other_syntax(text.encode()) is None


def test_long_beginnings__are_looked_at_in_no_time() -> None:
    hostile = b"<!--" * 5000, b"<!-- -->" * 3000, b"# " * 9000, b"\n" * 20000, b"<?" * 9000
    for text in hostile:
        assert other_syntax(text) is None


def test_malformed_ontologies__are_named_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "a.ttl"
    file.write_text("<http://e/a> <http://e/b> .\n")
    with pytest.raises(ParseError, match=r"a\.ttl:1"):
        Store().reason("owl-rl", ontology=file)
