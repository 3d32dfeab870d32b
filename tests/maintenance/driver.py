"""A small store for tests: the engine on its own tables, with facts as tuples of term keys.

`Driver` applies a step of a schedule with a strategy, writes the rows, and can say what holds, how
it is asserted and counted, in the form of the oracle (`naive`), so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tests.maintenance.naive import Fact
from triplestore.datalog.program import TYPE, Constant, Program, Rule, TripleAtom
from triplestore.datalog.stratify import Method
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.steps.traces import Traces
from triplestore.maintenance.update import Closure, update
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables
from triplestore.relations.facts.counts import RecursiveCounts
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.packed_keys import U32, columns_of, key_of, pack
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.written_out import Choice
from triplestore.rules.subclass_pairs import SubClasses
from triplestore.rules.subclass_rules import copied_class
from triplestore.terms import Dictionary


class Driver:
    """Facts in tables, closed under a program."""

    def __init__(
        self,
        strata: Method = "levels",
        *,
        hierarchies: bool = True,
        modules: bool = False,
        beside: bool = False,
        pairs: bool = False,
    ) -> None:
        self.dictionary = Dictionary()
        self.terms = QueryTerms(self.dictionary)
        self.tables = Tables()
        self.strata = strata
        self.hierarchies = hierarchies
        self.modules = modules
        self.beside = beside  # whether sub-class rules are given beside the program
        self.pairs = pairs  # whether such rules are taken out of the program, if they are many
        self.choice = Choice("plain")
        self.traces: Traces | None = None
        self.compiled: Compiled | None = None
        self.recursive: RecursiveCounts | None = None
        self.type_id = int(self.ids([TYPE.key])[0])

    def ids(self, keys: Sequence[bytes]) -> U32:
        """The ids of term keys."""
        return self.dictionary.encode_keys(list(keys))

    def batch(self, facts: Iterable[Fact]) -> Batch:
        """Facts as the engine keeps them."""
        rows: dict[RelationKey, list[list[int]]] = {}
        for fact in facts:
            kind, *keys = fact
            ids = self.ids(keys).tolist()
            if kind == "r":
                rows.setdefault((ids[0], len(ids) - 1), []).append(ids[1:])
            elif ids[1] == self.type_id:
                rows.setdefault(ids[1], []).append([ids[2], ids[0]])
            else:
                rows.setdefault(ids[1], []).append([ids[0], ids[2]])
        found: Batch = {}
        for name, listed in rows.items():
            columns = [np.array(column, dtype=np.uint32) for column in zip(*listed, strict=True)]
            found[name] = np.unique(key_of(columns))
        return found

    def step(
        self,
        added: Iterable[Fact] = (),
        deleted: Iterable[Fact] = (),
        program: Program | None = None,
        strategy: Strategy | None = None,
    ) -> Closure:
        """Change facts and rules, and close."""
        previous = self.compiled
        if program is not None or self.compiled is None:
            rules, beside = program or Program(), None
            if self.beside:
                rules, beside = self.apart(rules)
            self.compiled = Compiled(
                rules,
                self.ids,
                self.strata,
                hierarchies=self.hierarchies,
                modules=self.modules,
                beside=beside,
                pairs=self.pairs,
            )
        self.terms = QueryTerms(self.dictionary)  # as a store does: it knows the terms of its time
        plus, minus = self.batch(added), self.batch(deleted)
        minus = _minus(minus, plus)
        asserted = {
            name: self._status(name, keys) == EXPLICIT
            for batch in (plus, minus)
            for name, keys in batch.items()
            if batch is plus
        }
        plus = {n: k[~asserted[n]] for n, k in plus.items() if not asserted[n].all()}
        minus = {n: k[self._status(n, k) == EXPLICIT] for n, k in minus.items()}
        minus = {n: k for n, k in minus.items() if len(k)}
        after = self._with(self._with(self.tables, plus, EXPLICIT), minus, 0)
        assert strategy is not None
        closure = update(
            self.compiled,
            self.tables,
            after,
            plus,
            minus,
            strategy,
            previous=previous,
            terms=self.terms,
            recursive=self.recursive,
            traces=self.traces,
            choice=self.choice,
        )
        changes = closure.work.recursive
        if changes is None or not changes.keep():
            self.recursive = None
        after = after.push(Layer.build(closure.changes))
        self.tables = after.with_schemes(closure.work.schemes_after())
        return closure

    def apart(self, program: Program) -> tuple[Program, SubClasses]:
        """A program without its sub-class rules, and these."""
        known: dict[int, Rule] = {}
        others: list[Rule] = []
        for rule in program.rules:
            head, item = rule.heads[0], rule.body[0] if rule.body else None
            names = [one.o for one in (item, head) if isinstance(one, TripleAtom)]
            if copied_class(rule) and len(rule.heads) == 1 and names[0] != names[1]:
                one, other = self.ids([name.key for name in names if isinstance(name, Constant)])
                known[(int(one) << 32) + int(other)] = rule
            else:
                others.append(rule)
        keys = np.array(sorted(known), dtype=np.uint64)
        made = Program(others, program.constraints, program.prefixes)
        return made, SubClasses(keys, lambda one, other: known[(one << 32) + other])

    def _status(self, name: RelationKey, keys: np.ndarray) -> np.ndarray:
        if isinstance(name, tuple):
            return self.tables.tuples(*name).status_of(columns_of(keys, name[1]))
        first, second = columns_of(keys, 2)
        s, o = (second, first) if name == self.type_id else (first, second)
        return self.tables.stored_relation(name).status_of_keys(pack(s, o))

    def _with(self, tables: Tables, batch: Batch, status: int) -> Tables:
        for name, keys in batch.items():
            previous = self._status(name, keys)
            if isinstance(name, tuple):
                rows = ChangedRows.of(columns_of(keys, name[1]), status, previous)
                tables = tables.push(Layer.build(Changes(tuples={name: rows})))
                continue
            first, second = columns_of(keys, 2)
            s, o = (second, first) if name == self.type_id else (first, second)
            p = np.full(len(keys), name, dtype=np.uint32)
            rows = ChangedRows.of((p, s, o), status, previous)
            tables = tables.push(Layer.build(Changes(facts=rows)))
        return tables

    def facts(self) -> dict[Fact, tuple[int, int]]:
        """What holds: fact -> (status, count), helper relations left out."""
        assert self.compiled is not None
        found: dict[Fact, tuple[int, int]] = {}
        key = self.dictionary.key
        for name in self.tables.names().tolist():
            relation = self.tables.relation(name)
            for s, o in relation.scan():
                status, count = relation.status_of((s, o)), relation.count_of((s, o))
                for row in zip(
                    s.tolist(), o.tolist(), status.tolist(), count.tolist(), strict=True
                ):
                    found["t", key(row[0]), key(name), key(row[1])] = (row[2], row[3])
        for tuple_name in self.tables.tuple_names():
            if tuple_name in self.compiled.helpers:
                continue
            rows = self.tables.tuples(*tuple_name)
            for columns in rows.scan():
                status, count = rows.status_of(columns), rows.count_of(columns)
                for i in range(len(status)):
                    terms = (key(int(column[i])) for column in columns)
                    fact = ("r", key(tuple_name[0]), *terms)
                    found[fact] = (int(status[i]), int(count[i]))
        return found


def _minus(batch: Batch, other: Batch) -> Batch:
    made = {n: np.setdiff1d(k, other[n]) if n in other else k for n, k in batch.items()}
    return {n: k for n, k in made.items() if len(k)}


StrategyMaker = Callable[[], Strategy]
