"""Every ontology of the shared data is read, and each axiom in it is found."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.read import read_ontology
from triplestore.ontologies.read.axioms import CHARACTERISTICS, PAIRS

FORMATS = {
    "owl": RdfFormat.RDF_XML,
    "rdf": RdfFormat.RDF_XML,
    "ttl": RdfFormat.TURTLE,
    "n3": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
}

# What some files say, counted by hand or by their makers (all of it and nothing else).
KNOWN: dict[str, dict[str, int]] = {
    "lubm/univ-bench.owl": {
        "SubClassOf": 36,
        "SubPropertyOf": 5,
        "EquivalentClasses": 6,
        "PropertyDomain": 25,
        "PropertyRange": 18,
        "InverseProperties": 2,
        "TransitiveProperty": 1,
    },
}
# Blemishes the files have.
OTHER_LABEL = {"unknown-name": 1}  # rdf:label
BLEMISHES = {
    "soda_hall.n3": {"unknown-name": 3},
    "ciee(v1.1).ttl": OTHER_LABEL,
    "ciee-13-dec-2019(v1.1).ttl": OTHER_LABEL,
    "csu-dominguez-hills(v1.1).ttl": OTHER_LABEL,
    "orinda-community-center(v1.1).ttl": OTHER_LABEL,
    "ssn-common.ttl": {"restriction-without-filler": 2},
    "ssn-system.ttl": {"restriction-without-filler": 3},
}


def parsed(file: Path) -> list[Triple]:
    """The triples of a file; none if it is not well-formed (several are not)."""
    data = file.read_bytes()
    if file.suffix == ".gz":
        data = gzip.decompress(data)
    format = FORMATS[file.name.removesuffix(".gz").rpartition(".")[2]]
    try:
        quads = parse(data, format=format, base_iri="http://example.org/base")
        return [(quad.subject, quad.predicate, quad.object) for quad in quads]
    except (SyntaxError, ValueError):
        return []


def files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.name.removesuffix(".gz").rpartition(".")[2] in FORMATS and file.is_file():
            yield file


def check(triples: list[Triple], ontology: Ontology) -> None:
    """Every triple that is an axiom is one, every other one of an axiom belongs to it."""
    counts = ontology.counts()
    counts["EquivalentClasses"] += counts["DatatypeDefinition"]
    definitions = sum(not axiom.own for axiom in ontology.axioms)
    distinct = set(triples)
    having = Counter(triple[1] for triple in distinct)
    typed = Counter(triple[2] for triple in distinct if triple[1] == v.TYPE)
    for predicate, kind, *_ in PAIRS:
        extra = definitions if predicate == v.EQUIVALENT_CLASS else 0
        assert counts[kind.__name__] == having[predicate] + extra
    for cls, kind in CHARACTERISTICS:
        assert counts[kind.__name__] == typed[cls]
    for predicate, name in (
        (v.PROPERTY_CHAIN_AXIOM, "PropertyChain"),
        (v.HAS_KEY, "HasKey"),
        (v.DISJOINT_UNION_OF, "DisjointUnion"),
        (v.SOURCE_INDIVIDUAL, "NegativePropertyAssertion"),
    ):
        assert counts[name] == having[predicate]
    constructed = {expression.node for expression in ontology.expressions}
    for predicate in v.EXPRESSION_PREDICATES:
        nodes = {triple[0] for triple in distinct if triple[1] == predicate}
        reported = {t[0] for problem in ontology.problems for t in problem.triples}
        assert nodes <= constructed | reported
    assert ontology.unused == ()


SHORT = (
    "owl-real/wine",
    "owl-real/pizza",
    "owl-real/doap",
    "owl-real/bfo/2.0",
    "owl-real/ssn/ontology",
    "owl-real/obo-relations/ro-base.owl",
    "owl2-testcases/rl-cases",
    "lubm/univ-bench.owl",
)
LONG = ("owl-real", "owl2bench", "inferray-rules", "skos", "go-2022", "obo-hierarchies", "uobm")


@pytest.mark.parametrize(
    "folder", [*SHORT, *(pytest.param(folder, marks=pytest.mark.long) for folder in LONG)]
)
def test_read_ontology__real_ones(shared_data: Path, folder: str) -> None:
    place = shared_data / folder
    read = 0
    for file in [place] if place.is_file() else files(place):
        triples = parsed(file)
        ontology = read_ontology(triples)
        if ontology.problems:
            found = dict(Counter(problem.code for problem in ontology.problems))
            assert found == BLEMISHES.get(file.name), file
        check(triples, ontology)
        read += len(ontology.axioms)
        name = str(file.relative_to(shared_data))
        if name in KNOWN:
            assert ontology.counts() == KNOWN[name]
    assert read or folder == "uobm"
