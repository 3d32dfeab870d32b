"""The program that regimes make from the axioms in the data: by the store's code, on the driver.

Start reading at `Programs`. A small store in memory holds only the axioms. It gives the rules,
keeps ontology files as graphs, and infers from axioms alone, so the rounds on Spark need not. If
the closure on Spark finds more axioms (for example a class of properties below
owl:TransitiveProperty, or equal individuals), the program is made again from all known axioms
(`next`), as in the turns of a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program
from triplestore.errors import UsageError
from triplestore.loaders.spark.closure.axioms import Axioms, Triple
from triplestore.loaders.spark.closure.naming import TermLookup
from triplestore.maintenance.report import Report
from triplestore.reasoning.program.in_force import InForce, make_program
from triplestore.reasoning.program.settings import BY_RULES, Regimes
from triplestore.reasoning.program.stored_rules import rules_of
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.relations import INFERRED, REMOVED, ChangedRows, Changes, Layer, Tables
from triplestore.storage.metadata import (
    FILES,
    GRAPH_FILES,
    IMPORTS,
    PROGRAM,
    REGIMES,
    STRICT,
    TUNING,
)
from triplestore.store.store import Store
from triplestore.store.transaction import writer_of
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms.dictionary import Dictionary

KEPT = (PROGRAM, REGIMES, TUNING, STRICT, GRAPH_FILES, IMPORTS, FILES)
"""The named values of a store about reasoning."""


@data_class
class Given:
    """The inputs beside the triples of the default graph.

    kept   named values of a store (see `storage.metadata`): files, prefixes, rules in force
    quads  quads of the ontology graphs of the rules in force: keys of s, p, o, g
    """

    kept: Mapping[str, bytes] = field(default_factory=dict)
    quads: Sequence[tuple[bytes, bytes, bytes, bytes]] = ()

    @property
    def in_force(self) -> bool:
        """Whether there are rules in force."""
        return PROGRAM in self.kept or REGIMES in self.kept

    def put(self, writer: TransactionWriter) -> None:
        """Put them into a small store."""
        writer.keep(self.kept)
        if self.quads:
            keys = [key for quad in self.quads for key in quad]
            ids = writer.dictionary.encode_keys(keys).reshape(-1, 4)
            s, p, o, g = (np.ascontiguousarray(column) for column in ids.T)
            writer.change_rows(np.ones(len(s), np.bool_), s, p, o, g)


def reasoned(
    store: Store, given: Given, reason: Sequence[str], told: Mapping[str, Any]
) -> Report | None:
    """Infer in a small store: by its rules in force, then by the given ones."""
    report = None
    if given.in_force:
        with store.transaction() as transaction:
            writer = writer_of(transaction)
            writer.infer_anew()
            report = writer.report()
    if reason or not given.in_force or any(value is not None for value in told.values()):
        report = store.reason(*reason, **told)
    return report


class Programs:
    """The program in force, and the inputs it is made from.

    program  the rules
    grew     whether the last change only added rules, so all known facts still hold
    """

    def __init__(
        self,
        naming: TermLookup,
        axioms: Axioms,
        ill: Sequence[bytes],
        given: Given,
        reason: Sequence[str],
        **told: Any,
    ) -> None:
        self._naming, self._axioms, self.grew = naming, axioms, False
        self._store = Store()
        with self._store.transaction() as transaction:
            writer = writer_of(transaction)
            writer.dictionary.encode_keys(list(ill))
            rows = self._in(writer.dictionary, axioms.asserted)
            s, p, o = (np.ascontiguousarray(column) for column in rows.T)
            writer.change_rows(np.ones(len(s), np.bool_), s, p, o, np.zeros(len(s), np.uint32))
            given.put(writer)
        reasoned(self._store, given, reason, told)
        state = self._store._database.state  # made by the store
        self._state = state
        self._regimes = Regimes.of(state.meta)
        self._users = rules_of(state.meta) if PROGRAM in state.meta else None
        refuse_what_is_not_on_spark(self._regimes)
        made = rules_of_state(state)
        self._rules = made
        self.program = Program() if made is None else made.program

    @property
    def meta(self) -> dict[str, bytes]:
        """The named values of the store about reasoning."""
        return {name: self._state.meta[name] for name in KEPT if name in self._state.meta}

    @property
    def valued(self) -> list[bytes]:
        """The keys of the properties whose literals are compared by value."""
        rules = self._rules
        if not isinstance(rules, InForce) or rules.translation is None:
            return []
        return [one.key for one in rules.translation.valued]

    @property
    def looks_at_literals(self) -> bool:
        """Whether ill-typed literals are inconsistencies."""
        return bool(self._regimes) and self._regimes.look_at_literals

    def seeds(self) -> list[tuple[int, ...]]:
        """The facts inferred from axioms alone, as (arity, name, subject, object)."""
        if not _is_positive(self.program):
            return []
        rows = _triples(self._state.tables, INFERRED)
        return [(2, p, s, o) for s, p, o in self._out(rows)]

    def quads(self) -> list[tuple[int, int, int, int]]:
        """The quads of the graphs of ontologies, as ids."""
        state = self._state
        rows = quads_of_ontologies(state.tables, state.dictionary, state.meta)
        ids = np.unique(rows[:, 3]).tolist()
        graphs = {graph: state.dictionary.key(graph) for graph in ids}
        named = self._naming.ids_of(graphs.values())
        return [
            (s, p, o, named[graphs[graph]])
            for graph in graphs
            for s, p, o in self._out(rows[rows[:, 3] == graph, :3])
        ]

    def next(self, axioms: Axioms) -> bool:
        """Make the program again from all known axioms; returns whether it changed."""
        if axioms == self._axioms or not self._regimes:
            return False
        self._axioms = axioms
        dictionary = self._state.dictionary
        tables = self._state.tables
        before = {tuple(row) for row in _triples(tables, INFERRED).tolist()}
        now = {tuple(row) for row in self._in(dictionary, axioms.inferred).tolist()}
        tables = _with(tables, sorted(before - now), REMOVED, INFERRED)
        tables = _with(tables, sorted(now - before), INFERRED, 0)
        known = self._rules if isinstance(self._rules, InForce) else None
        made = make_program(self._regimes, self._users, tables, dictionary, known)
        same = made.program == self.program
        self.grew = not len(self.program - made.program) and _is_positive(made.program)
        self._rules, self.program = made, made.program
        return not same

    def _in(self, dictionary: Dictionary, triples: Iterable[Triple]) -> Any:
        """Triples in the ids of the small store."""
        listed = sorted(triples)
        rows = np.array(listed, np.int64).reshape(len(listed), 3)
        ids, places = np.unique(rows, return_inverse=True)
        keys = self._naming.keys_of(ids.tolist())
        own = dictionary.encode_keys([keys[number] for number in ids.tolist()])
        return own[places.reshape(rows.shape)] if len(ids) else np.zeros((0, 3), np.uint32)

    def _out(self, rows: Any) -> list[Triple]:
        """Triples of the small store in the ids of the data."""
        ids = np.unique(rows).tolist()
        keys = {number: self._state.dictionary.key(number) for number in ids}
        known = self._naming.ids_of(keys[number] for number in ids)
        return [(known[keys[s]], known[keys[p]], known[keys[o]]) for s, p, o in rows.tolist()]


def refuse_what_is_not_on_spark(regimes: Regimes) -> None:
    """Raise if equality by rewriting is in force."""
    if regimes.has_el:
        raise UsageError(
            "a closure on Spark has no owl-el: import without it, and call reason in the store"
        )
    if regimes.equality != BY_RULES:
        raise UsageError(
            "equality='rewrite' is not supported by closures on Spark, which store all facts: "
            "leave it out"
        )


def quads_of_ontologies(
    tables: Tables, dictionary: Dictionary, meta: Mapping[str, bytes]
) -> NDArray[np.uint32]:
    """The quads of the graphs of ontologies: s, p, o, g."""
    parts = [np.zeros((0, 4), np.uint32)]
    for graph in Regimes.of(meta).graphs:
        (number,) = dictionary.lookup_keys([graph]).tolist()
        if number:
            rows = _triples(tables.graph(number), INFERRED | 1)
            parts.append(np.c_[rows, np.full(len(rows), number, np.uint32)])
    return np.concatenate(parts)


def _is_positive(program: Program) -> bool:
    """Whether added facts never remove an inferred fact."""
    return not any(rule.nots or rule.aggregates for rule in program.rules)


def _triples(tables: Any, where: int) -> Any:
    """The rows (s, p, o) of the relations of a graph."""
    parts = [np.zeros((0, 3), np.uint32)]
    for name in tables.names().tolist():
        for keys in tables.relation(name).scan_keys(where):
            s, o = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
            parts.append(np.stack([s, np.full(len(keys), name, np.uint32), o], axis=1))
    return np.concatenate(parts)


def _with(tables: Tables, rows: list[Any], status: int, previous: int) -> Tables:
    if not rows:
        return tables
    s, p, o = np.array(rows, np.uint32).T
    order = np.lexsort((o, s, p))
    changed = ChangedRows.of((p[order], s[order], o[order]), status, previous)
    return tables.push(Layer.build(Changes(facts=changed)))
