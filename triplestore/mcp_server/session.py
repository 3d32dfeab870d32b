"""A store as one agent server sees it: its newest state, its prefixes, and limits of calls.

Start at `AgentSession`. Every call begins with `reading()`, which follows the commits of other
processes and gives a snapshot, so that one answer shows one state.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from triplestore.browse.member_counts import class_counts, property_counts
from triplestore.browse.proof_data import search_seconds
from triplestore.data_classes import data_class
from triplestore.errors import CancelledError, LockedError, TripleStoreError
from triplestore.mcp_server.settings import AgentSettings
from triplestore.mcp_server.short_names import MadePrefixes, ShortNames, namespace_of
from triplestore.operators.context import Context, ContextLimits
from triplestore.store import Snapshot, Store
from triplestore.store.readable import view_of
from triplestore.thread_limits import limited

if TYPE_CHECKING:
    from triplestore.browse.change_request import ChangeLimits

_NAMED_TERMS = 200
"""Number of classes, and of properties, whose namespaces get prefixes."""

_SECONDS_BETWEEN = 20.0
"""Minimum number of seconds between two looks at the namespaces, which count members of classes."""

_MOST_PREFIXES = 12
"""Maximum number of prefixes that are made."""

_LOOK_SECONDS = 0.1
"""How often a change that waits for another one looks whether it was given up."""


class AgentSession:
    """A store, its settings, and the prefixes that were made for it."""

    def __init__(self, store: Store, settings: AgentSettings) -> None:
        self.store = store
        self.settings = settings
        self._made = MadePrefixes()
        self._seen = -1  # the commit whose namespaces have prefixes
        self._next = 0.0  # when to look for namespaces again
        self._changing = threading.Lock()

    def reading(self) -> Reading:
        """The newest state; while a change is tried, that of before."""
        if self._changing.acquire(blocking=False):
            try:
                with limited(None):  # whole or not at all
                    self.store.refresh()
            finally:
                self._changing.release()
        snapshot = self.store.snapshot()
        self._make_prefixes(snapshot)
        return Reading(snapshot, self._made.prefixes)

    @contextmanager
    def changing(
        self, seconds: float | None, cancel: threading.Event
    ) -> Iterator[tuple[Reading, ChangeLimits]]:
        """The newest state and the limits of a change, with no other change at the same time.

        It waits for others no longer than the change itself may take.
        """
        # Late: only changes need it.
        from triplestore.browse.change_request import ChangeLimits

        most = self.seconds(seconds)
        until = time.monotonic() + most
        self._wait(until, most, cancel)
        try:
            self.store.refresh()
            with self.limited(cancel, most):
                snapshot = self.store.snapshot()
                self._make_prefixes(snapshot)
                left = max(0.0, until - time.monotonic())
                limits = ChangeLimits(most, self.settings.memory, cancel, left)
                yield Reading(snapshot, self._made.prefixes), limits
        finally:
            self._changing.release()

    def _wait(self, until: float, most: float, cancel: threading.Event) -> None:
        """Wait until no other change is tried or made."""
        while not self._changing.acquire(timeout=min(_LOOK_SECONDS, most)):
            if cancel.is_set():
                raise CancelledError("the call was stopped")
            if time.monotonic() > until:
                raise LockedError(f"another change has been running for over {most:g} seconds")

    def names(self) -> ShortNames:
        """A writer of terms for messages, also where the store cannot be read."""
        try:
            return Reading(self.store.snapshot(), self._made.prefixes).names()
        except TripleStoreError:
            return ShortNames(self._made.prefixes)

    @contextmanager
    def limited(self, cancel: threading.Event, seconds: float | None = None) -> Iterator[None]:
        """Limit what is done in this thread, and stop it when `cancel` is set.

        Queries, searches for proofs, and changes also have limits of their own.
        """
        context = Context(self.settings.memory, seconds=self.seconds(seconds), cancel=cancel)
        with limited(ContextLimits(context)):
            yield

    def seconds(self, asked: float | None) -> float:
        """The time limit of a call."""
        most = self.settings.seconds
        return most if asked is None or asked <= 0 else min(asked, most)

    def proof_seconds(self, asked: float | None) -> float:
        """The time limit of each search for a proof."""
        return min(self.seconds(asked), search_seconds(self.settings.seconds))

    def _make_prefixes(self, snapshot: Snapshot) -> None:
        """Prefixes for the namespaces of the most used properties and classes."""
        now = time.monotonic()
        if self._seen == snapshot.commit or now < self._next:
            return
        view = view_of(snapshot)
        namespaces: dict[str, None] = {}
        for counted in (
            property_counts(view.tables, view.dictionary),
            class_counts(view.tables, view.dictionary),
        ):
            for term in view.dictionary.terms(counted.ids[:_NAMED_TERMS]):
                namespace = namespace_of(term.value)
                if namespace is not None:
                    namespaces[namespace] = None
        known = ShortNames(view.prefixes).prefixes
        wanted = (space for space in namespaces if space not in known.values())
        room = max(0, _MOST_PREFIXES - len(self._made.prefixes))
        fresh = (space for space in wanted if space not in self._made.prefixes.values())
        self._made.add(islice(fresh, room), known)
        self._seen = snapshot.commit
        self._next = now + _SECONDS_BETWEEN


@data_class
class Reading:
    """One state, and the prefixes that were made for it."""

    snapshot: Snapshot
    made_prefixes: dict[str, str]

    @property
    def regimes(self) -> tuple[str, ...]:
        """The names of the regimes in force."""
        return view_of(self.snapshot).regimes

    def names(self) -> ShortNames:
        """A writer of terms with all known prefixes."""
        own = self.snapshot.prefixes
        hidden = set(own) & set(self.made_prefixes)
        made = {name: iri for name, iri in self.made_prefixes.items() if name not in hidden}
        return ShortNames(own, made)
