"""Ontologies with data to reason over, as files of N-Triples: the same for every reasoner.

Files are made once and kept in `build/bench/data/ontologies`. The ontologies come from the shared
data; data of the OBO Relations Ontology are made here.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.inputs.data import (
    FOLDER,
    lubm_file,
    make_once,
    original_lubm10,
    read_through,
    shared_data,
)

KEPT = FOLDER / "ontologies"
OBO = "http://purl.obolibrary.org/obo/"
GROUP = 20
"""Size of a group of individuals among which relations hold; so closures grow with the data."""


@dataclass(frozen=True)
class OntologyInput:
    """An input: its name in reports, files, regime, and number of statements."""

    name: str
    files: tuple[Path, ...]
    regime: str
    statements: int


def lubm(universities: int) -> OntologyInput | None:
    """LUBM-like data with LUBM's ontology."""
    return _input(
        f"LUBM-like {universities}", "owl-rl", "lubm/univ-bench.owl", lubm_file(universities).path
    )


def original_lubm() -> OntologyInput | None:
    """LUBM(10) of the original generator with its ontology."""
    original = original_lubm10()
    if original is None:
        return None
    return _input("LUBM(10), original", "owl-rl", "lubm/univ-bench.owl", original.path)


def relations(edges: int) -> OntologyInput | None:
    """The OBO Relations Ontology with this many statements between individuals."""
    ontology = shared_data() / "owl-real" / "obo-relations" / "ro.owl"
    if not ontology.exists():
        return None
    data = KEPT / f"relations-{edges}.ttl"
    make_once(data, lambda new: new.write_text("".join(_edges(_properties(ontology), edges))))
    return _input(f"Relations Ontology, {edges:,}", "owl-rl", str(ontology), data)


def thesaurus(name: str) -> OntologyInput | None:
    """A thesaurus in SKOS."""
    path = shared_data() / "skos" / THESAURI[name]
    return _input(name, "skos", str(path)) if path.exists() else None


THESAURI = {
    "STW": "stw/stw-skos.ttl",
    "UNESCO": "unesco/unesco-thesaurus-2025.ttl",
    "UAT": "uat/UAT.rdf",
}


def _input(name: str, regime: str, ontology: str, *data: Path) -> OntologyInput | None:
    source = shared_data() / ontology
    if not source.exists():
        return None
    files = tuple(converted(path) for path in (source, *data))
    for path in files:
        read_through(path)
    return OntologyInput(name, files, regime, sum(map(_lines, files)))


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 22), b""))


def converted(source: Path) -> Path:
    """The file as N-Triples, with a name that every reasoner reads as Turtle."""
    from pyoxigraph import RdfFormat, parse, serialize

    target = KEPT / f"{source.stem}.ttl"
    if source == target or target.exists():
        return target
    KEPT.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".nt":
        target.symlink_to(source.resolve())
        return target
    packed = source.suffix == ".gz"
    suffix = source.with_suffix("").suffix if packed else source.suffix
    known = {".owl": RdfFormat.RDF_XML, ".rdf": RdfFormat.RDF_XML, ".ttl": RdfFormat.TURTLE}
    data = gzip.decompress(source.read_bytes()) if packed else source.read_bytes()
    quads = parse(data, format=known[suffix], base_iri="http://example.org/")
    facts = serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    make_once(target, lambda new: new.write_bytes(facts or b""))
    return target


def _properties(ontology: Path) -> list[str]:
    """The object properties of an ontology, except deprecated ones."""
    from pyoxigraph import NamedNode, RdfFormat, Store

    store = Store()
    store.load(path=str(ontology), format=RdfFormat.RDF_XML, base_iri=OBO)
    owl, rdf = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    found = store.quads_for_pattern(
        None, NamedNode(rdf + "type"), NamedNode(owl + "ObjectProperty")
    )
    names = {quad.subject for quad in found if isinstance(quad.subject, NamedNode)}
    old = {
        quad.subject for quad in store.quads_for_pattern(None, NamedNode(owl + "deprecated"), None)
    }
    return sorted(name.value for name in names - old)


def _edges(properties: list[str], count: int) -> Iterator[str]:
    """Statements in groups of individuals, without cycles, each with a random property."""
    roll = random.Random("relations").random
    for number in range(count):
        group = number // GROUP
        first, second = sorted((int(roll() * GROUP), int(roll() * GROUP)))
        last = second + 1 if first == second else second
        p = properties[int(roll() * len(properties))]
        base = f"http://example.org/thing/{group}"
        yield f"<{base}-{first}> <{p}> <{base}-{last}> .\n"
