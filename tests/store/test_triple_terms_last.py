"""Triple terms in a directory: opened again, cut off by a crash, or written by an older version."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore import Store
from triplestore.loaders.spark.importing.parquet_parts import IdRows, Keys
from triplestore.loaders.spark.importing.write_store import write_store
from triplestore.terms import TermSegment
from triplestore.terms.spans import texts_of_keys

ASK = """PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
SELECT ?s ?o { ?r rdf:reifies <<( ?s :p ?o )>> }"""
NESTED = "PREFIX : <http://e/> SELECT ?o { ?r ?v <<( ?s ?q <<( :x :only ?o )>> )>> }"
TEXT = """PREFIX : <http://e/> INSERT DATA { << :a%d :p 'deep %d' ~ :r%d >> :by :b .
:r%d :says <<( :y :z <<( :x :only %d )>> )>> }"""


def fill(store: Store, start: int, stop: int) -> None:
    for number in range(start, stop):
        store.update(TEXT % ((number,) * 5))


def check(store: Store, count: int) -> None:
    assert sorted(str(row["o"]) for row in store.query(ASK)) == sorted(
        f'"deep {n}"' for n in range(count)
    )
    assert len(list(store.query(NESTED))) == count
    assert all(run.is_whole for run in store._database.dictionary.triple_runs())


def test_reopening__finds_parts_of_the_journal_and_of_files(tmp_path: Path) -> None:
    for round_ in range(4):
        with Store(tmp_path / "store") as store:
            check(store, 10 * round_)
            fill(store, 10 * round_, 10 * round_ + 10)
            check(store, 10 * round_ + 10)
            if round_ == 1:
                store.optimize()
            elif round_ == 2:
                store._database.upkeep.checkpoint()
    with Store.read_only(str(tmp_path / "store")) as store:
        check(store, 40)


def test_optimize__keeps_the_parts_of_used_terms_only(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        fill(store, 0, 6)
        store.update("PREFIX : <http://e/> DELETE WHERE { :r3 ?p ?o }")
        store.optimize()
        dictionary = store._database.dictionary
        assert dictionary.lookup_key(b"\x03deep 3") == 0
        assert dictionary.lookup_key(b"\x03deep 4") > 0
        assert sum(map(len, dictionary.triple_runs())) == 15
    with Store(tmp_path / "store") as store:
        assert len(list(store.query(ASK))) == 5


@pytest.fixture
def without_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files as versions without columns of parts wrote them."""
    monkeypatch.setattr(TermSegment, "count_of_triples", property(lambda segment: None))
    from triplestore.terms.dictionary import Dictionary

    monkeypatch.setattr(Dictionary, "add_parts", lambda dictionary, keys: None)


def old_store(folder: Path) -> None:
    with Store(folder) as store:
        fill(store, 0, 3)
        store.optimize()
        fill(store, 3, 5)


def test_older_stores__open_and_answer(
    tmp_path: Path, without_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_store(tmp_path / "store")
    monkeypatch.undo()
    with Store.read_only(str(tmp_path / "store")) as store:
        assert len(list(store.query(ASK))) == 5
        assert sorted(str(row["o"])[:3] for row in store.query(NESTED)) == [
            f'"{n}"' for n in range(5)
        ]
    with Store(tmp_path / "store") as store:
        fill(store, 5, 7)
        assert len(list(store.query(ASK))) == 7
        store.optimize()
        check(store, 7)
    with Store(tmp_path / "store") as store:
        check(store, 7)


def test_imported_stores__have_the_parts(tmp_path: Path) -> None:
    import numpy as np

    keys = [b"\x01http://e/r", b"\x01http://e/v", b"\x06<<( <http://e/a> <http://e/p> _:n )>>"]
    buf, starts, lengths, kinds = texts_of_keys(keys)
    texts = np.concatenate([buf[s : s + n] for s, n in zip(starts, lengths, strict=True)])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.uint64)
    rows = IdRows(*(np.array([i], np.uint32) for i in (1, 2, 3)), None)
    write_store(tmp_path / "db", lambda: Keys(texts, offsets, kinds), lambda: rows, {})
    with Store(tmp_path / "db") as store:
        (row,) = store.query("SELECT ?s ?o { ?r ?v <<( ?s <http://e/p> ?o )>> }")
        assert str(row["s"]) == "<http://e/a>"
        assert all(run.is_whole for run in store._database.dictionary.triple_runs())
