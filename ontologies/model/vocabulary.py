"""The terms of RDF, RDFS, OWL and SWRL that a reader of axioms looks for, as nodes, and in sets.

A store that wants its axioms read has to fetch:

- the triples whose predicate is in `SCHEMA_PREDICATES`, and
- the triples `x rdf:type c` with c in `SCHEMA_CLASSES`.

That is all that rules can depend on: what is reachable from a blank node of an axiom is among them.
To have more in reports, add those of `DECLARATION_CLASSES` (what is declared to be what),
`HEADER_PREDICATES` (names and imports of ontologies), `ANNOTATION_PREDICATES` with everything
about their subjects (annotated axioms), `FACT_PREDICATES` (sameAs and differentFrom, of which data
may have many) and rdf:type with the node of an expression (`ClassAssertion`). For SWRL,
add `SWRL_PREDICATES` and `SWRL_CLASSES`.
"""

from __future__ import annotations

from pyoxigraph import NamedNode

from triplestore.terms import vocabulary as iri

TYPE = NamedNode(iri.RDF_TYPE)
FIRST = NamedNode(iri.RDF_FIRST)
REST = NamedNode(iri.RDF_REST)
NIL = NamedNode(iri.RDF_NIL)

SUB_CLASS_OF = NamedNode(iri.RDFS_SUB_CLASS_OF)
EQUIVALENT_CLASS = NamedNode(iri.OWL_EQUIVALENT_CLASS)
DISJOINT_WITH = NamedNode(iri.OWL_DISJOINT_WITH)
DISJOINT_UNION_OF = NamedNode(iri.OWL_DISJOINT_UNION_OF)
HAS_KEY = NamedNode(iri.OWL_HAS_KEY)

SUB_PROPERTY_OF = NamedNode(iri.RDFS_SUB_PROPERTY_OF)
EQUIVALENT_PROPERTY = NamedNode(iri.OWL_EQUIVALENT_PROPERTY)
PROPERTY_DISJOINT_WITH = NamedNode(iri.OWL_PROPERTY_DISJOINT_WITH)
PROPERTY_CHAIN_AXIOM = NamedNode(iri.OWL_PROPERTY_CHAIN_AXIOM)
INVERSE_OF = NamedNode(iri.OWL_INVERSE_OF)
DOMAIN = NamedNode(iri.RDFS_DOMAIN)
RANGE = NamedNode(iri.RDFS_RANGE)

INTERSECTION_OF = NamedNode(iri.OWL_INTERSECTION_OF)
UNION_OF = NamedNode(iri.OWL_UNION_OF)
COMPLEMENT_OF = NamedNode(iri.OWL_COMPLEMENT_OF)
DATATYPE_COMPLEMENT_OF = NamedNode(iri.OWL_DATATYPE_COMPLEMENT_OF)
ONE_OF = NamedNode(iri.OWL_ONE_OF)
ON_PROPERTY = NamedNode(iri.OWL_ON_PROPERTY)
ON_PROPERTIES = NamedNode(iri.OWL_ON_PROPERTIES)
ON_CLASS = NamedNode(iri.OWL_ON_CLASS)
ON_DATA_RANGE = NamedNode(iri.OWL_ON_DATA_RANGE)
SOME_VALUES_FROM = NamedNode(iri.OWL_SOME_VALUES_FROM)
ALL_VALUES_FROM = NamedNode(iri.OWL_ALL_VALUES_FROM)
HAS_VALUE = NamedNode(iri.OWL_HAS_VALUE)
HAS_SELF = NamedNode(iri.OWL_HAS_SELF)
MIN_CARDINALITY = NamedNode(iri.OWL_MIN_CARDINALITY)
MAX_CARDINALITY = NamedNode(iri.OWL_MAX_CARDINALITY)
CARDINALITY = NamedNode(iri.OWL_CARDINALITY)
MIN_QUALIFIED_CARDINALITY = NamedNode(iri.OWL_MIN_QUALIFIED_CARDINALITY)
MAX_QUALIFIED_CARDINALITY = NamedNode(iri.OWL_MAX_QUALIFIED_CARDINALITY)
QUALIFIED_CARDINALITY = NamedNode(iri.OWL_QUALIFIED_CARDINALITY)
ON_DATATYPE = NamedNode(iri.OWL_ON_DATATYPE)
WITH_RESTRICTIONS = NamedNode(iri.OWL_WITH_RESTRICTIONS)

MEMBERS = NamedNode(iri.OWL_MEMBERS)
DISTINCT_MEMBERS = NamedNode(iri.OWL_DISTINCT_MEMBERS)
SOURCE_INDIVIDUAL = NamedNode(iri.OWL_SOURCE_INDIVIDUAL)
ASSERTION_PROPERTY = NamedNode(iri.OWL_ASSERTION_PROPERTY)
TARGET_INDIVIDUAL = NamedNode(iri.OWL_TARGET_INDIVIDUAL)
TARGET_VALUE = NamedNode(iri.OWL_TARGET_VALUE)
SAME_AS = NamedNode(iri.OWL_SAME_AS)
DIFFERENT_FROM = NamedNode(iri.OWL_DIFFERENT_FROM)

DEPRECATED = NamedNode(iri.OWL_DEPRECATED)
IMPORTS = NamedNode(iri.OWL_IMPORTS)
VERSION_IRI = NamedNode(iri.OWL_VERSION_IRI)
ANNOTATED_SOURCE = NamedNode(iri.OWL_ANNOTATED_SOURCE)
ANNOTATED_PROPERTY = NamedNode(iri.OWL_ANNOTATED_PROPERTY)
ANNOTATED_TARGET = NamedNode(iri.OWL_ANNOTATED_TARGET)

FUNCTIONAL = NamedNode(iri.OWL_FUNCTIONAL_PROPERTY)
INVERSE_FUNCTIONAL = NamedNode(iri.OWL_INVERSE_FUNCTIONAL_PROPERTY)
REFLEXIVE = NamedNode(iri.OWL_REFLEXIVE_PROPERTY)
IRREFLEXIVE = NamedNode(iri.OWL_IRREFLEXIVE_PROPERTY)
SYMMETRIC = NamedNode(iri.OWL_SYMMETRIC_PROPERTY)
ASYMMETRIC = NamedNode(iri.OWL_ASYMMETRIC_PROPERTY)
TRANSITIVE = NamedNode(iri.OWL_TRANSITIVE_PROPERTY)
ALL_DISJOINT_CLASSES = NamedNode(iri.OWL_ALL_DISJOINT_CLASSES)
ALL_DISJOINT_PROPERTIES = NamedNode(iri.OWL_ALL_DISJOINT_PROPERTIES)
ALL_DIFFERENT = NamedNode(iri.OWL_ALL_DIFFERENT)
NEGATIVE_ASSERTION = NamedNode(iri.OWL_NEGATIVE_PROPERTY_ASSERTION)
RESTRICTION = NamedNode(iri.OWL_RESTRICTION)
DEPRECATED_CLASS = NamedNode(iri.OWL_DEPRECATED_CLASS)
DEPRECATED_PROPERTY = NamedNode(iri.OWL_DEPRECATED_PROPERTY)
ONTOLOGY = NamedNode(iri.OWL_ONTOLOGY)
AXIOM = NamedNode(iri.OWL_AXIOM)
ANNOTATION = NamedNode(iri.OWL_ANNOTATION)

CLASS = NamedNode(iri.OWL_CLASS)
DATATYPE = NamedNode(iri.RDFS_DATATYPE)
PROPERTY = NamedNode(iri.RDF_PROPERTY)
OBJECT_PROPERTY = NamedNode(iri.OWL_OBJECT_PROPERTY)
DATA_PROPERTY = NamedNode(iri.OWL_DATATYPE_PROPERTY)
ANNOTATION_PROPERTY = NamedNode(iri.OWL_ANNOTATION_PROPERTY)
INDIVIDUAL = NamedNode(iri.OWL_NAMED_INDIVIDUAL)

# What a declaration says: the class in the graph -> the kinds it declares.
DECLARATIONS: dict[NamedNode, tuple[NamedNode, ...]] = {
    CLASS: (CLASS,),
    NamedNode(iri.RDFS_CLASS): (CLASS,),
    RESTRICTION: (CLASS,),
    DEPRECATED_CLASS: (CLASS,),
    DATATYPE: (DATATYPE,),
    NamedNode(iri.OWL_DATA_RANGE): (DATATYPE,),
    PROPERTY: (PROPERTY,),
    DEPRECATED_PROPERTY: (PROPERTY,),
    OBJECT_PROPERTY: (PROPERTY, OBJECT_PROPERTY),
    DATA_PROPERTY: (PROPERTY, DATA_PROPERTY),
    ANNOTATION_PROPERTY: (PROPERTY, ANNOTATION_PROPERTY),
    NamedNode(iri.OWL_ONTOLOGY_PROPERTY): (PROPERTY, ANNOTATION_PROPERTY),
    FUNCTIONAL: (PROPERTY,),
    INVERSE_FUNCTIONAL: (PROPERTY, OBJECT_PROPERTY),
    REFLEXIVE: (PROPERTY, OBJECT_PROPERTY),
    IRREFLEXIVE: (PROPERTY, OBJECT_PROPERTY),
    SYMMETRIC: (PROPERTY, OBJECT_PROPERTY),
    ASYMMETRIC: (PROPERTY, OBJECT_PROPERTY),
    TRANSITIVE: (PROPERTY, OBJECT_PROPERTY),
    INDIVIDUAL: (INDIVIDUAL,),
}

LIST_PREDICATES = frozenset({FIRST, REST})
CARDINALITIES = frozenset(
    {
        MIN_CARDINALITY,
        MAX_CARDINALITY,
        CARDINALITY,
        MIN_QUALIFIED_CARDINALITY,
        MAX_QUALIFIED_CARDINALITY,
        QUALIFIED_CARDINALITY,
    }
)
# Those that say something of a node together with owl:onProperty or owl:onProperties.
FILLERS = CARDINALITIES | {SOME_VALUES_FROM, ALL_VALUES_FROM, HAS_VALUE, HAS_SELF}

FACETS = frozenset(
    NamedNode(name)
    for name in (
        iri.XSD_MIN_INCLUSIVE,
        iri.XSD_MAX_INCLUSIVE,
        iri.XSD_MIN_EXCLUSIVE,
        iri.XSD_MAX_EXCLUSIVE,
        iri.XSD_LENGTH,
        iri.XSD_MIN_LENGTH,
        iri.XSD_MAX_LENGTH,
        iri.XSD_PATTERN,
        iri.XSD + "totalDigits",
        iri.XSD + "fractionDigits",
        iri.RDF + "langRange",
    )
)

EXPRESSION_PREDICATES = FILLERS | {
    INTERSECTION_OF,
    UNION_OF,
    COMPLEMENT_OF,
    DATATYPE_COMPLEMENT_OF,
    ONE_OF,
    ON_PROPERTY,
    ON_PROPERTIES,
    ON_CLASS,
    ON_DATA_RANGE,
    ON_DATATYPE,
    WITH_RESTRICTIONS,
}

SCHEMA_PREDICATES: frozenset[NamedNode] = (
    LIST_PREDICATES
    | FACETS
    | EXPRESSION_PREDICATES
    | {
        SUB_CLASS_OF,
        EQUIVALENT_CLASS,
        DISJOINT_WITH,
        DISJOINT_UNION_OF,
        HAS_KEY,
        SUB_PROPERTY_OF,
        EQUIVALENT_PROPERTY,
        PROPERTY_DISJOINT_WITH,
        PROPERTY_CHAIN_AXIOM,
        INVERSE_OF,
        DOMAIN,
        RANGE,
        MEMBERS,
        DISTINCT_MEMBERS,
        SOURCE_INDIVIDUAL,
        ASSERTION_PROPERTY,
        TARGET_INDIVIDUAL,
        TARGET_VALUE,
    }
)
"""The predicates of triples that rules can depend on."""

SCHEMA_CLASSES: frozenset[NamedNode] = frozenset(
    {
        FUNCTIONAL,
        INVERSE_FUNCTIONAL,
        REFLEXIVE,
        IRREFLEXIVE,
        SYMMETRIC,
        ASYMMETRIC,
        TRANSITIVE,
        ALL_DISJOINT_CLASSES,
        ALL_DISJOINT_PROPERTIES,
        ALL_DIFFERENT,
        NEGATIVE_ASSERTION,
        DATATYPE,
    }
)
"""The classes c of triples `x rdf:type c` that rules can depend on."""

DECLARATION_CLASSES: frozenset[NamedNode] = frozenset(DECLARATIONS)
"""The classes of declarations."""

HEADER_PREDICATES: frozenset[NamedNode] = frozenset({IMPORTS, VERSION_IRI, DEPRECATED})
"""What an ontology says of itself, and statements about entities without consequences."""

ANNOTATION_PREDICATES: frozenset[NamedNode] = frozenset(
    {ANNOTATED_SOURCE, ANNOTATED_PROPERTY, ANNOTATED_TARGET}
)
"""Their subjects are nodes that annotate an axiom."""

FACT_PREDICATES: frozenset[NamedNode] = frozenset({SAME_AS, DIFFERENT_FROM})
"""Axioms that are data."""

SWRL = "http://www.w3.org/2003/11/swrl#"
SWRL_IMP = NamedNode(SWRL + "Imp")
SWRL_VARIABLE = NamedNode(SWRL + "Variable")
SWRL_CLASS_ATOM = NamedNode(SWRL + "ClassAtom")
SWRL_DATA_RANGE_ATOM = NamedNode(SWRL + "DataRangeAtom")
SWRL_INDIVIDUAL_PROPERTY_ATOM = NamedNode(SWRL + "IndividualPropertyAtom")
SWRL_DATAVALUED_PROPERTY_ATOM = NamedNode(SWRL + "DatavaluedPropertyAtom")
SWRL_SAME_ATOM = NamedNode(SWRL + "SameIndividualAtom")
SWRL_DIFFERENT_ATOM = NamedNode(SWRL + "DifferentIndividualsAtom")
SWRL_BUILTIN_ATOM = NamedNode(SWRL + "BuiltinAtom")
SWRL_HEAD = NamedNode(SWRL + "head")
SWRL_BODY = NamedNode(SWRL + "body")
SWRL_CLASS_PREDICATE = NamedNode(SWRL + "classPredicate")
SWRL_PROPERTY_PREDICATE = NamedNode(SWRL + "propertyPredicate")
SWRL_DATA_RANGE = NamedNode(SWRL + "dataRange")
SWRL_BUILTIN_PREDICATE = NamedNode(SWRL + "builtin")
SWRL_ARGUMENT_1 = NamedNode(SWRL + "argument1")
SWRL_ARGUMENT_2 = NamedNode(SWRL + "argument2")
SWRL_ARGUMENTS = NamedNode(SWRL + "arguments")

SWRL_PREDICATES: frozenset[NamedNode] = frozenset(
    {
        SWRL_HEAD,
        SWRL_BODY,
        SWRL_CLASS_PREDICATE,
        SWRL_PROPERTY_PREDICATE,
        SWRL_DATA_RANGE,
        SWRL_BUILTIN_PREDICATE,
        SWRL_ARGUMENT_1,
        SWRL_ARGUMENT_2,
        SWRL_ARGUMENTS,
        *LIST_PREDICATES,
    }
)
"""The predicates of SWRL rules in RDF."""

SWRL_CLASSES: frozenset[NamedNode] = frozenset(
    {
        SWRL_IMP,
        SWRL_VARIABLE,
        SWRL_CLASS_ATOM,
        SWRL_DATA_RANGE_ATOM,
        SWRL_INDIVIDUAL_PROPERTY_ATOM,
        SWRL_DATAVALUED_PROPERTY_ATOM,
        SWRL_SAME_ATOM,
        SWRL_DIFFERENT_ATOM,
        SWRL_BUILTIN_ATOM,
    }
)
"""The classes of SWRL rules in RDF."""
