"""Snapshots: a store as it was at one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from triplestore.store.faces.supposing import WhatIf
from triplestore.store.state_view import StateView

if TYPE_CHECKING:
    from triplestore.storage import State
    from triplestore.versions.one_dictionary import Line


class Snapshot(WhatIf):
    """One committed state, unaffected by later writes.

    It costs nothing to make, and keeps the files it reads until it is dropped.

    >>> from triplestore import Store
    >>> store = Store()
    >>> before = store.snapshot()
    >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
    >>> len(before), len(store), before.commit, store.commit
    (0, 1, 0, 1)
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen = StateView.of(state)

    def _view(self) -> StateView:
        return self._seen

    def _line(self) -> Line:
        # Late: few runs compare states.
        from triplestore.versions.one_dictionary import Line

        return Line.of(self._state)

    @property
    def commit(self) -> int:
        """The number of the commit it shows."""
        return self._state.commit

    def __repr__(self) -> str:
        return f"<snapshot of commit {self.commit}: {len(self):,} quads>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.store.store_html import reading_html

        return reading_html(self, self._seen, f"snapshot of commit {self.commit:,}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None
