"""The nodes and edges of each kind of tree: start at `class_tree`, `property_tree`, `concept_tree`.

Terms of RDF, RDFS, OWL and XSD themselves are left out of the trees of classes and properties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.browse.hierarchy.direct_edges import (
    AreNodes,
    generating_edges,
    merged,
    told_pairs,
    without_implied,
)
from triplestore.browse.hierarchy.equal_nodes import collapse
from triplestore.browse.hierarchy.forest import Hierarchy
from triplestore.browse.index.term_usage import column_of, ids_of, members_of
from triplestore.browse.member_counts import is_system
from triplestore.relations.packed_keys import (
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    high,
    in_sorted,
    low,
    pack,
)
from triplestore.relations.packed_keys import swap as swapped
from triplestore.terms import IRI
from triplestore.terms.vocabulary import (
    OWL_ALL_VALUES_FROM,
    OWL_ANNOTATION_PROPERTY,
    OWL_CLASS,
    OWL_DATATYPE_PROPERTY,
    OWL_DISJOINT_UNION_OF,
    OWL_EQUIVALENT_CLASS,
    OWL_EQUIVALENT_PROPERTY,
    OWL_INTERSECTION_OF,
    OWL_INVERSE_OF,
    OWL_OBJECT_PROPERTY,
    OWL_ON_PROPERTY,
    OWL_ONE_OF,
    OWL_SAME_AS,
    OWL_SOME_VALUES_FROM,
    OWL_UNION_OF,
    RDF_PROPERTY,
    RDF_TYPE,
    RDFS_CLASS,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
    SKOS_BROADER,
    SKOS_CONCEPT,
    SKOS_CONCEPT_SCHEME,
    SKOS_HAS_TOP_CONCEPT,
    SKOS_IN_SCHEME,
    SKOS_NARROWER,
    SKOS_TOP_CONCEPT_OF,
)

if TYPE_CHECKING:
    from triplestore.store.state_view import StateView

_CLASS_TYPES = (OWL_CLASS, RDFS_CLASS)
_CONCLUDING_CLASSES = (
    *(OWL_EQUIVALENT_CLASS, OWL_INTERSECTION_OF, OWL_UNION_OF, OWL_ONE_OF, OWL_SAME_AS),
    *(OWL_ON_PROPERTY, OWL_SOME_VALUES_FROM, OWL_ALL_VALUES_FROM, OWL_DISJOINT_UNION_OF),
)
"""Properties of axioms from which subclasses may follow, beside rdfs:subClassOf itself."""
_CONCLUDING_PROPERTIES = (OWL_EQUIVALENT_PROPERTY, OWL_INVERSE_OF, OWL_SAME_AS)
_PROPERTY_TYPES = (
    RDF_PROPERTY,
    OWL_OBJECT_PROPERTY,
    OWL_DATATYPE_PROPERTY,
    OWL_ANNOTATION_PROPERTY,
)


def class_tree(view: StateView) -> Hierarchy:
    """All classes: declared, used, or in a pair of rdfs:subClassOf."""
    (type_id,) = ids_of(view.dictionary, (RDF_TYPE,))
    used = column_of(view.tables, type_id, 1)
    declared = members_of(view.tables, type_id, ids_of(view.dictionary, _CLASS_TYPES))
    names = RDFS_SUB_CLASS_OF, OWL_EQUIVALENT_CLASS
    return _tree(view, [used, declared], *names, _CONCLUDING_CLASSES)


def property_tree(view: StateView) -> Hierarchy:
    """All properties: declared, used, or in a pair of rdfs:subPropertyOf."""
    (type_id,) = ids_of(view.dictionary, (RDF_TYPE,))
    used = np.concatenate((view.tables.names(), view.tables.quad_names()))
    declared = members_of(view.tables, type_id, ids_of(view.dictionary, _PROPERTY_TYPES))
    names = RDFS_SUB_PROPERTY_OF, OWL_EQUIVALENT_PROPERTY
    return _tree(view, [used, declared], *names, _CONCLUDING_PROPERTIES)


def _tree(
    view: StateView, found: list[U32], below: str, equal: str, beside: tuple[str, ...]
) -> Hierarchy:
    """The nodes are these terms and those of the edges."""

    def are_nodes(ids: U32) -> Bools:
        own = distinct(np.sort(ids))
        return in_sorted(ids, _nodes(view, own))

    name, same_name = ids_of(view.dictionary, (below, equal))
    edges, closed = NO_KEYS, False
    if name:
        edges, closed = generating_edges(view, name, are_nodes, beside)
    if not closed:  # otherwise the axioms that the regime knows have been applied
        same = _pairs(view, same_name, are_nodes)
        edges = merged(edges, same, swapped(same))
    others = _nodes(view, distinct(np.sort(np.concatenate([*found, _lonely(view, name)]))))
    ends = high(edges), low(edges)
    nodes = distinct(np.sort(np.concatenate([others, *ends])))
    edges, members, heads = collapse(edges)
    if closed:
        edges = without_implied(edges, view.tables.relation(name))
    return _made(edges, nodes, members, heads)


def _lonely(view: StateView, name: int) -> U32:
    """The ends of asserted pairs: a node may be in no direct edge, as in `C subClassOf Thing`."""
    told = told_pairs(view, name) if name else NO_KEYS
    return np.concatenate((high(told), low(told)))


def _made(edges: U64, nodes: U32, members: U32, heads: U32) -> Hierarchy:
    left = nodes[~in_sorted(nodes, members[members != heads])]
    return Hierarchy.of(edges, left, members, heads)


def _nodes(view: StateView, ids: U32) -> U32:
    """The terms with an IRI that are not of RDF, RDFS, OWL and XSD."""
    found: U32 = ids[view.dictionary.kinds(ids) == IRI]
    found = found[~is_system(view.dictionary, found)]
    return found


def _pairs(view: StateView, name: int, are_nodes: AreNodes, *, turned: bool = False) -> U64:
    """The pairs of a property between nodes, in all graphs."""
    if not name:
        return NO_KEYS
    parts = list(view.tables.relation(name).scan_keys())
    if view.tables.quad_total():
        parts += [pack(s, o) for s, o, _ in view.tables.quads(name).scan()]
    keys = merged(*parts)
    keys = keys[are_nodes(high(keys)) & are_nodes(low(keys))]
    return np.sort(swapped(keys)) if turned else keys


def concept_tree(view: StateView) -> Hierarchy:
    """Concept schemes, below them their top concepts, below these narrower ones.

    A concept without a broader one is below the schemes that it is in; without any, it is a root.
    """
    names = (SKOS_BROADER, SKOS_NARROWER, SKOS_TOP_CONCEPT_OF, SKOS_HAS_TOP_CONCEPT, SKOS_IN_SCHEME)
    type_id, *used = ids_of(view.dictionary, (RDF_TYPE, *names))
    types = ids_of(view.dictionary, (SKOS_CONCEPT, SKOS_CONCEPT_SCHEME))
    ends = [column_of(view.tables, name, place) for name in used for place in (0, 1)]
    ends.append(members_of(view.tables, type_id, types))
    nodes = distinct(np.sort(np.concatenate(ends)))
    nodes = nodes[view.dictionary.kinds(nodes) <= IRI + 1]  # blank nodes may be concepts

    def are_nodes(ids: U32) -> Bools:
        return in_sorted(ids, nodes)

    broader, narrower, top_of, has_top, in_scheme = used
    edges = merged(_pairs(view, broader, are_nodes), _pairs(view, narrower, are_nodes, turned=True))
    tops = merged(_pairs(view, top_of, are_nodes), _pairs(view, has_top, are_nodes, turned=True))
    edges = merged(edges, tops)
    inside = _pairs(view, in_scheme, are_nodes)
    has_parent = in_sorted(high(inside), distinct(high(edges)))
    edges = merged(edges, inside[~has_parent])
    edges, members, heads = collapse(edges)
    return _made(edges, nodes, members, heads)
