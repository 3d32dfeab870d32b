"""The state of one update: what held, what is gone, and what is new.

Start reading at `Work`. The stored facts (I) never change. An update is the sets beside them, and
dropping the sets undoes it. Always true:

* `gone` are stored facts that no longer hold, `added` facts that hold and are not stored. A fact
  comes back by leaving `gone`. So the papers' D \\ A is `gone`, and A \\ D is `added`.
* `counts` are changes of C_nr, not counting assertion.
* `plus` are facts that are asserted now, `minus` those that are retracted.
* `rewritten` are facts that were retracted and asserted again, so that their rows are new, without
  their counters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from triplestore.closures.attached import Attached, Schemes, leap_key
from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.evaluation import Evaluation
from triplestore.evaluate.suspects import blame
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.steps.traces import Traces
from triplestore.maintenance.steps.without_stratum import stored_counts, stored_keys
from triplestore.relations import EXPLICIT, Tables
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.counts import CountChanges, RecursiveChanges
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, size_of
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import U8, U64, Bools, Columns, Keys, columns_of
from triplestore.relations.relation import BLOCK
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.written_out import Choice

Mark: TypeAlias = tuple[FactSet, FactSet, CountChanges, RecursiveChanges | None]
"""A copy of the sets and counters."""


class Work:
    """One update of a closed snapshot."""

    def __init__(
        self,
        compiled: Compiled,
        tables: Tables,
        terms: QueryTerms | None = None,
        budget: ReasoningBudget | None = None,
    ) -> None:
        self.compiled = compiled
        self.type_id = compiled.type_id
        self.levels = compiled.levels
        self.stored = Stored(tables, compiled.type_id)
        self.gone = FactSet()
        self.added = FactSet()
        self.plus = FactSet()
        self.minus = FactSet()
        self.rewritten = FactSet()
        self.counts = CountChanges(self.stored)
        self.recursive: RecursiveChanges | None = None
        """C_r, if it is kept."""
        self.budget = (budget or ReasoningBudget()).start()
        self.run = Evaluation(
            terms,
            compiled.type_id,
            self.budget.check,
            self._foresee,
            self.budget.room,
            self.budget.spend_terms,
            compiled,
        )
        self.budget.blame = partial(blame, self.run)
        self.terms = terms
        self.traces: Traces | None = None
        self.schemes: Schemes = tables.schemes
        self.choice = Choice("plain")
        """How closures are kept."""
        self.same_program = False
        """Whether the stored facts are closed under the same rules."""
        self.made_schemes: dict[int, Attached | None] = {}
        """Schemes that the update changes; None where there is no longer a scheme."""
        self.rounds = 0
        self._leap_keys: dict[int, list[int]] | None = None
        """Stratum -> keys of the schemes of its transitive rules."""

    # -- settings: made for each use, because they refer to the current sets -----------------------

    def old(self) -> Setting:
        """I."""
        return Setting(self.stored)

    def survivors(self) -> Setting:
        """I without the facts that are gone."""
        return Setting(self.stored, minus=[self.gone])

    def new(self) -> Setting:
        """The facts that hold now."""
        return Setting(self.stored, plus=[self.added], minus=[self.gone])

    def union(self) -> Setting:
        """The facts that held or hold."""
        return Setting(self.stored, plus=[self.added])

    # -- single facts ----------------------------------------------------------------------------

    def asserted(self, relation: RelationKey, keys: Keys, before: U8 | None = None) -> Bools:
        """Which facts are asserted after the update; `before` are their old statuses, if known."""
        if before is None:
            before = self.stored.of(relation).status(keys)
        found: Bools = before == EXPLICIT
        if relation in self.minus:
            found &= ~self.minus.contains(relation, keys)
        if relation in self.plus:
            found |= self.plus.contains(relation, keys)
        return found

    def supported(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which facts have C_nr > 0 now: they are asserted, or a nonrecursive rule derives them.
        For a module these are the external facts, which do not come from its own rules."""
        if len(keys) > BLOCK:  # looking facts up takes several times their memory
            blocks = range(0, len(keys), BLOCK)
            found = [self.supported(relation, keys[at : at + BLOCK]) for at in blocks]
            return np.concatenate(found)
        status, counts = self.stored.of(relation).look_up(keys)
        if self.counts.stored is None:  # everything is derived again: old counters do not matter
            counts = np.zeros_like(counts)
        derived: Bools = self.counts.current(relation, keys, counts) > 0
        return derived | self.asserted(relation, keys, status)

    def was_supported(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which facts had C_nr > 0 before the update."""
        status, counts = self.stored.of(relation).look_up(keys)
        found: Bools = (status == EXPLICIT) | (counts > 0)
        return found

    def all_supported(self, relation: int) -> U64:
        """The facts of a relation with C_nr > 0 before the update, sorted."""
        found: U64 = stored_keys(self.stored, relation, EXPLICIT)
        if self.counts.stored is None:
            return found
        return unite(found, stored_counts(self.stored, relation)[0])

    def held(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which facts are in I."""
        return self.stored.of(relation).contains_keys(keys)

    def holds(self, relation: RelationKey, keys: Keys, before: U8 | None = None) -> Bools:
        """Which facts hold now; `before` are their old statuses, if known."""
        found: Bools = self.held(relation, keys) if before is None else before != 0
        if relation in self.gone:
            found = found & ~self.gone.contains(relation, keys)
        if relation in self.added:
            found = found | self.added.contains(relation, keys)
        return found

    # -- undo ------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """The state that `restore` returns to."""
        recursive = None if self.recursive is None else self.recursive.copied()
        return self.gone.copied(), self.added.copied(), self.counts.copied(), recursive

    def restore(self, mark: Mark) -> None:
        """Undo all changes since a mark. Counted instances and measured times stay."""
        self.gone, self.added, self.counts, self.recursive = mark

    # -- schemes -----------------------------------------------------------------------------------

    def closed_relations(self) -> tuple[set[int], set[int]]:
        """The relations of which only edges are written: until now, and from now on."""
        after = {name for made in self.schemes_after().values() for name, _, _ in made.closures()}
        return set(self.stored.tables.closed), after

    def schemes_after(self) -> Schemes:
        """The schemes that belong to the tables after the update."""
        every = {**self.schemes, **self.made_schemes}
        if self.same_program and self._are_known(self.schemes):
            if not self.made_schemes:
                return self.schemes
            return {anchor: one for anchor, one in every.items() if one is not None}
        found: dict[int, Attached] = {}
        for owned in self.compiled.modules.values():
            made = every.get(owned.anchor)
            if made is not None and made.structure.relations == owned.group.relations:
                found[owned.anchor] = made
        for key, one in every.items():
            if key < 0 and one is not None:
                rules = self.compiled.recursion(self.levels.relation(leap_key(key)))
                if one.ground.rules == rules:
                    found[key] = one
        return found

    def _are_known(self, schemes: Schemes) -> bool:
        """Whether all schemes belong to the program."""
        return all(key < 0 or key in self.compiled.anchors for key in schemes)

    def forget_leaps(self, number: int) -> None:
        """Drop the closures of a stratum's transitive rules, unless it keeps them again."""
        if self._leap_keys is None:
            self._leap_keys = {}
            for key in self.schemes:
                if key < 0:
                    level = self.levels.relation(leap_key(key))
                    self._leap_keys.setdefault(level, []).append(key)
        for key in self._leap_keys.get(number, ()):
            self.made_schemes[key] = None

    def take_away(self, batch: Batch) -> None:
        """Mark facts of I that hold as gone."""
        for name, keys in batch.items():
            self.gone.add(name, keys)

    def bring(self, batch: Batch) -> Batch:
        """Add facts that may hold already; returns those that did not hold before."""
        fresh = self.coming(batch)
        self.admit(fresh)
        return fresh

    def coming(self, batch: Batch) -> Batch:
        """The facts that do not hold yet."""
        self.budget.check()
        return self.filter(batch, lambda name, keys: ~self.holds(name, keys))

    def _foresee(self, heads: Heads) -> None:
        """Raise if there are already too many intermediate conclusions. If a relation has more
        conclusions than facts, the difference is sure to be new, so no look-up is needed."""
        new = different = 0
        for name, (keys, _) in heads.summed.items():
            held = len(self.stored.of(name)) + len(self.added.get(name, ()))
            new += max(0, len(keys) - held)
            different += len(keys)
        self.budget.check(different)
        self.budget.foresee(new)

    def come_back(self, fresh: Batch) -> bool:
        """Whether some of these facts are gone."""
        return any(
            name in self.gone and self.gone.contains(name, fresh[name]).any() for name in fresh
        )

    def admit(self, fresh: Batch) -> None:
        """Add facts that did not hold."""
        new: Batch = {}
        for name, keys in fresh.items():
            back = self.gone.contains(name, keys) if name in self.gone else None
            if back is not None and back.any():
                self.gone.discard(name, keys[back])
                keys = keys[~back]
            self.added.add(name, keys)
            new[name] = keys
        self.spend(new)

    def spend(self, new: Batch) -> None:
        """Count facts that did not hold before the update, except asserted ones."""
        made = size_of(new)
        if self.budget.facts is not None:
            for name in new.keys() & self.plus.keys():
                made -= int(np.count_nonzero(self.plus.contains(name, new[name])))
        self.budget.spend(made)

    def filter(self, batch: Batch, test: Callable[[RelationKey, Keys], Bools]) -> Batch:
        """The facts of a batch that pass a test."""
        passed: Batch = {}
        for name, keys in batch.items():
            kept = keys[test(name, keys)]
            if len(kept):
                passed[name] = kept
        return passed


def united(*batches: Batch) -> Batch:
    """All facts of some batches."""
    filled = [batch for batch in batches if batch]
    if len(filled) < 2:
        return filled[0] if filled else {}
    made: Batch = dict(filled[0])
    for batch in filled[1:]:
        for name, keys in batch.items():
            made[name] = unite(made[name], keys) if name in made else keys
    return made


def distinct_batch(found: dict[RelationKey, Keys]) -> Batch:
    """Unsorted facts with repetitions, as a batch."""
    return {name: sorted_distinct(keys) for name, keys in found.items() if len(keys)}


def facts_of(relation: RelationKey, keys: Keys, type_id: int) -> Columns:
    """The columns of facts in the order of the tables: (s, o), or the columns of a tuple."""
    if isinstance(relation, tuple):
        return columns_of(keys, relation[1])
    first, second = columns_of(keys, 2)
    return (second, first) if relation == type_id else (first, second)
