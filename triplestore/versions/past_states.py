"""The states after past commits, and how they differ: start at `PastStates`.

A past state is the newest one with the back changes of all later commits as one layer on top. So it
costs what has changed since, once for each of the last few that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triplestore.live.history import PastCommit
from triplestore.live.published import Published
from triplestore.reasoning.program.settings import Regimes
from triplestore.relations import Tables
from triplestore.storage import Database, State
from triplestore.storage.metadata import REGIMES, SCHEMES
from triplestore.versions.back_changes import reversed_changes, state_before
from triplestore.versions.history_log import HistoryLog
from triplestore.versions.thresholds import VERSIONS

_BLOCK = 64
"""Number of states that are made together, going back from the last one."""


class PastStates:
    """What a history tells about one store."""

    def __init__(self, database: Database, log: HistoryLog) -> None:
        self._database = database
        self._log = log
        self._known: dict[int, State] = {}

    def state_at(self, commit: int) -> State | None:
        """The state after a commit; None if it is not kept."""
        log = self._log
        with log.lock:
            newest = self._newest()
            if newest is None or not log.first_kept() <= commit <= newest.commit:
                return None
            if commit == newest.commit:
                return newest
            later = [state for known, state in self._known.items() if known >= commit]
            begin = min(later, key=lambda state: state.commit, default=newest)
            made = self._before(begin, commit)
            for oldest in list(self._known)[: 1 - VERSIONS.past_states]:
                del self._known[oldest]
            self._known[commit] = made
            return made

    def _before(self, state: State, commit: int) -> State:
        if state.commit == commit:
            return state
        back = [self._log.back(each) for each in range(state.commit, commit, -1)]
        return state_before(state, back, commit)

    def _newest(self) -> State | None:
        """The newest state whose commit has a record."""
        state = self._database.state
        self._log.complete(state)
        if self._log.last >= state.commit:
            return state
        return self._database.state_at(self._log.last)

    def forget(self) -> None:
        """Keep no state in memory."""
        self._known.clear()

    def commits_after(self, commit: int) -> Iterator[PastCommit] | None:
        """The commits after one, and what each changed; None if these are not kept."""
        newest = self._newest()
        if newest is None or not self._log.first_kept() - 1 <= commit < newest.commit:
            return None
        return self._commits(commit, newest.commit)

    def _commits(self, commit: int, last: int) -> Iterator[PastCommit]:
        while commit < last:
            end = min(commit + _BLOCK, last)
            states = self._block(commit, end)
            if states is None:
                return
            for number in range(commit + 1, end + 1):
                before, after = states[number - 1], states[number]
                changes = reversed_changes(
                    self._log.back(number).under(after.dictionary.lookup_keys)
                )
                yield PastCommit(Published(before, after, [changes]))
            commit = end

    def _block(self, first: int, last: int) -> dict[int, State] | None:
        """The states after some commits under one dictionary; without tables if rows say all."""
        end = self.state_at(last)
        if end is None:
            return None
        back = {number: self._log.back(number) for number in range(first + 1, last + 1)}
        whole = state_before(end, [back[number] for number in range(last, first, -1)], first)
        closed = _shows_more(end.meta) or any(_shows_more(each.meta) for each in back.values())
        states: dict[int, State] = {}
        state = State(last, whole.dictionary, whole.term_count, end.tables, end.meta)
        for number in range(last, first - 1, -1):
            if not closed:
                state = State(number, whole.dictionary, whole.term_count, Tables(), end.meta)
            elif number < last:
                state = state_before(state, [back[number + 1]], number)
            states[number] = state
        return states


def _shows_more(meta: Mapping[str, bytes | None]) -> bool:
    """Whether the rows of a state, or of one with these values, may not be all that it shows:
    closures are kept as labels, and facts of equals once."""
    known = {name: value for name, value in meta.items() if value is not None}
    return SCHEMES in known or (REGIMES in known and Regimes.of(known).rewrites)
