"""How many members each class has and how many triples each property, asserted and inferred.

Start at `class_counts` and `property_counts`: columns, in the order of the counts. The default
graph and the named graphs are added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triplestore.browse.index.term_usage import count_in, ids_of
from triplestore.relations import EXPLICIT, HOLDS, OBJECT, Tables
from triplestore.relations.packed_keys import I64, NO_IDS, U32
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import OWL, RDF, RDF_TYPE, RDFS, XSD

_SYSTEM = tuple(space.encode() for space in (RDF, RDFS, OWL, XSD))


class Counted(NamedTuple):
    """Terms and their counts, the largest first; equal counts in the order of ids."""

    ids: U32
    asserted: I64
    inferred: I64

    def where(self, fits: np.ndarray) -> Counted:
        """Some of them."""
        return Counted(self.ids[fits], self.asserted[fits], self.inferred[fits])

    def first(self, most: int) -> Counted:
        """The first of them."""
        return Counted(self.ids[:most], self.asserted[:most], self.inferred[:most])


def class_counts(tables: Tables, dictionary: Dictionary) -> Counted:
    """All classes with members that have an IRI."""
    (type_id,) = ids_of(dictionary, (RDF_TYPE,))
    if not type_id:
        return Counted(NO_IDS, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    relation, quads = tables.relation(type_id), tables.quads(type_id)
    asserted, total = (np.zeros(dictionary.size + 1, dtype=np.int64) for _ in range(2))
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
    (ids,) = total.nonzero()
    return _ordered(dictionary, ids.astype(np.uint32), asserted[ids], total[ids])


def property_counts(tables: Tables, dictionary: Dictionary) -> Counted:
    """All properties with triples."""
    ids = np.union1d(tables.names(), tables.quad_names()).astype(np.uint32)
    asserted, total = (np.zeros(len(ids), dtype=np.int64) for _ in range(2))
    for place, name in enumerate(ids.tolist()):
        for relation in (tables.relation(name), tables.quads(name)):
            asserted[place] += relation.count(EXPLICIT)
            total[place] += relation.count()
    return _ordered(dictionary, ids, asserted, total)


def is_system(dictionary: Dictionary, ids: U32) -> np.ndarray:
    """Which terms are of RDF, RDFS, OWL and XSD themselves."""
    text, offsets, _ = dictionary.text(ids)
    found = np.zeros(len(ids), dtype=np.bool_)
    for space in _SYSTEM:
        (open_,) = (np.diff(offsets) >= len(space)).nonzero()
        # From the end on: namespaces differ there.
        for place in range(len(space) - 1, -1, -1):
            open_ = open_[text[offsets[open_] + place] == space[place]]
        found[open_] = True
    return found


def _ordered(dictionary: Dictionary, ids: U32, asserted: I64, total: I64) -> Counted:
    order = np.lexsort((ids, -total))
    order = order[(dictionary.kinds(ids[order]) == IRI) & (total[order] > 0)]
    return Counted(ids[order], asserted[order], (total - asserted)[order])
