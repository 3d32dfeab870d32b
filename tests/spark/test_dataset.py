"""Importing on Spark against the local loader: the same terms, rows, statistics and files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from support.spark_stores import assert_same_parts, files_of
from triplestore.loaders.spark.dataset import import_dataset

from triplestore import Store

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
