"""The demo's data: realistic, valid, the same every time; and the demo itself, run."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest

from demo.files import ONTOLOGY, make_files
from demo.thesaurus import CONCEPTS, ancestors
from demo.vocabulary import name, shorten

FORMATS = {".ttl": ox.RdfFormat.TURTLE, ".trig": ox.RdfFormat.TRIG, ".gz": ox.RdfFormat.N_TRIPLES}


def parse(path: Path) -> list[ox.Quad]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(ox.parse(data, format=FORMATS[path.suffix]))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_files(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def quads(files: dict[str, Path]) -> list[ox.Quad]:
    return [quad for path in files.values() for quad in parse(path)]


def test_make_files__makes_the_same_bytes_every_time(
    files: dict[str, Path], tmp_path: Path
) -> None:
    again = make_files(tmp_path)
    assert {what: path.read_bytes() for what, path in again.items()} == {
        what: path.read_bytes() for what, path in files.items()
    }


def test_data__has_a_realistic_size_and_shape(quads: list[ox.Quad]) -> None:
    assert 30_000 < len(set(quads)) < 60_000
    kinds = Counter(shorten(q.object) for q in quads if q.predicate == name("rdf:type"))
    assert kinds[":Stop"] == 480
    assert kinds[":Platform"] == 2 * kinds[":Stop"]
    assert kinds[":Trip"] > 2500
    assert len({q.graph_name for q in quads}) == 7  # six months and the default graph
    literals = [q.object for q in quads if isinstance(q.object, ox.Literal)]
    assert {each.language for each in literals} >= {"en", "de", "fr", "en-gb"}
    assert len({each.datatype for each in literals}) >= 12


def test_data__uses_only_names_that_the_ontology_declares(quads: list[ox.Quad]) -> None:
    ontology = {quad.subject for quad in parse(ONTOLOGY)}
    own = name(":x").value.removesuffix("x")
    used = {q.predicate for q in quads} | {
        q.object for q in quads if q.predicate == name("rdf:type")
    }
    assert [n for n in used if n.value.startswith(own) and n not in ontology] == []


@pytest.mark.parametrize(
    "axiom",
    [
        "owl:TransitiveProperty",
        "owl:SymmetricProperty",
        "owl:FunctionalProperty",
        "owl:InverseFunctionalProperty",
        "owl:AsymmetricProperty",
        "owl:inverseOf",
        "owl:propertyChainAxiom",
        "owl:hasKey",
        "owl:hasValue",
        "owl:someValuesFrom",
        "owl:intersectionOf",
        "owl:disjointWith",
        "owl:AllDisjointClasses",
        "rdfs:subClassOf",
        "rdfs:subPropertyOf",
        "rdfs:domain",
        "rdfs:range",
    ],
)
def test_ontology__has_something_to_infer_from(axiom: str) -> None:
    assert any(name(axiom) in (quad.predicate, quad.object) for quad in parse(ONTOLOGY))


def test_thesaurus__is_a_forest() -> None:
    for key in CONCEPTS:
        assert [key, *ancestors(key)][-1] in ("facility", "cause")


def test_lines__call_where_the_next_stops_are(quads: list[ox.Quad]) -> None:
    following = {(q.subject, q.object) for q in quads if q.predicate == name(":nextStop")}
    assert len(following) > 500
    assert all((b, a) in following for a, b in following)  # every line runs both ways
    assert all(a != b for a, b in following)


def test_demo__runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from demo import __main__ as demo

    demo.main(tmp_path / "demo")
    printed = capfd.readouterr().out
    for expected in ("$ triplestore load", ":Stop", "Schnee", "ParseError", "OK"):
        assert expected in printed
    for expected in ("$ triplestore reason", ":getsTo", "violations: 40", "were asserted"):
        assert expected in printed
    for answer in ("line:10", "thesaurus:black-ice", "by rule prp-spo2", "the closure is exact"):
        assert answer in printed
