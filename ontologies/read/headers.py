"""What ontologies say of themselves, and what they declare.

Start at `read_headers` and `read_declarations`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import BlankNode, NamedNode

from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.expressions import Node, Triple
from triplestore.ontologies.model.ontology import Header
from triplestore.ontologies.model.schema_graph import SchemaGraph

from .problems import Problems, show


def read_headers(graph: SchemaGraph, problems: Problems) -> tuple[Header, ...]:
    """The ontologies of a graph: first those that no other one imports, then by name."""
    versions, imports = graph.index(v.VERSION_IRI), graph.index(v.IMPORTS)
    nodes = dict.fromkeys([*(triple[0] for triple in graph.typed(v.ONTOLOGY)), *imports])
    imported = {triple[2] for triple in graph.having(v.IMPORTS) if triple[0] != triple[2]}
    for triple in graph.having(v.IMPORTS):
        if not isinstance(triple[2], NamedNode):
            message = f"{show(triple[0])} imports {show(triple[2])}, which is not an IRI"
            problems.report("import-no-iri", message, (triple,), "name the ontology by its IRI")
    return tuple(
        Header(
            node,
            next(iter(_nodes(versions.get(node, ()))), None),
            tuple(found for found in _nodes(imports.get(node, ())) if isinstance(found, NamedNode)),
        )
        for node in sorted(nodes, key=lambda node: (node in imported, str(node)))
        if isinstance(node, NamedNode | BlankNode)
    )


def read_declarations(graph: SchemaGraph) -> dict[NamedNode, frozenset[Node]]:
    """Kind -> what is declared to be of it; kinds without declarations are included."""
    found: dict[NamedNode, set[Node]] = {}
    for cls, kinds in v.DECLARATIONS.items():
        nodes = {
            triple[0] for triple in graph.typed(cls) if isinstance(triple[0], NamedNode | BlankNode)
        }
        for kind in kinds:
            found.setdefault(kind, set()).update(nodes)
    return {kind: frozenset(nodes) for kind, nodes in found.items()}


def _nodes(triples: Iterable[Triple]) -> list[Node]:
    """The objects of triples that are IRIs or blank nodes."""
    return [triple[2] for triple in triples if isinstance(triple[2], NamedNode | BlankNode)]
