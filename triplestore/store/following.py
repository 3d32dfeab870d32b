"""Following a store: live queries and the change feed. Start at `FollowedStore`."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from triplestore.live.published import Published, RecentCommit
from triplestore.store.arguments import GraphLike, QueryOptions, Substitutions
from triplestore.store.readable import ReadableStore
from triplestore.store.state_view import StateView
from triplestore.store.thresholds import STORE

if TYPE_CHECKING:
    from triplestore.errors import TripleStoreError
    from triplestore.live.events import RowChanges
    from triplestore.live.feed import ChangeFeed
    from triplestore.live.history import PastCommit
    from triplestore.live.hub import LiveHub
    from triplestore.live.subscription import Subscription
    from triplestore.reasoning.outcome import Change
    from triplestore.sparql.engine import AskedState
    from triplestore.storage import Database, State

_MAKING = threading.Lock()
_NOTING = threading.Lock()


class FollowedStore(ReadableStore):
    """A store whose changes can be followed; see `Store`."""

    _database: Database
    _hub: LiveHub | None = None
    _recent: tuple[RecentCommit, ...] = ()

    def subscribe(
        self,
        query: str,
        callback: Callable[[RowChanges], object] | None = None,
        *,
        since: int | None = None,
        initial: bool = False,
        on_error: Callable[[TripleStoreError], object] | None = None,
        facts: str = "all",
        base_iri: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        use_default_graph_as_union: bool = False,
        default_graph: GraphLike | Iterable[GraphLike] | None = None,
        named_graphs: Iterable[GraphLike] | None = None,
        substitutions: Substitutions | None = None,
        budget: int | None = None,
    ) -> Subscription:
        """Follow the rows of a SELECT: after each commit, those that came and those that went.

        The result is an iterator of `RowChanges` that waits for commits, and can be closed; with a
        `callback`, that is called instead, on a thread of its own, after the commit and in the
        order of commits. Rows are a bag: each comes and goes exactly as often as it does in the
        answer. `since` is the commit up to which the rows are known, and `initial` asks for all
        rows first. A subscriber that does not take its changes loses its place (`LostPlaceError`,
        given to `on_error` of a callback), and can subscribe again with `since`. The other keywords
        are those of `query`. A store that was opened read-only follows with `refresh()`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.bind("", "http://example.org/")
        >>> with store.subscribe("SELECT ?x { ?x a :Cat }") as cats:
        ...     _ = store.update("INSERT DATA { :tom a :Cat, :Pet }")
        ...     print(cats.next(timeout=10))
        commit 2
        + <http://example.org/tom>
        """
        # Late: it needs all of `sparql`.
        from triplestore.store.live_queries import live_query, options_key

        options = QueryOptions(
            facts,
            "all",
            base_iri,
            prefixes,
            use_default_graph_as_union,
            default_graph,
            named_graphs,
            budget=budget,
            substitutions=substitutions,
        )
        view = self._view()
        seen: Hashable = options_key(options)
        return self._followers().subscribe(
            (query, seen, tuple(sorted(view.prefixes.items()))),
            lambda: live_query(query, view, options),
            seen,
            _asker(options),
            since=since,
            initial=initial,
            callback=callback,
            on_error=on_error,
        )

    def changes(self, since: int | None = None) -> ChangeFeed:
        """The facts that come and go with each commit, asserted and inferred, from now on.

        The result is an iterator of `QuadChanges` that waits for commits. `since` is the commit up
        to which they are known already; if the changes since then are not kept any more, that is a
        `LostPlaceError`. What was before the first call of `changes` or `subscribe` is kept only as
        long as it is in the journal, and comes as one commit; a store that keeps its history
        (`keep_history`) has every commit in it.

        >>> from triplestore import Store
        >>> store = Store()
        >>> feed = store.changes()
        >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        >>> for quad, inferred in feed.next(timeout=10).added:
        ...     print(quad.object.value, inferred)
        1 False
        """
        # Late: few runs follow changes.
        from triplestore.live.feed import ChangeFeed

        return ChangeFeed(self._followers(), since, self._past_commits)

    def _past_commits(self, since: int) -> Iterator[PastCommit] | None:
        """The commits after one, as far as a history is kept; None if it is not."""
        return None

    @property
    def recent_commits(self) -> tuple[RecentCommit, ...]:
        """The last commits since the store was opened, with their counts; the newest is last.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 1, 2 .", "ttl")
        >>> [(each.commit, str(each.change)) for each in store.recent_commits]
        [(1, 'added 2')]
        """
        return self._recent

    @property
    def is_reader(self) -> bool:
        """Whether it was opened for reading only, and shows new commits after `refresh()`."""
        return self._database.read_only

    def _followers(self) -> LiveHub:
        # Late: few runs follow changes.
        from triplestore.live.hub import LiveHub

        with _MAKING:
            hub = self._hub_here
            if hub is None:
                self._hub = hub = LiveHub(self._database.state, self._database.state_at)
                weakref.finalize(self, hub.close)
            return hub

    @property
    def _hub_here(self) -> LiveHub | None:
        """The hub, unless it belongs to the process of which this one is a fork."""
        hub = self._hub
        return hub if hub is not None and hub.is_of_this_process else None

    @property
    def has_followers(self) -> bool:
        """Whether live queries or change feeds were asked for."""
        return self._hub_here is not None

    def _note_commit(self, change: Change | None, commit: int) -> None:
        with _NOTING:  # readers may move to the same commit at the same time
            if not self._recent or self._recent[-1].commit < commit:
                made = RecentCommit(commit, time.time(), change)
                self._recent = (*self._recent, made)[-STORE.recent_commits :]

    def _note(self, published: Published) -> None:
        """Tell followers of a commit."""
        self._note_commit(published.change, published.after.commit)
        hub = self._hub_here
        if hub is not None:
            hub.publish(published)

    def _note_moved(self) -> None:
        """Tell followers that the newest state has other ids."""
        hub = self._hub_here
        if hub is not None:
            hub.moved(self._database.state)

    def _end_following(self) -> None:
        hub = self._hub
        if hub is not None:
            hub.close()


def _asker(options: QueryOptions) -> Callable[[State], AskedState]:
    # Late: it needs all of `sparql`.
    from triplestore.store.run_query import asked_state

    def ask(state: State) -> Any:
        return asked_state(StateView.of(state), options)

    return ask
