"""The change feed: which facts came and went with each commit, for a search index and the like.

Start at `ChangeFeed`. A feed reads the history of the store, so it needs no queue, and loses its
place only when the history no longer has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyoxigraph as ox

from triplestore.live.events import ChangeStream
from triplestore.live.history import PastCommit
from triplestore.live.thresholds import LIVE
from triplestore.reasoning.visible import is_triple
from triplestore.relations import HOLDS, INFERRED, ChangedRows
from triplestore.relations.packed_keys import U8, U32, Bools
from triplestore.sparql.results.json import term_json
from triplestore.terms import Dictionary

if TYPE_CHECKING:
    from triplestore.live.hub import LiveHub

PastOf: TypeAlias = "Callable[[int], Iterator[PastCommit] | None]"

SHOWN = 20
"""Maximum number of facts of each kind that are printed."""


class ChangedQuad(NamedTuple):
    """A quad, and whether it was inferred (it is asserted if not)."""

    quad: ox.Quad
    inferred: bool


class _Part(NamedTuple):
    """Columns of quads, with their statuses."""

    s: U32
    p: U32
    o: U32
    g: U32
    status: U8


class ChangedQuads:
    """Some changed quads: has a length, and lists them as pairs `(quad, inferred)`."""

    def __init__(self, dictionary: Dictionary, parts: list[_Part]) -> None:
        self._dictionary = dictionary
        self._parts = [part for part in parts if len(part.s)]

    def __len__(self) -> int:
        return sum(len(part.s) for part in self._parts)

    def __repr__(self) -> str:
        return f"<{len(self):,} quads>"

    def __iter__(self) -> Iterator[ChangedQuad]:
        default = ox.DefaultGraph()
        for part in self.blocks():
            s, p, o = (self._dictionary.terms(ids) for ids in (part.s, part.p, part.o))
            graphs = self._dictionary.terms(part.g) if part.g.any() else [default] * len(s)
            quads = map(ox.Quad, s, p, o, graphs)
            yield from map(ChangedQuad, quads, (part.status == INFERRED).tolist())

    def blocks(self) -> Iterator[_Part]:
        """The columns, in blocks."""
        size = LIVE.event_quads
        for part in self._parts:
            for at in range(0, len(part.s), size):
                yield _rows_of(part, slice(at, at + size))

    def json(self) -> Iterator[list[str]]:
        """The quads as objects of JSON, in blocks."""
        for part in self.blocks():
            columns = [self._texts(ids) for ids in (part.s, part.p, part.o, part.g)]
            inferred = (part.status == INFERRED).tolist()
            yield [
                _quad_json(s, p, o, g, flag)
                for s, p, o, g, flag in zip(*columns, inferred, strict=True)
            ]

    def _texts(self, ids: U32) -> list[str]:
        distinct, places = np.unique(ids, return_inverse=True)
        keys = [self._dictionary.key(i) if i else None for i in distinct.tolist()]
        texts = ["" if key is None else term_json(key) for key in keys]
        return [texts[place] for place in places.tolist()]


def _quad_json(s: str, p: str, o: str, g: str, inferred: bool) -> str:
    graph = f',"g":{g}' if g else ""
    return f'{{"s":{s},"p":{p},"o":{o}{graph},"inferred":{"true" if inferred else "false"}}}'


class QuadChanges:
    """The facts that came and went with a commit; prints as lines with + and -.

    commit   its number
    removed  quads, each with whether it was inferred, that are not there any more
    added    quads that are there now

    A quad that was asserted and is only inferred now is in both.
    """

    def __init__(self, past: PastCommit) -> None:
        self.commit = past.commit
        changes = past.changes
        dictionary = past.after.dictionary
        kinds = [changes.facts, changes.quads]
        self.removed = ChangedQuads(
            dictionary, [_part(dictionary, rows, rows.previous) for rows in kinds]
        )
        self.added = ChangedQuads(
            dictionary, [_part(dictionary, rows, rows.status) for rows in kinds]
        )

    def __len__(self) -> int:
        return len(self.removed) + len(self.added)

    def __repr__(self) -> str:
        added, removed = len(self.added), len(self.removed)
        return f"<commit {self.commit}: {added:,} quads added, {removed:,} removed>"

    def __str__(self) -> str:
        lines = [f"commit {self.commit}"]
        for sign, quads in (("-", self.removed), ("+", self.added)):
            for number, (quad, inferred) in enumerate(quads):
                if number == SHOWN:
                    lines.append(f"{sign} ... and {len(quads) - SHOWN:,} more")
                    break
                lines.append(f"{sign} {quad} .{' # inferred' if inferred else ''}")
        return "\n".join(lines)

    def messages(self) -> Iterator[tuple[str, bool]]:
        """The same as lines of JSON, and whether a line is the last of the commit."""
        waiting = None
        for name, quads in (("removed", self.removed), ("added", self.added)):
            for block in quads.json():
                if waiting is not None:
                    yield waiting + ',"more":true}', False
                waiting = f'{{"commit":{self.commit},"{name}":[{",".join(block)}]'
        if waiting is not None:
            yield waiting + ',"more":false}', True


def _part(dictionary: Dictionary, rows: ChangedRows, status: U8) -> _Part:
    held: Bools = (status & np.uint8(HOLDS)) != 0
    p, s, o, *rest = (column[held] for column in rows.columns)
    g = rest[0] if rest else np.zeros(len(p), np.uint32)
    part = _Part(s, p, o, g, status[held])
    shown = is_triple(dictionary, s, p)
    return part if shown.all() else _rows_of(part, shown)


def _rows_of(part: _Part, which: slice | Bools) -> _Part:
    s, p, o, g, status = part
    return _Part(s[which], p[which], o[which], g[which], status[which])


class ChangeFeed(ChangeStream[QuadChanges]):
    """The changes of a store, commit by commit: iterate over it, or take the `next`.

    Iterating waits for further commits; `next(timeout)` waits for some seconds. `commit` is the
    commit up to which it was read, from which another feed can continue. Raises a `LostPlaceError`
    if the changes that follow are not kept any more.
    """

    def __init__(self, hub: LiveHub, since: int | None, past: PastOf = lambda since: None) -> None:
        """`past` gives the commits after one that the hub does not have, if they are kept."""
        self._hub = hub
        self._past_of = past
        self._past: Iterator[PastCommit] | None = None
        self._wakes: list[Callable[[], None]] = []
        with hub.changed:
            self.commit = hub.history.latest.commit if since is None else since
            known = hub.history.has(self.commit)
        if not known:
            self._past = past(self.commit)
        if self._past is None:
            with hub.changed:
                hub.state_at(self.commit)  # or raise

    def next(self, timeout: float | None = None) -> QuadChanges | None:
        """The changes of the next commit that changed facts; None after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            past = self._next_commit(end)
            if past is None:
                return None
            self.commit = past.commit
            if past.changes:
                found = QuadChanges(past)
                if len(found):
                    return found

    def _next_commit(self, end: float | None) -> PastCommit | None:
        while self._past is not None and not self._closed:
            past = next(self._past, None)
            if past is not None:
                return past
            with self._hub.changed:
                known = self._hub.history.has(self.commit)
            self._past = None if known else self._past_of(self.commit)
        return self._next_live(end)

    def _next_live(self, end: float | None) -> PastCommit | None:
        hub = self._hub
        with hub.changed:
            while True:
                if self._closed:
                    return None
                past = hub.history.after(self.commit)
                if past is not None or hub.closed:
                    return past
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return None
                hub.changed.wait(left)

    def watch(self, wake: Callable[[], None]) -> None:
        """Call a function, which must be quick, after each commit, until the feed is closed."""
        with self._hub.changed:
            self._wakes.append(wake)
            self._hub.listeners[wake] = None

    @property
    def closed(self) -> bool:
        """Whether the feed or its store was closed."""
        return self._closed or self._hub.closed

    def close(self) -> None:
        """End it."""
        with self._hub.changed:
            self._closed = True
            for wake in self._wakes:
                self._hub.listeners.pop(wake, None)
            self._hub.changed.notify_all()
