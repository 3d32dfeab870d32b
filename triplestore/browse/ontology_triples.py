"""The asserted axioms of a store, without its data: start at `ontology_triples`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyoxigraph as ox

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.member_counts import class_counts, is_system, property_counts
from triplestore.reasoning.visible import is_triple
from triplestore.relations import EXPLICIT, OBJECT, SUBJECT
from triplestore.relations.packed_keys import NO_KEYS, U32, Columns, high, low, pack
from triplestore.store.readable import view_of
from triplestore.terms.vocabulary import (
    OWL_DIFFERENT_FROM,
    OWL_SAME_AS,
    RDF_FIRST,
    RDF_REST,
    RDF_TYPE,
    RDFS_COMMENT,
    RDFS_IS_DEFINED_BY,
    RDFS_LABEL,
    RDFS_SEE_ALSO,
    SKOS_DEFINITION,
    SKOS_PREF_LABEL,
)

if TYPE_CHECKING:
    from triplestore.store.readable import ReadableStore
    from triplestore.store.state_view import StateView

_OF_ANYTHING = (
    RDFS_LABEL,
    RDFS_COMMENT,
    RDFS_SEE_ALSO,
    RDFS_IS_DEFINED_BY,
    SKOS_PREF_LABEL,
    SKOS_DEFINITION,
)
"""Properties that belong to an ontology where they describe a class or a property."""

_OF_DATA = (OWL_SAME_AS, OWL_DIFFERENT_FROM)


def ontology_triples(store: ReadableStore, most: int) -> tuple[list[ox.Triple], int]:
    """At most `most` asserted triples of axioms, and the number of all.

    These are triples of RDFS and OWL properties in any graph, types of RDFS and OWL, lists, and
    labels and comments of classes and properties.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix ex: <http://ex.org/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     ex:A rdfs:subClassOf ex:B . ex:a a ex:A ; rdfs:label "an A" .''', "ttl")
    >>> found, total = ontology_triples(store, 100)
    >>> total, found[0].subject.value
    (1, 'http://ex.org/A')
    """
    view = view_of(store)
    found: list[ox.Triple] = []
    total = 0
    for name, (subjects, objects) in _axioms(view):
        fine = is_triple(view.dictionary, subjects, np.full(len(subjects), name, np.uint32))
        subjects, objects = subjects[fine], objects[fine]
        room = most - len(found)
        total += len(subjects)
        predicate = view.dictionary.term(name)
        assert isinstance(predicate, ox.NamedNode)
        terms = (view.dictionary.terms(column[:room]) for column in (subjects, objects))
        found += [ox.Triple(s, predicate, o) for s, o in zip(*terms, strict=True)]
    return found, total


def _axioms(view: StateView) -> Iterator[tuple[int, Columns]]:
    """The rows of each property that belong to the ontology."""
    tables, dictionary = view.tables, view.dictionary
    properties = property_counts(tables, dictionary).ids
    classes = class_counts(tables, dictionary).ids
    type_id, *lists = ids_of(dictionary, (RDF_TYPE, RDF_FIRST, RDF_REST))
    general, data = set(ids_of(dictionary, _OF_ANYTHING)), set(ids_of(dictionary, _OF_DATA))
    described = np.union1d(properties, classes)
    system_classes = classes[is_system(dictionary, classes)]
    own = set(properties[is_system(dictionary, properties)].tolist()) - general - data
    if type_id:
        yield from _of(view, [type_id], OBJECT, system_classes)
    yield from _of(view, sorted(own - {type_id, *lists}))
    yield from _of(view, sorted(general - {0}), SUBJECT, described)
    yield from _of(view, [name for name in lists if name])


def _of(
    view: StateView, names: list[int], place: int = SUBJECT, terms: U32 | None = None
) -> Iterator[tuple[int, Columns]]:
    """The asserted rows of some properties in any graph, with these terms in a place only."""
    for name in names:
        keys = [NO_KEYS]
        for relation in (view.tables.relation(name), view.tables.quads(name)):
            if terms is None:
                keys += [pack(block[0], block[1]) for block in relation.scan(EXPLICIT)]
                continue
            index, (others, *_) = relation.probe((place,), (terms,), EXPLICIT)
            ends = (terms[index], others)
            keys.append(pack(*ends) if place == SUBJECT else pack(*ends[::-1]))
        rows = np.unique(np.concatenate(keys))
        if len(rows):
            yield name, (high(rows), low(rows))
