"""The commits of the recent past: start at `History`.

Always true: the state before each commit is the one after the commit before it in the list.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace

import numpy as np

from triplestore.errors import LostPlaceError
from triplestore.live.fact_changes import FactChanges
from triplestore.live.published import Published
from triplestore.live.thresholds import LIVE
from triplestore.storage import State

_PIECE = 1 << 16


class PastCommit:
    """A published commit, and the facts that it changed, which are found when first asked for."""

    def __init__(self, published: Published) -> None:
        self.before = published.before
        self.after = published.after
        self.rows = published.rows
        self._published: Published | None = published
        self._lock = threading.Lock()
        self._changes: FactChanges | None = None

    @property
    def commit(self) -> int:
        """The number of the commit."""
        return self.after.commit

    @property
    def changes(self) -> FactChanges:
        """The facts that it changed."""
        with self._lock:
            if self._changes is None:
                assert self._published is not None
                self._changes = FactChanges(self._published)
                self._published = None
            return self._changes


class History:
    """The last commits, and the newest state."""

    def __init__(self, state: State) -> None:
        self.latest = state
        self._past: deque[PastCommit] = deque()
        self._rows = 0

    def add(self, published: Published) -> PastCommit | None:
        """Note a commit; None if it is known already.

        If commits between the newest known state and this one are not known, they count as one.
        """
        if published.after.commit <= self.latest.commit:
            return None
        if published.before.commit != self.latest.commit:
            published = replace(published, before=self.latest, steps=None, cleared=False)
        made = PastCommit(published)
        self._past.append(made)
        self._rows += made.rows
        self.latest = published.after
        while len(self._past) > 1 and (
            len(self._past) > LIVE.kept_commits or self._rows > LIVE.kept_rows
        ):
            self._rows -= self._past.popleft().rows
        return made

    def reach_back(self, state: State) -> None:
        """Take an earlier state, so that followers can continue from it.

        What lies between it and the next state that is known counts as one commit.
        """
        if not keep_ids(state, self.latest):
            return
        first = self._past[0].before if self._past else self.latest
        if state.commit < first.commit:
            self._past.appendleft(PastCommit(Published(state, first, None)))
        for at, past in enumerate(self._past):
            if past.before.commit < state.commit < past.commit:
                self._past[at] = PastCommit(Published(past.before, state, None))
                self._past.insert(at + 1, PastCommit(Published(state, past.after, None)))
                return

    def forget(self, state: State) -> None:
        """Forget the past; this is the newest state."""
        self._past.clear()
        self._rows = 0
        self.latest = state

    def has(self, commit: int) -> bool:
        """Whether all commits after one are known, each by itself."""
        return commit == self.latest.commit or any(
            past.before.commit == commit for past in self._past
        )

    def state_at(self, commit: int) -> State:
        """The state after a commit; a `LostPlaceError` if it is not kept."""
        if commit == self.latest.commit:
            return self.latest
        for past in reversed(self._past):
            if past.before.commit == commit:
                return past.before
        raise self._lost(commit)

    def after(self, commit: int) -> PastCommit | None:
        """The commit that follows another one; None if it is the newest."""
        if commit == self.latest.commit:
            return None
        if not self._past or commit < self._past[0].before.commit:
            raise self._lost(commit)
        at = commit - self._past[0].before.commit  # if there are no gaps
        if at < len(self._past) and self._past[at].before.commit == commit:
            return self._past[at]
        for past in self._past:
            if past.before.commit == commit:
                return past
        raise self._lost(commit)

    def _lost(self, commit: int) -> LostPlaceError:
        newest = self.latest.commit
        if commit > newest:
            return LostPlaceError(f"commit {commit} is not known yet: the newest one is {newest}")
        oldest = self._past[0].before.commit if self._past else newest
        return LostPlaceError(
            f"the changes since commit {commit} are not kept any more, only those since commit "
            f"{oldest}: read everything anew, and continue from the commit that it shows"
        )


def keep_ids(before: State, after: State) -> bool:
    """Whether terms have the same ids in two states of one store.

    They have other ones after `optimize`, which leaves no layer as it was.
    """
    if before.dictionary is after.dictionary:
        return True
    layers = set(map(id, before.tables.layers))
    if any(id(layer) in layers for layer in after.tables.layers):
        return True
    if before.term_count > after.term_count:
        return False
    for at in range(1, before.term_count + 1, _PIECE):
        ids = np.arange(at, min(at + _PIECE, before.term_count + 1), dtype=np.uint32)
        one, other = before.dictionary.text(ids), after.dictionary.text(ids)
        if not all(np.array_equal(one[part], other[part]) for part in range(3)):
            return False
    return True
