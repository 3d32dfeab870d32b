"""Observed shapes: which properties the members of a class have, and what stands at their ends.

Start at `Shapes`. Members and triples are sampled, so that a class of a million members costs as
much as one of a thousand; the shares are those of the sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.member_counts import Counted
from triplestore.browse.thresholds import BROWSE
from triplestore.relations import OBJECT, SUBJECT, Tables
from triplestore.relations.packed_keys import I64, NO_IDS, U32
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import BLANK, LANG, STRING, TYPED
from triplestore.terms.vocabulary import (
    OWL_THING,
    RDF_LANG_STRING,
    RDF_TYPE,
    RDFS_RESOURCE,
    XSD_STRING,
)
from triplestore.thread_limits import look

MOSTLY = 0.9
"""The share of the terms at an end of a property that a class must have to be named there."""


class Shapes:
    """The shapes of one state.

    classes  all classes with their counts: of several that fit, the smallest is named
    """

    def __init__(self, tables: Tables, dictionary: Dictionary, classes: Counted) -> None:
        self._tables = tables
        self._dictionary = dictionary
        self._type, thing, resource = ids_of(dictionary, (RDF_TYPE, OWL_THING, RDFS_RESOURCE))
        self._everything = np.array([thing, resource], dtype=np.uint32)
        order = np.argsort(classes.ids)
        self._classes = classes.ids[order]
        self._sizes = (classes.asserted + classes.inferred)[order]

    def members(self, class_id: int) -> U32:
        """A sample of the members of a class."""
        if not self._type:
            return NO_IDS
        members = self._tables.relation(self._type).by_second(class_id)
        one = (np.array([class_id], dtype=np.uint32),)
        in_graphs = self._tables.quads(self._type).probe((OBJECT,), one)[1][0]
        if len(in_graphs):
            members = np.union1d(members, in_graphs)
        sampled: U32 = sample(members, BROWSE.sampled_members)
        return sampled

    def properties(self, members: U32, role: int, most: int) -> list[dict[str, Any]]:
        """The properties that members have most often in one role, with the share that has each,
        and what stands at the other end."""
        if not len(members):
            return []
        _, names = self._tables.predicates_of(members, role)
        distinct, counts = np.unique(names, return_counts=True)
        keep = distinct != self._type
        distinct, counts = distinct[keep], counts[keep]
        found: list[dict[str, Any]] = []
        for place in np.lexsort((distinct, -counts))[: 2 * most].tolist():
            look("looking at properties")
            name = int(distinct[place])
            having, others = self._ends(name, role, members)
            if having:
                shown = {"property": name, "share": round(having / len(members), 3)}
                found.append({**shown, "values": self.what(others)})
        found.sort(key=lambda item: (-item["share"], item["property"]))
        return found[:most]

    def ends_of(self, name: int) -> tuple[U32, U32]:
        """The subjects and the objects of a sample of triples of a property."""
        pairs = []
        for relation in (self._tables.relation(name), self._tables.quads(name)):
            for block in relation.scan(block_rows=4 * BROWSE.sampled_members):
                pairs.append(block[:2])
                break
        if not pairs:
            return NO_IDS, NO_IDS
        subjects, objects = (np.concatenate(column) for column in zip(*pairs, strict=True))
        rows = sample(np.arange(len(subjects)), BROWSE.sampled_members)
        return subjects[rows], objects[rows]

    def what(self, terms: U32) -> list[int | str]:
        """What some terms are, the most frequent first: ids of classes, and IRIs of datatypes.

        Of the classes that nearly all resources among them have, the smallest is given; without
        such a class the two that most have. Resources without a class are rdfs:Resource.
        """
        kinds = self._dictionary.kinds(terms)
        literals = terms[kinds >= STRING]
        nodes = terms[kinds <= BLANK]
        found: list[tuple[int, int | str]] = list(self._datatypes(literals))
        if len(nodes):
            classes = self._classes_of(nodes)
            found += classes or [(len(nodes), RDFS_RESOURCE)]
        found.sort(key=lambda item: -item[0])
        return [what for _, what in found[:3]]

    def _ends(self, name: int, role: int, members: U32) -> tuple[int, U32]:
        """How many members have a property in one role, and the terms at its other end."""
        index, (others,) = self._tables.relation(name).probe((role,), (members,))
        quads, (more, _) = self._tables.quads(name).probe((role,), (members,))
        having = len(np.unique(np.concatenate((index, quads))))
        return having, sample(np.concatenate((others, more)), BROWSE.sampled_members)

    def _datatypes(self, literals: U32) -> list[tuple[int, str]]:
        counts: dict[str, int] = {}
        for term_id in literals[: BROWSE.sampled_literals].tolist():
            key = self._dictionary.key(term_id)
            if key[0] == TYPED:
                name = key.rpartition(b'"^^<')[2][:-1].decode()
            else:
                name = RDF_LANG_STRING if key[0] == LANG else XSD_STRING
            counts[name] = counts.get(name, 0) + 1
        return [(count, name) for name, count in counts.items()]

    def _classes_of(self, nodes: U32) -> list[tuple[int, int | str]]:
        if not self._type:
            return []
        distinct, repeats = np.unique(nodes, return_counts=True)
        index, (types,) = self._tables.relation(self._type).probe((SUBJECT,), (distinct,))
        also, (more, _) = self._tables.quads(self._type).probe((SUBJECT,), (distinct,))
        if len(also):
            pairs = np.unique(
                np.stack((np.concatenate((index, also)), np.concatenate((types, more)))), axis=1
            )
            index, types = pairs[0].astype(np.int64), pairs[1].astype(np.uint32)
        known = np.isin(types, self._classes) & ~np.isin(types, self._everything)
        classes, places = np.unique(types[known], return_inverse=True)
        if not len(classes):
            return []
        shares: I64 = np.bincount(places, weights=repeats[index[known]]).astype(np.int64)
        sizes = self._sizes[self._classes.searchsorted(classes)]
        (general,) = (shares >= MOSTLY * len(nodes)).nonzero()
        if len(general):
            best = general[np.lexsort((classes[general], sizes[general]))[:1]]
        else:
            best = np.lexsort((classes, sizes, -shares))[:2]
        return [(int(shares[place]), int(classes[place])) for place in best.tolist()]


def sample(ids: Any, size: int) -> Any:
    """At most `size` of some ids, spread evenly over them.

    >>> sample(np.arange(10), 3).tolist()
    [0, 3, 6]
    """
    return ids if len(ids) <= size else ids[np.arange(size) * len(ids) // size]
