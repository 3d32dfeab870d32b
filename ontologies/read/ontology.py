"""Reading an ontology from its triples.

Start at `read_ontology`. It never raises on what the triples say: what is not understood is
reported. The cost is linear in the triples, some microseconds each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.model.schema_graph import SchemaGraph

from .annotations import Annotations
from .axioms import AxiomReader
from .expressions import ExpressionReader
from .headers import read_declarations, read_headers
from .problems import Problems
from .swrl import SwrlReader
from .unknown import report_unknown

STRUCTURE = sorted(
    (
        v.EXPRESSION_PREDICATES
        | {v.DISJOINT_UNION_OF, v.HAS_KEY, v.PROPERTY_CHAIN_AXIOM, v.MEMBERS, v.DISTINCT_MEMBERS}
    ),
    key=str,
)


def read_ontology(triples: SchemaGraph | Iterable[Any]) -> Ontology:
    """The axioms in some triples, asserted or inferred, in any order.

    triples  a graph, or tuples, triples or quads; those that `vocabulary` does not name are ignored

    >>> from pyoxigraph import RdfFormat, parse
    >>> turtle = '''@prefix : <http://example.org/> .
    ... @prefix owl: <http://www.w3.org/2002/07/owl#> .
    ... @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ... :Parent rdfs:subClassOf [ owl:onProperty :child ; owl:someValuesFrom :Person ] .'''
    >>> ontology = read_ontology(parse(turtle, format=RdfFormat.TURTLE))
    >>> axiom = ontology.axioms[0]
    >>> axiom
    SubClassOf(<http://example.org/Parent>
        SomeValuesFrom(<http://example.org/child> <http://example.org/Person>))
    >>> len(axiom.triples)
    3
    """
    graph = triples if isinstance(triples, SchemaGraph) else SchemaGraph(triples)
    problems = Problems()
    lists = ListReader(graph)
    expressions = ExpressionReader(graph, lists, problems)
    annotations = Annotations(graph, lists, expressions, problems)
    declared = read_declarations(graph)
    reader = AxiomReader(graph, lists, expressions, annotations, declared[v.DATATYPE], problems)
    axioms = reader.read()
    rules = SwrlReader(graph, lists, expressions, annotations, problems).read()
    headers = read_headers(graph, problems)
    report_unknown(graph, problems)
    unused = tuple(
        triple
        for predicate in STRUCTURE
        for triple in graph.having(predicate)
        if triple not in problems.used
    )
    return Ontology(
        axioms,
        expressions.expressions,
        rules,
        declared,
        headers,
        (*problems.found, *lists.problems),
        unused,
    )
