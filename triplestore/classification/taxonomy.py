"""The hierarchy of named classes of a store whose subsumptions are closed.

Start reading at `Taxonomy`. It reads columns of rdfs:subClassOf when it is first looked at; terms
are decoded for what is shown only. Equivalent classes are one node, shown by its first name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pyoxigraph import NamedNode, Triple

from triplestore.classification.reduction import direct_pairs, grouped
from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.ontologies.translate.owl_el import relation
from triplestore.relations.packed_keys import (
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    high,
    in_sorted,
    low,
    pack,
)
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import (
    OWL_CLASS,
    OWL_EQUIVALENT_CLASS,
    OWL_NOTHING,
    OWL_THING,
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
)

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

SUB_CLASS, EQUIVALENT = NamedNode(RDFS_SUB_CLASS_OF), NamedNode(OWL_EQUIVALENT_CLASS)
THING, BOTTOM = NamedNode(OWL_THING), NamedNode(OWL_NOTHING)
TYPE, CLASS = NamedNode(RDF_TYPE), NamedNode(OWL_CLASS)


class _Pairs(NamedTuple):
    """The hierarchy as ids.

    edges    pairs of heads, sorted
    members  those that are equivalent to others, and the head of each
    bad      those that cannot have a member
    classes  all that are named
    """

    edges: U64
    members: U32
    heads: U32
    bad: U32
    classes: U32


class Taxonomy:
    """Named classes, each below the classes just above it, or below all above it.

    direct  whether edges are only those of the transitive reduction
    """

    def __init__(self, view: ReadableState, *, direct: bool = True) -> None:
        if not view.regimes:
            raise UsageError(
                'no regime is in force, so nothing is classified: call reason("owl-el")'
            )
        self.direct = direct
        self._view = view

    # -- what it has ----------------------------------------------------------------------------

    @cached_property
    def edges(self) -> tuple[tuple[NamedNode, NamedNode], ...]:
        """Pairs of a class and one above it, between the first names of equivalent classes."""
        keys = self._pairs.edges
        return tuple(zip(self._names(high(keys)), self._names(low(keys)), strict=True))

    @cached_property
    def equivalents(self) -> tuple[tuple[NamedNode, ...], ...]:
        """Groups of equivalent classes, each in order of names, without unsatisfiable ones."""
        groups: dict[int, list[int]] = {}
        pairs = zip(self._pairs.members.tolist(), self._pairs.heads.tolist(), strict=True)
        for member, head in pairs:
            groups.setdefault(head, []).append(member)
        return tuple(
            tuple(sorted(self._names(np.array(group, np.uint32)), key=str))
            for group in groups.values()
        )

    @cached_property
    def unsatisfiable(self) -> tuple[NamedNode, ...]:
        """The classes that cannot have a member, in order of names."""
        return tuple(sorted(self._names(self._pairs.bad), key=str))

    @cached_property
    def roots(self) -> tuple[NamedNode, ...]:
        """The classes with nothing above them but owl:Thing, in order of names."""
        return tuple(sorted(self._names(self._roots), key=str))

    @property
    def class_count(self) -> int:
        """The number of named classes."""
        return len(self._pairs.classes)

    def triples(self, *, equivalents: bool = True, top: bool = False) -> Iterator[Triple]:
        """The hierarchy as triples: of equivalent classes the first has the edges.

        top  whether roots are below owl:Thing
        """
        for sub, sup in self.edges:
            yield Triple(sub, SUB_CLASS, sup)
        for root in self.roots if top else ():
            yield Triple(root, SUB_CLASS, THING)
        for group in self.equivalents if equivalents else ():
            for other in group[1:]:
                yield Triple(group[0], EQUIVALENT, other)
        for bad in self.unsatisfiable if equivalents else ():
            yield Triple(bad, EQUIVALENT, BOTTOM)

    # -- as text --------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        pairs = self._pairs
        kind = "direct edges" if self.direct else "edges"
        return f"<taxonomy of {len(pairs.classes):,} classes, {len(pairs.edges):,} {kind}>"

    def lines(self) -> Iterator[str]:
        """The hierarchy as an indented tree; a class with several parents is under each of them,
        but what is below it is shown once."""
        shown: set[int] = set()
        order = self._by_name
        stack = [(root, 0) for root in reversed(self._sorted(self._roots))]
        below = self._below
        while stack:
            one, depth = stack.pop()
            children = below.get(one, ())
            again = one in shown and len(children) > 0
            yield "  " * depth + order(one) + ("  (shown above)" if again else "")
            if again:
                continue
            shown.add(one)
            stack += [(child, depth + 1) for child in reversed(self._sorted_list(children))]
        if len(self._pairs.bad):
            yield "owl:Nothing"
            for bad in self._sorted(self._pairs.bad):
                yield f"  {self._name(bad)}"

    # -- ids ------------------------------------------------------------------------------------

    @cached_property
    def _pairs(self) -> _Pairs:
        keys = self._closed()
        nothing, thing = self._ids(OWL_NOTHING, OWL_THING)
        bad = high(keys[low(keys) == nothing]) if nothing else NO_IDS
        special = np.array([nothing, thing], dtype=np.uint32)
        keep = ~np.isin(high(keys), special) & ~np.isin(low(keys), special)
        keep &= ~in_sorted(high(keys), bad) & ~in_sorted(low(keys), bad)
        keys = keys[keep]
        members, heads = grouped(keys)
        heads = self._first_names(members, heads)
        edges = keys[(high(keys) != low(keys))]
        if len(members):
            sub, sup = (_moved(ends, members, heads) for ends in (high(edges), low(edges)))
            edges = pack(sub, sup)[sub != sup]
            edges = distinct(np.sort(edges))
        if self.direct:
            edges = direct_pairs(edges)
        classes = self._classes(keys, bad, special)
        return _Pairs(edges, members, heads, bad, classes)

    def _closed(self) -> U64:
        """All pairs of names, sorted."""
        (number,) = self._ids(RDFS_SUB_CLASS_OF)
        if not number:
            return NO_KEYS
        parts = list(self._view.tables.relation(number).scan_keys())
        keys: U64 = parts[0] if len(parts) == 1 else np.concatenate([NO_KEYS, *parts])
        return keys[self._are_names(high(keys)) & self._are_names(low(keys))]

    def _classes(self, keys: U64, bad: U32, special: U32) -> U32:
        found = [high(keys), low(keys), bad]
        tables, dictionary = self._view.tables, self._view.dictionary
        (own,) = dictionary.lookup_keys([relation("class").key]).tolist()
        if own:
            found += [high(part) for part in tables.relation(own).scan_keys()]
        type_id, class_id = self._ids(RDF_TYPE, OWL_CLASS)
        if type_id and class_id:
            found.append(tables.relation(type_id).by_second(class_id))
        every: U32 = distinct(np.sort(np.concatenate(found)))
        return every[self._are_names(every) & ~np.isin(every, special)]

    @cached_property
    def _roots(self) -> U32:
        pairs = self._pairs
        lower = distinct(np.sort(high(pairs.edges)))
        keep = ~in_sorted(pairs.classes, lower) & ~in_sorted(pairs.classes, pairs.bad)
        if len(pairs.members):
            keep &= ~in_sorted(pairs.classes, pairs.members[pairs.members != pairs.heads])
        return pairs.classes[keep]

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        keys = self._pairs.edges
        for sub, sup in zip(high(keys).tolist(), low(keys).tolist(), strict=True):
            found.setdefault(sup, []).append(sub)
        return found

    def _first_names(self, members: U32, heads: U32) -> U32:
        """The head of each group by name, so that it does not depend on the order of loading."""
        if not len(members):
            return heads
        names = dict(zip(members.tolist(), map(str, self._names(members)), strict=True))
        least: dict[int, int] = {}
        for member, head in zip(members.tolist(), heads.tolist(), strict=True):
            known = least.get(head, member)
            least[head] = min(known, member, key=names.__getitem__)
        return np.array([least[head] for head in heads.tolist()], dtype=np.uint32)

    def _ids(self, *iris: str) -> list[int]:
        found: list[int] = self._view.dictionary.lookup_keys(
            [b"\x01" + iri.encode() for iri in iris]
        ).tolist()
        return found

    def _are_names(self, ids: U32) -> Bools:
        found: Bools = self._view.dictionary.kinds(ids) == IRI
        return found

    # -- names ----------------------------------------------------------------------------------

    def _names(self, ids: U32) -> list[NamedNode]:
        return self._view.dictionary.terms(ids)

    @cached_property
    def _namer(self) -> Namer:
        return Namer(self._view.prefixes)

    def _name(self, one: int) -> str:
        return self._namer.term(Constant(self._view.dictionary.key(one)))

    @cached_property
    def _equal_names(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        pairs = zip(self._pairs.members.tolist(), self._pairs.heads.tolist(), strict=True)
        for member, head in pairs:
            if member != head:
                found.setdefault(head, []).append(self._name(member))
        return found

    def _by_name(self, one: int) -> str:
        return " = ".join((self._name(one), *sorted(self._equal_names.get(one, ()))))

    def _sorted(self, ids: U32) -> list[int]:
        return self._sorted_list(ids.tolist())

    def _sorted_list(self, ids: list[int] | tuple[int, ...]) -> list[int]:
        return sorted(ids, key=self._name)


def _moved(ids: U32, members: U32, heads: U32) -> U32:
    places = np.minimum(members.searchsorted(ids), len(members) - 1)
    found: U32 = np.where(members[places] == ids, heads[places], ids)
    return found
