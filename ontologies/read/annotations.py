"""Annotations of axioms: `owl:Axiom` and `owl:Annotation` nodes that name a triple.

Start at `Annotations`. Nothing follows from them; they are kept for reports. A node that annotates
a missing triple is reported if the triple would be an axiom. Some tools write the
expressions of an annotated axiom twice, under two blank nodes: then the axiom is found by what its
expressions say.
"""

from __future__ import annotations

from pyoxigraph import BlankNode

from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.axioms import Annotation
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.terms import Term

from .expressions import ExpressionReader
from .problems import Problems, show

MOST_DEPTH = 50
"""Maximum depth of annotations of annotations."""

ABOUT_THE_NODE = v.SCHEMA_PREDICATES | v.ANNOTATION_PREDICATES | v.SWRL_PREDICATES | {v.TYPE}


class Annotations:
    """The annotations of a graph, by what they are about.

    >>> from pyoxigraph import Literal, NamedNode
    >>> from triplestore.ontologies.model.lists import ListReader
    >>> a, b, note = (NamedNode(f"http://example.org/{name}") for name in ("A", "B", "note"))
    >>> node, axiom = BlankNode("n"), (a, v.SUB_CLASS_OF, b)
    >>> named = zip((v.ANNOTATED_SOURCE, v.ANNOTATED_PROPERTY, v.ANNOTATED_TARGET), axiom)
    >>> graph = SchemaGraph([axiom, *((node, p, o) for p, o in named), (node, note, Literal("!"))])
    >>> lists = ListReader(graph)
    >>> expressions = ExpressionReader(graph, lists, Problems())
    >>> annotations = Annotations(graph, lists, expressions, Problems())
    >>> [annotation.value.value for annotation in annotations.of(axiom)]
    ['!']
    """

    def __init__(
        self,
        graph: SchemaGraph,
        lists: ListReader,
        expressions: ExpressionReader,
        problems: Problems,
    ) -> None:
        self._graph = graph
        self._lists = lists
        self._expressions = expressions
        self._problems = problems
        self._nodes: dict[Triple, list[Term]] = {}
        self._known: dict[Term, tuple[Annotation, ...]] = {}
        self._same: dict[Term, dict[tuple[str, str], Triple]] = {}
        self._collect()

    def of(self, triple: Triple) -> tuple[Annotation, ...]:
        """The annotations of the axiom with this main triple."""
        nodes = self._nodes.get(triple)
        return tuple(a for node in nodes for a in self.at(node)) if nodes else ()

    def at(self, node: Term, depth: int = 0) -> tuple[Annotation, ...]:
        """The annotations at a node."""
        known = self._known.get(node)
        if known is None:
            self._known[node] = ()  # should it come back to this node
            known = self._known[node] = tuple(
                Annotation(triple[1], triple[2], self._nested(triple, depth))
                for triple in self._graph.about(node)
                if triple[1] not in ABOUT_THE_NODE
            )
        return known

    def _nested(self, triple: Triple, depth: int) -> tuple[Annotation, ...]:
        """The annotations of an annotation."""
        if triple not in self._nodes or depth == MOST_DEPTH:
            return ()
        return tuple(a for node in self._nodes[triple] for a in self.at(node, depth + 1))

    def _collect(self) -> None:
        properties = self._graph.index(v.ANNOTATED_PROPERTY)
        targets = self._graph.index(v.ANNOTATED_TARGET)
        for source in self._graph.having(v.ANNOTATED_SOURCE):
            node = source[0]
            of, to = properties.get(node, ()), targets.get(node, ())
            if not of or not to:
                message = f"the annotation {show(node)} does not say of which triple it is"
                remedy = "it takes owl:annotatedSource, owl:annotatedProperty, owl:annotatedTarget"
                self._problems.report("half-annotation", message, (source, *of, *to), remedy)
            for triple in ((source[2], p[2], o[2]) for p in of for o in to):
                found = self._found(triple)
                if found is None:
                    self._report_missing(triple, (source, *of, *to))
                else:
                    self._nodes.setdefault(found, []).append(node)

    def _found(self, triple: Triple) -> Triple | None:
        """The triple itself if it exists or is not about axioms, or one that says the same."""
        if triple in self._graph or triple[1] not in v.SCHEMA_PREDICATES:
            return triple
        if type(triple[0]) is not BlankNode and type(triple[2]) is not BlankNode:
            return None
        alike = self._same.get(triple[1])
        if alike is None:
            alike = self._same[triple[1]] = {}
            for other in self._graph.having(triple[1]):
                if type(other[0]) is BlankNode or type(other[2]) is BlankNode:
                    alike.setdefault(self._said(other), other)
        return alike.get(self._said(triple))

    def _said(self, triple: Triple) -> tuple[str, str]:
        """What subject and object stand for, in text."""
        subject, _, value = triple
        return self._text(subject), self._text(value)

    def _text(self, term: Term) -> str:
        if term in self._graph.index(v.FIRST):
            for reading in self._lists.read(term):
                return " ".join(map(self._item, reading.items))
        return self._item(term)

    def _item(self, term: Term) -> str:
        if isinstance(term, BlankNode):
            described = self._expressions.class_of(term)
            return text(self._expressions.property_of(term) if described is term else described)
        return text(term)

    def _report_missing(self, triple: Triple, triples: tuple[Triple, ...]) -> None:
        self._problems.report(
            "annotated-axiom-missing",
            f"{show(triples[0][0])} annotates an axiom of {show(triple[0])} that is not asserted",
            triples,
            f"assert it ({' '.join(map(show, triple))}), or remove the annotation",
        )
