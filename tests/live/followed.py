"""Followers that check each commit against asking anew: start at `Followed.check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from triplestore import Store
from triplestore.errors import QuerySyntaxError, UsageError
from triplestore.live.events import ChangeStream, OneChange

SECONDS = 60.0


def next_of(stream: ChangeStream[OneChange], seconds: float = SECONDS) -> OneChange:
    """The next change; an error if none comes."""
    found = stream.next(seconds)
    assert found is not None, f"no change came within {seconds} seconds"
    return found


def insert(store: Store, triples: str) -> int:
    """Add triples; the number of the commit."""
    return store.update(f"INSERT DATA {{ {triples} }}").commit


def delete(store: Store, triples: str) -> int:
    """Remove triples; the number of the commit."""
    return store.update(f"DELETE DATA {{ {triples} }}").commit


def bag(rows: Iterable[Any]) -> Counter[tuple[str, ...]]:
    """Rows, each as often as it occurs."""
    return Counter(tuple(map(str, row)) for row in rows)


class Followed:
    """A store, subscriptions to queries, and the feed; all rows are known from changes only."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.feed = store.changes()
        self.quads = Counter(statuses(store))
        self.rows: dict[str, Counter[tuple[str, ...]]] = {}
        self.subscriptions: dict[str, Any] = {}
        self.changed = 0

    def add(self, query: str, **options: Any) -> bool:
        """Follow a query; False if it is none that can be followed."""
        try:
            subscription = self.store.subscribe(query, initial=True, **options)
        except (QuerySyntaxError, UsageError):
            return False
        self.subscriptions[query] = subscription, options
        first = subscription.next(0)
        assert first is not None and not first.removed, query
        self.rows[query] = bag(first.added)
        assert self.rows[query] == bag(self.store.query(query, **options)), query
        return True

    def check(self) -> None:
        """After a commit: compare all that changes say with asking anew."""
        store = self.store
        hub: Any = store._hub
        assert hub.wait_for(store.commit, SECONDS)
        for query, (subscription, options) in self.subscriptions.items():
            self._take(query, subscription)
            wanted = bag(store.query(query, **options))
            assert self.rows[query] == wanted, f"after commit {store.commit}: {query}"
        self._check_feed()

    def _take(self, query: str, subscription: Any) -> None:
        changes = subscription.next(0)
        if changes is None:
            return
        self.changed += 1
        assert changes.commit == self.store.commit
        removed, added = bag(changes.removed), bag(changes.added)
        assert removed or added, f"a change of nothing: {query}"
        assert not removed & added, f"rows that came and went at once: {query}"
        assert not removed - self.rows[query], f"rows removed that were not there: {query}"
        self.rows[query] = self.rows[query] - removed + added
        assert subscription.next(0) is None, f"two changes of one commit: {query}"

    def _check_feed(self) -> None:
        changes = self.feed.next(0)
        if changes is not None:
            assert changes.commit == self.store.commit
            removed, added = (
                Counter(map(tuple, rows)) for rows in (changes.removed, changes.added)
            )
            assert not removed - self.quads and not added & self.quads
            self.quads = self.quads - removed + added
        assert self.quads == Counter(statuses(self.store)), f"after commit {self.store.commit}"

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def statuses(store: Store) -> list[tuple[Any, bool]]:
    """All quads, and whether each is inferred."""
    everything = set(store.quads_for_pattern(None, None, None, None))
    asserted = set(store.quads_for_pattern(None, None, None, None, facts="explicit"))
    return [(quad, quad not in asserted) for quad in everything]
