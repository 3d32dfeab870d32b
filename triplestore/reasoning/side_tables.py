"""Tables in memory beside the closure: recursive counters and traces, if `tuning` asks for them.

Start reading at `SideTables`. They are like an index: not kept on disk, made by one evaluation when
they are wanted and missing, and then brought up to date by every update. What is always true: what
the reasoner keeps (`KeptTables`) is right for one commit only, and a transaction changes none of it
before it commits. So a transaction or an update that fails needs nothing to be undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triplestore.relations.facts.counts import RecursiveChanges, RecursiveCounts

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import QueryTerms
    from triplestore.maintenance.budget import ReasoningBudget
    from triplestore.maintenance.changed_rows import Closure
    from triplestore.maintenance.steps.traces import Traces
    from triplestore.reasoning.tuning import Tuning
    from triplestore.relations import Tables
    from triplestore.rules.compiled_program import Compiled


class KeptTables(NamedTuple):
    """The tables of one closure, as far as they are kept."""

    recursive: RecursiveCounts | None = None
    traces: Traces | None = None

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(table.nbytes for table in self if table is not None)


class SideTables:
    """The tables of one transaction, right for the closed tables that they belong to.

    recursive, traces  for an update, after `open`; None if not wanted
    """

    def __init__(self, tables: Tables, kept: KeptTables | None) -> None:
        self._tables: Tables | None = tables
        self._made = kept is not None
        self._take(kept or KeptTables())

    def _take(self, kept: KeptTables) -> None:
        # Late, here and below: most stores have no tables beside the closure.
        from triplestore.maintenance.steps.traces import Traces

        self.recursive = kept.recursive
        self.traces: Traces | None = None
        self._mark = (kept.traces or Traces()).mark()
        self._changes: RecursiveChanges | None = None  # of the last update, not in the table yet
        self._own = False  # whether the table is this transaction's alone

    def belong_to(self, tables: Tables) -> bool:
        """Whether there are tables, right for these closed ones."""
        return self._made and self._tables is tables

    def belong(self, tables: Tables) -> None:
        """Note that the updates led to these closed tables."""
        self._tables = tables

    def begin(self, tables: Tables | None) -> None:
        """Begin updates of these closed tables; what belongs to other tables is dropped."""
        if tables is None or self._tables is not tables:
            self._take(KeptTables())
            self._tables, self._made = tables, False

    def open(
        self,
        tuning: Tuning,
        compiled: Compiled,
        previous: Compiled | None,
        closed: Tables,
        terms: QueryTerms,
        budget: ReasoningBudget,
    ) -> None:
        """Begin an update of closed tables from the `previous` program to the compiled one."""
        self._made = True
        if previous is None:  # nothing follows without rules
            self.recursive, self._changes, self._own = RecursiveCounts(), None, True
        self._take_over()
        if not tuning.recursive_counters:
            self.recursive = None
        elif self.recursive is None and previous is compiled and tuning.strategy != "rematerialise":
            from triplestore.maintenance.update import count_recursive

            self.recursive, self._own = count_recursive(compiled, closed, terms, budget), True
        self.traces = None
        if tuning.keeps_traces:
            from triplestore.maintenance.steps.traces import Traces

            self.traces = Traces()
            self.traces.restore(self._mark)

    def note(self, closure: Closure) -> None:
        """The update is done; `belong` says later to which closed tables the result belongs."""
        from triplestore.maintenance.steps.traces import Traces

        self._tables = None
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

    def end(self, tuning: Tuning) -> KeptTables:
        """The tables to keep, now that the transaction is committed."""
        self._own = True
        self._take_over()
        recursive = self.recursive if tuning.recursive_counters else None
        if not tuning.keeps_traces:
            return KeptTables(recursive)
        from triplestore.maintenance.steps.traces import Traces

        traces = Traces()
        traces.restore(self._mark)
        return KeptTables(recursive, traces)


def _copied(table: RecursiveCounts) -> RecursiveCounts:
    """The same counters; the arrays, which never change, are shared."""
    made = RecursiveCounts()
    for name, keys, by in table.items():
        made.add(name, keys, by)
    return made
