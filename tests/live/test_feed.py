"""The change feed: which facts it lists, and where it continues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.live.followed import delete, insert, next_of
from triplestore import Quad, Store
from triplestore.errors import LostPlaceError
from triplestore.live.thresholds import LIVE


def test_feed__lists_each_fact_once_with_its_status(store: Store) -> None:
    store.reason(rules="@prefix : <http://ex.org/> . :Pet[?x] :- :Cat[?x] .")
    feed = store.changes()
    insert(store, ":tom a :Cat, :Pet")
    delete(store, ":tom a :Pet")
    first, second = feed.next(0), feed.next(0)
    assert first is not None and second is not None and feed.next(0) is None
    assert sorted((quad.object.value[14:], inferred) for quad, inferred in first.added) == [
        ("Cat", False),
        ("Pet", False),
    ]
    assert [(quad.object.value[14:], inferred) for quad, inferred in second.added] == [
        ("Pet", True)
    ]
    assert [inferred for _, inferred in second.removed] == [False]
    assert str(second).splitlines()[0] == f"commit {store.commit}"


def test_feed__continues_from_a_commit(store: Store, tune: Callable[..., None]) -> None:
    tune(LIVE, kept_commits=3)
    feed = store.changes()
    start = store.commit
    commits = [insert(store, f":x{number} a :Cat") for number in range(3)]
    assert [next_of(feed, 0).commit for _ in commits] == commits
    again = store.changes(since=commits[0])
    assert [next_of(again, 0).commit for _ in commits[1:]] == commits[1:]
    slow = store.changes(since=start)
    insert(store, ":x3 a :Cat")
    with pytest.raises(LostPlaceError, match="not kept any more"):
        slow.next(0)


def test_feed__skips_commits_without_facts_and_leaves_generalised_facts_out(store: Store) -> None:
    feed = store.changes()
    store.bind("other", "http://other.org/")
    store.reason(rules="@prefix : <http://ex.org/> . :of[?y, ?x] :- :v[?x, ?y] .")
    commit = insert(store, ":x :v 1")
    found = feed.next(0)
    assert found is not None and found.commit == commit
    assert [quad for quad, _ in found.added] == list(store)


def test_feed__waits_for_other_threads(store: Store) -> None:
    feed = store.changes()
    quad = Quad(*next(iter(_one())))
    writer = threading.Timer(0.05, lambda: store.add(quad))
    writer.start()
    assert [found for found, _ in next_of(feed).added] == [quad]
    writer.join()


def _one() -> Any:
    made = Store()
    made.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
    return made
