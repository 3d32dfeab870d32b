"""Few quads, written in the short way into stores without rules: as in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store
from triplestore.errors import StorageError, UsageError
from triplestore.reasoning.outcome import Change
from triplestore.relations.thresholds import RELATIONS
from triplestore.storage.thresholds import STORAGE
from triplestore.store.thresholds import STORE
from triplestore.store.writes import few_writes

A, P = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[Change | None]:
    """What the short way returned."""
    found: list[Change | None] = []
    write = few_writes.write_few

    def noting(*given: object) -> Change | None:
        found.append(write(*given))
        return found[-1]

    monkeypatch.setattr(few_writes, "write_few", noting)
    return found


def some_quads(random: Random) -> list[Quad]:
    objects = [Literal(random.randrange(6)), Literal("x"), NamedNode(f"http://ex.org/{1}")]
    return [
        Quad(
            NamedNode(f"http://ex.org/s{random.randrange(4)}"),
            NamedNode(f"http://ex.org/p{random.randrange(2)}"),
            random.choice(objects),
        )
        for _ in range(random.choice([1, 1, 1, 2, 5]))
    ]


def act(store: Store, add: bool, quads: list[Quad]) -> Change:
    if len(quads) == 1:
        return store.add(quads[0]) if add else store.remove(quads[0])
    return store.extend(quads) if add else store.remove_all(quads)


@pytest.mark.parametrize("seed", range(12))
def test_few_writes__are_as_in_a_transaction(
    tmp_path: Path, tune: Callable[..., None], noted: list[Change | None], seed: int
) -> None:
    random = Random(seed)
    tune(RELATIONS, recent_facts=random.choice([1, 3, 1000]), combine_rows=random.choice([2, 256]))
    tune(STORAGE, journal_records=random.choice([5, 4096]))
    store, plain = Store(tmp_path / "short"), Store(tmp_path / "plain")
    held: list[tuple[object, set[Quad]]] = []
    model: set[Quad] = set()
    few = STORE.few_quads
    tune(STORE, few_quads=few)  # so that it is set back if this fails
    for _ in range(60):
        quads, add = some_quads(random), random.random() < 0.6
        change = act(store, add, quads)
        STORE.few_quads = -1
        assert act(plain, add, quads) == change
        STORE.few_quads = few
        model = model | set(quads) if add else model - set(quads)
        if random.random() < 0.2:
            held.append((store.snapshot(), model))
        if random.random() < 0.2:
            assert set(store) == model and len(store) == len(model)
        if random.random() < 0.1:
            path = random.choice(quads)
            assert (path in store) == (path in model)
        if random.random() < 0.05:
            store.close()
            store = Store(tmp_path / "short")
    assert len(noted) == 60
    assert [each.change.added for each in store.recent_commits] == [
        each.change.added for each in plain.recent_commits
    ][-len(store.recent_commits) :]
    for snapshot, facts in held:
        assert set(snapshot) == facts
    store.close()
    with Store(tmp_path / "short") as again:
        assert set(again) == model
        assert again.verify() == []


def test_few_writes__what_failed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "db") as store:
        store.add((A, P, Literal(1)))
        before = store._database.dictionary.size

        def fails(*_: object) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(store._database.disk, "log", fails)
            with pytest.raises(StorageError, match="full"):
                store.add((A, P, Literal("new")))
        assert store._database.dictionary.size == before and len(store) == 1
        assert store.add((A, P, Literal("other"))).commit == 2
    with Store(tmp_path / "db") as again:
        assert {quad.object.value for quad in again} == {"1", "other"}


def test_few_writes__rules_graphs_and_followers_take_a_transaction(
    noted: list[Change | None],
) -> None:
    store = Store()
    store.add((A, P, Literal(1)))
    assert len(noted) == 1
    store.add((A, P, Literal(1), A))  # of a named graph
    assert noted.pop() is None
    store.add_rules("<http://ex.org/q>[?x, ?y] :- <http://ex.org/p>[?x, ?y] .")
    assert store.add((A, P, Literal(2))).inferred_added == 1
    assert len(noted) == 1
    followed = Store()
    feed = followed.changes()
    followed.add((A, P, Literal(3)))
    assert len(list(feed.next(timeout=10).added)) == 1
    assert len(noted) == 1


def test_few_writes__in_a_transaction_of_the_same_thread_are_refused() -> None:
    store = Store()
    with store.transaction() as transaction:
        transaction.add((A, P, A))
        with pytest.raises(UsageError, match="transaction open"):
            store.add((A, P, P))


def test_few_writes__ten_thousand_without_a_read_do_not_nest(tune: Callable[..., None]) -> None:
    tune(RELATIONS, recent_facts=2)
    store = Store()
    for n in range(5000):
        store.add((A, P, Literal(n)))
    assert len(store) == 5000


def test_few_writes__what_is_written_while_others_read(tmp_path: Path) -> None:
    from threading import Thread

    store, sizes = Store(tmp_path / "db"), []

    def read() -> Iterator[int]:
        while not sizes or sizes[-1] < 300:
            found = store.snapshot()
            assert len(set(found)) == len(found)
            sizes.append(len(found))
            yield sizes[-1]

    readers = [Thread(target=lambda: list(read())) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(300):
        store.add((A, P, Literal(n)))
    for reader in readers:
        reader.join()
    assert sizes[-1] == 300
    store.close()
