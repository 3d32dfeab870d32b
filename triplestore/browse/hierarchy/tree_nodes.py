"""The nodes and edges of each kind of tree: start at `class_tree`, `property_tree`, `concept_tree`.

Terms of RDF, RDFS, OWL and XSD themselves are left out of the trees of classes and properties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.browse.hierarchy.direct_edges import direct_edges
from triplestore.browse.hierarchy.equal_nodes import collapse
from triplestore.browse.hierarchy.forest import Hierarchy
from triplestore.browse.index.term_usage import column_of, ids_of, members_of
from triplestore.browse.member_counts import is_system
from triplestore.relations.packed_keys import NO_KEYS, U32, U64, Bools, distinct, high, low, pack
from triplestore.relations.packed_keys import swap as swapped
from triplestore.terms import IRI
from triplestore.terms.vocabulary import (
    OWL_ANNOTATION_PROPERTY,
    OWL_CLASS,
    OWL_DATATYPE_PROPERTY,
    OWL_EQUIVALENT_CLASS,
    OWL_EQUIVALENT_PROPERTY,
    OWL_OBJECT_PROPERTY,
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
    from collections.abc import Iterable

    from triplestore.store.state_view import StateView

_CLASS_TYPES = (OWL_CLASS, RDFS_CLASS)
_PROPERTY_TYPES = (
    RDF_PROPERTY,
    OWL_OBJECT_PROPERTY,
    OWL_DATATYPE_PROPERTY,
    OWL_ANNOTATION_PROPERTY,
)


def class_tree(view: StateView) -> Hierarchy:
    """All classes: declared, used, or in a pair of rdfs:subClassOf."""
    tables = view.tables
    type_id, below, equal = ids_of(
        view.dictionary, (RDF_TYPE, RDFS_SUB_CLASS_OF, OWL_EQUIVALENT_CLASS)
    )
    found = [column_of(tables, type_id, 1), *_ends(view, (below, equal))]
    declared = members_of(tables, type_id, ids_of(view.dictionary, _CLASS_TYPES))
    return _tree(view, [*found, declared], below, equal)


def property_tree(view: StateView) -> Hierarchy:
    """All properties: declared, used, or in a pair of rdfs:subPropertyOf."""
    tables = view.tables
    type_id, below, equal = ids_of(
        view.dictionary, (RDF_TYPE, RDFS_SUB_PROPERTY_OF, OWL_EQUIVALENT_PROPERTY)
    )
    found = [tables.names(), tables.quad_names(), *_ends(view, (below, equal))]
    declared = members_of(tables, type_id, ids_of(view.dictionary, _PROPERTY_TYPES))
    return _tree(view, [*found, declared], below, equal)


def _ends(view: StateView, names: Iterable[int]) -> list[U32]:
    return [column_of(view.tables, name, place) for name in names for place in (0, 1)]


def _tree(view: StateView, found: list[U32], below: int, equal: int) -> Hierarchy:
    nodes = _nodes(view, np.unique(np.concatenate(found)).astype(np.uint32))
    is_node = _marked(view, nodes)
    edges = direct_edges(view, below, is_node) if below else NO_KEYS
    same = _pairs(view, equal, is_node)
    edges = np.union1d(edges, np.concatenate((same, swapped(same)))) if len(same) else edges
    return _made(edges, nodes)


def _made(edges: U64, nodes: U32) -> Hierarchy:
    edges, members, heads = collapse(edges)
    left = np.setdiff1d(nodes, members[members != heads], assume_unique=True)
    return Hierarchy.of(edges, left, members, heads)


def _nodes(view: StateView, ids: U32) -> U32:
    """The terms with an IRI that are not of RDF, RDFS, OWL and XSD."""
    ids = ids[view.dictionary.kinds(ids) == IRI]
    return ids[~is_system(view.dictionary, ids)]


def _marked(view: StateView, nodes: U32) -> Bools:
    found = np.zeros(view.dictionary.size + 1, np.bool_)
    found[nodes] = True
    return found


def _pairs(view: StateView, name: int, is_node: Bools, *, turned: bool = False) -> U64:
    """The pairs of a property between nodes, in all graphs."""
    if not name:
        return NO_KEYS
    parts = [keys for keys in view.tables.relation(name).scan_keys() if len(keys)]
    if view.tables.quad_total():
        parts += [pack(s, o) for s, o, _ in view.tables.quads(name).scan()]
    if not parts:
        return NO_KEYS
    keys = np.concatenate(parts)
    keys = keys[is_node[high(keys)] & is_node[low(keys)]]
    return distinct(np.sort(swapped(keys) if turned else keys))


def concept_tree(view: StateView) -> Hierarchy:
    """Concept schemes, below them their top concepts, below these narrower ones.

    A concept without a broader one is below the schemes that it is in; without any, it is a root.
    """
    names = (SKOS_BROADER, SKOS_NARROWER, SKOS_TOP_CONCEPT_OF, SKOS_HAS_TOP_CONCEPT, SKOS_IN_SCHEME)
    type_id, *used = ids_of(view.dictionary, (RDF_TYPE, *names))
    types = ids_of(view.dictionary, (SKOS_CONCEPT, SKOS_CONCEPT_SCHEME))
    found = [*_ends(view, used), members_of(view.tables, type_id, types)]
    nodes = np.unique(np.concatenate(found)).astype(np.uint32)
    nodes = nodes[view.dictionary.kinds(nodes) <= IRI + 1]  # blank nodes may be concepts
    is_node = _marked(view, nodes)
    broader, narrower, top_of, has_top, in_scheme = used
    edges = np.union1d(_pairs(view, broader, is_node), _pairs(view, narrower, is_node, turned=True))
    tops = np.union1d(_pairs(view, top_of, is_node), _pairs(view, has_top, is_node, turned=True))
    edges = np.union1d(edges, tops)
    inside = _pairs(view, in_scheme, is_node)
    above = np.unique(high(edges))
    edges = np.union1d(edges, inside[~np.isin(high(inside), above)])
    return _made(edges, nodes)
