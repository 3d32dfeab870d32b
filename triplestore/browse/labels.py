"""The labels of many resources at once: start at `label_ids`.

Labels are looked up as columns of ids, in all graphs, and only those that are shown are decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32
from triplestore.terms import LANG, STRING, TRIPLE
from triplestore.terms.vocabulary import RDFS_LABEL, SKOS_PREF_LABEL

if TYPE_CHECKING:
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary

LABEL_PROPERTIES = (
    SKOS_PREF_LABEL,
    RDFS_LABEL,
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
)
"""The properties that give labels; the first one that a resource has counts. `skos:prefLabel` comes
first: with SKOS rules alternative labels become values of `rdfs:label`."""


def label_ids(view: StateView, ids: U32, language: str = "en") -> U32:
    """For each id that of its best label, 0 without one.

    The best is one in the language, then one without language, then any other.

    >>> from triplestore import NamedNode, Store
    >>> from triplestore.store.readable import view_of
    >>> store = Store()
    >>> _ = store.load('''@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     <http://e/a> rdfs:label "eins"@de, "one"@en .''', "ttl")
    >>> view = view_of(store)
    >>> a = view.dictionary.lookup(NamedNode("http://e/a"))
    >>> view.dictionary.terms(label_ids(view, np.array([a], np.uint32)))[0].value
    'one'
    """
    found = np.zeros(len(ids), np.uint32)
    for name in property_ids(view):
        (open_,) = np.nonzero((found == 0) & (ids != 0))
        if len(open_) == 0:
            break
        index, labels = values_of(view, int(name), ids[open_])
        if len(labels):
            rank = _ranks(view.dictionary, labels, language)
            order = np.lexsort((labels, rank, index))
            order = order[rank[order] < _NO_LABEL]
            index, labels = index[order], labels[order]
            first = np.ones(len(index), np.bool_)
            first[1:] = index[1:] != index[:-1]
            found[open_[index[first]]] = labels[first]
    return found


def property_ids(view: StateView) -> list[int]:
    """The ids of the properties of labels that the store knows."""
    keys = [b"\x01" + iri.encode() for iri in LABEL_PROPERTIES]
    return [int(name) for name in view.dictionary.lookup_keys(keys) if name]


def values_of(view: StateView, name: int, subjects: U32) -> tuple[I64, U32]:
    """The objects of a property in all graphs: (position in `subjects`, object)."""
    index, (objects,) = view.tables.relation(name).probe((0,), (subjects,))
    if view.tables.quad_total():
        also, (more, _) = view.tables.quads(name).probe((0,), (subjects,))
        index, objects = np.concatenate((index, also)), np.concatenate((objects, more))
    return index, objects if len(objects) else NO_IDS


_NO_LABEL = 9


def _ranks(dictionary: Dictionary, labels: U32, language: str) -> U8:
    """How good labels are, 0 being the best; `_NO_LABEL` for what is not a literal."""
    text, ends, kinds = dictionary.text(labels)
    ranks = np.full(len(labels), 3, np.uint8)
    ranks[(kinds < STRING) | (kinds == TRIPLE)] = _NO_LABEL
    ranks[kinds == STRING] = 2
    (tagged,) = np.nonzero(kinds == LANG)
    for rank, tail, beyond in ((0, f'"@{language}', 0), (1, f'"@{language}-', 2)):
        fits = _have(text, ends[:-1][tagged], ends[1:][tagged] - beyond, tail.encode())
        ranks[tagged[fits]] = rank
    return ranks


def _have(text: U8, starts: I64, ends: I64, tail: bytes) -> np.ndarray:
    """Which pieces of a text end with these bytes."""
    fits: np.ndarray = ends - starts >= len(tail)
    for place, code in enumerate(tail):
        at = np.maximum(ends - len(tail) + place, 0)
        fits &= text[np.minimum(at, max(len(text) - 1, 0))] == code if len(text) else False
    return fits
