"""The closure under equality by rewriting: one update of a store.

Start reading at `Rewriting.run`, which a `ClosureRun` calls instead of its own update. The engine
gets the asserted facts as facts of representatives. Equalities that it finds merge classes, which
changes these facts, until no new equality is found. Then the rows that are stored are separated
from those that only the tables of representatives have.

What is always true: the engine's tables are `representatives` of the stored rows and the classes,
before and after; and classes in force follow from asserted facts (see `equality.classes`).

Why a run ends: terms that a turn leaves out of all classes, though they are the same as something,
are barred until the run is over (a literal may be the same as a member only as long as the class is
merged, so the reason is gone once the class is taken apart). There are finitely many terms, so the
barred set grows finitely often. Between two growths classes only become coarser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.reasoning.asserted_changes import touched_facts
from triplestore.reasoning.equality.classes import (
    asserted_equalities,
    equality_sources,
    keep_connected,
    merge_classes,
)
from triplestore.reasoning.equality.inferred_counts import hidden_beyond, inferred_change
from triplestore.reasoning.equality.negation import refuse_cycles
from triplestore.reasoning.equality.not_rewritten import SAME_AS_KEY, NotRewritten
from triplestore.reasoning.equality.scoped_rows import (
    NO_ROWS,
    AssertedInScope,
    ScopeChange,
    change_of_scope,
    scope_name,
    with_scope_facts,
)
from triplestore.reasoning.equality.stored_rows import AssertedRepresentatives, stored_changes
from triplestore.reasoning.outcome import InferredCounts, WriteStep
from triplestore.reasoning.thresholds import REASONING
from triplestore.reasoning.visible import hidden_more
from triplestore.relations import Tables
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, U32, Bools, Keys, high, low, pack
from triplestore.relations.views.equality import (
    NO_CLASSES,
    TOLD,
    Classes,
    KeysByName,
    equality_of,
    reasoned,
    representatives,
    with_equality,
)

if TYPE_CHECKING:
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.reasoning.asserted_changes import AssertedChanges
    from triplestore.reasoning.closure_run import ClosureRun, ClosureState
    from triplestore.reasoning.program.graph_scope import ScopeStep
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations.facts.fact_sets import Batch
    from triplestore.rules.compiled_program import Compiled

RunUpdate = Callable[[Tables, Tables, "Batch", "Batch", "Compiled | None"], "Closure"]
"""The engine's update: closed tables, asserted ones, what was asserted and removed, and the rules
under which they were closed."""


class Rewritten(NamedTuple):
    """The result of an update.

    steps     to the new closure, after the asserted changes
    tables    the new closure
    closures  what the engine did, one update after the other
    hidden    how many more facts hold that are not RDF triples
    inferred  how many facts are newly inferred, or no longer; None if there are no
              representatives, so that the engine's counts are right
    reread    whether equalities changed between terms that are not rewritten: these need rules
    """

    steps: list[WriteStep]
    tables: Tables
    closures: list[Closure]
    hidden: int
    inferred: InferredCounts | None = None
    reread: bool = False


class Rewriting:
    """One update of the closure of a transaction."""

    def __init__(
        self,
        run: ClosureRun,
        state: ClosureState,
        rules: Rules,
        compiled: Compiled,
        under: Compiled | None,
    ) -> None:
        self._dictionary = run.dictionary
        self._closed = state.tables
        self._compiled = compiled
        self._under = under
        self._rules, self._old_rules = rules, state.closed_under
        self._type_id = compiled.type_id
        self._same_as = int(self._dictionary.encode_keys([SAME_AS_KEY])[0])
        self._told = scope_name(self._dictionary)
        found = equality_of(state.tables)
        self._before = NO_CLASSES if found is None else found.classes
        regimes = run.settings.regimes
        self._named = NotRewritten(self._dictionary, rules, regimes, run.committed_terms)
        self._wanted = regimes.rewrites and self._named.obstacle is None
        self._hides = state.hidden > 0
        self._check = run.budget.check
        self._barred = NO_IDS

    def run(
        self, stated: AssertedChanges, update: RunUpdate, scoped: ScopeStep | None = None
    ) -> Rewritten:
        """Bring the closure up to date with what was asserted since.

        scoped  the changes of what graphs of the scope assert; they are part of `stated`
        """
        stored = stated.tables.with_schemes({})
        plus, minus = self._pairs(stated.plus), self._pairs(stated.minus)
        rows = (NO_ROWS, NO_ROWS) if scoped is None else (scoped.plus, scoped.minus)
        closed, previous, under = reasoned(self._closed), self._before, self._under
        told = [
            with_scope_facts(some, few, self._type_id)
            for some, few in ((plus, rows[0]), (minus, rows[1]))
        ]
        classes = self._begin_with(stored, closed, *told)
        steps: list[WriteStep] = []
        closures: list[Closure] = []
        hidden = 0
        while True:
            self._check()
            begin = len(steps)
            if not closures and not len(previous) and not len(classes):
                now, come, gone = stated.tables, stated.plus, stated.minus
            else:
                stating = AssertedRepresentatives(stored, previous, classes, self._same_as)
                change = stating.change(closed, plus, minus)
                now = closed.push(change.layer)
                steps.append(change.layer)
                come, gone = self._batch(change.plus), self._batch(change.minus)
                if self._told:
                    said = self._said(stored, closed, (previous, classes), rows)
                    now = now.push(said.layer)
                    steps.append(said.layer)
                    come |= {said.name: said.plus} if len(said.plus) else {}
                    gone |= {said.name: said.minus} if len(said.minus) else {}
            closure = update(closed, now, come, gone, under)
            steps.append(closure.step)
            closures.append(closure)
            now = now.push(closure.layer) if len(closure) else now
            closed = now.with_schemes(closure.work.schemes_after())
            hidden += hidden_more(self._dictionary, closure, closed)
            previous, plus, minus, under = classes, {}, {}, self._compiled
            rows = (NO_ROWS, NO_ROWS)
            self._hides |= hidden != 0
            classes = self._merged(closed, classes, steps[begin:])
            if classes == previous:
                made = self._done(stated, closed, classes, steps, closures)
                return made._replace(hidden=made.hidden + hidden)

    def _said(
        self,
        stored: Tables,
        closed: Tables,
        classes: tuple[Classes, Classes],
        rows: tuple[Keys, Keys],
    ) -> ScopeChange:
        return change_of_scope(self._told, self._same_as, stored, closed, classes, *rows)

    def _done(
        self,
        stated: AssertedChanges,
        closed: Tables,
        classes: Classes,
        steps: Sequence[WriteStep],
        closures: list[Closure],
    ) -> Rewritten:
        if len(classes):
            refuse_cycles(self._rules)
        if not len(self._before) and not len(classes) and len(closures) == 1:
            return Rewritten([step for step in steps if _rows(step)], closed, closures, 0)
        stored = stated.tables.with_schemes({})
        told = self._pairs(stated.plus), self._pairs(stated.minus)
        own = {(self._told, TOLD)}  # what graphs state is stored in its own terms
        kept = [step for step in steps if own.isdisjoint(step.tuples)]
        change = stored_changes(
            stored, closed, kept, told, self._before, classes, self._same_as, self._dictionary
        )
        self._check()
        after = stored.push(change.layer) if change.layer.rows else stored
        was = equality_of(self._closed)
        names = None
        if was is not None and was.classes == classes:
            names = {*was.names, *touched_facts(steps), *closed.closed}
        made = closed
        if names is None or not _is_on(closed, after):
            made = representatives(after, classes, self._same_as, self._told)
            made = made.with_schemes(closed.schemes)
        self._check()
        seen = with_equality(after, made, classes, self._same_as, names, self._told)
        hidden = 0
        if self._hides:  # now, or before
            now = equality_of(seen)
            hidden = hidden_beyond(now, self._dictionary) - hidden_beyond(was, self._dictionary)
        written = [change.step] if change.layer.rows else []
        inferred = inferred_change(self._closed, seen, steps, told, self._check)
        reread = self._are_apart(reasoned(self._closed)) != self._are_apart(closed)
        return Rewritten(written, seen, closures, hidden, inferred, reread)

    def _are_apart(self, tables: Tables) -> bytes:
        """The terms that are equal to others and are not rewritten."""
        pairs = tables.relation(self._same_as).keys()
        pairs = pairs[high(pairs) != low(pairs)]
        return np.unique(high(pairs)).tobytes() if len(pairs) else b""

    # -- classes --------------------------------------------------------------------------------

    def _begin_with(
        self, stored: Tables, closed: Tables, plus: KeysByName, minus: KeysByName
    ) -> Classes:
        """Classes to begin with: each follows from the facts that are asserted now."""
        if not self._wanted:
            return NO_CLASSES
        classes, pairs = self._before, plus.get(self._same_as, NO_KEYS)
        many = sum(map(len, plus.values())) > REASONING.equality_first
        same = self._under is self._compiled and not many
        if same and not len(pairs) and not (len(classes) and self._may_break(minus)):
            return classes
        if self._under is None:
            pairs, closed = self._certain(stored), stored
        elif many:
            pairs = self._certain(stored)  # n values of a functional property are n² for a rule
        if self._under is not None and len(classes) and self._may_break(minus):
            classes = keep_connected(classes, self._certain(stored), self._dictionary, self._check)
        pairs = pairs[high(pairs) != low(pairs)]
        if not len(classes) and not len(pairs):
            return classes
        return self._joined(classes, pairs, closed)

    def _certain(self, stored: Tables) -> np.ndarray:
        told = AssertedInScope(stored, self._dictionary)
        return asserted_equalities(told, self._dictionary, self._named.predicates, self._check)

    def _may_break(self, minus: KeysByName) -> bool:
        """Whether an equality may be lost because some facts, or rules, were removed."""
        assert self._under is not None
        assert self._old_rules is not None
        if self._under is not self._compiled:
            here = self._compiled.signatures
            if any(key not in here for key in self._under.signatures):
                return True
        found = equality_sources(self._old_rules)
        return bool(minus) and found.any_of(minus, self._dictionary, self._type_id)

    def _merged(self, closed: Tables, classes: Classes, steps: Sequence[WriteStep]) -> Classes:
        """The classes that follow from these tables of representatives, after the last steps."""
        if not self._wanted:
            return NO_CLASSES
        pairs = closed.relation(self._same_as).keys()
        pairs = pairs[high(pairs) != low(pairs)]
        if not len(pairs) and (not len(classes) or self._leave_alone(classes, steps)):
            return classes
        found = self._joined(classes, pairs, closed)
        equals = np.unique(np.concatenate((classes.members, high(pairs), low(pairs))))
        self._barred = np.union1d(self._barred, equals[~found.is_member(equals)])
        return found

    def _joined(self, classes: Classes, pairs: np.ndarray, closed: Tables) -> Classes:
        alone = self._left_alone(classes, closed)
        return merge_classes(classes, pairs, self._dictionary, alone, self._check)

    def _leave_alone(self, classes: Classes, steps: Sequence[WriteStep]) -> bool:
        """Whether no member of a class is named now that was not, by what some steps say."""
        if self._under is not self._compiled or classes is not self._before:
            return False
        touched = touched_facts(steps)
        names = np.array([*touched], dtype=np.uint32)
        if np.isin(names, self._named.predicates).any() or classes.is_member(names).any():
            return False
        types = touched.get(self._type_id, NO_KEYS)
        return not np.isin(low(types), self._named.classes).any()

    def _left_alone(self, classes: Classes, tables: Tables) -> Callable[[U32], Bools]:
        """A test for terms that are not rewritten, or represent such a term."""
        words = self._named.are_words(classes.members)
        words |= np.isin(classes.members, tables.names())  # properties are not replaced
        for_words = np.unique(classes.heads[words])

        def found(ids: U32) -> Bools:
            alone: Bools = np.isin(ids, for_words) | np.isin(ids, self._barred)
            return alone | self._named.among(ids, tables)

        return found

    # -- facts ----------------------------------------------------------------------------------

    def _pairs(self, batch: Batch) -> KeysByName:
        """Facts with the subject in front, as tables have them."""
        pairs = ((name, keys) for name, keys in batch.items() if isinstance(name, int))
        return {name: self._turned(name, keys) for name, keys in pairs}

    def _batch(self, facts: KeysByName) -> Batch:
        return {name: self._turned(name, keys) for name, keys in facts.items() if len(keys)}

    def _turned(self, name: object, keys: np.ndarray) -> np.ndarray:
        if name != self._type_id:
            return keys
        turned = pack(low(keys), high(keys))
        turned.sort()
        return turned


def _is_on(tables: Tables, stored: Tables) -> bool:
    """Whether tables of representatives still lie on these stored rows, and not much higher."""
    same = not stored.layers or tables.layers[:1] == stored.layers[:1]
    return same and len(tables.layers) <= len(stored.layers) + REASONING.equality_layers


def _rows(step: WriteStep) -> int:
    return step.rows if hasattr(step, "rows") else len(step)
