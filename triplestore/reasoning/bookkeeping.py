"""Tables in memory beside the closure: recursive counters and traces, for those who want them.

Start reading at `Books`. They are like an index: not kept on disk, made by one evaluation when they
are wanted and not there, and brought up to date by every update after that. What is always true:
what the reasoner keeps (`Kept`) is right for one commit only, and a transaction changes none of it
before it is committed; so ending it in any other way needs nothing to be undone, and neither does
an update that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triplestore.maintenance.steps.recursive_tables import count_recursive
from triplestore.maintenance.steps.traces import Traces
from triplestore.relations.facts.recursive_counts import RecursiveChanges, RecursiveCounts

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import QueryTerms
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.maintenance.limits.budget import Budget
    from triplestore.reasoning.tuning import Tuning
    from triplestore.relations import Tables
    from triplestore.rules.compiled_program import Compiled


class Kept(NamedTuple):
    """The tables of one closure, as far as they are kept."""

    recursive: RecursiveCounts | None = None
    traces: Traces | None = None

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(table.nbytes for table in self if table is not None)


class Books:
    """The tables of one transaction: those of the closure as it was last brought up to date.

    recursive, traces  what an update is to be given, after `open`; None for what is not wanted
    """

    def __init__(self, kept: Kept | None) -> None:
        kept = kept or Kept()
        self.recursive = kept.recursive
        self.traces: Traces | None = None
        self._mark = (kept.traces or Traces()).mark()
        self._changes: RecursiveChanges | None = None  # of the last update, not in the table yet
        self._own = False  # whether the table is this transaction's alone

    def open(
        self,
        tuning: Tuning,
        compiled: Compiled,
        previous: Compiled | None,
        closed: Tables,
        terms: QueryTerms,
        budget: Budget,
    ) -> None:
        """Begin an update of closed tables from the `previous` program to the compiled one."""
        if previous is None:  # nothing follows without rules
            self.recursive, self._changes, self._own = RecursiveCounts(), None, True
        self._take_over()
        if not tuning.recursive_counters:
            self.recursive = None
        elif self.recursive is None and previous is compiled and tuning.keeps_counters:
            self.recursive, self._own = count_recursive(compiled, closed, terms, budget), True
        self.traces = None
        if tuning.keeps_traces:
            self.traces = Traces()
            self.traces.restore(self._mark)

    def note(self, closure: Closure) -> None:
        """The update is done: the tables are those of the new closure."""
        self._changes = closure.work.recursive
        if self._changes is None or not self._changes.complete:
            self.recursive = self._changes = None
        self._mark = (self.traces or Traces()).mark()

    def _take_over(self) -> None:
        """Make what the last update changed part of a table of this transaction."""
        changes, self._changes = self._changes, None
        if changes is None or self.recursive is None:
            return
        if not self._own:
            self.recursive, self._own = _copied(self.recursive), True
            changes.table = self.recursive
        changes.keep()

    def end(self, tuning: Tuning) -> Kept:
        """The tables as they are to be kept, now that the transaction is committed."""
        self._own = True
        self._take_over()
        recursive = self.recursive if tuning.recursive_counters else None
        if not tuning.keeps_traces:
            return Kept(recursive)
        traces = Traces()
        traces.restore(self._mark)
        return Kept(recursive, traces)


def _copied(table: RecursiveCounts) -> RecursiveCounts:
    """The same counters; the arrays, which never change, are shared."""
    made = RecursiveCounts()
    for name, keys, by in table.items():
        made.add(name, keys, by)
    return made
