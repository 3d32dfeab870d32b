"""The history of a store: start at `Remembering`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakMethod

from triplestore.errors import LostPlaceError, UsageError
from triplestore.reasoning.outcome import Change
from triplestore.storage.metadata import COMMIT_NOTE, HISTORY
from triplestore.store.snapshot import Snapshot
from triplestore.store.writes.writing_calls import WritingCalls

if TYPE_CHECKING:
    from triplestore.live.history import PastCommit
    from triplestore.live.published import Published
    from triplestore.storage import State
    from triplestore.versions.history_log import CommitInfo, HistoryLog
    from triplestore.versions.past_states import PastStates


class Remembering(WritingCalls):
    """A store that can keep its past; see `Store`."""

    _past: tuple[HistoryLog, PastStates] | None = None

    def keep_history(
        self,
        *,
        commits: int | None = None,
        age: float | timedelta | None = None,
        size: int | None = None,
        off: bool = False,
    ) -> Change:
        """Keep what each commit changes, from now on: see `log`, `at` and `changes(since=...)`.

        The last `commits`, those of the last `age` (a `timedelta`, or seconds), at most `size`
        bytes of them: all limits count that are given, and without one everything is kept. What is
        beyond the limits is dropped at once, and does not come back when they are raised. With
        `off` nothing is kept any more, and what was kept is dropped. The setting lasts with the
        store. A store that keeps no history pays nothing.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.keep_history(commits=1000)
        >>> for age in (3, 4):
        ...     _ = store.load(f"<http://ex.org/tom> <http://ex.org/age> {age} .", "ttl")
        >>> len(store), len(store.at(2))
        (2, 1)
        """
        # Late: few stores keep a history.
        from triplestore.versions.history_limits import HistoryLimits

        if off and (commits, age, size) != (None, None, None):
            raise UsageError("off=True drops the history; it has no limits")
        limits = HistoryLimits.given(commits, age, size)
        with self._begin() as writer:
            if off:
                writer.keep({HISTORY: None, COMMIT_NOTE: None})
            else:
                known = HistoryLimits.of(writer.kept)
                since = writer.begun_at + 1 if known is None else self._history_log().first_kept()
                limits = HistoryLimits.given(commits, age, size, since)
                writer.keep({HISTORY: limits.to_bytes()})
        if off:
            self._drop_history()
        return writer.change

    def log(self, limit: int | None = None) -> list[CommitInfo]:
        """The kept commits, newest first, at most `limit` of them.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.keep_history()
        >>> with store.transaction(message="The first cat", author="Ada") as t:
        ...     _ = t.load("<http://ex.org/tom> a <http://ex.org/Cat> .", "ttl")
        >>> newest = store.log()[0]
        >>> newest.commit, newest.message, newest.author, str(newest.change)
        (2, 'The first cat', 'Ada', 'added 1')
        """
        if HISTORY not in self._database.state.meta:
            return []
        log = self._history_log()
        log.complete(self._database.state)
        return log.infos()[:limit]

    def at(self, commit: int) -> Snapshot:
        """The store as it was after a commit, with everything that was inferred then.

        The commit must be among those of `log()`, or the newest one; otherwise that is a
        `LostPlaceError`. A store that keeps no history shows what its journal still has.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.keep_history()
        >>> prefix = "PREFIX : <http://ex.org/> "
        >>> _ = store.update(prefix + "INSERT DATA { :tom :age 3 }")
        >>> _ = store.update(prefix + "DELETE DATA { :tom :age 3 }")
        >>> store.at(2).ask(prefix + "ASK { :tom :age 3 }")
        True
        """
        now = self._database.state.commit
        if commit > now:
            raise LostPlaceError(
                f"commit {commit} does not exist yet: the newest one is {now}", now
            )
        if HISTORY in self._database.state.meta and commit < now:
            state = self._past_states().state_at(commit)
        else:
            state = self._past_state(commit)
        if state is None:
            raise LostPlaceError(f"the state after commit {commit} is not kept: {self._kept()}")
        return Snapshot(state)

    def _kept(self) -> str:
        if HISTORY not in self._database.state.meta:
            return "the store keeps no history; keep_history() makes it keep one from then on"
        return f"the history begins with commit {self._history_log().first_kept()}"

    # -- inside -----------------------------------------------------------------------------------

    def _past_state(self, commit: int) -> State | None:
        """The state after a commit; None if it is not kept."""
        state = self._database.state
        if commit == state.commit:
            return state
        found = self._database.state_at(commit)
        if found is None and HISTORY in state.meta:
            found = self._past_states().state_at(commit)
        return found

    def _past_commits(self, since: int) -> Iterator[PastCommit] | None:
        """The commits after one as far as a history is kept; None if it is not."""
        if HISTORY not in self._database.state.meta:
            return None
        return self._past_states().commits_after(since)

    def _history_log(self) -> HistoryLog:
        return self._history()[0]

    def _past_states(self) -> PastStates:
        return self._history()[1]

    def _history(self) -> tuple[HistoryLog, PastStates]:
        # Late: few stores keep a history.
        from triplestore.versions.history_limits import HistoryLimits
        from triplestore.versions.history_log import HistoryLog
        from triplestore.versions.past_states import PastStates

        database = self._database
        limits = HistoryLimits.of(database.state.meta)
        assert limits is not None
        if self._past is None or database.read_only:  # a reader looks at the files again
            log = HistoryLog(database, limits)
            self._past = log, PastStates(database, log)
        self._past[0].limits = limits
        return self._past

    def _watch_history(self) -> None:
        """Let no journal go before the history has its commits."""
        database, keep = self._database, WeakMethod(self._keep_commits)
        if HISTORY not in database.state.meta or database.read_only:
            return

        def keeper(state: State) -> None:
            now = keep()
            if now is None:
                raise ReferenceError("the store is not in use any more")
            now(state)

        database.upkeep.keeper = keeper
        database.upkeep.wake()

    def _keep_commits(self, state: State) -> None:
        self._history_log().keep(state)

    def _note_history(self, published: Published) -> None:
        """Add a commit to the history, if one is kept."""
        if HISTORY not in published.after.meta or self._database.read_only:
            return
        if self._database.upkeep.keeper is None:
            self._watch_history()
        # What cannot be written now is made from the journal later, which stays until then.
        with suppress(OSError):
            self._history_log().note(published)

    def _drop_history(self) -> None:
        # Late: few stores keep a history.
        from triplestore.versions.history_records import remove_history

        self._close_beside()
        database = self._database
        database.upkeep.keeper = None
        if database.path is not None:
            remove_history(database.files, database.path)

    def _beside_problems(self) -> list[str]:
        if HISTORY not in self._database.state.meta:
            return []
        try:
            return self._history_log().problems()
        except OSError as error:
            return [f"the history: {error}"]

    def _copy_beside(self, target: Path) -> None:
        if HISTORY in self._database.state.meta and self._database.path is not None:
            self._history_log().copy_to(target)

    def _close_beside(self) -> None:
        if self._past is not None:
            self._past[0].close()
            self._past = None
