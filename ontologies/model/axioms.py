"""The axioms of OWL 2, as data.

Start at `Axiom`. There is one dataclass for each way in which the W3C rules find an axiom in RDF:
`DisjointClasses` is one `owl:disjointWith` triple and `AllDisjointClasses` a node with a list,
because different rules speak of them. Terms and expressions are those of `expressions`; object
and data properties are not distinguished. The positional fields of an axiom are all that it
says; where it was read from (`own`, `triples`) also counts for equality, because an axiom that is
asserted twice is two premises, of which one may be removed.
"""

from __future__ import annotations

from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.expressions import (
    ClassExpression,
    Description,
    Node,
    PropertyExpression,
    Triple,
    triples_of,
)
from triplestore.terms import Term


@data_class
class Annotation:
    """An annotation of an axiom, or of another annotation."""

    property: Term
    value: Term
    annotations: tuple[Annotation, ...] = ()


@data_class(repr=False)
class Axiom:
    """The base of all axioms.

    own          the triples that assert it, without those of the expressions inside
    annotations  what is said about it

    >>> from pyoxigraph import NamedNode
    >>> a, b = NamedNode("http://example.org/A"), NamedNode("http://example.org/B")
    >>> axiom = SubClassOf(a, b)
    >>> axiom
    SubClassOf(<http://example.org/A> <http://example.org/B>)
    >>> match axiom:
    ...     case SubClassOf(sub, sup):
    ...         print(sub)
    <http://example.org/A>
    """

    own: tuple[Triple, ...] = field(default=(), kw_only=True)
    annotations: tuple[Annotation, ...] = field(default=(), kw_only=True, compare=False)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """All triples it was read from: premises of every rule made of it.

        They are those that the W3C rules name, list cells and the triples of expressions inside
        included, and no declarations. Computed at each call, in time linear in their number.
        """
        return triples_of(self.own, (self,))

    def __repr__(self) -> str:
        return text(self)


# --- Classes -------------------------------------------------------------------------------------


@data_class(repr=False)
class SubClassOf(Axiom):
    """What is in `sub` is in `sup`."""

    sub: ClassExpression
    sup: ClassExpression


@data_class(repr=False)
class EquivalentClasses(Axiom):
    """Both have the same members.

    Read from owl:equivalentClass, and from a name (or another node that cannot be replaced by what
    is said about it) with owl:intersectionOf, owl:onProperty ... of its own, as OWL 1 wrote
    definitions: then `own` is empty and `right` an expression whose node is `left`.
    """

    left: ClassExpression
    right: ClassExpression


@data_class(repr=False)
class DatatypeDefinition(Axiom):
    """A datatype with a name is a data range: owl:equivalentClass where one side is declared an
    rdfs:Datatype. What holds for `EquivalentClasses` holds for it."""

    left: ClassExpression
    right: ClassExpression


@data_class(repr=False)
class DisjointClasses(Axiom):
    """They have no member in common (owl:disjointWith)."""

    left: ClassExpression
    right: ClassExpression


@data_class(repr=False)
class AllDisjointClasses(Axiom):
    """No two of them have a member in common (owl:AllDisjointClasses)."""

    members: tuple[ClassExpression, ...]


@data_class(repr=False)
class DisjointUnion(Axiom):
    """A class is the union of others of which no two have a member in common."""

    union: ClassExpression
    operands: tuple[ClassExpression, ...]


@data_class(repr=False)
class HasKey(Axiom):
    """Members of a class that agree on all of these properties are the same."""

    keyed: ClassExpression
    properties: tuple[PropertyExpression, ...]


# --- Properties ----------------------------------------------------------------------------------


@data_class(repr=False)
class SubPropertyOf(Axiom):
    """What `sub` relates, `sup` relates."""

    sub: PropertyExpression
    sup: PropertyExpression


@data_class(repr=False)
class PropertyChain(Axiom):
    """What the chain relates step by step, `sup` relates (owl:propertyChainAxiom)."""

    chain: tuple[PropertyExpression, ...]
    sup: PropertyExpression


@data_class(repr=False)
class EquivalentProperties(Axiom):
    """Both relate the same things."""

    left: PropertyExpression
    right: PropertyExpression


@data_class(repr=False)
class DisjointProperties(Axiom):
    """They relate nothing in common (owl:propertyDisjointWith)."""

    left: PropertyExpression
    right: PropertyExpression


@data_class(repr=False)
class AllDisjointProperties(Axiom):
    """No two of them relate anything in common (owl:AllDisjointProperties)."""

    members: tuple[PropertyExpression, ...]


@data_class(repr=False)
class InverseProperties(Axiom):
    """What one relates, the other relates the other way round."""

    left: PropertyExpression
    right: PropertyExpression


@data_class(repr=False)
class PropertyDomain(Axiom):
    """What has a value of the property is in `domain`."""

    property: PropertyExpression
    domain: ClassExpression


@data_class(repr=False)
class PropertyRange(Axiom):
    """What is a value of the property is in `range` (a class or data range)."""

    property: PropertyExpression
    range: ClassExpression


@data_class(repr=False)
class FunctionalProperty(Axiom):
    """Nothing has two values of it."""

    property: PropertyExpression


@data_class(repr=False)
class InverseFunctionalProperty(Axiom):
    """Nothing is the value of two things."""

    property: PropertyExpression


@data_class(repr=False)
class ReflexiveProperty(Axiom):
    """It relates everything to itself."""

    property: PropertyExpression


@data_class(repr=False)
class IrreflexiveProperty(Axiom):
    """It relates nothing to itself."""

    property: PropertyExpression


@data_class(repr=False)
class SymmetricProperty(Axiom):
    """What it relates, it relates the other way round."""

    property: PropertyExpression


@data_class(repr=False)
class AsymmetricProperty(Axiom):
    """What it relates, it does not relate the other way round."""

    property: PropertyExpression


@data_class(repr=False)
class TransitiveProperty(Axiom):
    """What it relates in two steps, it relates."""

    property: PropertyExpression


# --- Individuals ---------------------------------------------------------------------------------


@data_class(repr=False)
class SameIndividual(Axiom):
    """Two names of one thing (owl:sameAs)."""

    left: Term
    right: Term


@data_class(repr=False)
class DifferentIndividuals(Axiom):
    """Two things (owl:differentFrom)."""

    left: Term
    right: Term


@data_class(repr=False)
class AllDifferent(Axiom):
    """No two of them are the same thing (owl:AllDifferent with owl:members or, from OWL 1,
    owl:distinctMembers; the second of `own` says which)."""

    members: tuple[Term, ...]


@data_class(repr=False)
class ClassAssertion(Axiom):
    """An individual is in a class that is described, not named: other types are plain data."""

    described: Description
    individual: Term


@data_class(repr=False)
class NegativePropertyAssertion(Axiom):
    """An individual does not have this value (an individual or a literal) of the property.

    The second triple of `own` has owl:targetIndividual or owl:targetValue.
    """

    source: Term
    property: PropertyExpression
    target: Term


# --- Other ---------------------------------------------------------------------------------------


@data_class(repr=False)
class Deprecated(Axiom):
    """A class or property that should no longer be used; nothing follows."""

    entity: Node
