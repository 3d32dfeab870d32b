"""Asserted axioms as rows of a relation, which the rules of `owl-el` read.

Start reading at `axiom_step`. The regime concludes rdfs:subClassOf, owl:equivalentClass and types.
If its rules read the same properties, each of its conclusions would be a reason for itself, and
everything would be one recursive stratum. So each asserted fact that may be part of an axiom is
kept once more, as a row (property, subject, object) of an internal relation. Rules cannot change
that, so the normal form of the axioms is below everything else.

Asserted are facts of the default graph, of the graphs of the scope and of those of ontologies. The
cost of a commit is proportional to what it changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.datalog.program import TYPE
from triplestore.ontologies.translate.owl_el import SAID, said
from triplestore.reasoning.asserted_changes import touched_facts
from triplestore.reasoning.program.graph_scope import ScopeStep
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.relations import EXPLICIT, ChangedRows, Changes
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import (
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Keys,
    columns_of,
    high,
    in_sorted,
    key_of,
    low,
)
from triplestore.relations.views.plain import PlainRelation
from triplestore.terms.term_keys import IRI

if TYPE_CHECKING:
    from triplestore.reasoning.outcome import WriteStep
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

ARITY = 3
_NO_ROWS = key_of((NO_IDS,) * ARITY)


def axiom_step(
    closed: Tables,
    tables: Tables,
    since: Sequence[WriteStep],
    before: Regimes,
    now: Regimes,
    dictionary: Dictionary,
) -> ScopeStep | None:
    """What the relation has to become; None if it is right.

    closed  tables in which it is right for the regimes `before`
    tables  those to which these steps lead from there, with the facts of the scope
    """
    if not (before.has_el or now.has_el):
        return None
    words = _Words(dictionary)
    name = words.relation
    had = closed.tuples(name, ARITY)
    if not now.has_el:
        plus, minus = _NO_ROWS, had.keys()
    else:
        asserted = _Asserted(tables, dictionary, now, words)
        same = before.has_el and (now.scope, now.graphs) == (before.scope, before.graphs)
        touched = asserted.touched(since) if same else None
        if touched is None:
            wanted, known = asserted.all_rows(), had.keys()
            plus, minus = wanted[~in_sorted(wanted, known)], known[~in_sorted(known, wanted)]
        else:
            holds = asserted.hold(touched)
            known_rows = had.status_of(columns_of(touched, ARITY)) != 0
            plus, minus = touched[holds & ~known_rows], touched[known_rows & ~holds]
    if not (len(plus) or len(minus)):
        return None
    parts = [_changed(plus, EXPLICIT, 0), _changed(minus, 0, EXPLICIT)]
    changes = Changes(tuples={(name, ARITY): ChangedRows.concat(parts)})
    return ScopeStep((name, ARITY), changes, plus, minus)


@cache
def _keys() -> tuple[list[bytes], list[bytes]]:
    properties, classes = said()
    return _sorted_keys(properties), _sorted_keys(classes)


def _sorted_keys(names: Iterable[str]) -> list[bytes]:
    return [b"\x01" + name.encode() for name in sorted(names)]


class _Words:
    """Ids of the relation, and of the properties and classes of which it has facts, in order."""

    def __init__(self, dictionary: Dictionary) -> None:
        properties, classes = _keys()
        self.relation, self.type_id = dictionary.encode_keys([SAID.key, TYPE.key]).tolist()
        found = dictionary.lookup_keys(properties)
        self.properties: U32 = np.sort(found[found != 0])
        found = dictionary.lookup_keys(classes)
        self.classes: U32 = np.sort(found[found != 0])


class _Asserted:
    """What is asserted, and may be part of an axiom."""

    def __init__(
        self, tables: Tables, dictionary: Dictionary, regimes: Regimes, words: _Words
    ) -> None:
        self._words = words
        self._reader = SchemaReader(dictionary, tables, regimes)
        self._elsewhere = len(self._reader.relations(words.type_id)) > 1

    def touched(self, steps: Sequence[WriteStep]) -> Keys | None:
        """The rows that steps may have changed; None if that is not known from the steps."""
        if self._elsewhere and any(_has_quads(step) for step in steps):
            return None
        return self._rows(touched_facts(steps).items())

    def all_rows(self) -> Keys:
        """All rows."""
        words = self._words
        pairs = [(name, self._reader.keys(name, EXPLICIT)) for name in words.properties.tolist()]
        members = [
            one.by_second(class_, EXPLICIT).astype(np.uint64) << np.uint64(32) | np.uint64(class_)
            for class_ in words.classes.tolist()
            for one in self._reader.relations(words.type_id)
        ]
        pairs.append((words.type_id, sorted_distinct(np.concatenate([NO_KEYS, *members]))))
        return self._rows(pairs)

    def _rows(self, pairs: Iterable[tuple[int, U64]]) -> Keys:
        """Sorted rows of those of some facts that the relation has."""
        words, parts = self._words, [_NO_ROWS]
        known = set(words.properties.tolist())
        for name, keys in pairs:
            if name == words.type_id:
                keys = keys[in_sorted(low(keys), words.classes)]
            elif name not in known:
                continue
            if len(keys):
                parts.append(key_of((np.full(len(keys), name, np.uint32), high(keys), low(keys))))
        rows: Keys = np.concatenate(parts)
        rows.sort()
        return rows

    def hold(self, rows: Keys) -> Bools:
        """Which of some rows are asserted."""
        names, subjects, objects = columns_of(rows, ARITY)
        found: Bools = np.zeros(len(rows), dtype=np.bool_)
        for name in sorted_distinct(names).tolist():
            mine = names == name
            keys = key_of((subjects[mine], objects[mine]))
            holds: Bools = np.zeros(len(keys), dtype=np.bool_)
            for one in self._reader.relations(name):
                holds |= _are_explicit(one, keys)
            found[mine] = holds
        return found


def _are_explicit(relation: Any, keys: U64) -> Bools:
    """Whether a relation of the default graph, of an ontology or of the scope asserts pairs."""
    if isinstance(relation, PlainRelation):
        found: Bools = (relation.status_of_keys(keys) & np.uint8(EXPLICIT)) != 0
        return found
    parts = list(relation.scan_keys(EXPLICIT))
    return in_sorted(keys, np.sort(np.concatenate([NO_KEYS, *parts])))


def _has_quads(step: WriteStep) -> bool:
    if isinstance(step, Changes):
        return len(step.quads) > 0
    return len(step.quads.forward.names) > 0


def _changed(rows: Keys, status: int, previous: int) -> ChangedRows:
    return ChangedRows.of(columns_of(rows, ARITY), status, previous)


# -- properties with assertions -------------------------------------------------------------------


def roles_of(tables: Tables, dictionary: Dictionary) -> frozenset[str]:
    """The properties of the ontology with which the tables assert or conclude something."""
    words = _Words(dictionary)
    names = tables.names()
    names = names[dictionary.kinds(names) == IRI]
    names = names[~in_sorted(names, words.properties) & (names != words.type_id)]
    if not len(names):
        return frozenset()
    mentioned = mentions(tables, dictionary)
    found = names[in_sorted(names, mentioned)]
    return frozenset(dictionary.key(one)[1:].decode() for one in found.tolist())


def mentions(tables: Tables, dictionary: Dictionary) -> U32:
    """The terms that stand where axioms have properties, in order."""
    parts: list[U32] = [NO_IDS]
    names = dictionary.lookup_keys([key for key, _ in _MENTIONING]).tolist()
    for name, (_, places) in zip(names, _MENTIONING, strict=True):
        if name:
            relation = tables.relation(name)
            parts += [relation.distinct(place) for place in places]
    return sorted_distinct(np.concatenate(parts))


def _mentioning() -> list[tuple[bytes, tuple[int, ...]]]:
    owl, rdfs = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
    found = {
        owl + "onProperty": (1,),
        owl + "assertionProperty": (1,),
        owl + "propertyChainAxiom": (0,),
        owl + "equivalentProperty": (0, 1),
        rdfs + "subPropertyOf": (0, 1),
        rdfs + "domain": (0,),
        rdfs + "range": (0,),
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#first": (1,),
    }
    return [(b"\x01" + name.encode(), places) for name, places in found.items()]


_MENTIONING = _mentioning()
