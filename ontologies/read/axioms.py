"""Axioms, predicate by predicate.

Start at `AxiomReader.read`. Axioms of one triple with two operands are in `PAIRS`, types of
properties in `CHARACTERISTICS`; the rest are lists and nodes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.axioms import Axiom
from triplestore.ontologies.model.expressions import Description, Expression, InverseOf, Triple
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.terms import Term
from triplestore.terms.vocabulary import XSD, XSD_BOOLEAN
from triplestore.thread_limits import look, looking

from .annotations import Annotations
from .expressions import ExpressionReader
from .plans import Role, read_list, report_no_node
from .problems import Problems, show

BOOLEAN = NamedNode(XSD_BOOLEAN)
CLASS, PROPERTY, ANY = Role.CLASS, Role.PROPERTY, Role.ANY

PAIRS: tuple[tuple[NamedNode, type[Any], Role, Role], ...] = (
    (v.SUB_CLASS_OF, ax.SubClassOf, CLASS, CLASS),
    (v.EQUIVALENT_CLASS, ax.EquivalentClasses, CLASS, CLASS),
    (v.DISJOINT_WITH, ax.DisjointClasses, CLASS, CLASS),
    (v.SUB_PROPERTY_OF, ax.SubPropertyOf, PROPERTY, PROPERTY),
    (v.EQUIVALENT_PROPERTY, ax.EquivalentProperties, PROPERTY, PROPERTY),
    (v.PROPERTY_DISJOINT_WITH, ax.DisjointProperties, PROPERTY, PROPERTY),
    (v.DOMAIN, ax.PropertyDomain, PROPERTY, CLASS),
    (v.RANGE, ax.PropertyRange, PROPERTY, CLASS),
    (v.SAME_AS, ax.SameIndividual, ANY, ANY),
    (v.DIFFERENT_FROM, ax.DifferentIndividuals, ANY, ANY),
)
CHARACTERISTICS: tuple[tuple[NamedNode, type[Any]], ...] = (
    (v.FUNCTIONAL, ax.FunctionalProperty),
    (v.INVERSE_FUNCTIONAL, ax.InverseFunctionalProperty),
    (v.REFLEXIVE, ax.ReflexiveProperty),
    (v.IRREFLEXIVE, ax.IrreflexiveProperty),
    (v.SYMMETRIC, ax.SymmetricProperty),
    (v.ASYMMETRIC, ax.AsymmetricProperty),
    (v.TRANSITIVE, ax.TransitiveProperty),
)
LISTED: tuple[tuple[NamedNode, type[Any], Role, Role, bool], ...] = (
    (v.DISJOINT_UNION_OF, ax.DisjointUnion, CLASS, CLASS, True),
    (v.HAS_KEY, ax.HasKey, CLASS, PROPERTY, True),
    (v.PROPERTY_CHAIN_AXIOM, ax.PropertyChain, PROPERTY, PROPERTY, False),
)
MEMBERS: tuple[tuple[NamedNode, NamedNode, type[Any], Role], ...] = (
    (v.ALL_DISJOINT_CLASSES, v.MEMBERS, ax.AllDisjointClasses, CLASS),
    (v.ALL_DISJOINT_PROPERTIES, v.MEMBERS, ax.AllDisjointProperties, PROPERTY),
    (v.ALL_DIFFERENT, v.MEMBERS, ax.AllDifferent, ANY),
    (v.ALL_DIFFERENT, v.DISTINCT_MEMBERS, ax.AllDifferent, ANY),
)
TRUE = {str(Literal("true")), str(Literal(True)), str(Literal("1", datatype=BOOLEAN))}
MEMBER_PREDICATES = (v.MEMBERS, v.DISTINCT_MEMBERS)


class AxiomReader:
    """Reads the axioms of a graph.

    graph        the triples
    lists        reads its lists
    expressions  what its nodes stand for
    annotations  what is said about its axioms
    datatypes    what is declared a datatype
    problems     where to report
    """

    def __init__(
        self,
        graph: SchemaGraph,
        lists: ListReader,
        expressions: ExpressionReader,
        annotations: Annotations,
        datatypes: Container[object],
        problems: Problems,
    ) -> None:
        self._graph = graph
        self._lists = lists
        self._expressions = expressions
        self._annotations = annotations
        self._datatypes = datatypes
        self._problems = problems

    def read(self) -> tuple[Axiom, ...]:
        """All axioms, kind by kind."""
        found: list[Axiom] = []
        for predicate, make, left, right in PAIRS:
            found += self._pairs(predicate, make, left, right)
        found += self._definitions()
        for cls, make in CHARACTERISTICS:
            found += self._characteristics(cls, make)
        found += self._inverses()
        for row in LISTED:
            found += self._listed(*row)
        for members in MEMBERS:
            found += self._members(*members)
        self._report_members_without_type()
        found += self._negative_assertions()
        found += self._class_assertions()
        found += self._deprecations()
        return tuple(found)

    def _pairs(
        self, predicate: NamedNode, make: type[Any], left: Role, right: Role
    ) -> Iterator[Axiom]:
        annotated = self._annotations
        for triple in self._graph.having(predicate):
            look()
            subject, _, value = triple
            if type(subject) is not NamedNode or type(value) is not NamedNode:
                operands = self._operands((left, right), (subject, value), (triple,))
                if operands is None:
                    continue
                subject, value = operands
            kind = make
            if predicate is v.EQUIVALENT_CLASS and (
                self._is_datatype(triple[0]) or self._is_datatype(triple[2])
            ):
                kind = ax.DatatypeDefinition
            yield kind(subject, value, own=(triple,), annotations=annotated.of(triple))

    def _is_datatype(self, term: Term) -> bool:
        return term in self._datatypes or (
            isinstance(term, NamedNode) and term.value.startswith(XSD)
        )

    def _definitions(self) -> Iterator[Axiom]:
        """Nodes that are not replaced by what is said about them."""
        for expression in self._expressions.definitions:
            assert expression.node is not None
            if isinstance(expression, InverseOf):
                yield ax.InverseProperties(expression.node, expression.property, own=expression.own)
            else:
                yield ax.EquivalentClasses(expression.node, expression)

    def _characteristics(self, cls: NamedNode, make: type[Any]) -> Iterator[Axiom]:
        for triple in self._graph.typed(cls):
            operands = self._operands((PROPERTY,), (triple[0],), (triple,))
            if operands is not None:
                yield make(*operands, own=(triple,), annotations=self._annotations.of(triple))

    def _inverses(self) -> Iterator[Axiom]:
        """owl:inverseOf of a property with a name; of a blank node, it makes an expression."""
        for triple in self._graph.having(v.INVERSE_OF):
            if type(triple[0]) is BlankNode:
                continue
            operands = self._operands((PROPERTY, PROPERTY), (triple[0], triple[2]), (triple,))
            if operands is not None:
                annotations = self._annotations.of(triple)
                yield ax.InverseProperties(*operands, own=(triple,), annotations=annotations)

    def _listed(
        self, predicate: NamedNode, make: type[Any], one: Role, many: Role, first: bool
    ) -> Iterator[Axiom]:
        for triple in looking(self._graph.having(predicate)):
            for reading in read_list(self._lists, triple, self._problems):
                own = (triple, *reading.triples)
                self._problems.used.update(own)
                subject = self._operands((one,), (triple[0],), own)
                items = self._operands((many,) * len(reading.items), reading.items, own)
                if subject is not None and items is not None:
                    operands = (*subject, items) if first else (items, *subject)
                    yield make(*operands, own=own, annotations=self._annotations.of(triple))

    def _members(
        self, cls: NamedNode, predicate: NamedNode, make: type[Any], role: Role
    ) -> Iterator[Axiom]:
        lists = self._graph.index(predicate)
        for typed in self._graph.typed(cls):
            node = typed[0]
            if not any(node in self._graph.index(name) for name in MEMBER_PREDICATES):
                message = f"{show(node)} is of type {show(cls)} and has no members"
                remedy = "add owl:members with a list; it was not read"
                self._problems.report("without-members", message, (typed,), remedy)
            for triple in looking(lists.get(node, ())):
                for reading in read_list(self._lists, triple, self._problems):
                    own = (typed, triple, *reading.triples)
                    self._problems.used.update(own)
                    items = self._operands((role,) * len(reading.items), reading.items, own)
                    if items is not None:
                        yield make(items, own=own, annotations=self._annotations.at(node))

    def _report_members_without_type(self) -> None:
        types = (v.ALL_DISJOINT_CLASSES, v.ALL_DISJOINT_PROPERTIES, v.ALL_DIFFERENT)
        typed = {triple[0] for cls in types for triple in self._graph.typed(cls)}
        for predicate in MEMBER_PREDICATES:
            for triple in self._graph.having(predicate):
                if triple not in self._problems.used and triple[0] not in typed:
                    message = f"{show(triple[0])} has {show(predicate)}, but no type"
                    remedy = "add the type owl:AllDifferent, owl:AllDisjointClasses or "
                    remedy += "owl:AllDisjointProperties; it was not read"
                    self._problems.report("members-without-type", message, (triple,), remedy)

    def _negative_assertions(self) -> Iterator[Axiom]:
        sources = self._graph.index(v.SOURCE_INDIVIDUAL)
        properties = self._graph.index(v.ASSERTION_PROPERTY)
        targets = [self._graph.index(v.TARGET_INDIVIDUAL), self._graph.index(v.TARGET_VALUE)]
        nodes = dict.fromkeys(
            (
                *sources,
                *properties,
                *targets[0],
                *targets[1],
                *(triple[0] for triple in self._graph.typed(v.NEGATIVE_ASSERTION)),
            )
        )
        for node in nodes:
            aims = [triple for index in targets for triple in index.get(node, ())]
            of, by = sources.get(node, ()), properties.get(node, ())
            parts = (*of, *aims, *by)
            self._problems.used.update(parts)
            if not of or not by or not aims:
                self._report_half_negative(node, parts)
                continue
            for own in ((s, aim, p) for s in of for p in by for aim in aims):
                found = self._operands((PROPERTY,), (own[2][2],), own)
                if found is not None:
                    yield ax.NegativePropertyAssertion(
                        own[0][2], found[0], own[1][2], own=own,
                        annotations=self._annotations.at(node),
                    )  # fmt: skip

    def _report_half_negative(self, node: Term, parts: tuple[Triple, ...]) -> None:
        parts = parts or tuple(
            triple for triple in self._graph.typed(v.NEGATIVE_ASSERTION) if triple[0] == node
        )
        self._problems.report(
            "half-negative-assertion",
            f"the negative assertion {show(node)} is not complete",
            parts,
            "it takes owl:sourceIndividual, owl:assertionProperty and owl:targetIndividual or "
            "owl:targetValue; it was not read",
        )

    def _class_assertions(self) -> Iterator[Axiom]:
        for cls in self._graph.classes():
            if type(cls) is not BlankNode:
                continue
            described = self._expressions.class_of(cls)
            if not isinstance(described, Expression):
                continue
            for triple in self._graph.typed(cls):
                annotations = self._annotations.of(triple)
                yield ax.ClassAssertion(
                    described, triple[0], own=(triple,), annotations=annotations
                )

    def _deprecations(self) -> Iterator[Axiom]:
        marked = [t for t in self._graph.having(v.DEPRECATED) if str(t[2]) in TRUE]
        for cls in (v.DEPRECATED_CLASS, v.DEPRECATED_PROPERTY):
            marked += self._graph.typed(cls)
        for triple in marked:
            if isinstance(triple[0], NamedNode | BlankNode):
                annotations = self._annotations.of(triple)
                yield ax.Deprecated(triple[0], own=(triple,), annotations=annotations)

    def _operands(
        self, roles: Sequence[Role], terms: Sequence[Term], own: tuple[Triple, ...]
    ) -> tuple[Any, ...] | None:
        """What terms stand for in their roles; None, and reported, if one cannot stand there."""
        found: list[Term | Description | InverseOf] = []
        for role, term in zip(roles, terms, strict=True):
            if role is ANY or type(term) is NamedNode:
                found.append(term)
            elif type(term) is not BlankNode:
                report_no_node(term, own, self._problems)
                return None
            elif role is CLASS:
                found.append(self._expressions.class_of(term))
            else:
                found.append(self._expressions.property_of(term))
        return tuple(found)
