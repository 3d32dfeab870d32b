"""How many members each class has and how many triples each property, asserted and inferred.

Start at `class_counts` and `property_counts`: columns, in the order of the counts. The default
graph and the named graphs are added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triplestore.browse.index.label_texts import begin_with
from triplestore.browse.index.term_usage import (
    CLASS,
    PROPERTY,
    TYPES,
    column_of,
    count_in,
    ids_of,
    members_of,
)
from triplestore.relations import EXPLICIT, HOLDS, OBJECT, SUBJECT, Tables
from triplestore.relations.packed_keys import I64, U32
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import (
    OWL,
    OWL_ON_PROPERTY,
    RDF,
    RDF_TYPE,
    RDFS,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
    XSD,
)

_SYSTEM = tuple(space.encode() for space in (RDF, RDFS, OWL, XSD))


class Counted(NamedTuple):
    """Terms and their counts, the largest first; equal counts in the order of ids.

    below  of a class the number of its subclasses; of a property the number of axioms about it
    """

    ids: U32
    asserted: I64
    inferred: I64
    below: I64

    def where(self, fits: np.ndarray) -> Counted:
        """Some of them."""
        return Counted(self.ids[fits], self.asserted[fits], self.inferred[fits], self.below[fits])

    def first(self, most: int) -> Counted:
        """The first of them."""
        return self.where(np.arange(min(most, len(self.ids))))


def class_counts(tables: Tables, dictionary: Dictionary) -> Counted:
    """All classes that have an IRI: those with members come before those without."""
    type_id, sub_class = ids_of(dictionary, (RDF_TYPE, RDFS_SUB_CLASS_OF))
    asserted, total = (np.zeros(dictionary.size + 1, dtype=np.int64) for _ in range(2))
    if type_id:
        _count_members(tables, type_id, asserted, total)
    declared = members_of(tables, type_id, ids_of(dictionary, TYPES[CLASS]))
    ends = [column_of(tables, sub_class, place) for place in (SUBJECT, OBJECT)]
    ids = np.unique(np.concatenate((total.nonzero()[0].astype(np.uint32), declared, *ends)))
    below = _matches(tables, sub_class, ids)
    return _ordered(dictionary, ids, asserted[ids], total[ids], below)


def _count_members(tables: Tables, type_id: int, asserted: I64, total: I64) -> None:
    relation, quads = tables.relation(type_id), tables.quads(type_id)
    for _, classes in relation.scan(EXPLICIT, order=OBJECT):
        count_in(asserted, classes)
    if type_id in tables.closed:
        classes = relation.distinct(OBJECT)
        total[classes] = relation.match_counts(OBJECT, classes)
    else:
        for _, classes in relation.scan(order=OBJECT):
            count_in(total, classes)
    for counts, where in ((asserted, EXPLICIT), (total, HOLDS)):
        for block in quads.scan(where, order=OBJECT):
            count_in(counts, block[1])


def property_counts(tables: Tables, dictionary: Dictionary) -> Counted:
    """All properties: those with triples come before those that axioms only declare."""
    type_id, *about = ids_of(dictionary, (RDF_TYPE, OWL_ON_PROPERTY, RDFS_SUB_PROPERTY_OF))
    declared = members_of(tables, type_id, ids_of(dictionary, TYPES[PROPERTY]))
    ids = np.unique(np.concatenate((tables.names(), tables.quad_names(), declared)))
    asserted, total = (np.zeros(len(ids), dtype=np.int64) for _ in range(2))
    for place, name in enumerate(ids.tolist()):
        for relation in (tables.relation(name), tables.quads(name)):
            asserted[place] += relation.count(EXPLICIT)
            total[place] += relation.count()
    below = sum((_matches(tables, name, ids) for name in about), np.zeros(len(ids), np.int64))
    return _ordered(dictionary, ids.astype(np.uint32), asserted, total, below)


def _matches(tables: Tables, name: int, objects: U32) -> I64:
    """How many triples of a property have each of these objects, in the default graph."""
    if not name:
        return np.zeros(len(objects), dtype=np.int64)
    return tables.relation(name).match_counts(OBJECT, objects)


def is_system(dictionary: Dictionary, ids: U32) -> np.ndarray:
    """Which terms are of RDF, RDFS, OWL and XSD themselves."""
    found = np.zeros(len(ids), dtype=np.bool_)
    for space in _SYSTEM:
        found |= begin_with(dictionary, ids, space)
    return found


def _ordered(dictionary: Dictionary, ids: U32, asserted: I64, total: I64, below: I64) -> Counted:
    order = np.lexsort((ids, -below, -total))
    order = order[dictionary.kinds(ids[order]) == IRI]
    return Counted(ids[order], asserted[order], (total - asserted)[order], below[order])
