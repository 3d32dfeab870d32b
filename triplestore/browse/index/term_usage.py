"""What terms are, and how often they are used: columns by term id.

Start at `usage_of`. A term is a class if it has members or is said to be one, a property if it has
triples or is said to be one, and a concept if SKOS says so; all else that has an IRI is an
individual. How often: the number of triples and quads that have the term in any place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from triplestore.relations import OBJECT, SUBJECT, Tables
from triplestore.relations.packed_keys import I64, U8, U32
from triplestore.relations.relation import StoredRelation
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import (
    OWL_ANNOTATION_PROPERTY,
    OWL_CLASS,
    OWL_DATATYPE_PROPERTY,
    OWL_FUNCTIONAL_PROPERTY,
    OWL_OBJECT_PROPERTY,
    OWL_SYMMETRIC_PROPERTY,
    OWL_TRANSITIVE_PROPERTY,
    RDF_PROPERTY,
    RDF_TYPE,
    RDFS_CLASS,
    RDFS_DATATYPE,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
    SKOS_BROADER,
    SKOS_CONCEPT,
    SKOS_NARROWER,
)

CLASS, PROPERTY, CONCEPT, INDIVIDUAL = 1, 2, 4, 8
"""Bits of the kinds of a term."""

TYPES = {
    CLASS: (RDFS_CLASS, OWL_CLASS, RDFS_DATATYPE),
    PROPERTY: (
        RDF_PROPERTY,
        OWL_OBJECT_PROPERTY,
        OWL_DATATYPE_PROPERTY,
        OWL_ANNOTATION_PROPERTY,
        OWL_FUNCTIONAL_PROPERTY,
        OWL_SYMMETRIC_PROPERTY,
        OWL_TRANSITIVE_PROPERTY,
    ),
    CONCEPT: (SKOS_CONCEPT,),
}
"""The classes whose members are of a kind."""

_EDGES = {
    RDFS_SUB_CLASS_OF: CLASS,
    RDFS_SUB_PROPERTY_OF: PROPERTY,
    SKOS_BROADER: CONCEPT,
    SKOS_NARROWER: CONCEPT,
}
"""The properties both of whose ends are of a kind."""


class Usage(NamedTuple):
    """Columns by term id.

    uses   the number of triples and quads that have the term in any place
    kinds  the bits of the kinds of terms with an IRI; 0 for others, and for terms without uses
    """

    uses: U32
    kinds: U8


def usage_of(tables: Tables, dictionary: Dictionary) -> Usage:
    """How often each term is used, and what it is."""
    size = dictionary.size + 1
    uses = np.zeros(size, dtype=np.int64)
    for name, relation in relations_of(tables):
        count = 0
        for block in relation.scan():
            count += len(block[0])
            for column in block:
                count_in(uses, column)
        uses[name] += count
    kinds = _kinds(tables, dictionary, size)
    used = uses > 0
    kinds[used & (kinds & (CLASS | PROPERTY) == 0)] |= INDIVIDUAL
    (known,) = kinds.nonzero()
    is_iri = dictionary.kinds(known.astype(np.uint32)) == IRI
    kinds[known[~is_iri | ~used[known]]] = 0
    return Usage(uses.astype(np.uint32), kinds)


def count_in(counts: I64, ids: U32) -> None:
    """Add the number of times that each id occurs."""
    if len(ids) * 8 < len(counts):
        np.add.at(counts, ids, 1)
    else:
        counts += np.bincount(ids, minlength=len(counts))


def relations_of(tables: Tables) -> Iterator[tuple[int, StoredRelation]]:
    """Every property with its stored triples, then with its quads.

    Of a closure only the stored rows are given: all pairs may be very many.
    """
    for name in tables.names().tolist():
        closed = name in tables.closed
        yield name, tables.stored_relation(name) if closed else tables.relation(name)
    for name in tables.quad_names().tolist():
        yield name, tables.quads(name)


def ids_of(dictionary: Dictionary, iris: Iterable[str]) -> list[int]:
    """The ids of IRIs, 0 for unknown ones."""
    ids: list[int] = dictionary.lookup_keys([b"\x01" + iri.encode() for iri in iris]).tolist()
    return ids


def column_of(tables: Tables, name: int, column: int) -> U32:
    """The terms that a property has in one place, in any graph."""
    if not name:
        return np.zeros(0, dtype=np.uint32)
    closed = name in tables.closed
    relation = tables.stored_relation(name) if closed else tables.relation(name)
    found: U32 = np.union1d(relation.distinct(column), tables.quads(name).distinct(column))
    return found


def members_of(tables: Tables, type_id: int, classes: Iterable[int]) -> U32:
    """The members of any of some classes, in any graph; with repetitions."""
    found = [np.zeros(0, dtype=np.uint32)]
    for class_id in classes:
        if class_id and type_id:
            found.append(tables.relation(type_id).by_second(class_id))
            one = (np.array([class_id], dtype=np.uint32),)
            found.append(tables.quads(type_id).probe((OBJECT,), one)[1][0])
    return np.concatenate(found)


def kinds_among(tables: Tables, dictionary: Dictionary, ids: U32, uses: I64) -> U8:
    """The kinds of some terms with these numbers of uses, as `usage_of` finds them."""
    kinds = np.zeros(len(ids), dtype=np.uint8)
    type_id, *edges = ids_of(dictionary, (RDF_TYPE, *_EDGES))
    for name, place, bit in (
        (type_id, OBJECT, CLASS),
        *(
            (edge, place, bit)
            for edge, bit in zip(edges, _EDGES.values(), strict=True)
            for place in (SUBJECT, OBJECT)
        ),
    ):
        if name:
            closed = name in tables.closed
            relation = tables.stored_relation(name) if closed else tables.relation(name)
            occurs = relation.semijoin(place, ids) | tables.quads(name).semijoin(place, ids)
            kinds[occurs] |= bit
    kinds[np.isin(ids, tables.names()) | np.isin(ids, tables.quad_names())] |= PROPERTY
    for bit, types in TYPES.items():
        for class_id in ids_of(dictionary, types):
            if class_id and type_id:
                columns = (ids, np.full(len(ids), class_id, dtype=np.uint32))
                kinds[tables.relation(type_id).contains(columns)] |= bit
                kinds[tables.quads(type_id).probe((SUBJECT, OBJECT), columns)[0]] |= bit
    kinds[(uses > 0) & (kinds & (CLASS | PROPERTY) == 0)] |= INDIVIDUAL
    kinds[(dictionary.kinds(ids) != IRI) | (uses <= 0)] = 0
    return kinds


def _kinds(tables: Tables, dictionary: Dictionary, size: int) -> U8:
    kinds = np.zeros(size, dtype=np.uint8)
    type_id, *edges = ids_of(dictionary, (RDF_TYPE, *_EDGES))
    kinds[column_of(tables, type_id, OBJECT)] |= CLASS
    kinds[np.union1d(tables.names(), tables.quad_names())] |= PROPERTY
    for name, bit in zip(edges, _EDGES.values(), strict=True):
        for place in (SUBJECT, OBJECT):
            kinds[column_of(tables, name, place)] |= bit
    for bit, types in TYPES.items():
        kinds[members_of(tables, type_id, ids_of(dictionary, types))] |= bit
    return kinds
