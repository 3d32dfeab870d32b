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

    The best is one in the language, then one without language, then any other. Several languages
    are separated by commas, the best first.

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
            rank = text_ranks(view.dictionary, labels, language)
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


_NO_LABEL = 255
_REGIONS = (2, 3, 4)
"""Lengths of what follows a language in a tag: `de-at`, `es-419`, `zh-hant`."""


def text_ranks(dictionary: Dictionary, texts: U32, language: str) -> U8:
    """How well terms fit the languages, 0 being the best, 255 for what is not a literal.

    >>> from triplestore import Literal, Store
    >>> from triplestore.store.readable import view_of
    >>> store = Store()
    >>> _ = store.load('<http://e/a> <http://e/p> "a"@de-at, "b"@en, "c", "d"@fr .', "ttl")
    >>> known = view_of(store).dictionary
    >>> tags = (("a", "de-at"), ("b", "en"), ("c", None), ("d", "fr"))
    >>> ids = [known.lookup(Literal(text, language=tag)) for text, tag in tags]
    >>> text_ranks(known, np.array(ids, np.uint32), "de,en").tolist()
    [1, 2, 4, 5]
    """
    text, ends, kinds = dictionary.text(texts)
    languages = language.split(",")
    ranks = np.full(len(texts), 2 * len(languages) + 1, np.uint8)
    ranks[(kinds < STRING) | (kinds == TRIPLE)] = _NO_LABEL
    ranks[kinds == STRING] = 2 * len(languages)
    (tagged,) = np.nonzero(kinds == LANG)
    starts, stops = ends[:-1][tagged], ends[1:][tagged]
    for place, name in reversed(list(enumerate(languages))):
        for length in _REGIONS:
            fits = _have(text, starts, stops - length, f'"@{name}-'.encode())
            ranks[tagged[fits]] = 2 * place + 1
        ranks[tagged[_have(text, starts, stops, f'"@{name}'.encode())]] = 2 * place
    return ranks


def _have(text: U8, starts: I64, ends: I64, tail: bytes) -> np.ndarray:
    """Which pieces of a text end with these bytes."""
    fits: np.ndarray = ends - starts >= len(tail)
    for place, code in enumerate(tail):
        at = np.maximum(ends - len(tail) + place, 0)
        fits &= text[np.minimum(at, max(len(text) - 1, 0))] == code if len(text) else False
    return fits
