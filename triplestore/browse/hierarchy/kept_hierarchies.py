"""Hierarchies that are kept while the facts they are made of stay: start at `hierarchy_of`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from triplestore.browse.hierarchy.forest import Hierarchy
from triplestore.browse.hierarchy.tree_nodes import class_tree, concept_tree, property_tree
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import UsageError

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary

_MAKERS = {"class": class_tree, "property": property_tree, "concept": concept_tree}
TREE_KINDS = tuple(_MAKERS)
"""The kinds of trees."""

_Kept = list[tuple["Tables", str, Hierarchy]]
_KEPT: WeakKeyDictionary[Dictionary, _Kept] = WeakKeyDictionary()
_LOCK = threading.Lock()
"""Guards `_KEPT`."""
_BUILDING = threading.Lock()
"""One hierarchy is made at a time."""


def hierarchy_of(view: StateView, kind: str) -> Hierarchy:
    """The hierarchy of a kind in one state, made now if there is none."""
    maker: Any = _MAKERS.get(kind)
    if maker is None:
        raise UsageError(f"kind must be one of {', '.join(TREE_KINDS)}, not {kind!r}")
    found = _kept(view, kind)
    if found is None:
        with _BUILDING:
            found = _kept(view, kind)
            if found is None:
                found = maker(view)
                _keep(view, kind, found)
    return found


def _kept(view: StateView, kind: str) -> Hierarchy | None:
    with _LOCK:
        for tables, known, hierarchy in _KEPT.get(view.dictionary, []):
            if known == kind and tables is view.tables:
                return hierarchy
    return None


def _keep(view: StateView, kind: str, made: Hierarchy) -> None:
    with _LOCK:
        others = [one for one in _KEPT.get(view.dictionary, []) if one[1] != kind]
        same = [one for one in _KEPT.get(view.dictionary, []) if one[1] == kind]
        newest = [(view.tables, kind, made), *same][: BROWSE.kept_indexes]
        _KEPT[view.dictionary] = [*newest, *others]
