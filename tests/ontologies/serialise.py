"""Axioms and expressions written as triples, plainly: the reader's counterpart in tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyoxigraph import BlankNode, Literal

from tests.ontologies.reading import n
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.expressions import Triple
from triplestore.terms import Term

ONE_TRIPLE: dict[type[Any], Any] = {
    ax.SubClassOf: v.SUB_CLASS_OF,
    ax.EquivalentClasses: v.EQUIVALENT_CLASS,
    ax.DisjointClasses: v.DISJOINT_WITH,
    ax.DisjointUnion: v.DISJOINT_UNION_OF,
    ax.HasKey: v.HAS_KEY,
    ax.SubPropertyOf: v.SUB_PROPERTY_OF,
    ax.EquivalentProperties: v.EQUIVALENT_PROPERTY,
    ax.DisjointProperties: v.PROPERTY_DISJOINT_WITH,
    ax.InverseProperties: v.INVERSE_OF,
    ax.PropertyDomain: v.DOMAIN,
    ax.PropertyRange: v.RANGE,
    ax.SameIndividual: v.SAME_AS,
    ax.DifferentIndividuals: v.DIFFERENT_FROM,
}
TYPED: dict[type[Any], Any] = {
    ax.FunctionalProperty: v.FUNCTIONAL,
    ax.InverseFunctionalProperty: v.INVERSE_FUNCTIONAL,
    ax.ReflexiveProperty: v.REFLEXIVE,
    ax.IrreflexiveProperty: v.IRREFLEXIVE,
    ax.SymmetricProperty: v.SYMMETRIC,
    ax.AsymmetricProperty: v.ASYMMETRIC,
    ax.TransitiveProperty: v.TRANSITIVE,
}
MEMBERS: dict[type[Any], Any] = {
    ax.AllDisjointClasses: v.ALL_DISJOINT_CLASSES,
    ax.AllDisjointProperties: v.ALL_DISJOINT_PROPERTIES,
    ax.AllDifferent: v.ALL_DIFFERENT,
}
ONE_OPERAND: dict[type[Any], Any] = {
    ex.IntersectionOf: v.INTERSECTION_OF,
    ex.UnionOf: v.UNION_OF,
    ex.OneOf: v.ONE_OF,
    ex.ComplementOf: v.COMPLEMENT_OF,
    ex.DatatypeComplementOf: v.DATATYPE_COMPLEMENT_OF,
    ex.InverseOf: v.INVERSE_OF,
}
ON_PROPERTY: dict[type[Any], Any] = {
    ex.SomeValuesFrom: (v.ON_PROPERTY, v.SOME_VALUES_FROM),
    ex.AllValuesFrom: (v.ON_PROPERTY, v.ALL_VALUES_FROM),
    ex.NarySomeValuesFrom: (v.ON_PROPERTIES, v.SOME_VALUES_FROM),
    ex.NaryAllValuesFrom: (v.ON_PROPERTIES, v.ALL_VALUES_FROM),
    ex.HasValue: (v.ON_PROPERTY, v.HAS_VALUE),
}
NUMBERS: dict[type[Any], Any] = {
    ex.MinCardinality: (v.MIN_CARDINALITY, v.MIN_QUALIFIED_CARDINALITY),
    ex.MaxCardinality: (v.MAX_CARDINALITY, v.MAX_QUALIFIED_CARDINALITY),
    ex.ExactCardinality: (v.CARDINALITY, v.QUALIFIED_CARDINALITY),
}


class Serialiser:
    """Collects the triples of what it is given; blank nodes are numbered."""

    def __init__(self) -> None:
        self.triples: list[Triple] = []
        self._count = 0

    def axiom(self, axiom: Any) -> None:
        """Write an axiom."""
        made = type(axiom)
        said = ex.content(axiom)
        if made in ONE_TRIPLE:
            self._say(self.term(said[0]), ONE_TRIPLE[made], self.term(said[1]))
        elif made in TYPED:
            self._say(self.term(said[0]), v.TYPE, TYPED[made])
        elif made in MEMBERS:
            node = self._blank()
            self._say(node, v.TYPE, MEMBERS[made])
            self._say(node, v.MEMBERS, self.term(said[0]))
        elif isinstance(axiom, ax.PropertyChain):
            self._say(self.term(axiom.sup), v.PROPERTY_CHAIN_AXIOM, self.term(axiom.chain))
        elif isinstance(axiom, ax.ClassAssertion):
            self._say(self.term(axiom.individual), v.TYPE, self.term(axiom.described))
        else:
            assert isinstance(axiom, ax.NegativePropertyAssertion)
            self._negative(axiom)

    def _negative(self, axiom: ax.NegativePropertyAssertion) -> None:
        node = self._blank()
        literal = isinstance(axiom.target, Literal)
        self._say(node, v.SOURCE_INDIVIDUAL, axiom.source)
        self._say(node, v.ASSERTION_PROPERTY, self.term(axiom.property))
        self._say(node, v.TARGET_VALUE if literal else v.TARGET_INDIVIDUAL, axiom.target)

    def term(self, thing: Any) -> Any:
        """What stands for a term, an expression or a list, whose triples are written."""
        if isinstance(thing, tuple):
            return self._list([self.term(item) for item in thing])
        if not isinstance(thing, ex.Expression):
            return thing
        node = self._blank()
        made = type(thing)
        if made in ONE_OPERAND:
            self._say(node, ONE_OPERAND[made], self.term(ex.content(thing)[0]))
        elif made in ON_PROPERTY:
            for predicate, part in zip(ON_PROPERTY[made], ex.content(thing), strict=True):
                self._say(node, predicate, self.term(part))
        elif made in NUMBERS:
            self._cardinality(node, thing)
        elif isinstance(thing, ex.HasSelf):
            self._say(node, v.ON_PROPERTY, self.term(thing.property))
            self._say(node, v.HAS_SELF, Literal(True))
        elif isinstance(thing, ex.Facet):
            self._say(node, thing.facet, thing.value)
        else:
            assert isinstance(thing, ex.DatatypeRestriction)
            self._say(node, v.ON_DATATYPE, self.term(thing.datatype))
            self._say(node, v.WITH_RESTRICTIONS, self.term(thing.facets))
        return node

    def _cardinality(self, node: BlankNode, thing: Any) -> None:
        plain, qualified = NUMBERS[type(thing)]
        number = Literal(str(thing.number), datatype=n("xsd:nonNegativeInteger"))
        self._say(node, v.ON_PROPERTY, self.term(thing.property))
        self._say(node, plain if thing.filler is None else qualified, number)
        if thing.filler is not None:
            self._say(node, v.ON_CLASS, self.term(thing.filler))

    def _list(self, items: Sequence[Term]) -> Term:
        head: Term = v.NIL
        for item in reversed(items):
            cell = self._blank()
            self._say(cell, v.FIRST, item)
            self._say(cell, v.REST, head)
            head = cell
        return head

    def _blank(self) -> BlankNode:
        self._count += 1
        return BlankNode(f"b{self._count}")

    def _say(self, subject: Any, predicate: Any, value: Any) -> None:
        self.triples.append((subject, predicate, value))
