"""The W3C's tests of RDF semantics (rdf-mt): which graph entails which, under which regime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox

from tests.conformance.entailment import read_facts
from tests.ontologies.oracle import Fact, Graph, Term

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
PUBLISHED = "https://w3c.github.io/rdf-tests/rdf/rdf11/rdf-mt/"


@dataclass(frozen=True)
class EntailmentCase:
    """One entry of the manifest.

    conclusion  None stands for an inconsistency
    recognized  the datatypes whose values are known in this test
    """

    name: str
    positive: bool
    regime: str  # simple, RDF or RDFS
    recognized: frozenset[str]
    premise: list[Fact]
    conclusion: list[Fact] | None

    def __str__(self) -> str:
        return self.name


def read_cases(data: Path) -> list[EntailmentCase]:
    """The entries that the manifest lists, in its order."""
    folder = data / "w3c-rdf-tests" / "rdf" / "rdf11" / "rdf-mt"
    manifest = Graph(read_facts(folder / "manifest.ttl", (folder / "manifest.ttl").as_uri()))
    (entries,) = {fact[2] for fact in manifest.match(None, ox.NamedNode(MF + "entries"), None)}
    return [_case(manifest, node, folder) for node in next(manifest.lists(entries))]


def _case(manifest: Graph, node: Term, folder: Path) -> EntailmentCase:
    def value(name: str) -> Term:
        return next(_values(manifest, node, MF + name))

    result = value("result")
    kind = next(_values(manifest, node, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"))
    recognized = next(manifest.lists(value("recognizedDatatypes")))
    return EntailmentCase(
        name=value("name").value,
        positive=kind.value == MF + "PositiveEntailmentTest",
        regime=value("entailmentRegime").value,
        recognized=frozenset(one.value for one in recognized),
        premise=_read(value("action"), folder),
        conclusion=None if isinstance(result, ox.Literal) else _read(result, folder),
    )


def _values(manifest: Graph, node: Term, predicate: str) -> Iterator[Term]:
    yield from manifest.objects(node, ox.NamedNode(predicate))


def _read(node: Term, folder: Path) -> list[Fact]:
    path = Path(unquote(urlsplit(node.value).path))
    return read_facts(path, PUBLISHED + path.relative_to(folder).as_posix())
