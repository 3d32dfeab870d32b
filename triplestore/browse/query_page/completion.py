"""Completion of a query that is being typed: start at `complete`.

What is offered depends on the place: properties where a property stands, classes after `a`, things
that occur with a property after it. Names come from the index of search, by label or IRI, those
that match best and are used most first. Always true: nothing is decoded but what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.member_counts import is_system, property_counts
from triplestore.browse.query_page import place_in_query as places
from triplestore.browse.query_page.place_in_query import PlaceInQuery, place_in_query
from triplestore.browse.query_page.words_of_queries import prefixes_for, words_for
from triplestore.browse.search import search_terms
from triplestore.browse.term_data import USUAL_PREFIXES, TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.expressions.text.expression_printer import Namer
from triplestore.relations.packed_keys import U32
from triplestore.sparql.syntax.known_prefixes import WELL_KNOWN
from triplestore.store.readable import view_of
from triplestore.terms.vocabulary import (
    OWL_DISJOINT_WITH,
    OWL_EQUIVALENT_CLASS,
    OWL_EQUIVALENT_PROPERTY,
    OWL_INVERSE_OF,
    RDF_TYPE,
    RDFS_DOMAIN,
    RDFS_RANGE,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
)

if TYPE_CHECKING:
    from triplestore.store import ReadableStore
    from triplestore.store.state_view import StateView

Item = dict[str, Any]

_OF_CLASSES = (
    *(RDF_TYPE, RDFS_SUB_CLASS_OF, OWL_EQUIVALENT_CLASS),
    *(OWL_DISJOINT_WITH, RDFS_DOMAIN, RDFS_RANGE),
)
_OF_PROPERTIES = (RDFS_SUB_PROPERTY_OF, OWL_EQUIVALENT_PROPERTY, OWL_INVERSE_OF)


def complete(
    store: ReadableStore, text: str, offset: int, *, limit: int = 50, language: str = "en"
) -> dict[str, Any]:
    """What may stand at a place of a query: items, and the part of the text that they replace.

    Each item has `insert`, `label`, `kind` (`prefix`, `class`, `property`, `individual`, `concept`,
    `variable`, `keyword` or `function`), and perhaps `detail` and `count`. If a prefix has to be
    declared for it, `declare` is the declaration, to be put before the query.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix : <http://e/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Cat rdfs:label "house cat" . :tom a :Cat ; :age 3 . :kit a :Cat .''', "ttl")
    >>> def labels(text):
    ...     return [item["insert"] for item in complete(store, text, len(text))["items"]]
    >>> labels("SELECT * { ?x a hou"), labels("SELECT * { ?x :a")
    ([':Cat'], [':age'])
    """
    place = place_in_query(text, offset)
    items = [] if place.role == places.NOTHING else _Completion(store, place, language).items(limit)
    return {"from": place.start, "to": place.end, "role": place.role, "items": items[:limit]}


class _Completion:
    """The items for one place."""

    def __init__(self, store: ReadableStore, place: PlaceInQuery, language: str) -> None:
        self._store, self._place, self._language = store, place, language
        self._view = view_of(store)
        self._known = {**self._view.prefixes, **place.prefixes}
        own = {prefix: self._known[prefix] for prefix in reversed(self._known)}
        self._namer = Namer(own)
        self._more = Namer({**USUAL_PREFIXES, **WELL_KNOWN})

    def items(self, limit: int) -> list[Item]:
        """All items, the most likely first."""
        place = self._place
        if place.role == places.DECLARATION:
            return prefixes_for(place.typed, {**WELL_KNOWN, **self._view.prefixes})
        typed = place.typed
        if typed.startswith(("?", "$")):
            return list(self._variables())
        words = list(words_for(place.role, typed))
        named = self._named(limit)
        variables = [] if typed else list(self._variables())
        prefixes = list(self._prefixes())
        if place.role in (places.CLAUSE, places.END):
            return [*words, *variables]
        if place.role == places.EXPRESSION:
            return [*variables, *words, *named]
        if place.role == places.SUBJECT and not typed:
            return [*variables, *words, *named]
        exact = [word for word in words if word["label"].lower() == typed.lower()]
        others = [word for word in words if word not in exact]
        return [*exact, *prefixes, *named, *variables, *others]

    def _variables(self) -> Iterator[Item]:
        typed = self._place.typed[1:].lower()
        for name in self._place.variables:
            if name[1:].lower().startswith(typed):
                yield {"insert": name, "label": name, "kind": "variable"}

    def _prefixes(self) -> Iterator[Item]:
        """The prefixes that begin with a word, with the declaration where it is needed."""
        typed = self._place.typed
        if not typed or ":" in typed or typed.startswith("<"):
            return
        for prefix, namespace in {**WELL_KNOWN, **USUAL_PREFIXES, **self._known}.items():
            if prefix.lower().startswith(typed.lower()):
                item = {"insert": f"{prefix}:", "label": f"{prefix}:", "kind": "prefix"}
                item["detail"] = namespace
                if prefix not in self._known:
                    item["declare"] = f"PREFIX {prefix}: <{namespace}>\n"
                yield item

    # -- names of the store -------------------------------------------------------------------

    def _named(self, limit: int) -> list[Item]:
        role, typed = self._place.role, self._place.typed
        kinds = self._kinds()
        if not kinds or (role == places.EXPRESSION and not typed):
            return []
        near = self._near()
        if not typed and role != places.SUBJECT:
            listed = self._listed(near, kinds, limit)
            if listed is not None:
                return listed
        sought = self._sought()
        if sought is None:
            return []
        if sought.endswith(("#", "/", ":")) and "any" in kinds:
            # Names of a whole namespace: looking at those of all individuals takes too long.
            kinds = ("class", "property")
        wider = limit if near is None else limit * 4
        found = search_terms(self._store, sought, kinds, wider, language=self._language)
        if near is not None and len(found):
            ids = self._store.lookup_ids([_iri(one["term"]) for one in found])
            among = np.isin(ids, near).tolist()
            found = [f for f, is_near in zip(found, among, strict=True) if is_near] + [
                f for f, is_near in zip(found, among, strict=True) if not is_near
            ]
        return [self._item(one["term"], one["kind"], one["count"], one) for one in found[:limit]]

    def _kinds(self) -> tuple[str, ...]:
        """The kinds of names that may stand here."""
        place = self._place
        if place.role == places.PREDICATE:
            return ("property",)
        if place.role == places.OBJECT:
            predicate = self._iri_of(place.predicate)
            if predicate in _OF_CLASSES:
                return ("class",)
            if predicate in _OF_PROPERTIES:
                return ("property",)
            return ("any",)
        if place.role in (places.SUBJECT, places.EXPRESSION):
            return ("any",)
        return ()

    def _sought(self) -> str | None:
        """What to search for; None for a name whose prefix is unknown."""
        typed = self._place.typed
        prefix, colon, local = typed.partition(":")
        if typed.startswith("<") or not colon:
            return typed
        namespace = {**WELL_KNOWN, **USUAL_PREFIXES, **self._known}.get(prefix)
        return None if namespace is None else f"<{namespace}{local}"

    def _iri_of(self, written: str) -> str:
        """The IRI of a term as it is written."""
        if written == places.RDF_TYPE_WORD:
            return RDF_TYPE
        if written.startswith("<"):
            return written.strip("<>")
        prefix, colon, local = written.partition(":")
        namespace = {**USUAL_PREFIXES, **self._known}.get(prefix)
        return "" if not colon or namespace is None else namespace + local

    def _near(self) -> U32 | None:
        """What occurs together with the rest of the triple; None if that says nothing."""
        place, view = self._place, self._view
        if place.role == places.PREDICATE:
            named = filter(None, map(self._iri_of, place.classes.get(place.subject, [])))
            classes = [one for one in ids_of(view.dictionary, named) if one]
            return properties_of_members(view, classes) if classes else None
        if place.role == places.OBJECT and place.predicate:
            (name,) = ids_of(view.dictionary, [self._iri_of(place.predicate)])
            return frequent_objects(view, name) if name else None
        return None

    def _listed(self, near: U32 | None, kinds: tuple[str, ...], limit: int) -> list[Item] | None:
        """What comes first where nothing is typed; None if that is not known."""
        view = self._view
        if near is not None:
            system = is_system(view.dictionary, near)
            ids = np.concatenate((near[~system], near[system]))[:limit]
        elif kinds == ("property",):
            ids = property_counts(view.tables, view.dictionary).first(limit).ids
        else:
            return None
        kind = kinds[0] if kinds[0] != "any" else "individual"
        terms = TermData(view, self._language).ids(ids[view.dictionary.kinds(ids) == 1])
        counts = self._counts(ids[view.dictionary.kinds(ids) == 1], kind)
        return [
            self._item(term, kind, count, {}) for term, count in zip(terms, counts, strict=True)
        ]

    def _counts(self, ids: U32, kind: str) -> list[int | None]:
        """The members of classes, or the triples of properties; None for others."""
        tables = self._view.tables
        if kind == "property":
            return [
                tables.relation(name).count() + tables.quads(name).count() for name in ids.tolist()
            ]
        (type_id,) = ids_of(self._view.dictionary, (RDF_TYPE,))
        if kind != "class" or not type_id:
            return [None] * len(ids)
        return [len(tables.relation(type_id).by_second(name)) for name in ids.tolist()]

    def _item(self, term: dict[str, Any], kind: str, count: int | None, found: Item) -> Item:
        iri = term["value"]
        name, declare = self._name(iri)
        item: Item = {"insert": name, "label": name, "kind": kind}
        label, match = term.get("label"), found.get("match")
        label = f"{label} ({match})" if label and match else label or match
        item["detail"] = label if label else (iri if not name.startswith("<") else "")
        if count is not None:
            item["count"] = count
        if declare:
            item["declare"] = declare
        return item

    def _name(self, iri: str) -> tuple[str, str]:
        """An IRI as it can be written, and the declaration that this needs."""
        name = self._namer.iri(iri)
        if not name.startswith("<"):
            return name, ""
        usual = self._more.iri(iri)
        prefix = usual.partition(":")[0]
        if usual.startswith("<") or prefix in self._known or prefix == "ex":
            return name, ""
        namespace = {**WELL_KNOWN, **USUAL_PREFIXES}[prefix]
        return usual, f"PREFIX {prefix}: <{namespace}>\n"


def _iri(term: dict[str, Any]) -> Any:
    import pyoxigraph as ox

    return ox.NamedNode(term["value"])


# -- what occurs together -------------------------------------------------------------------------


def properties_of_members(view: StateView, classes: Iterable[int]) -> U32:
    """The properties that a sample of the members of some classes have, the most frequent first."""
    (type_id,) = ids_of(view.dictionary, (RDF_TYPE,))
    if not type_id:
        return np.zeros(0, np.uint32)
    parts = []
    for class_id in classes:
        blocks = view.tables.relation(type_id).scan(
            order=1, first=class_id, block_rows=BROWSE.sampled_members
        )
        members = next(blocks, None)
        if members is not None:
            names = view.tables.predicates_of(members[0][: BROWSE.sampled_members])[1]
            parts.append(names)
    return _by_frequency(np.concatenate(parts)) if parts else np.zeros(0, np.uint32)


def frequent_objects(view: StateView, name: int) -> U32:
    """The objects of a property, the most frequent first; of a large property a part of them."""
    blocks = view.tables.relation(name).scan(order=1)
    first = next(blocks, None)
    parts = [] if first is None else [first[1]]
    if view.tables.quad_total():
        quads = next(view.tables.quads(name).scan(order=1), None)
        parts += [] if quads is None else [quads[1]]
    return _by_frequency(np.concatenate(parts)) if parts else np.zeros(0, np.uint32)


def _by_frequency(ids: U32) -> U32:
    names, counts = np.unique(ids, return_counts=True)
    found: U32 = names[np.argsort(-counts, kind="stable")]
    return found
