"""Importing on Spark against the local loader: the same terms, rows, statistics and files."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from support.spark_stores import assert_same_parts, files_of

from triplestore import Store
from triplestore.errors import StaleError, StorageError, UsageError
from triplestore.loaders.spark.importing import import_job
from triplestore.loaders.spark.importing.dataset import import_dataset
from triplestore.loaders.spark.importing.parquet_parts import read_keys
from triplestore.loaders.spark.importing.pull import pull
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.statements import read_statements
from triplestore.loaders.spark.importing.write_store import name_of_store

PREFIXES = "@prefix ex: <http://ex.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"


def write_sources(folder: Path, statements: int = 300) -> list[Path]:
    """Three files: N-Triples, N-Quads and Turtle, with terms of all kinds and blank nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    triples, quads = [], []
    for i in range(statements):
        value = (f'"{i % 9}"^^<http://www.w3.org/2001/XMLSchema#int>', f"_:b{i % 7}", '"x"@en')[
            i % 3
        ]
        triples.append(f"<http://ex.org/s{i % 23}> <http://ex.org/p{i % 5}> {value} .")
        quads.append(
            f"_:b{i % 3} <http://ex.org/q> <http://ex.org/o{i}> <http://ex.org/g{i % 2}> ."
        )
    turtle = PREFIXES + "ex:a ex:knows [ ex:name 'b' ; ex:age 3.5 ] , ex:c . ex:c a ex:Person ."
    paths = [folder / "a.nt", folder / "b.nq", folder / "c.ttl"]
    for path, text in zip(paths, ("\n".join(triples), "\n".join(quads), turtle), strict=True):
        path.write_text(text + "\n")
    return paths


def local(folder: Path, paths: list[Path], **kwargs: Any) -> Path:
    store = Store(folder)
    store.load(path=sorted(paths), **kwargs)
    store.close()
    return folder


def test_import__is_as_the_local_loader_makes_it(spark: Any, tmp_path: Path) -> None:
    paths = write_sources(tmp_path / "in")
    done = import_dataset(spark, str(tmp_path / "in"), tmp_path / "spark", partitions=2)
    assert (done.files, done.bad) == (3, 0)
    local(tmp_path / "local", paths)
    assert_same_parts(tmp_path / "spark", tmp_path / "local")
    assert not (tmp_path / "spark.import").exists()
    # And the files are the same whatever the parts and whatever the order of the statements.
    for path in paths[:2]:
        lines = path.read_text().splitlines()
        random.Random(5).shuffle(lines)
        path.write_text("\n".join(lines) + "\n")
    import_dataset(spark, [str(p) for p in reversed(paths)], tmp_path / "other", partitions=3)
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "other")


class PlantedError(Exception):
    """A fault that a test has planted."""


STEPS = (
    "read_statements",
    "ordered_terms",
    "count_terms",
    "read_blocks",
    "read_chunks",
    "write_store",
    "put_in_place",
)
STEPS_OF_TABLES = ("numbered", "encode", "write_tables")


def test_import__goes_on_where_it_failed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_sources(tmp_path / "in", 100)
    target = tmp_path / "db"

    def fail(*args: Any, **kwargs: Any) -> None:
        raise PlantedError

    tables = {"tables": str(tmp_path / "tables")}
    for step in (*STEPS, *STEPS_OF_TABLES):
        more = tables if step in STEPS_OF_TABLES else {}
        with monkeypatch.context() as patch:
            patch.setattr(import_job, step, fail)
            with pytest.raises(PlantedError):
                import_dataset(spark, str(tmp_path / "in"), target, partitions=2, **more)
        assert not target.exists(), step
    done = import_dataset(
        spark, str(tmp_path / "in"), target, partitions=2, keep_work=True, **tables
    )
    assert done.resumed == ("statements", "terms", "ids", "triples")
    assert_same_parts(target, local(tmp_path / "local", paths))
    # A job whose end was not noticed made the store; it is not imported a second time.
    work = tmp_path / "db.import"
    made = {"known": fingerprint_of(spark, tmp_path / "in"), "store": name_of_store(target)}
    (work / import_job.MADE).write_text(json.dumps(made))
    before = files_of(target)
    assert import_dataset(spark, str(tmp_path / "in"), target, partitions=2).already
    assert files_of(target) == before
    assert not work.exists()


def fingerprint_of(spark: Any, folder: Path) -> str:
    return read_statements(spark, str(folder)).fingerprint


def test_import__other_input_begins_again(spark: Any, tmp_path: Path) -> None:
    paths = write_sources(tmp_path / "in", 20)
    rule = "@prefix ex: <http://ex.org/> . ex:q[?y, ?x] :- ex:p0[?x, ?y] ."
    import_dataset(
        spark, str(paths[0]), tmp_path / "one", work=tmp_path / "w", keep_work=True, rules=rule
    )
    with Store.read_only(tmp_path / "one") as store:
        assert store.count("inferred") > 0
        assert store.verify(closure=True) == []
    paths[0].write_text("<http://ex.org/a> <http://ex.org/b> <http://ex.org/c> .\n")
    done = import_dataset(
        spark, str(paths[0]), tmp_path / "two", work=tmp_path / "w", tables=str(tmp_path / "tables")
    )
    assert (done.resumed, done.triples) == ((), 1)
    # The tables beside it make the same store.
    pull(str(tmp_path / "tables"), tmp_path / "three")
    assert_same_parts(tmp_path / "three", tmp_path / "two")
    check_damage(tmp_path / "tables" / "terms")


def check_damage(table: Path) -> None:
    """A flipped bit anywhere in Spark's files is detected, or has no effect."""
    read = read_keys(str(table), 3, "id")
    for part in table.glob("*.parquet"):
        good = part.read_bytes()
        for place in range(0, len(good), 3):
            part.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
            try:
                found = read_keys(str(table), 3, "id")
            except StorageError:
                continue
            assert repr(found) == repr(read), place
        part.write_bytes(good)


def test_import__into_a_store_with_rules(spark: Any, tmp_path: Path) -> None:
    rule = "@prefix ex: <http://ex.org/> . ex:by[?y, ?x] :- ex:p1[?x, ?y] ."
    (tmp_path / "a.nt").write_text("<http://ex.org/a> <http://ex.org/p1> <http://ex.org/b> .\n")
    (tmp_path / "b.nt").write_text("<http://ex.org/c> <http://ex.org/p1> _:x .\n")
    target = tmp_path / "db"
    # A new store whose closure is left for later is made with its rules.
    import_dataset(spark, str(tmp_path / "a.nt"), target, rules=rule, closure="later")
    with pytest.raises(StaleError):
        Store.read_only(target)
    with Store(target) as store:
        assert (store.count("explicit"), store.count("inferred")) == (1, 1)
    # Adding keeps it exact; a job of the same name is done once.
    again = [import_dataset(spark, str(tmp_path / "b.nt"), target, job="monday") for _ in range(2)]
    assert [done.already for done in again] == [False, True]
    assert (again[0].change.added, again[0].change.inferred_added) == (1, 1)
    taken = import_dataset(spark, str(tmp_path / "a.nt"), target, mode="delete")
    assert (taken.change.removed, taken.change.inferred_removed) == (1, 1)
    # A graph is replaced by the difference, and the same file again is a no-op.
    for expected in (1, 0):
        put = import_dataset(
            spark, str(tmp_path / "b.nt"), target, mode="replace", graph="http://ex.org/g"
        )
        assert (put.change.added, put.change.removed) == (expected, 0)
    assert Store(target).verify(closure=True) == []


def test_import__a_closure_made_on_spark_is_the_local_one(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    paths = write_sources(folder, 60)
    # Prefixes are those of the data.
    rules = """ex:near[?x, ?y] :- ex:p1[?x, ?y] .
        ex:near[?y, ?x] :- ex:near[?x, ?y] .
        ex:far[?x, ?z] :- ex:near[?x, ?y], ex:near[?y, ?z] ."""
    told = {"rules": rules, "closure": "spark", "partitions": 2}
    import_dataset(spark, str(folder), tmp_path / "db", **told, driver_facts=0)
    import_dataset(spark, str(folder), tmp_path / "in-driver", **told)
    local(tmp_path / "local", paths)
    with Store(tmp_path / "in-driver") as near, Store(tmp_path / "db") as here:
        assert near.digest() == here.digest()
        assert near.verify(closure=True) == []
    with Store(tmp_path / "db") as here, Store(tmp_path / "local") as there:
        there.reason(rules=rules)
        assert here.count("inferred") == there.count("inferred") > 0
        assert here.digest() == there.digest()
        assert here.verify(closure=True) == []
        for store in (here, there):
            store.remove_all(
                sorted(
                    store.quads_for_pattern(
                        None, ox.NamedNode("http://ex.org/p1"), None, ox.DefaultGraph()
                    ),
                    key=str,
                )[:3]
            )
        assert here.digest() == there.digest()


def test_import__bad_wishes_are_refused(spark: Any, tmp_path: Path) -> None:
    wishes: list[dict[str, Any]] = [{"mode": "ad"}, {"closure": "soon"}]
    for wrong in wishes:
        with pytest.raises(UsageError, match="must be one of"):
            import_dataset(spark, "in", tmp_path / "db", **wrong)
    with pytest.raises(UsageError, match="is a URI"):
        import_dataset(spark, "in", "s3a://bucket/db", mode="delete")
    with pytest.raises(UsageError, match="is not a store"):
        import_dataset(spark, "in", tmp_path / "db", mode="delete")


SOME_DATA = (
    "graphs/polblogs.ttl.gz",
    "lubm/univ-bench.owl",
    "real-deltas",
    "skos/core",
    "inferray-rules",
)
DOCUMENTS = {".nt", ".nq", ".ttl", ".trig", ".rdf", ".owl", ".jsonld"}


def documents_of(place: Path) -> list[Path]:
    """The documents at a place, as an import finds them, but for the large ones."""
    found = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    return [
        path
        for path in found
        if DOCUMENTS & set(path.suffixes[-2:]) and path.stat().st_size < 30_000_000
    ]


DATA = (
    "debian-deps",
    "deep-taxonomy",
    "go-2022",
    "graphs",
    "inferray-rules",
    "lubm",
    "obo-hierarchies",
    "owl-real",
    "owl2-testcases",
    "owl2bench",
    "rdf4j",
    "real-deltas",
    "sansa-forward-chaining",
    "skos",
    "uobm",
    "w3c-rdf-tests",
    "watdiv",
    "wikidata-sample",
    "wordnet30",
)
LENIENT: dict[str, Any] = {"lenient": True, "base_iri": "http://ex.org/base/"}


def check_data(spark: Any, documents: list[Path], folder: Path) -> None:
    """Import and local load of the same documents give the same store."""
    documents = sorted(documents)
    done = import_dataset(
        spark, [str(path) for path in documents], folder / "spark", partitions=3, **LENIENT
    )
    assert done.files == len(documents)
    assert_same_parts(folder / "spark", local(folder / "local", documents, **LENIENT))


def check_other_way(spark: Any, documents: list[Path], folder: Path, rng: random.Random) -> None:
    """Import of the same documents, unpacked, in another order, split elsewhere and partitioned
    otherwise, gives the same files."""
    plain = folder / "plain"
    plain.mkdir()
    for number, path in enumerate(sorted(documents)):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        (plain / f"{number:05}-{path.name.removesuffix('.gz')}").write_bytes(data)
    paths = sorted(plain.iterdir())
    largest = max(path.stat().st_size for path in paths)
    rng.shuffle(paths)
    options = SourceOptions(
        split_bytes=max(50_000, largest // rng.randint(2, 9)),
        cut_bytes=max(50_000, largest // rng.randint(2, 5)),
    )
    import_dataset(
        spark,
        [str(path) for path in paths],
        folder / "other",
        partitions=rng.choice([1, 2, 5, 7]),
        options=options,
        **LENIENT,
    )
    assert files_of(folder / "other") == files_of(folder / "spark"), options


def test_import__real_data_is_as_the_local_loader_makes_it(
    spark: Any, tmp_path: Path, shared_data: Path
) -> None:
    documents = [path for name in SOME_DATA for path in documents_of(shared_data / name)]
    check_data(spark, documents, tmp_path)
    check_other_way(spark, documents, tmp_path, random.Random(1))


@pytest.mark.long
@pytest.mark.parametrize("name", DATA)
def test_import__all_shared_data_is_as_the_local_loader_makes_it(
    spark: Any, tmp_path: Path, shared_data: Path, name: str
) -> None:
    documents = documents_of(shared_data / name)
    assert documents
    check_data(spark, documents, tmp_path)
    check_other_way(spark, documents, tmp_path, random.Random(name))


@pytest.mark.long
def test_import__no_shared_data_is_forgotten(shared_data: Path) -> None:
    held = {path.name for path in shared_data.iterdir() if path.is_dir() and documents_of(path)}
    assert held <= set(DATA)
