"""All who follow one store: start at `LiveHub`.

A commit is noted by the thread that makes it. Another thread, the only one that changes queries
and indexes, computes what it means for each query that reads one of the changed facts, and delivers
it. So commits do not wait for subscribers, and subscribers see commits in order.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TypeAlias, cast

from triplestore.errors import LostPlaceError, TripleStoreError, UsageError
from triplestore.live.callbacks import Callback, Caller, OnError
from triplestore.live.committed_terms import CommittedTerms
from triplestore.live.events import RowChanges
from triplestore.live.history import History, PastCommit, keep_ids
from triplestore.live.published import Published
from triplestore.live.query import LiveQuery
from triplestore.live.subscription import Subscription
from triplestore.live.triggers import Trigger, TriggerIndex
from triplestore.sparql.engine import AskedState
from triplestore.storage import State
from triplestore.terms import Dictionary

logger = logging.getLogger("triplestore.live")

AskOf: TypeAlias = Callable[[State], AskedState]
"""The part of a state that a query sees."""


class _Followed:
    """A live query, how it sees a state, and its subscribers."""

    def __init__(self, key: Hashable, query: LiveQuery, view: Hashable, ask: AskOf) -> None:
        self.key = key
        self.query = query
        self.view = view
        self.ask = ask
        self.subscribers: dict[Subscription, None] = {}


class LiveHub:
    """The followers of one store.

    history  the recent commits, for those who continue from one
    earlier  gives the state after a commit that the history lacks, or None
    """

    def __init__(
        self, state: State, earlier: Callable[[int], State | None] = lambda commit: None
    ) -> None:
        self.history = History(state)
        self._earlier = earlier
        self.changed = threading.Condition()
        self.listeners: dict[Callable[[], None], None] = {}
        self._work: deque[PastCommit | Callable[[], None]] = deque()
        self._done = state.commit
        self._thread: threading.Thread | None = None
        self._closed = False
        self._pid = os.getpid()
        self._queries: dict[Hashable, _Followed] = {}
        self._of_subscriber: dict[Subscription, _Followed] = {}
        self._of_query: dict[LiveQuery, _Followed] = {}
        self._indexes = (TriggerIndex(False), TriggerIndex(True))
        self._terms: CommittedTerms | None = None
        self._caller = Caller()

    # -- commits ----------------------------------------------------------------------------------

    def publish(self, published: Published) -> None:
        """Note a commit; called in the order of commits."""
        with self.changed:
            past = self.history.add(published)
            if past is None:
                return
            if keep_ids(past.before, past.after):
                self._put(past)
            else:
                self.history.forget(past.after)
                self._put(self._renumbered)
            self.changed.notify_all()
            listeners = list(self.listeners)
        for listener in listeners:
            listener()

    def state_at(self, commit: int) -> State:
        """The state after a commit, which followers continue from; the lock is held."""
        try:
            return self.history.state_at(commit)
        except LostPlaceError:
            found = self._earlier(commit)
            if found is None:
                raise
            self.history.reach_back(found)
            return self.history.state_at(commit)

    def moved(self, state: State) -> None:
        """The newest state has another form now, perhaps with other ids; the past is forgotten."""
        with self.changed:
            self.history.forget(state)

    def close(self) -> None:
        """End all subscriptions and feeds, and the threads."""
        if not self.is_of_this_process:
            return  # in a fork, whose exit calls this as well
        with self.changed:
            if self._closed:
                return
            self._closed = True
            self._put(self._end_all)
            self.changed.notify_all()
            listeners = list(self.listeners)
        for listener in listeners:
            listener()
        self._caller.stop()

    @property
    def closed(self) -> bool:
        """Whether the store was closed."""
        return self._closed

    @property
    def is_of_this_process(self) -> bool:
        """Whether it has its threads: a fork does not, and its lock may be held forever there."""
        return self._pid == os.getpid()

    def wait_for(self, commit: int, timeout: float) -> bool:
        """Wait until what a commit means was delivered; False if that takes longer."""
        with self.changed:
            return self.changed.wait_for(lambda: self._done >= commit or self._closed, timeout)

    # -- subscriptions ----------------------------------------------------------------------------

    def subscribe(
        self,
        key: Hashable,
        make: Callable[[], LiveQuery],
        view: Hashable,
        ask: AskOf,
        *,
        since: int | None = None,
        initial: bool = False,
        callback: Callback | None = None,
        on_error: OnError | None = None,
    ) -> Subscription:
        """Follow a query; subscribers of one query share its work.

        key      equal for subscribers of one query
        make     makes the query
        view     equal for queries that see the same part of a state, as `ask` gives it
        since    the commit up to which the subscriber knows the rows; None: the newest one
        initial  whether all rows come first, as rows that were added
        """
        made: Future[Subscription] = Future()
        with self.changed:
            if self._closed:
                raise UsageError("the store is closed")
            now = self.history.latest
            then = now if since is None else self.state_at(since)
            self._start()

            def begin() -> None:
                try:
                    followed = self._followed(key, make, view, ask, now)
                    subscription = Subscription(followed.query.names, self._leave, self._progress)
                    subscription.begin(then.commit)
                    if callback is not None:
                        self._caller.attach(subscription, callback, on_error)
                    self._deliver_first(followed, subscription, then, now, initial)
                    followed.subscribers[subscription] = None
                    self._of_subscriber[subscription] = followed
                    made.set_result(subscription)
                except BaseException as error:  # noqa: BLE001 - raised in the calling thread
                    made.set_exception(error)

            self._put(begin)
        return made.result()

    def _followed(
        self,
        key: Hashable,
        make: Callable[[], LiveQuery],
        view: Hashable,
        ask: AskOf,
        now: State,
    ) -> _Followed:
        found = self._queries.get(key)
        if found is None:
            self._see(now)
            found = _Followed(key, make(), view, ask)
            asked = self._asked(found, now)
            found.query.begin(asked)
            for trigger in found.query.listen(asked):
                self._indexes[trigger.named].add(trigger)
            self._queries[key] = found
            self._of_query[found.query] = found
        return found

    def _deliver_first(
        self,
        followed: _Followed,
        subscription: Subscription,
        then: State,
        now: State,
        initial: bool,
    ) -> None:
        self._see(now)
        query = followed.query
        if initial:
            rows, terms = query.current(self._asked(followed, now))
            subscription.deliver(RowChanges(now.commit, rows.slice(0, 0), rows, terms))
        elif then is not now:
            found = query.between(self._asked(followed, then), self._asked(followed, now))
            if found:
                changes = RowChanges(now.commit, found.removed, found.added, found.terms)
                subscription.deliver(changes)

    def _leave(self, subscription: Subscription) -> None:
        with self.changed:
            self._put(lambda: self._drop(subscription))

    def _drop(self, subscription: Subscription) -> None:
        followed = self._of_subscriber.pop(subscription, None)
        if followed is not None:
            followed.subscribers.pop(subscription, None)
            if not followed.subscribers:
                self._forget(followed)

    def _forget(self, followed: _Followed) -> None:
        if self._of_query.pop(followed.query, None) is None:
            return  # it was forgotten when it failed
        del self._queries[followed.key]
        for trigger in followed.query.triggers:
            self._indexes[trigger.named].discard(trigger)

    def _progress(self) -> int:
        return self._done

    # -- the thread -------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="triplestore-live", daemon=True)
            self._thread.start()

    def _put(self, work: PastCommit | Callable[[], None]) -> None:
        """Leave work to the thread; the lock is held."""
        if self._thread is not None:
            self._work.append(work)
            self.changed.notify_all()
        elif isinstance(work, PastCommit):
            self._done = work.commit

    def _run(self) -> None:
        while True:
            with self.changed:
                while not self._work:
                    if self._closed:
                        return
                    self.changed.wait()
                work = self._work.popleft()
            if isinstance(work, PastCommit):
                try:
                    self._process(work)
                except Exception as error:
                    logger.exception("commit %d could not be followed", work.commit)
                    self._fail_all(_reported(error))
                self._caller.flush()
                with self.changed:
                    self._done = work.commit
                    self.changed.notify_all()
            else:
                try:
                    work()
                except Exception:
                    logger.exception("a subscription could not begin or end")
                self._caller.flush()

    def _process(self, past: PastCommit) -> None:
        """Compute and deliver what a commit means for the queries."""
        if not self._queries or not past.changes:
            return
        changes = past.changes
        terms = self._see(past.after)
        if past.after.term_count > past.before.term_count:
            for index in self._indexes:
                index.wake(terms)
        hits: dict[LiveQuery, list[Trigger]] = {}
        for index in self._indexes:
            for trigger in index.hits(changes):
                hits.setdefault(trigger.owner[0], []).append(trigger)
        if changes.graphs:
            hits |= {each: hits.get(each, []) for each in self._of_query if each.graphs}
        views: dict[Hashable, tuple[AskedState, AskedState]] = {}
        for query, own in hits.items():
            followed = self._of_query[query]
            view = views.get(followed.view)
            if view is None:
                before = self._asked(followed, past.before)
                view = views[followed.view] = before, self._asked(followed, past.after)
            try:
                found = query.changed(*view, changes, own)
            except Exception as error:  # noqa: BLE001 - given to the subscribers
                self._fail(followed, _reported(error))
                continue
            if found:
                made = RowChanges(past.commit, found.removed, found.added, found.terms)
                for subscription in list(followed.subscribers):
                    if not subscription.deliver(made):
                        self._drop(subscription)

    def _see(self, state: State) -> Dictionary:
        """The terms of a state; if its ids are other ones, all queries look them up again."""
        terms = self._terms
        if terms is None or not terms.is_of(state):
            terms = self._terms = CommittedTerms(state.dictionary, state.term_count)
            self._indexes = (TriggerIndex(False), TriggerIndex(True))
            for followed in self._queries.values():
                for trigger in followed.query.listen(self._asked(followed, state)):
                    self._indexes[trigger.named].add(trigger)
        terms.size = state.term_count
        return cast("Dictionary", terms)

    def _asked(self, followed: _Followed, state: State) -> AskedState:
        return followed.ask(state)._replace(dictionary=cast("Dictionary", self._terms), plans=None)

    def _renumbered(self) -> None:
        self._fail_all(
            LostPlaceError(
                "another process has optimized the store, which gives its terms other ids: "
                "subscribe again"
            )
        )
        self._terms = None

    def _fail(self, followed: _Followed, error: TripleStoreError) -> None:
        for subscription in followed.subscribers:
            subscription.fail(error)
        self._forget(followed)

    def _fail_all(self, error: TripleStoreError) -> None:
        for followed in list(self._queries.values()):
            self._fail(followed, error)

    def _end_all(self) -> None:
        for followed in list(self._queries.values()):
            for subscription in list(followed.subscribers):
                subscription.close()
            self._forget(followed)


def _reported(error: Exception) -> TripleStoreError:
    if isinstance(error, TripleStoreError):
        return error
    logger.error("a query could not be followed", exc_info=error)
    return TripleStoreError(f"the query could not be followed any more: {error}")
