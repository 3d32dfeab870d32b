"""The description of an endpoint in the W3C's vocabulary: start at `service_description`.

https://www.w3.org/TR/sparql11-service-description/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyoxigraph as ox

from triplestore.server.negotiation import RESULTS, TRIPLES

if TYPE_CHECKING:
    from triplestore.store import ReadableStore

SD = "http://www.w3.org/ns/sparql-service-description#"
VOID = "http://rdfs.org/ns/void#"
RDF_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

PREFIXES = {"sd": SD, "void": VOID, "formats": "http://www.w3.org/ns/formats/"}


def service_description(
    store: ReadableStore, endpoint: str, *, update: bool, union: bool
) -> list[ox.Triple]:
    """The triples that describe an endpoint."""
    service, dataset, graph = ox.NamedNode(endpoint), ox.BlankNode("dataset"), ox.BlankNode("graph")
    languages = ["SPARQL11Query", *(["SPARQL11Update"] if update else [])]
    found = [
        ox.Triple(service, RDF_TYPE, _sd("Service")),
        ox.Triple(service, _sd("endpoint"), service),
        ox.Triple(service, _sd("defaultDataset"), dataset),
        ox.Triple(dataset, RDF_TYPE, _sd("Dataset")),
        ox.Triple(dataset, _sd("defaultGraph"), graph),
        ox.Triple(graph, RDF_TYPE, _sd("Graph")),
    ]
    found += [ox.Triple(service, _sd("supportedLanguage"), _sd(name)) for name in languages]
    found += [ox.Triple(service, _sd("resultFormat"), form) for form in _formats()]
    if union:
        found.append(ox.Triple(service, _sd("feature"), _sd("UnionDefaultGraph")))
    else:
        count = ox.Literal(_size_of_default_graph(store))
        found.append(ox.Triple(graph, ox.NamedNode(VOID + "triples"), count))
    return found


def _sd(name: str) -> ox.NamedNode:
    return ox.NamedNode(SD + name)


def _formats() -> Iterator[ox.NamedNode]:
    known = [form.iri for _, form in RESULTS] + [form.iri for _, form in TRIPLES]
    yield from map(ox.NamedNode, dict.fromkeys(known))


def _size_of_default_graph(store: ReadableStore) -> int:
    blocks = store.rows_for_pattern(graph_name=ox.DefaultGraph())
    return sum(rows.size for rows in blocks)
