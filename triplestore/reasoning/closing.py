"""The closure inside a transaction: brought up to date when it is needed.

Start reading at `Closing.run` and `ClosureState`. What a transaction knows of its closure is one
frozen value that a run replaces as a whole. A run that fails (a budget, Ctrl-C) replaces nothing,
and can be tried again. How a run works: `closure_run.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from triplestore.operators.context import running
from triplestore.reasoning.closure_run import ClosureRun, ClosureState
from triplestore.reasoning.difference import inferred_between, net_changes
from triplestore.reasoning.outcome import (
    Change,
    WriteStep,
    change_of,
    counts_of,
    is_helper_in,
)
from triplestore.reasoning.program.in_force import InForce, make_program
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.progress import ProgressLine
from triplestore.reasoning.reasoner import Reasoner, remember_rules, rules_for
from triplestore.reasoning.side_tables import SideTables
from triplestore.reasoning.violations import (
    NOTHING_KEY,
    ViolationRelations,
    compiled_violation_relations,
    count_new,
    count_new_between,
)
from triplestore.reasoning.visible import shown_changes
from triplestore.relations import Changes, Layer, Tables
from triplestore.storage import State
from triplestore.thread_limits import limited, memory_allowed

if TYPE_CHECKING:
    from triplestore.maintenance.budget import ReasoningBudget
    from triplestore.reasoning.closed_elsewhere import ClosedElsewhere
    from triplestore.reasoning.tuning import Tuning

MEMORY_SHARE = 2
"""Without `max_bytes`, the inference of a commit may use this part of the available memory."""

_INFERRED = ("inferred_added", "inferred_removed", "still_entailed")


class Watch(NamedTuple):
    """Who watches a run: a line of progress, a function that says whether to stop, and the maximum
    number of bytes beside that of the tuning."""

    progress: ProgressLine | None = None
    cancel: Callable[[], bool] | None = None
    bytes: int | None = None


class _CancelFlag:
    """A flag that asks a caller's function."""

    def __init__(self, cancel: Callable[[], bool]) -> None:
        self.is_set = cancel


@contextmanager
def within_limits(tuning: Tuning, watch: Watch) -> Iterator[ReasoningBudget]:
    """One budget for everything in the block."""
    # Late: most stores have no rules.
    from triplestore.maintenance.budget import ReasoningBudget

    most = tuning.max_bytes
    if most is None and (allowed := memory_allowed()) is not None:
        most = allowed // MEMORY_SHARE
    if watch.bytes is not None:
        most = watch.bytes if most is None else min(most, watch.bytes)
    flag = None if watch.cancel is None else _CancelFlag(watch.cancel)
    budget = ReasoningBudget(
        tuning.max_facts, most, tuning.max_seconds, flag, watch.progress, tuning.max_terms
    ).begin()
    try:
        with limited(budget), running(budget.computing()):
            yield budget
    except MemoryError as error:
        raise budget.named(error) from None


class Closing:
    """The closure of one transaction.

    base        the tables of the last commit
    dictionary  what the ids of all tables belong to
    state       the closure as of the last run
    hidden_before  number of facts of the last commit that are not triples of RDF
    """

    def __init__(self, committed: State, reasoner: Reasoner) -> None:
        self.base = committed.tables
        self.dictionary = committed.dictionary
        settings, self.hidden_before = reasoner.settings_of(committed.meta)
        rules = rules_for(committed, settings)
        self.state = ClosureState(settings, rules, rules, committed.tables, self.hidden_before)
        self._reasoner = reasoner
        self._compiling = reasoner.compiling(committed)
        self._rules_before = rules
        self._kept_tables = reasoner.tables_of(committed)
        self._side_tables: SideTables | None = None
        self._watch = Watch()
        self._left_stale = False

    @property
    def settings(self) -> ReasonSettings:
        """The settings in force."""
        return self.state.settings

    @property
    def active(self) -> bool:
        """Whether there is anything to infer, or was in this transaction."""
        state = self.state
        known = state.rules is not None or state.closed_under is not None
        return not self._left_stale and (known or state.runs > 0 or bool(state.settings))

    def is_stale(self, tables: Tables) -> bool:
        """Whether the tables or the rules changed since the last run."""
        state = self.state
        changed = tables is not state.tables or state.rules is not state.closed_under
        return changed and self.active

    def leave_stale(self) -> None:
        """Let the transaction commit without a run: the store is stale then (see `stale`)."""
        self._left_stale = True

    def watch(
        self, progress: bool, cancel: Callable[[], bool] | None, most: int | None = None
    ) -> None:
        """Show runs from now on, ask whether to stop them, and limit their memory to `most` bytes;
        what is not given stays as it is."""
        line = ProgressLine() if progress else self._watch.progress
        self._watch = Watch(line, cancel or self._watch.cancel, most or self._watch.bytes)

    def clear(self) -> None:
        """Begin again with empty tables."""
        settings, rules = self.state.settings, self.state.rules
        self.state = ClosureState(settings, rules, None, Tables(), 0, runs=self.state.runs)

    def end(self, committed: State | None) -> None:
        """The transaction is over: keep compiled rules, if possible, and tables in memory.

        committed  the state that it published; None if there is none
        """
        state = self.state
        rules = self._rules_before if committed is None else state.rules
        if rules is not None:
            self._compiling.end(rules, committed is not None)
        if committed is None:
            return
        self._reasoner.note(committed.meta, state.settings, state.hidden)
        if isinstance(state.rules, InForce):
            remember_rules(committed, state.rules)
        self._reasoner.drop_tables()  # also while they are changed
        kept = self._side_tables_for(state.settings)
        if kept is not None and kept.belong_to(state.tables):
            self._reasoner.keep_tables(kept.end(state.settings.tuning), committed)

    def _side_tables_for(self, settings: ReasonSettings) -> SideTables | None:
        """The tables beside the closure; None if they are not wanted."""
        if not settings.keeps_side_tables:
            return None
        if self._side_tables is None:
            self._side_tables = SideTables(self.base, self._kept_tables)
        return self._side_tables

    # -- runs -----------------------------------------------------------------------------------

    def run(self, since: Sequence[WriteStep], tables: Tables) -> Tables:
        """The closure of tables to which these steps lead from the closed ones."""
        self.state = self._closed(self.state.settings, self._watch, since, tables)
        return self.state.tables

    def apply(
        self,
        settings: ReasonSettings,
        since: Sequence[WriteStep],
        tables: Tables,
        *,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Tables:
        """The same with these settings in force; if it fails, those of before stay in force."""
        before = self.state
        needed = settings.need_run_after(before.settings) and (settings or self.active)
        if not (needed or self.is_stale(tables)):
            self.state = replace(before, settings=settings, figures={})
            return tables
        line = ProgressLine() if progress else self._watch.progress
        watch = self._watch._replace(progress=line, cancel=cancel or self._watch.cancel)
        self.state = self._closed(settings, watch, since, tables)
        return self.state.tables

    def _closed(
        self, settings: ReasonSettings, watch: Watch, since: Sequence[WriteStep], tables: Tables
    ) -> ClosureState:
        started = time.perf_counter()
        beside = self._side_tables_for(settings)
        with within_limits(settings.tuning, watch) as budget:
            run = ClosureRun(
                self.dictionary, settings, self._compiling, beside, budget, watch.progress
            )
            after = run.run(self.state, since, tables)
        figures = {**after.figures, "seconds": time.perf_counter() - started}
        return replace(after, figures=figures)

    @contextmanager
    def reading(self, settings: ReasonSettings) -> Iterator[None]:
        """Keeps to the limits of a run while rules are read for one."""
        with within_limits(settings.tuning, self._watch):
            yield

    def adopt(self, closed: ClosedElsewhere, since: Sequence[WriteStep], tables: Tables) -> Tables:
        """Take what was inferred elsewhere for tables to which these steps lead; all of them then.

        Its settings are in force from then on.
        """
        settings = ReasonSettings.of(closed.meta)
        stored = tables.with_schemes({})  # all rows are written out again
        changes = closed.changes(stored)
        after = stored.push(Layer.build(changes))
        rules = settings.users
        if settings.regimes:
            rules = make_program(settings.regimes, settings.users, after, self.dictionary)
        steps = (*self.state.steps, *since, changes)
        net = net_changes(self.base, after, steps, False)
        change = change_of(net, is_helper_in(self.dictionary))
        figures = {name: getattr(change, name) for name in _INFERRED}
        stated = (*self.state.stated, *since)
        runs = self.state.runs + 1
        self.state = ClosureState(
            settings, rules, rules, after, closed.hidden, steps, stated, runs, figures
        )
        return after

    # -- what it did ----------------------------------------------------------------------------

    def counts(self, steps: Sequence[WriteStep], cleared: bool) -> Change:
        """What a transaction did with all its steps, as `join_changes` gives them."""
        state = self.state
        if not state.runs:
            return counts_of(self.base, steps, cleared)
        only = steps[0] if len(steps) == 1 else Changes()
        closed = self.base.closed or state.tables.closed  # then rows do not say all
        if isinstance(only, Changes) and len(steps) < 2 and not cleared and not closed:
            may_break = state.rules is not None and (only.tuples or self._names_nothing(only))
            new = count_new(only, self.listed()) if may_break else 0
            if state.hidden or self.hidden_before:
                only = shown_changes(self.dictionary, only)
            return change_of(only, is_helper_in(self.dictionary), new)
        stated = counts_of(self.base, state.stated, cleared)
        new = count_new_between(self.base, state.tables, self.listed())
        if state.runs == 1 and not cleared:
            inferred = {name: state.figures.get(name, 0) for name in _INFERRED}
        else:
            is_helper = is_helper_in(self.dictionary)
            with within_limits(state.settings.tuning, self._watch):
                keep = partial(shown_changes, self.dictionary)
                counted = inferred_between(
                    self.base, state.tables, state.steps, cleared, is_helper, keep
                )
            inferred = counted._asdict()
        return replace(stated, new_violations=new, **inferred)

    def _names_nothing(self, changes: Changes) -> bool:
        """Whether a changed fact has owl:Nothing as its object."""
        (nothing,) = self.dictionary.lookup_keys([NOTHING_KEY]).tolist()
        return bool(nothing) and bool((changes.facts.columns[2] == nothing).any())

    def listed(self) -> ViolationRelations:
        """Where the violations of the rules in force are stored."""
        rules = self.state.rules
        if rules is None:
            return compiled_violation_relations({}, self.dictionary)
        modules = self.state.settings.tuning.modules != "off"
        compiled = self._compiling.compiled(rules, modules=modules)
        return compiled_violation_relations(compiled.violations, self.dictionary)
