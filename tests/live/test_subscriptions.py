"""Subscriptions: what comes when, who is told of what, and how they end."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.followed import Followed, bag, delete, insert, next_of
from triplestore import Store
from triplestore.errors import LostPlaceError, TimeLimitError, UsageError
from triplestore.live.events import RowChanges
from triplestore.live.thresholds import LIVE

CATS = "SELECT ?x { ?x a :Cat }"
SECONDS = 20.0


def settled(store: Store) -> None:
    hub: Any = store._hub
    assert hub.wait_for(store.commit, SECONDS)


def names(rows: Any) -> list[str]:
    return sorted(row[0].value.rpartition("/")[2] for row in rows)


def taken(subscription: Any) -> tuple[int, list[str], list[str]]:
    """The next change: its commit, and the names of what came and went."""
    found = next_of(subscription)
    return found.commit, names(found.added), names(found.removed)


# -- what comes -----------------------------------------------------------------------------------


def test_changes__have_the_number_of_their_commit(store: Store) -> None:
    with store.subscribe(CATS) as cats:
        first = insert(store, ":tom a :Cat . :kit a :Cat, :Pet")
        second = delete(store, ":tom a :Cat")
        assert taken(cats) == (first, ["kit", "tom"], [])
        assert taken(cats) == (second, [], ["tom"])
        assert cats.variables == ("x",)


def test_changes__of_rows_are_a_bag(store: Store) -> None:
    insert(store, ":a :p :b . :c :p :b")
    with store.subscribe("SELECT ?y { ?x :p ?y }") as ends:
        delete(store, ":a :p :b")
        insert(store, ":d :p :b . :e :p :b")
        assert taken(ends)[1:] == ([], ["b"])
        assert taken(ends)[1:] == (["b", "b"], [])


def test_changes__none_come_where_the_rows_stay(store: Store) -> None:
    insert(store, ":tom a :Cat")
    with store.subscribe(CATS) as cats, store.subscribe("SELECT DISTINCT ?p { ?s ?p ?o }") as used:
        insert(store, ":tom a :Pet . :kit a :Pet")
        settled(store)
        assert cats.next(0) is used.next(0) is None
        assert cats.commit == store.commit


def test_changes__include_what_rules_infer(store: Store) -> None:
    with store.subscribe(CATS) as cats:
        insert(store, ":shere a :Tiger")
        store.reason(rules="@prefix : <http://ex.org/> . :Cat[?x] :- :Tiger[?x] .")
        assert taken(cats)[1:] == (["shere"], [])
        store.reason("none")
        assert taken(cats)[1:] == ([], ["shere"])


def test_changes__of_terms_that_were_unknown(store: Store) -> None:
    query = "SELECT ?x { ?x :likes :fish ; a :Cat FILTER NOT EXISTS { ?x :owner :nemo } }"
    with store.subscribe(query) as found:
        insert(store, ":tom :likes :milk ; a :Cat")
        insert(store, ":tom :likes :fish")
        assert taken(found)[1:] == (["tom"], [])
        insert(store, ":tom :owner :nemo")
        assert taken(found)[1:] == ([], ["tom"])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?x :p ?y . ?y :q ?z FILTER(?z = :later) }",
        "SELECT * { ?x :p ?y . ?y :q ?z FILTER(?z IN (:later, :c)) }",
        "SELECT * { ?x :p ?y . ?y :q ?z VALUES (?y ?z) { (:later UNDEF) (UNDEF :later) } }",
        "SELECT ?x (COUNT(*) AS ?n) { { ?x :p ?y } UNION { ?x :q ?y } VALUES ?y { :later } } "
        "GROUP BY ?x",
    ],
)
def test_changes__of_terms_that_plans_had_before_the_store(store: Store, query: str) -> None:
    insert(store, ":a :p :b . :b :q :c")
    followed = Followed(store)
    assert followed.add(query)
    insert(store, ":x :p :y . :y :q :z")
    followed.check()
    insert(store, ":b :q :later")
    followed.check()
    insert(store, ":e :p :b, :later . :later :q :d")
    followed.check()
    delete(store, ":b :q :later")
    followed.check()
    assert followed.changed > 1
    followed.close()


def test_changes__of_terms_that_a_query_makes(store: Store) -> None:
    query = "SELECT (CONCAT(STR(?n), '!') AS ?t) (?n + 1 AS ?m) { ?x :n ?n }"
    with store.subscribe(query) as found:
        for number in (1, 2):
            insert(store, f":x{number} :n {number}")
        changes = [next_of(found) for _ in range(2)]  # all are computed before one is read
        for number, change in enumerate(changes, 1):
            (row,) = change.added
            assert (row["t"].value, row["m"].value) == (f"{number}!", str(number + 1))
        insert(store, ':other :m 3 ; :t "2!"')  # now the store has these terms
        delete(store, ":x2 :n 2")
        (row,) = next_of(found).removed
        assert (row["t"].value, row["m"].value) == ("2!", "3")


def test_changes__of_a_load_and_of_clearing(store: Store) -> None:
    with store.subscribe(CATS) as cats:
        lines = [f"<http://ex.org/{n}> a <http://ex.org/Cat> ." for n in range(3000)]
        store.load("\n".join(lines), "ttl")
        assert len(next_of(cats).added) == 3000
        store.clear()
        assert len(next_of(cats).removed) == 3000


def test_changes__nothing_of_what_was_rolled_back(store: Store) -> None:
    insert(store, ":tom a :Cat")
    with store.transaction() as transaction:
        transaction.update('INSERT DATA { :kit a :Cat ; :t "http://ex.org/tom" }')
        assert len(transaction) == 3
        cats = store.subscribe("SELECT (STR(?x) AS ?t) { ?x a :Cat }", initial=True)
        transaction.rollback()
    insert(store, ':x :t "another term, which gets the number that was free"')
    (row,) = next_of(cats).added
    assert row["t"].value == "http://ex.org/tom"
    settled(store)
    assert cats.next(0) is None


def test_changes__of_a_slice_are_those_of_one_answer(store: Store) -> None:
    insert(store, ":n1 :v 1 . :n2 :v 2 . :n3 :v 3")
    with store.subscribe("SELECT ?x { ?x :v ?v } ORDER BY ?v LIMIT 2", initial=True) as least:
        assert taken(least)[1] == ["n1", "n2"]
        insert(store, ":n0 :v 0")
        assert taken(least)[1:] == (["n0"], ["n2"])
        delete(store, ":n1 :v 1")
        assert taken(least)[1:] == (["n2"], ["n1"])


# -- where they begin -----------------------------------------------------------------------------


def test_initial__gives_all_rows_as_of_one_commit(store: Store) -> None:
    with store.subscribe(CATS, initial=True) as cats:
        assert taken(cats) == (store.commit, [], [])
    commit = insert(store, ":tom a :Cat")
    with store.subscribe(CATS, initial=True) as cats:
        assert taken(cats) == (commit, ["tom"], [])


def test_since__gives_all_that_changed_since_a_commit(store: Store) -> None:
    store.changes().close()  # from here on the past is kept
    insert(store, ":tom a :Cat . :kit a :Cat")
    since = store.commit
    delete(store, ":tom a :Cat")
    insert(store, ":pat a :Cat")
    insert(store, ":tom a :Cat")
    delete(store, ":kit a :Cat")
    with store.subscribe(CATS, since=since) as cats:
        assert taken(cats) == (store.commit, ["pat"], ["kit"])
    with store.subscribe(CATS, since=store.commit) as cats:
        assert cats.next(0) is None


def test_since__says_what_is_not_kept(store: Store, tune: Callable[..., None]) -> None:
    tune(LIVE, kept_commits=2)
    store.changes().close()
    for number in range(5):
        insert(store, f":x{number} a :Cat")
    oldest = store.commit - 2
    with store.subscribe(CATS, since=oldest) as cats:
        assert taken(cats)[1] == ["x3", "x4"]
    with pytest.raises(LostPlaceError, match=f"only those since commit {oldest}"):
        store.subscribe(CATS, since=oldest - 1)
    with pytest.raises(LostPlaceError, match="not known yet"):
        store.subscribe(CATS, since=store.commit + 1)


def test_since__reaches_back_before_the_store_was_opened(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.bind("", "http://ex.org/")
        insert(store, ":tom a :Cat . :kit a :Cat")
        since = store.commit
        delete(store, ":tom a :Cat")
        insert(store, ":pat a :Cat ; :likes :milk")
    with Store(tmp_path / "store") as store:
        now = store.commit
        with store.subscribe(CATS, since=since) as cats:
            assert taken(cats) == (now, ["pat"], ["tom"])
        feed = store.changes(since=since)
        changes = feed.next(0)
        assert changes is not None and changes.commit == now
        assert (len(changes.added), len(changes.removed)) == (2, 1)
        assert feed.next(0) is None
        between = store.changes(since=since + 1)
        assert len(next_of(between, 0).added) == 2
        insert(store, ":x a :Cat")
        assert next_of(feed, 0).commit == now + 1
        store._database.upkeep.checkpoint()
    with Store(tmp_path / "store") as store:
        for follow in (lambda: store.changes(since), lambda: store.subscribe(CATS, since=since)):
            with pytest.raises(LostPlaceError, match="not kept any more"):
                follow()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ASK { ?s ?p ?o }", "this is an ASK query"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "this is a CONSTRUCT query"),
        ("SELECT (RAND() AS ?r) { ?s ?p ?o }", "RAND.. has another value each time"),
        ("SELECT ?b { ?s ?p ?o BIND(BNODE() AS ?b) }", "BNODE"),
    ],
)
def test_subscribe__refuses_what_cannot_be_followed(store: Store, query: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        store.subscribe(query)


# -- callbacks ------------------------------------------------------------------------------------


class Calls:
    """Notes what it is called with."""

    def __init__(self) -> None:
        self.changes: list[RowChanges] = []
        self.called = threading.Condition()

    def __call__(self, changes: RowChanges) -> None:
        with self.called:
            self.changes.append(changes)
            self.called.notify_all()

    def wait(self, count: int) -> list[RowChanges]:
        with self.called:
            assert self.called.wait_for(lambda: len(self.changes) >= count, SECONDS)
            return self.changes


def test_callbacks__are_called_in_the_order_of_commits(store: Store) -> None:
    calls = Calls()
    with store.subscribe(CATS, calls):
        commits = [insert(store, f":x{number} a :Cat") for number in range(20)]
        assert [changes.commit for changes in calls.wait(20)] == commits


def test_callbacks__that_fail_are_logged_and_concern_nothing_else(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    calls = Calls()

    def fail(changes: RowChanges) -> None:
        raise ValueError("a fault of the callback")

    with caplog.at_level(logging.ERROR), store.subscribe(CATS, fail), store.subscribe(CATS, calls):
        insert(store, ":tom a :Cat")
        insert(store, ":kit a :Cat")
        assert [names(changes.added) for changes in calls.wait(2)] == [["tom"], ["kit"]]
    assert caplog.text.count("ValueError: a fault of the callback") == 2


def test_callbacks__may_write_to_the_store(store: Store) -> None:
    done = Calls()

    def greet(changes: RowChanges) -> None:
        for name in names(changes.added):
            insert(store, f":{name} a :Greeted")

    with store.subscribe(CATS, greet), store.subscribe("SELECT ?x { ?x a :Greeted }", done):
        insert(store, ":tom a :Cat")
        insert(store, ":kit a :Cat")
        found = [name for changes in done.wait(2) for name in names(changes.added)]
        assert sorted(found) == ["kit", "tom"]


def test_callbacks__are_not_called_after_the_end(store: Store) -> None:
    calls, others = Calls(), Calls()
    with store.subscribe(CATS, others):
        subscription = store.subscribe(CATS, calls)
        insert(store, ":tom a :Cat")
        calls.wait(1)
        subscription.unsubscribe()
        insert(store, ":kit a :Cat")
        others.wait(2)
        assert len(calls.changes) == 1


# -- those who are too slow, or fail ------------------------------------------------------------


def test_slow_subscribers__are_told_and_can_continue(
    store: Store, tune: Callable[..., None]
) -> None:
    tune(LIVE, queued_changes=2)
    with store.subscribe(CATS) as slow, store.subscribe(CATS) as quick:
        place = insert(store, ":x0 a :Cat")
        assert taken(slow)[0] == taken(quick)[0] == place
        for number in range(1, 5):
            insert(store, f":x{number} a :Cat")
            assert taken(quick)[1] == [f"x{number}"]
        with pytest.raises(LostPlaceError, match=f"since={place}") as lost:
            slow.next(SECONDS)
        assert lost.value.commit == slow.commit == place
        with store.subscribe(CATS, since=place) as again:
            assert taken(again)[1] == ["x1", "x2", "x3", "x4"]


def test_slow_callbacks__are_told(store: Store, tune: Callable[..., None]) -> None:
    tune(LIVE, queued_changes=1)
    told: list[Any] = []
    going = threading.Event()
    ended = threading.Event()

    def lost(error: Any) -> None:
        told.append(error)
        ended.set()

    with store.subscribe(CATS, lambda changes: going.wait(SECONDS), on_error=lost):
        for number in range(4):
            insert(store, f":x{number} a :Cat")
            settled(store)
        going.set()
        assert ended.wait(SECONDS)
        assert isinstance(told[0], LostPlaceError)


def test_queries_that_take_too_long__end_alone(store: Store, tune: Callable[..., None]) -> None:
    insert(store, " . ".join(f":x{number} :p :x{number + 1}" for number in range(300)))
    slow = store.subscribe(
        "SELECT (COUNT(*) AS ?n) { ?a :p ?b . ?c :p ?d . ?e :p ?f . ?g :p ?h . ?i :p ?j }"
    )
    with store.subscribe("SELECT ?x { ?x a :Cat }") as cats:
        tune(LIVE, query_seconds=0.2)
        insert(store, ":new :p :newer . :tom a :Cat")
        with pytest.raises(TimeLimitError):
            slow.next(SECONDS)
        assert taken(cats)[1] == ["tom"]


# -- what others see ------------------------------------------------------------------------------


def test_subscriptions__leave_no_trace_in_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "one") as store:
        store.bind("", "http://ex.org/")
        store.reason(rules="@prefix : <http://ex.org/> . :Pet[?x] :- :Cat[?x] .")
        insert(store, ":tom a :Cat")
        runs = store._reasoner

        def seen() -> list[Any]:
            files = sorted((file.name, file.stat().st_size) for file in store.path.iterdir())
            return [
                str(store),
                len(store),
                str(store.program),
                store.digest(),
                store.facts_by_rule(),
                files,
            ]

        before = seen()
        query = "SELECT ?x ?y { ?x a :Cat OPTIONAL { ?x :likes ?y } FILTER(?y != :unheard) }"
        with store.subscribe(query, initial=True) as found:
            assert found.next(0) is not None
            assert seen() == before
            assert store._reasoner is runs


def test_subscribers_of_one_query__share_its_work(store: Store) -> None:
    hub: Any
    with store.subscribe(CATS) as one, store.subscribe(CATS) as other:
        hub = store._hub
        assert len(hub._queries) == 1
        insert(store, ":tom a :Cat")
        assert one.next(SECONDS) is other.next(SECONDS)
    insert(store, ":kit a :Cat")
    settled(store)
    assert not hub._queries
    assert list(hub._indexes[0].hits(hub.history._past[-1].changes)) == []


# -- the end --------------------------------------------------------------------------------------


def test_closing_the_store__ends_iteration(store: Store) -> None:
    subscription = store.subscribe(CATS)
    insert(store, ":tom a :Cat")
    found: list[list[str]] = []
    reader = threading.Thread(target=lambda: found.extend(names(c.added) for c in subscription))
    reader.start()
    while not found:
        time.sleep(0.01)
    store.close()
    reader.join(SECONDS)
    assert not reader.is_alive()
    assert found == [["tom"]]


def test_threads__end_with_a_store_that_is_dropped() -> None:
    store = Store()
    subscription = store.subscribe("SELECT * { ?s ?p ?o }")
    hub = store._hub
    assert hub is not None and hub._thread is not None
    thread = hub._thread
    del store, hub
    gc.collect()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert subscription.closed


# -- other numbers for terms ----------------------------------------------------------------------


def test_optimizing__changes_nothing_for_subscribers(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.bind("", "http://ex.org/")
        insert(store, ":gone a :Dog . :tom a :Cat ; :v 1")
        followed = Followed(store)
        for query in (CATS, "SELECT ?x { ?x a ?c } ORDER BY ?x LIMIT 2", "SELECT * { ?s ?p ?o }"):
            assert followed.add(query)
        delete(store, ":gone a :Dog")
        followed.check()
        store.optimize()
        for triples in (":kit a :Cat ; :v 2", ":new a :Cat", ":a :b :c"):
            insert(store, triples)
            followed.check()


def test_optimizing_by_another_process__is_told(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as writer:
        writer.bind("", "http://ex.org/")
        insert(writer, ":gone a :Dog . :tom a :Cat")
        delete(writer, ":gone a :Dog")
        with Store.read_only(tmp_path / "store") as reader:
            cats, feed = reader.subscribe(CATS), reader.changes()
            writer.optimize()
            insert(writer, ":kit a :Cat")
            assert reader.refresh()
            with pytest.raises(LostPlaceError, match="optimized"):
                cats.next(SECONDS)
            with pytest.raises(LostPlaceError):
                feed.next(0)
            first = next_of(reader.subscribe(CATS, initial=True), 0)
            assert bag(first.added) == bag(reader.query(CATS))
