"""Trees of classes, properties and concepts, opened node by node: start at `tree_children`.

Equal nodes are one node, so cycles end. Members are counted for the nodes that are shown only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.browse.hierarchy.forest import Hierarchy
from triplestore.browse.hierarchy.kept_hierarchies import TREE_KINDS, hierarchy_of
from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.labels import label_ids
from triplestore.browse.term_data import TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.relations import EXPLICIT, INFERRED, OBJECT
from triplestore.relations.packed_keys import U32
from triplestore.store.readable import view_of
from triplestore.terms import key_of
from triplestore.terms.vocabulary import RDF_TYPE, SKOS

if TYPE_CHECKING:
    from triplestore.store import ReadableStore
    from triplestore.store.state_view import StateView
    from triplestore.terms import Term

__all__ = ["TREE_KINDS", "tree_children", "tree_path"]


def tree_children(
    store: ReadableStore,
    kind: str,
    parent: Term | None = None,
    *,
    offset: int = 0,
    limit: int = 200,
    language: str = "en",
) -> dict[str, Any]:
    """The direct children of a node, or the roots, by label.

    Each has the number of its own children, and `asserted` and `inferred`: the members of a class,
    the triples of a property, or the uses of a concept by triples other than those of SKOS. `equal`
    lists the terms that are the same node.

    >>> from triplestore import NamedNode, Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal . :tom a :Cat .''', "ttl")
    >>> _ = store.reason("rdfs")
    >>> (root,) = tree_children(store, "class")["items"]
    >>> root["short"], root["children"], root["asserted"], root["inferred"]
    (':Animal', 1, 0, 1)
    >>> below = tree_children(store, "class", NamedNode("http://e/Animal"))
    >>> [item["short"] for item in below["items"]]
    [':Pet']
    """
    view = view_of(store)
    tree = hierarchy_of(view, kind)
    nodes = tree.roots if parent is None else tree.children(_node(view, tree, parent))
    shown = _sorted(view, tree, nodes, language)[offset : offset + max(limit, 0)]
    return {
        "items": _items(view, tree, kind, shown, language),
        "total": len(nodes),
        "offset": offset,
        "more": len(nodes) > offset + len(shown),
    }


def tree_path(
    store: ReadableStore, kind: str, term: Term, *, language: str = "en"
) -> list[dict[str, Any]]:
    """The nodes of a shortest way from a root to a term; empty if the tree does not have it.

    >>> from triplestore import NamedNode, Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal .''', "ttl")
    >>> [item["short"] for item in tree_path(store, "class", NamedNode("http://e/Cat"))]
    [':Animal', ':Pet', ':Cat']
    """
    view = view_of(store)
    tree = hierarchy_of(view, kind)
    way = tree.path(int(view.dictionary.lookup_keys([key_of(term)])[0]))
    return _items(view, tree, kind, np.array(way, np.uint32), language)


def _node(view: StateView, tree: Hierarchy, term: Term) -> int:
    return tree.head(int(view.dictionary.lookup_keys([key_of(term)])[0]))


def _sorted(view: StateView, tree: Hierarchy, nodes: U32, language: str) -> U32:
    """By label or name; very many are sorted by the number of their children instead."""
    if len(nodes) > BROWSE.sorted_children:
        return nodes[np.argsort(-tree.child_counts(nodes), kind="stable")]
    labels = label_ids(view, nodes, language)
    texts = view.dictionary.terms(np.where(labels, labels, nodes).astype(np.uint32))
    names = [_name(term.value).casefold() for term in texts]
    order = sorted(range(len(nodes)), key=names.__getitem__)
    return nodes[order]


def _name(text: str) -> str:
    """The last part of an IRI; all of another text."""
    return text.rstrip("/#").rpartition("/")[2].rpartition("#")[2] if "://" in text else text


def _items(
    view: StateView, tree: Hierarchy, kind: str, nodes: U32, language: str
) -> list[dict[str, Any]]:
    data = TermData(view, language)
    counts = _Counts(view, kind)
    made = []
    children = tree.child_counts(nodes).tolist()
    for node, term, below in zip(nodes.tolist(), data.ids(nodes), children, strict=True):
        asserted, inferred = counts.of(node)
        item: dict[str, Any] = {
            "term": term,
            "label": term.get("label"),
            "short": term["short"],
            "children": below,
            "asserted": asserted,
            "inferred": inferred,
        }
        equal = tree.equals(node)
        if len(equal):
            item["equal"] = data.ids(equal)
        made.append(item)
    return made


class _Counts:
    """How often the nodes of a tree are used: asserted, and only inferred."""

    def __init__(self, view: StateView, kind: str) -> None:
        self._view, self._kind = view, kind
        (self._type,) = ids_of(view.dictionary, (RDF_TYPE,))
        self._has_quads = bool(view.tables.quad_total())

    def of(self, node: int) -> tuple[int, int]:
        """The counts of one node."""
        tables = self._view.tables
        if self._kind == "property":
            relation, quads = tables.relation(node), tables.quads(node)
            told = quads.count() if self._has_quads else 0
            return relation.count(EXPLICIT) + told, relation.count(INFERRED)
        if self._kind == "class":
            return self._with_object(self._type, node) if self._type else (0, 0)
        asserted = inferred = 0
        for name in tables.predicates_of_one(node, OBJECT).tolist():
            if not self._is_skos(name):
                found = self._with_object(name, node)
                asserted, inferred = asserted + found[0], inferred + found[1]
        return asserted, inferred

    def _is_skos(self, name: int) -> bool:
        return self._view.dictionary.key(name)[1:].startswith(SKOS.encode())

    def _with_object(self, name: int, node: int) -> tuple[int, int]:
        relation = self._view.tables.relation(name)
        told = len(relation.by_second(node, EXPLICIT))
        if self._has_quads:
            blocks = self._view.tables.quads(name).scan(order=1, first=node)
            told += sum(len(block[0]) for block in blocks)
        return told, len(relation.by_second(node, INFERRED))
