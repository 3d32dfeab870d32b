"""From tables to stores, without Spark: tables are written by pyarrow as Spark would write them."""

from __future__ import annotations

import errno
import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
from support.spark_rows import Row, some_rows
from support.spark_stores import assert_same_parts, files_of

from triplestore import Store
from triplestore.errors import CorruptError, StorageError
from triplestore.loaders.spark.importing.existing_store import Target, empty_loaded
from triplestore.loaders.spark.importing.parquet_parts import read_keys, read_rows
from triplestore.loaders.spark.importing.pull import pull
from triplestore.loaders.spark.importing.write_store import Extra, write_store
from triplestore.storage.files.system import Buffer, File, RealFiles
from triplestore.store.transaction import writer_of
from triplestore.terms import to_ntriples


def write_tables(place: Path, rows: list[Row], parts: int = 3, seed: int = 0) -> int:
    """Tables of the rows as a job writes them, in `parts` parts; returns the number of terms."""
    keys = sorted({key for row in rows for key in row if key is not None})
    ids = {key: number for number, key in enumerate(keys, 1)}
    bounds = sorted(random.Random(seed).randrange(len(keys) + 1) for _ in range(parts - 1))
    for name in ("terms", "triples"):
        (place / name).mkdir(parents=True)
    ranges = list(zip([0, *bounds], [*bounds, len(keys)], strict=True))
    for i, (lo, hi) in enumerate(ranges):
        table = pa.table({"id": pa.array(range(lo + 1, hi + 1), pa.int64()), "key": keys[lo:hi]})
        if i == 0 and parts > 2:  # one task may have written several ranges
            more = slice(*ranges.pop())
            ids_of_more = pa.array(range(more.start + 1, more.stop + 1), pa.int64())
            table = pa.concat_tables([pa.table({"id": ids_of_more, "key": keys[more]}), table])
        # Names do not say the order: ids do.
        _write(table, place / "terms" / f"part-{parts - i:05d}.parquet")
    shuffled = random.Random(seed).sample(rows, len(rows))
    for i in range(parts):
        mine = shuffled[i::parts]
        columns = {
            name: pa.array([ids.get(row[at] or b"") for row in mine], pa.int64())
            for at, name in enumerate("spog")
        }
        _write(pa.table(columns), place / "triples" / f"part-{i:05d}.parquet")
    said = {
        "format": 1,
        "terms": len(keys),
        "triples": len(rows),
        "files": {
            name: {path.name: path.stat().st_size for path in (place / name).iterdir()}
            for name in ("terms", "triples")
        },
        "sources": 1,
        "bad": 0,
        "extra": Extra(meta={"files": b"1"}).to_json(),
    }
    (place / "manifest.json").write_text(json.dumps(said))
    return len(keys)


def _write(table: Any, path: Path) -> None:
    options: dict[str, Any] = {"compression": "none", "use_dictionary": False}
    pq.write_table(
        table, path, write_page_checksum=True, write_statistics=False, row_group_size=50, **options
    )


def local(path: Path, rows: list[Row], **kwargs: Any) -> Path:
    """The same by the local loader; labels are those of the rows."""
    lines = [b" ".join(to_ntriples(key) for key in row if key is not None) + b" ." for row in rows]
    store = Store(path)
    store.load(b"\n".join(lines), "nq", **kwargs)
    store.close()
    return path


def scoped(rows: list[Row], number: int = 1) -> list[Row]:
    """The rows with blank nodes as file `number` brings them."""

    def renamed(key: bytes) -> bytes:
        return b"\x02f%dx" % number + key[1:] if key[0] == 2 else key

    return [(renamed(s), renamed(p), renamed(o), g and renamed(g)) for s, p, o, g in rows]


def test_pull__is_as_the_local_loader_makes_it_whatever_the_parts(tmp_path: Path) -> None:
    rows = some_rows()
    for parts in (1, 3, 7):
        write_tables(tmp_path / f"in{parts}", scoped(rows), parts, seed=parts)
        done = pull(str(tmp_path / f"in{parts}"), tmp_path / f"db{parts}")
        assert done.triples == len(rows)
    local(tmp_path / "local", rows)
    assert_same_parts(tmp_path / "db1", tmp_path / "local")
    assert files_of(tmp_path / "db1") == files_of(tmp_path / "db3") == files_of(tmp_path / "db7")


def test_pull__many_rows_are_as_the_local_loader_makes_them(tmp_path: Path) -> None:
    # Enough rows for characteristic sets in the file.
    rows = list(dict.fromkeys(some_rows(9000)))
    rows += [(row[0], b"\x01http://ex.org/more", row[2], None) for row in rows]
    rows += [(row[0], row[1], b"\x03%d" % i, None) for i, row in enumerate(rows * 8)]
    write_tables(tmp_path / "in", scoped(rows))
    pull(str(tmp_path / "in"), tmp_path / "db")
    local(tmp_path / "local", rows)
    assert_same_parts(tmp_path / "db", tmp_path / "local")


def test_pull__damage_is_found_and_leaves_nothing(tmp_path: Path) -> None:
    write_tables(tmp_path / "in", some_rows())
    part = sorted((tmp_path / "in" / "triples").iterdir())[1]
    good = part.read_bytes()

    def refused(match: str) -> None:
        with pytest.raises(StorageError, match=match):
            pull(str(tmp_path / "in"), tmp_path / "db")
        assert not (tmp_path / "db").exists()

    bad = bytearray(good)
    bad[60] ^= 1
    part.write_bytes(bad)
    refused("cannot be read")
    part.write_bytes(good)
    texts = (tmp_path / "in" / "terms").iterdir()
    text = next(path for path in texts if b"http" in path.read_bytes())
    before = text.read_bytes()
    text.write_bytes(before.replace(b"http", b"ittp", 1))
    refused("CRC")
    text.write_bytes(before)
    part.write_bytes(good[:-1])
    refused("should have")
    part.unlink()
    refused("should have")
    part.write_bytes(good)
    (part.parent / "part-00009.parquet").write_bytes(good)
    refused("a file of another job")
    (part.parent / "part-00009.parquet").unlink()
    (tmp_path / "in" / "manifest.json").write_text("{}")
    refused("is not finished or failed")
    (tmp_path / "in" / "manifest.json").unlink()
    refused("no finished import")


def test_parts__terms_that_are_missing_or_out_of_order_are_refused(tmp_path: Path) -> None:
    terms = write_tables(tmp_path / "in", some_rows())
    with pytest.raises(CorruptError, match="terms, not"):
        read_keys(str(tmp_path / "in" / "terms"), terms + 1, "id")
    table = pa.table({"id": pa.array([2, 2, 1], pa.int64()), "key": [b"\x01b", b"\x01c", b"\x01a"]})
    (tmp_path / "twice").mkdir()
    _write(table, tmp_path / "twice" / "part-00000.parquet")
    with pytest.raises(CorruptError, match="of the same id"):
        read_keys(str(tmp_path / "twice"), 3, "id")
    table = pa.table({"s": [1, None], "p": [1, 1], "o": [1, 1]})
    (tmp_path / "rows").mkdir()
    _write(table, tmp_path / "rows" / "part-0.parquet")
    with pytest.raises(CorruptError, match="s is null in a row"):
        read_rows(str(tmp_path / "rows"))


class FullDisk(RealFiles):
    """A disk with room for this number of bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def create(self, path: Path) -> File:
        return _Metered(super().create(path), self)


class _Metered:
    def __init__(self, file: File, disk: FullDisk) -> None:
        self._file, self._disk = file, disk

    def write(self, data: Buffer, offset: int) -> None:
        self._disk.room -= len(data)
        if self._disk.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._file.write(data, offset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_write_store__a_full_disk_leaves_nothing_that_opens(tmp_path: Path) -> None:
    terms = write_tables(tmp_path / "in", some_rows())
    keys = read_keys(str(tmp_path / "in" / "terms"), terms, "id")
    rows = read_rows(str(tmp_path / "in" / "triples"))
    write_store(tmp_path / "whole", lambda: keys, lambda: rows, {"files": b"1"})

    def write_to(target: Path, disk: FullDisk) -> None:
        write_store(target, lambda: keys, lambda: rows, {"files": b"1"}, files=disk)

    size = sum(len(content) for content in files_of(tmp_path / "whole").values())
    for room in range(0, size, max(size // 40, 1)):
        with pytest.raises(StorageError, match="make room"):
            write_to(tmp_path / "db", FullDisk(room))
        assert not any((tmp_path / "db").iterdir())
    write_to(tmp_path / "db", FullDisk(size))
    assert files_of(tmp_path / "db") == files_of(tmp_path / "whole")


def test_store__goes_on_like_one_that_was_loaded(tmp_path: Path) -> None:
    rows = some_rows()
    write_tables(tmp_path / "in", scoped(rows))
    pull(str(tmp_path / "in"), tmp_path / "db")
    local(tmp_path / "local", rows)
    stores = [Store(tmp_path / name) for name in ("db", "local")]
    source = random.Random(3)
    rules = (
        "@prefix ex: <http://ex.org/> . ex:linked[?x, ?z] :- ex:p1[?x, ?y], ex:p2[?z, ?y] ."
        "ex:linked[?x, ?z] :- ex:linked[?x, ?y], ex:linked[?y, ?z] ."
    )
    for step in range(12):
        quads = sorted(
            stores[1].quads_for_pattern(None, None, None, None, facts="explicit"), key=str
        )
        chosen = source.sample(quads, 9)
        for store in stores:
            if step == 3:
                store.reason(rules=rules)
            elif step == 7:
                store.optimize()
            elif step % 2:
                store.remove_all(chosen)
            else:
                turned = [type(q)(q.subject, q.predicate, q.subject, q.graph_name) for q in chosen]
                store.extend(turned)
        assert set(map(str, stores[0])) == set(map(str, stores[1])), step
        assert stores[0].count("inferred") == stores[1].count("inferred"), step
    for store, name in zip(stores, ("db", "local"), strict=True):
        assert store.verify(closure=True) == []
        store.backup(tmp_path / f"{name}.copy")
        store.close()
    assert set(map(str, Store(tmp_path / "db.copy"))) == set(
        map(str, Store(tmp_path / "local.copy"))
    )


# -- existing stores -----------------------------------------------------------------------------

MORE = [
    *some_rows(40),
    (b"\x01http://ex.org/new", b"\x01http://ex.org/p1", b"\x03new", None),
    (b"\x01http://ex.org/s1", b"\x01http://ex.org/p9", b"\x02x", None),
]


def change(folder: Path, target: Target, rows: list[Row], name: str | None = None) -> Any:
    """Carry out a job on a store as `import_dataset` does after Spark has done its part."""
    folder.mkdir(exist_ok=True)
    job = target.job(str(folder / "job.json"), "known", name, 1)
    place = folder / f"in{job.first}"
    if not place.exists():
        write_tables(place, scoped(rows, job.first))
    terms = len({key for row in rows for key in row if key is not None})
    keys = read_keys(str(place / "terms"), terms, "id")
    loaded = empty_loaded(1, job.first)
    return target.commit(job, keys, read_rows(str(place / "triples")), loaded, lambda t: None)


def test_existing__adding_is_as_a_load(tmp_path: Path) -> None:
    local(tmp_path / "db", some_rows())
    done = change(tmp_path / "work", Target(tmp_path / "db", "add"), MORE)
    local(tmp_path / "local", some_rows())
    store = Store(tmp_path / "local")
    lines = [b" ".join(to_ntriples(k) for k in row if k is not None) + b" ." for row in MORE]
    expected = store.load(b"\n".join(lines), "nq")
    store.close()
    assert (done.added, done.already_there) == (expected.added, expected.already_there)
    with_job = Store(tmp_path / "db")
    with with_job.transaction() as transaction:
        writer_of(transaction).keep({"imports": None})
    with_job.close()
    assert_same_parts(tmp_path / "db", tmp_path / "local")


def test_existing__a_job_that_is_tried_again_is_done_once(tmp_path: Path) -> None:
    local(tmp_path / "db", some_rows())
    target = Target(tmp_path / "db", "add")
    assert not target.has_done("monday")
    assert change(tmp_path / "work", target, MORE, "monday").added
    size = len(Store.read_only(tmp_path / "db"))
    assert change(tmp_path / "work", target, MORE, "monday") is None
    assert target.has_done("monday")
    assert len(Store.read_only(tmp_path / "db")) == size
    # One that failed before its commit continues with the same name and numbers of files.
    place = str(tmp_path / "work" / "other.json")
    job = target.job(place, "input", None, 3)
    assert target.job(place, "input", None, 3) == job
    assert target.job(place, "other input", None, 3).first == job.first + 3
    # Another job has other blank nodes.
    assert change(tmp_path / "work", target, MORE, "tuesday").added
    assert len(Store.read_only(tmp_path / "db")) > size


def test_existing__deleting_takes_back_what_is_stated(tmp_path: Path) -> None:
    rows = [row for row in some_rows() if all(key is None or key[0] != 2 for key in row)]
    local(tmp_path / "db", rows)
    s, p, o, _ = next(row for row in rows[40:] if row[3] is None and row not in rows[:30])
    graph = b"\x01http://ex.org/unknown"
    gone = [*rows[:30], (graph, p, o, None), (s, p, o, graph)]
    before = len(Store.read_only(tmp_path / "db"))
    done = change(tmp_path / "work", Target(tmp_path / "db", "delete"), gone)
    assert (done.removed, done.not_stated) == (len(set(rows[:30])), 2)
    store = Store.read_only(tmp_path / "db")
    assert len(store) == before - done.removed
    assert b"unknown" not in b"".join(store._database.dictionary.new_keys(0, store.info().terms))


def test_existing__replacing_a_graph_writes_the_difference(tmp_path: Path) -> None:
    graph = b"\x01http://ex.org/g0"
    local(tmp_path / "db", some_rows())
    rows: list[Row] = [(s, p, o, graph) for s, p, o, _ in some_rows(50)]
    target = Target(tmp_path / "db", "replace", ox.NamedNode("http://ex.org/g0"))
    assert change(tmp_path / "one", target, rows)
    # The same job again is a no-op: blank nodes have the labels of the first time.
    again = change(tmp_path / "two", target, rows)
    assert (again.added, again.removed) == (0, 0)
    store = Store.read_only(tmp_path / "db")
    found = list(store.quads_for_pattern(None, None, None, ox.NamedNode("http://ex.org/g0")))
    assert len(found) == len(set(rows))


def test_existing__the_closure_stays_exact(tmp_path: Path) -> None:
    local(tmp_path / "db", some_rows())
    store = Store(tmp_path / "db")
    rule = "@prefix ex: <http://ex.org/> . ex:q[?y, ?x] :- ex:p1[?x, ?y] ."
    store.reason(rules=rule)
    store.close()
    assert change(tmp_path / "work", Target(tmp_path / "db", "add"), MORE).inferred_added > 0
    assert Store(tmp_path / "db").verify(closure=True) == []


def test_pull__nothing_makes_an_empty_store(tmp_path: Path) -> None:
    write_tables(tmp_path / "in", [], parts=1)
    pull(str(tmp_path / "in"), tmp_path / "db")
    with Store(tmp_path / "db") as store:
        assert len(store) == 0
        assert store.load("<http://ex.org/a> <http://ex.org/b> 1 .", "ttl").added == 1
