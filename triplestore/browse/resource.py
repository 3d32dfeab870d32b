"""All about one resource, as plain data: start at `resource` and `resource_values`.

Counts come from columns of ids; only the values that are shown are decoded, so a resource with a
million neighbours is as fast as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.browse.labels import LABEL_PROPERTIES, text_ranks
from triplestore.browse.neighbours import IN, OUT, SIDES, NeighbourList, Neighbours
from triplestore.browse.term_data import JsonTerm, TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import UsageError
from triplestore.relations.packed_keys import U32
from triplestore.store.readable import view_of
from triplestore.terms import key_of
from triplestore.terms.vocabulary import (
    OWL_EQUIVALENT_CLASS,
    OWL_EQUIVALENT_PROPERTY,
    OWL_SAME_AS,
    RDF_TYPE,
    RDFS_COMMENT,
    SKOS_ALT_LABEL,
    SKOS_DEFINITION,
)

if TYPE_CHECKING:
    from triplestore.store import ReadableStore
    from triplestore.terms import Term

_LABELS = (*LABEL_PROPERTIES, SKOS_ALT_LABEL)
_EQUALS = (OWL_SAME_AS, OWL_EQUIVALENT_CLASS, OWL_EQUIVALENT_PROPERTY)
_COMMENTS = (RDFS_COMMENT, SKOS_DEFINITION, "http://purl.org/dc/terms/description")
_FIRST = (RDF_TYPE, *_LABELS, *_COMMENTS)
"""Properties that are listed before others."""


def resource(
    store: ReadableStore, term: Term, *, limit: int = 20, language: str = "en"
) -> dict[str, Any]:
    """Labels, types, equals and the facts around a resource, by property.

    Of each property the first `limit` values are given, asserted ones first, and the count of all.

    >>> from triplestore import NamedNode, Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://e/> . :a :p :b, :c .", "ttl")
    >>> found = resource(store, NamedNode("http://e/a"))
    >>> [(each["property"]["short"], each["count"]) for each in found["out"]]
    [(':p', 2)]
    """
    page = _ResourcePage(store, term, language)
    return {
        "term": page.data.term(term),
        "known": bool(page.around.node),
        "labels": [
            {**value["term"], "inferred": value["inferred"]} for value in page.all_of(_LABELS)
        ],
        "types": page.all_of((RDF_TYPE,)),
        "equal": page.equals(),
        "comment": page.comment(),
        **page.direction(OUT, limit),
        **page.direction(IN, limit),
    }


def resource_values(
    store: ReadableStore,
    term: Term,
    name: Term,
    direction: str = OUT,
    *,
    offset: int = 0,
    limit: int = 100,
    language: str = "en",
) -> dict[str, Any]:
    """A part of the values of one property of a resource, and how many there are.

    >>> from triplestore import NamedNode, Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://e/> . :a :p :b, :c .", "ttl")
    >>> found = resource_values(store, NamedNode("http://e/a"), NamedNode("http://e/p"), offset=1)
    >>> found["count"], [value["term"]["short"] for value in found["values"]], found["more"]
    (2, [':c'], False)
    """
    if direction not in SIDES:
        raise UsageError(f'direction must be "out" or "in", not {direction!r}')
    page = _ResourcePage(store, term, language)
    name_id = page.id_of(name)
    made = page.property_page(name_id, direction, offset, limit)
    return {**made, "property": page.data.term(name)}


class _ResourcePage:
    """What one answer needs: one state, and what is around the resource in it."""

    def __init__(self, store: ReadableStore, term: Term, language: str) -> None:
        self.view = view_of(store)
        self.language = language
        self.data = TermData(self.view, language)
        self.around = Neighbours(self.view, self.id_of(term))

    def id_of(self, term: Term) -> int:
        return int(self.view.dictionary.lookup_keys([key_of(term)])[0])

    def _ids_of(self, iris: tuple[str, ...]) -> list[int]:
        keys = [b"\x01" + iri.encode() for iri in iris]
        return [int(name) for name in self.view.dictionary.lookup_keys(keys) if name]

    def all_of(self, iris: tuple[str, ...]) -> list[dict[str, Any]]:
        """The values of some properties, each with its mark."""
        found: list[dict[str, Any]] = []
        for name in self._ids_of(iris):
            values = self.around.by(name, OUT)
            found += self._values(name, OUT, values, 0, BROWSE.listed_labels - len(found))
        return found

    def equals(self) -> list[dict[str, Any]]:
        """What is equal to the resource, without itself."""
        found: dict[int, bool] = {}
        for name in self._ids_of(_EQUALS):
            for direction in (OUT, IN):
                values = self.around.by(name, direction)
                for other, mark in zip(values.ids.tolist(), values.inferred.tolist(), strict=True):
                    found[other] = found.get(other, True) and mark
        found.pop(self.around.node, None)
        chosen = list(found)[: BROWSE.listed_labels]
        terms = self.data.ids(np.array(chosen, np.uint32))
        return [
            {**term, "inferred": found[other]} for other, term in zip(chosen, terms, strict=True)
        ]

    def comment(self) -> JsonTerm | None:
        """The first description, one in a wanted language before others."""
        for name in self._ids_of(_COMMENTS):
            texts = self.around.by(name, OUT).ids[: BROWSE.listed_labels]
            if len(texts):
                best = np.argmin(text_ranks(self.view.dictionary, texts, self.language))
                return self.data.ids(texts[best : best + 1])[0]
        return None

    def direction(self, direction: str, limit: int) -> dict[str, Any]:
        """The facts in one direction, by property."""
        names = self.around.properties(direction)
        names = self._in_order(names)
        terms = self.data.ids(names[: BROWSE.listed_properties])
        listed = []
        for name, term in zip(names[: BROWSE.listed_properties].tolist(), terms, strict=True):
            made = self.property_page(name, direction, 0, limit)
            if made["count"]:  # all rows of a property may be removed
                listed.append({"property": term, **made})
        beyond = len(names) - BROWSE.listed_properties
        return {direction: listed, f"more_{direction}": max(0, beyond)}

    def _in_order(self, names: U32) -> U32:
        first = {name: place for place, name in enumerate(self._ids_of(_FIRST))}
        if len(names) > BROWSE.listed_properties:
            return np.array(sorted(names.tolist(), key=lambda n: first.get(n, len(first))), "u4")
        short = {
            name: self.data.short(term)
            for name, term in zip(names.tolist(), self.view.dictionary.terms(names), strict=True)
        }
        ordered = sorted(short, key=lambda name: (first.get(name, len(first)), short[name]))
        return np.array(ordered, np.uint32)

    def property_page(self, name: int, direction: str, offset: int, limit: int) -> dict[str, Any]:
        """A part of the values of a property."""
        values = self.around.by(name, direction)
        return {
            "count": len(values.ids),
            "asserted": values.asserted_count,
            "values": self._values(name, direction, values, offset, limit),
            "offset": offset,
            "more": len(values.ids) > offset + limit,
        }

    def _values(
        self, name: int, direction: str, values: NeighbourList, offset: int, limit: int
    ) -> list[dict[str, Any]]:
        ids = values.ids[offset : offset + max(limit, 0)]
        marks = values.inferred[offset : offset + max(limit, 0)]
        graphs = self.around.graphs(name, direction, ids)
        made = []
        for other, mark, term in zip(ids.tolist(), marks.tolist(), self.data.ids(ids), strict=True):
            value: dict[str, Any] = {"term": term, "inferred": mark}
            if other in graphs:
                value["graphs"] = self.data.ids(np.array(graphs[other], np.uint32))
            made.append(value)
        return made
