"""All watched shapes of one store: start at `Watcher.changed`.

The results belong to one committed state. If the store is at another one (it was opened again, or
has other ids after `optimize`), they are computed anew when they are first needed. Always true:
what is not committed changes nothing here; `publish` is called by the thread that commits, before
another transaction begins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, cast

from triplestore.data_classes import data_class
from triplestore.errors import ShapesViolationError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.live.committed_terms import CommittedTerms
from triplestore.live.fact_changes import FactChanges
from triplestore.live.published import Published
from triplestore.shacl.data_choice import ValidatedState
from triplestore.shacl.reading.read_shapes import read_shapes
from triplestore.shacl.reports.result import ValidationResult
from triplestore.shacl.reports.rows import ResultRow
from triplestore.shacl.reports.severities import rank_of_key
from triplestore.shacl.thresholds import SHACL
from triplestore.shacl.vocabulary import SH
from triplestore.shacl.watching.stored_watches import watches_of
from triplestore.shacl.watching.watched_shapes import ShapeChanges, WatchedShapes
from triplestore.storage.metadata import SHAPES, hidden_count, prefixes_of

if TYPE_CHECKING:
    from triplestore.reasoning.outcome import WriteStep
    from triplestore.relations import Tables
    from triplestore.shacl.causes import Cause
    from triplestore.storage import State
    from triplestore.terms import Dictionary


ExplainerOf = Callable[[WatchedShapes], "Callable[[ValidationResult], Cause]"]


@data_class
class StateOf:
    """A committed state, as it is read."""

    dictionary: Dictionary
    tables: Tables
    prefixes: Mapping[str, str]
    hidden: int

    @classmethod
    def of(cls, state: State) -> StateOf:
        """A state, as it is read."""
        # An open transaction has terms in the dictionary that it may take back.
        terms = cast("Dictionary", CommittedTerms(state.dictionary, state.term_count))
        return cls(terms, state.tables, prefixes_of(state.meta), hidden_count(state.meta))


class ResultChanges:
    """What a commit does to the results of all watched shapes.

    added, removed  results that come and go
    """

    def __init__(
        self,
        parts: Sequence[tuple[WatchedShapes, ShapeChanges]],
        prefixes: Mapping[str, str],
        explain: ExplainerOf,
    ) -> None:
        self.parts = parts
        self._namer = Namer({**prefixes, "sh": SH})
        self._explain = explain
        self.added = [r for each, part in parts for r in self._results(each, part.added)]
        self.removed = [r for each, part in parts for r in self._results(each, part.removed)]

    def _results(self, watched: WatchedShapes, rows: Sequence[ResultRow]) -> list[ValidationResult]:
        explain = self._explain(watched)
        return [ValidationResult(row, self._namer, explain) for row in rows]

    def refused(self) -> list[ValidationResult]:
        """The new results of a severity that is refused."""
        found: list[ValidationResult] = []
        for watched, part in self.parts:
            if watched.refuse is not None:
                least = watched.refuse
                rows = [r for r in part.added if rank_of_key(r.shape.severity) >= least]
                found += self._results(watched, rows)
        return found

    def refuse(self) -> None:
        """Raise if there are new results of a severity that is refused."""
        results = self.refused()
        if not results:
            return
        for result in results[: SHACL.listed_results]:
            result.why()  # now, because the transaction is about to end
        listed = "; ".join(map(str, islice(results, SHACL.listed_results)))
        more = len(results) - SHACL.listed_results
        raise ShapesViolationError(
            "the watched shapes are strict, and this commit would add results: "
            f"{listed}{f'; and {more:,} more' if more > 0 else ''}",
            results,
        )


class Watcher:
    """The watched shapes of one store, and their results."""

    def __init__(self) -> None:
        self.watched: list[WatchedShapes] = []
        self._kept: bytes | None = None
        self._state: State | None = None
        self._lock = threading.RLock()

    def at(self, state: State) -> list[WatchedShapes]:
        """The watched shapes, with their results in a committed state."""
        with self._lock:
            kept = state.meta.get(SHAPES)
            if kept != self._kept:
                self.watched = [
                    WatchedShapes(each.name, read_shapes(each.graph), each.choice, each.refuse)
                    for each in watches_of(kept)
                ]
                self._kept, self._state = kept, None
            if self._state is None or not _is_same(self._state, state):
                read = StateOf.of(state)
                for each in self.watched:
                    each.begin(read)
            self._state = state
            return self.watched

    def rows_at(self, state: State, name: str) -> tuple[WatchedShapes, list[ResultRow]] | None:
        """The results of one of the watched shapes; None if there is none of this name."""
        with self._lock:
            for each in self.at(state):
                if each.name == name:
                    return each, list(each.rows())
        return None

    def changed(
        self,
        before: State,
        now: ValidatedState,
        steps: Sequence[WriteStep],
        cleared: bool,
        explain: ExplainerOf,
    ) -> ResultChanges:
        """What a transaction does to the results.

        explain  gives for watched shapes the function that finds the cause of a result
        """
        with self._lock:
            parts = []
            watched = self.at(before)
            rows = sum(len(step) if not hasattr(step, "rows") else step.rows for step in steps)
            changes = None
            if not cleared and rows <= SHACL.followed_rows:
                after = replace(before, tables=now.tables)
                changes = FactChanges(Published(before, after, steps, cleared))
            for each in watched:
                if changes is None:
                    parts.append((each, each.compared(now)))
                elif changes:
                    found = each.changed(now, changes)
                    if found is not None:
                        parts.append((each, found))
            return ResultChanges(parts, now.prefixes, explain)

    def publish(self, changes: ResultChanges | None, state: State) -> None:
        """The commit of some changes was published."""
        with self._lock:
            if state.meta.get(SHAPES) != self._kept:
                return
            for watched, part in changes.parts if changes is not None else ():
                watched.apply(part)
            for watched in self.watched:
                watched.settle()
            self._state = state


def _is_same(one: State, other: State) -> bool:
    """Whether two states have the same facts, with the same ids."""
    return one.dictionary is other.dictionary and one.commit == other.commit
