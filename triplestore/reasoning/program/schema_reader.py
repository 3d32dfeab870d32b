"""The triples that a store reads its axioms from.

Start reading at `SchemaReader`; `outdated_rules.py` says whether a change makes it necessary to
read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import NamedNode

from triplestore.datalog.program import TYPE, Constant, Rule, TripleAtom, Variable
from triplestore.ontologies.model import vocabulary as names
from triplestore.ontologies.translate.datatypes import DATATYPES
from triplestore.ontologies.translate.draft import EVERYTHING, NOTHING
from triplestore.ontologies.translate.regimes import facts_of, names_containers
from triplestore.reasoning.program.graph_scope import DEFAULT, ScopeGraph
from triplestore.reasoning.program.outdated_rules import is_member
from triplestore.reasoning.thresholds import REASONING
from triplestore.relations import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, in_sorted, low
from triplestore.terms import BLANK, IRI, key_of
from triplestore.terms.thresholds import TERMS
from triplestore.terms.vocabulary import (
    RDF,
    RDFS_CONTAINER_MEMBERSHIP_PROPERTY,
    RDFS_DOMAIN,
    RDFS_MEMBER,
    RDFS_RANGE,
    RDFS_RESOURCE,
)
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.ontologies.model.ontology import Ontology
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.relations import Tables
    from triplestore.relations.packed_keys import U32, U64
    from triplestore.terms import Dictionary

_PIECE = 1 << 14
"""Triples that are read without a look at the limits."""

_MEMBER = b"\x01" + RDF.encode() + b"_"
_CONTAINER_PROPERTY = b"\x01" + RDFS_CONTAINER_MEMBERSHIP_PROPERTY.encode()
_DOMAIN, _RANGE, _RESOURCE = (
    b"\x01" + name.encode() for name in (RDFS_DOMAIN, RDFS_RANGE, RDFS_RESOURCE)
)


def fact_rule(s: bytes, p: bytes, o: bytes) -> Rule:
    """The rule that states a triple of an ontology's graph; the same object each time, unless its
    terms are long."""
    short = len(s) + len(p) + len(o) <= TERMS.cached_text
    return _kept_fact_rule(s, p, o) if short else _fact_rule(s, p, o)


def _fact_rule(s: bytes, p: bytes, o: bytes) -> Rule:
    return Rule((TripleAtom(Constant(s), Constant(p), Constant(o)),), (), "ontology")


_kept_fact_rule = lru_cache(maxsize=1 << 20)(_fact_rule)


def member_rule(name: bytes, trivial: bool) -> Rule:
    """The rule that rdf:_1 (or rdf:_2 and so on) is a property of containers if it is in use.

    It is not a fact, because what follows from it may use the property. Domain and range are
    trivial.

    >>> rule = member_rule(_MEMBER + b"1", trivial=True)
    >>> rule.name, len(rule.heads), len(rule.body)
    ('axiomatic', 3, 1)
    """
    member, (x, y) = Constant(name), map(Variable, "xy")
    heads = [TripleAtom(member, TYPE, Constant(_CONTAINER_PROPERTY))]
    if trivial:
        heads += [TripleAtom(member, Constant(p), Constant(_RESOURCE)) for p in (_DOMAIN, _RANGE)]
    return Rule(tuple(heads), (TripleAtom(x, member, y),), "axiomatic")


class SchemaReader:
    """The triples of tables that may be part of an axiom.

    What vocabulary rules conclude from axioms makes no difference to individuals, unless it is
    about restrictions. So asserted triples are enough, with pairs of restrictions of which one is
    below the other. A full reading has all that hold, for the case that other rules may conclude
    axioms.

    known  keys of ids, which grow while it reads
    names  the ids of the names that axioms are written with
    """

    def __init__(
        self,
        dictionary: Dictionary,
        tables: Tables,
        regimes: Regimes,
        known: dict[int, bytes] | None = None,
    ) -> None:
        self.known = {} if known is None else known
        self._dictionary = dictionary
        self._tables = tables
        self._regimes = regimes
        self.names = SchemaNames(dictionary)
        graphs = regimes.graphs
        ids = dictionary.lookup_keys(graphs).tolist() if graphs else []
        self._graphs = [tables.graph(graph) for graph in ids if graph]
        self._stated: list[Any] = [*self._graphs]
        self._pairs: dict[int, U64] = {}
        if regimes.scope != DEFAULT:
            self._stated.append(ScopeGraph(tables, dictionary))

    def facts(self) -> list[Rule]:
        """Rules for triples in the graphs of ontologies, and for properties of containers."""
        found = self._members() if names_containers(self._regimes.names) else []
        for graph in self._graphs:
            for name in graph.names().tolist():
                predicate = self._dictionary.key(name)
                keys = np.concatenate([NO_KEYS, *graph.relation(name).scan_keys()])
                pairs = self._as_keys(keys)
                found += [fact_rule(s, predicate, o) for s, o in pairs]
        return found

    def _members(self) -> list[Rule]:
        """Rules for the properties of containers that are in the data: rdf:_1 and so on."""
        keys = map(self._dictionary.key, self._tables.names().tolist())
        return [member_rule(key, self._regimes.trivial) for key in keys if is_member(key)]

    def ids_of(self, properties: Iterable[Constant]) -> U32:
        """The ids of properties that the data have."""
        found = self._dictionary.lookup_keys([one.key for one in properties])
        return np.sort(found[found != 0])

    def read(self, full: bool) -> tuple[U64, list[Any]]:
        """Pairs of classes with names, one below the other, packed; and all other triples."""
        names = self.names
        where = HOLDS if full else EXPLICIT
        keys = {name: self.keys(name, where) for name in names.predicates.tolist()}
        edges = NO_KEYS
        if names.sub_class in keys:
            edges, keys[names.sub_class] = self._apart(keys[names.sub_class])
        found: list[Any] = list(facts_of(self._regimes.names))
        for name, rows in keys.items():
            found += self._terms(rows >> _HALF, name, rows)
        if not full:
            pairs = self._restrictions()
            found += self._terms(pairs >> _HALF, names.sub_class, pairs)
            found += self._containers()
        types = self.relations(names.type_id)
        for class_ in names.classes.tolist():
            members = sorted_distinct(
                np.concatenate([one.by_second(class_, where) for one in types])
            )
            found += self._terms(members, names.type_id, np.full(len(members), class_, np.uint32))
        return edges, found

    def many(self) -> bool:
        """Whether a large part of the asserted facts has properties that axioms are written with;
        false of facts that are no axioms at all."""
        stated = sum(len(self.keys(name, EXPLICIT)) for name in self.names.predicates.tolist())
        return stated * REASONING.axiom_share >= self._tables.total(EXPLICIT)

    def _apart(self, keys: U64) -> tuple[U64, U64]:
        """Pairs of ordinary classes with names, and all others."""
        one, other = (keys >> _HALF).astype(np.uint32), keys.astype(np.uint32)
        kinds = self._dictionary.kinds
        plain = (kinds(one) == IRI) & (kinds(other) == IRI) & (one != other)
        special = self.names.special
        plain &= ~(np.isin(one, special) | np.isin(other, special))
        return keys[plain], keys[~plain]

    def lead_to(self, edges: U64, classes: Iterable[bytes]) -> bool:
        """Whether the upper class of one of some pairs is among others, given as keys."""
        ids = np.sort(self._dictionary.lookup_keys(list(classes)))
        return bool(in_sorted(ids, sorted_distinct(low(edges))).any())

    def pairs(self, keys: U64) -> list[tuple[bytes, bytes]]:
        """Packed pairs as pairs of keys."""
        return self._as_keys(keys)

    def _as_keys(self, keys: U64) -> list[tuple[bytes, bytes]]:
        one, other = (keys >> _HALF).tolist(), (keys & _LOW).tolist()
        known = self.known
        for number in {*one, *other} - known.keys():
            known[number] = self._dictionary.key(number)
        return [(known[a], known[b]) for a, b in zip(one, other, strict=True)]

    def _containers(self) -> list[Any]:
        """rdfs12: the properties of containers, which are below rdfs:member."""
        names = self.names
        if not (names.member and names.sub_property):
            return []
        found = self._tables.relation(names.sub_property).by_second(names.member, INFERRED)
        return self._terms(found, names.sub_property, np.full(len(found), names.member, np.uint32))

    def _restrictions(self) -> U64:
        """Pairs of restrictions, one below the other, as vocabulary rules find them."""
        # Late: most stores have no regime.
        from triplestore.ontologies.translate.hierarchy import Hierarchy

        names = self.names
        if not (names.on_property and names.sub_class):
            return NO_KEYS
        nodes = sorted_distinct(self.keys(names.on_property, HOLDS) >> _HALF)
        if not len(nodes):
            return NO_KEYS
        blocks = self._tables.relation(names.sub_class).scan_keys(INFERRED)
        parts = [
            keys[np.isin(keys >> _HALF, nodes) & np.isin(keys & _LOW, nodes)] for keys in blocks
        ]
        return Hierarchy(np.concatenate([NO_KEYS, *parts])).reduced()

    def relations(self, name: int) -> list[Any]:
        """A relation of the default graph, of the graphs of ontologies and of the scope."""
        return [self._tables.relation(name), *(graph.relation(name) for graph in self._stated)]

    def keys(self, name: int, where: int) -> U64:
        """The pairs of a property in all these graphs, packed and in order."""
        found = [_all_keys(one, where) for one in self.relations(name)]
        found = [keys for keys in found if len(keys)]
        if len(found) < 2:
            return found[0] if found else NO_KEYS
        return sorted_distinct(np.concatenate(found))

    def described(self) -> U32:
        """The subjects of asserted axioms and declarations, in order: subjects of properties that
        axioms are written with, and members of classes such as owl:Class."""
        parts = [self.keys(one, EXPLICIT) >> _HALF for one in self.names.predicates.tolist()]
        found = [part.astype(np.uint32) for part in parts]
        types = self.relations(self.names.type_id) if self.names.type_id else []
        for class_ in self._dictionary.lookup_keys(_declaring()).tolist():
            found += [one.by_second(class_, EXPLICIT) for one in types if class_]
        return sorted_distinct(np.concatenate([NO_IDS, *found]))

    def states(self, triples: Iterable[Any]) -> bool:
        """Whether all of these triples are asserted, in the data or in the graph of an ontology."""
        for triple in triples:
            s, p, o = self._dictionary.lookup_keys([key_of(term) for term in triple]).tolist()
            key = np.array([s << 32 | o], dtype=np.uint64)
            if not (s and p and o and in_sorted(key, self._stated_pairs(p))[0]):
                return False
        return True

    def _stated_pairs(self, name: int) -> U64:
        """The asserted pairs of a property, in order; read once."""
        found = self._pairs.get(name)
        if found is None:
            found = self._pairs[name] = self.keys(name, EXPLICIT)
        return found

    def _terms(self, subjects: Any, name: int, objects: Any) -> list[Any]:
        if len(subjects) == 0:
            return []
        terms = self._dictionary.terms
        (predicate,) = terms(np.array([name], dtype=np.uint32))
        found: list[Any] = []
        for at in range(0, len(subjects), _PIECE):
            look()
            one = terms(np.ascontiguousarray(subjects[at : at + _PIECE], dtype=np.uint32))
            other = terms(np.ascontiguousarray(objects[at : at + _PIECE].astype(np.uint32)))
            found += [(s, predicate, o) for s, o in zip(one, other, strict=True)]
        return found

    def equals(self) -> U32:
        """What is the same as something else, without literals; in order."""
        if not self.names.same_as:
            return NO_IDS
        parts: list[U32] = []
        for keys in self._tables.relation(self.names.same_as).scan_keys():
            one, other = (keys >> _HALF).astype(np.uint32), keys.astype(np.uint32)
            proper = one != other
            parts += [one[proper], other[proper]]
        found = sorted_distinct(np.concatenate(parts)) if parts else NO_IDS
        kinds = self._dictionary.kinds(found)
        things: U32 = found[(kinds == IRI) | (kinds == BLANK)]
        return things

    def speaks_of(self, ids: U32) -> bool:
        """Whether one of these is in a triple that may be part of an axiom."""
        names = self.names
        parts = [names.predicates, names.classes, names.special]
        for name in names.predicates.tolist():
            keys = self.keys(name, HOLDS)
            parts += [(keys >> _HALF).astype(np.uint32), keys.astype(np.uint32)]
        for types in self.relations(names.type_id):
            parts += [types.by_second(class_) for class_ in names.classes.tolist()]
        return any(bool(np.isin(ids, part).any()) for part in parts)

    def with_members(self, ontology: Ontology) -> list[Any]:
        """The nodes of expressions that are asserted to have a member. Inferred members do not
        count, since they may follow from the rules that are made because of them."""
        nodes = [expression.node for expression in ontology.expressions]
        found = [node for node in nodes if node is not None]
        if not found or not self.names.type_id:
            return []
        ids = self._dictionary.lookup_keys([key_of(node) for node in found])
        types = self.relations(self.names.type_id)
        return [
            node
            for node, number in zip(found, ids.tolist(), strict=True)
            if number and any(len(one.by_second(number, EXPLICIT)) for one in types)
        ]


@cache
def _declaring() -> list[bytes]:
    """The keys of the classes whose members are parts of an ontology, not individuals."""
    found = {*names.DECLARATIONS, *names.SCHEMA_CLASSES, names.ONTOLOGY, names.AXIOM}
    found |= {names.ANNOTATION, names.NEGATIVE_ASSERTION}
    found -= {names.INDIVIDUAL}
    return sorted(key_of(one) for one in found)


_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def _all_keys(relation: Any, where: int) -> U64:
    """All rows of one relation, which come in order."""
    parts = list(relation.scan_keys(where))
    return parts[0] if len(parts) == 1 else np.concatenate([NO_KEYS, *parts])


@cache
def _keys_of_axioms() -> tuple[list[bytes], list[int]]:
    """The names that axioms are written with: single ones, predicates, classes, and special ones;
    and where each kind ends, except the last."""
    predicates = sorted(
        names.SCHEMA_PREDICATES | names.SWRL_PREDICATES, key=lambda node: node.value
    )
    classes = sorted(names.SCHEMA_CLASSES | names.SWRL_CLASSES, key=lambda node: node.value)
    single = [names.TYPE, names.SAME_AS, names.SUB_CLASS_OF, names.ON_PROPERTY]
    single += [names.SUB_PROPERTY_OF, NamedNode(RDFS_MEMBER)]
    groups = [[key_of(node) for node in nodes] for nodes in (single, predicates, classes)]
    groups.append([*(class_.key for class_ in DATATYPES | EVERYTHING), NOTHING.key])
    stops = np.cumsum([len(group) for group in groups])[:-1].tolist()
    return [key for group in groups for key in group], stops


class SchemaNames:
    """The ids of the names that axioms are written with; 0 for a name that the dictionary lacks.

    special  classes for which rules differ from those for classes of an ontology
    """

    def __init__(self, dictionary: Dictionary) -> None:
        keys, stops = _keys_of_axioms()
        first, *others = np.split(dictionary.lookup_keys(keys), stops)
        self.type_id, self.same_as, self.sub_class, self.on_property = first[:4].tolist()
        self.sub_property, self.member = first[4:].tolist()
        sets: list[U32] = [np.sort(found[found != 0]) for found in others]
        self.predicates, self.classes, self.special = sets
