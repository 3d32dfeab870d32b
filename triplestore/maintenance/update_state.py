"""The state of one update: what was, what is gone, what is new.

Start reading at `Work`. The stored facts (I) are never touched: an update is the sets beside them,
and dropping them undoes it. What is always true:

* `gone` are stored facts that do not hold any more, `added` facts that hold and are not stored; a
  fact comes back by leaving `gone`. So the papers' D \\ A is `gone`, A \\ D is `added`.
* `counts` are changes of C_nr without what is stated; `plus` and `minus` what is stated from now
  on, and not any more; `rewritten` facts whose rows were written anew though nothing is new (taken
  back and stated again), without their counters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from triplestore.closures.attached import Attached, Schemes, leap_key
from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.evaluation import Evaluation
from triplestore.evaluate.suspects import Tally
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.steps.traces import Traces
from triplestore.relations import EXPLICIT, Tables
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import Batch, FactSet, RelationKey, size_of
from triplestore.relations.facts.recursive_counts import RecursiveChanges
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import U8, Bools, Columns, Keys, columns_of
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.written_out import Choice

Mark: TypeAlias = tuple[FactSet, FactSet, CountChanges, RecursiveChanges | None]
"""Sets and counters as they were."""


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
        self.tally = Tally(compiled)
        self.budget.blame = self.tally.blame
        self.run = Evaluation(
            terms,
            compiled.type_id,
            self.budget.check,
            self._foresee,
            self.budget.room,
            self.budget.spend_terms,
            self.tally,
        )
        self.terms = terms
        self.traces: Traces | None = None
        self.schemes: Schemes = tables.schemes
        self.choice = Choice("plain")
        """How closures are kept."""
        self.same_program = False
        """Whether the rules are those under which the stored facts are closed."""
        self.made_schemes: dict[int, Attached | None] = {}
        """The schemes after the update where they are others; None where there is none now."""
        self.rounds = 0

    # -- settings: made anew for each use, since they hold on to the sets that exist -------------

    def old(self) -> Setting:
        """I."""
        return Setting(self.stored)

    def survivors(self) -> Setting:
        """I without what is gone."""
        return Setting(self.stored, minus=[self.gone])

    def new(self) -> Setting:
        """What holds now."""
        return Setting(self.stored, plus=[self.added], minus=[self.gone])

    def union(self) -> Setting:
        """What held or holds."""
        return Setting(self.stored, plus=[self.added])

    # -- single facts ----------------------------------------------------------------------------

    def stated(self, relation: RelationKey, keys: Keys, before: U8 | None = None) -> Bools:
        """Which facts are stated after the update; `before` are their statuses, if known."""
        if before is None:
            before = self.stored.of(relation).status(keys)
        found: Bools = before == EXPLICIT
        if relation in self.minus:
            found &= ~self.minus.contains(relation, keys)
        if relation in self.plus:
            found |= self.plus.contains(relation, keys)
        return found

    def supported(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which facts have C_nr > 0: they are stated, or a nonrecursive rule derives them."""
        status, counts = self.stored.of(relation).look_up(keys)
        found: Bools = self.counts.current(relation, keys, counts) > 0
        return found | self.stated(relation, keys, status)

    def held(self, relation: RelationKey, keys: Keys) -> Bools:
        """Which facts are in I."""
        return self.stored.of(relation).contains_keys(keys)

    def holds(self, relation: RelationKey, keys: Keys, before: U8 | None = None) -> Bools:
        """Which facts hold now; `before` are their statuses, if known."""
        found: Bools = self.held(relation, keys) if before is None else before != 0
        if relation in self.gone:
            found = found & ~self.gone.contains(relation, keys)
        if relation in self.added:
            found = found | self.added.contains(relation, keys)
        return found

    # -- undoing -----------------------------------------------------------------------

    def mark(self) -> Mark:
        """What `restore` needs to return to this state."""
        recursive = None if self.recursive is None else self.recursive.copied()
        return self.gone.copied(), self.added.copied(), self.counts.copied(), recursive

    def restore(self, mark: Mark) -> None:
        """Undo all changes since a mark; counts of instances and measured times stay."""
        self.gone, self.added, self.counts, self.recursive = mark

    # -- schemes -----------------------------------------------------------------------------------

    def closed_relations(self) -> tuple[set[int], set[int]]:
        """The relations of which only edges are written: until now, and from now on."""
        after = {name for made in self.schemes_after().values() for name, _, _ in made.closures()}
        return set(self.stored.tables.closed), after

    def schemes_after(self) -> Schemes:
        """The schemes that belong to the tables that the update leads to."""
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
        """Whether all of them belong to the program."""
        return all(key < 0 or key in self.compiled.anchors for key in schemes)

    def forget_leaps(self, number: int) -> None:
        """What is known of a stratum's transitive rules, unless it is found again, ends here."""
        for key in self.schemes:
            if key < 0 and self.levels.relation(leap_key(key)) == number:
                self.made_schemes[key] = None

    def take_away(self, batch: Batch) -> None:
        """Facts of I that hold are gone now."""
        for name, keys in batch.items():
            self.gone.add(name, keys)

    def bring(self, batch: Batch) -> Batch:
        """Facts that may hold already; those that did not hold, and do now, are returned."""
        fresh = self.coming(batch)
        self.admit(fresh)
        return fresh

    def coming(self, batch: Batch) -> Batch:
        """Those of some facts that do not hold yet."""
        self.budget.check()
        return self.filter(batch, lambda name, keys: ~self.holds(name, keys))

    def _foresee(self, heads: Heads) -> None:
        """Raise where conclusions on the way are too many already: those of a relation that are
        more than its facts are sure to be new, so nothing need be looked up."""
        new = different = 0
        for name, (keys, _) in heads.summed.items():
            held = len(self.stored.of(name)) + len(self.added.get(name, ()))
            new += max(0, len(keys) - held)
            different += len(keys)
        self.budget.check(different)
        self.budget.foresee(new)

    def come_back(self, fresh: Batch) -> bool:
        """Whether some of the facts that come are gone."""
        return any(
            name in self.gone and self.gone.contains(name, fresh[name]).any() for name in fresh
        )

    def admit(self, fresh: Batch) -> None:
        """Facts that did not hold do from now on."""
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
        """Count facts that did not hold before the update; those that are stated are not made."""
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
    """Facts in any order and with repetitions, as a batch."""
    return {name: sorted_distinct(keys) for name, keys in found.items() if len(keys)}


def facts_of(relation: RelationKey, keys: Keys, type_id: int) -> Columns:
    """The columns of facts as tables have them: (s, o), or the columns of a tuple."""
    if isinstance(relation, tuple):
        return columns_of(keys, relation[1])
    first, second = columns_of(keys, 2)
    return (second, first) if relation == type_id else (first, second)
