"""Statements of files and tables through Spark are those of the local loader."""

from __future__ import annotations

import bz2
import gzip
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.spark.parsing_helpers import Row, loaded_rows
from tests.spark.test_parse import JSON_LD, RDF_XML, TRIG, TURTLE, written
from triplestore.errors import ParseError, StorageError, UsageError
from triplestore.loaders.spark.importing import statements
from triplestore.loaders.spark.importing.sources import SourceOptions, find_files
from triplestore.loaders.spark.importing.statements import Statements, read_statements


def rows_of(found: Statements) -> Counter[Row]:
    return Counter(
        tuple(None if cell is None else bytes(cell) for cell in row)  # type: ignore[misc]
        for row in found.rows.collect()
    )


def lines(count: int, seed: int = 0) -> str:
    """Lines of N-Triples with labels, escapes and lines that are judged."""
    chosen = random.Random(seed)
    made = []
    for number in range(count):
        subject = chosen.choice(["_:a", f"<http://e/{number}>", "<http://[::1]/x>", "_:b.c"])
        value = chosen.choice(
            ['"\\u00e9\\n"@EN', '"x"', "_:a", "<http://e/o>", '"1"^^<http://e/d>']
        )
        made.append(f"{subject} <http://e/p{number % 7}> {value} ." + chosen.choice(["\n", "\r\n"]))
    return "".join(made)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of all formats and compressions, in folders whose names need care."""
    base = tmp_path_factory.mktemp("a folder") / "with ü%20 space"
    (base / "z").mkdir(parents=True)
    written(base, "a.ttl", TURTLE)
    written(base, "b.trig", TRIG)
    written(base, "c.rdf", RDF_XML)
    written(base, "d.jsonld", JSON_LD)
    written(base, "e.nt", lines(300, 1))
    written(base / "z", "f.nq.gz", gzip.compress(lines(300, 2).encode()))
    written(base / "z", "g.nt.bz2", bz2.compress(lines(3000, 3).encode()))
    written(base / "z", "h.ttl.bz2", bz2.compress(TURTLE.encode()))
    written(base, "c0 empty.nt", "")
    written(base, "readme.txt", "not data")
    return base


def test_folder__all_formats_as_the_local_loader(spark: Any, folder: Path, tmp_path: Path) -> None:
    wanted, _ = loaded_rows([folder])
    # So that lines are split, bzip2 goes to Spark, and what is large enough is cut.
    options = SourceOptions(split_bytes=4000, cut_bytes=150)
    planned = read_statements(spark, str(folder), options)
    found = planned.stored(str(tmp_path / "work"))
    assert [file.name for file in found.files] == [
        str(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".txt"
    ]
    assert rows_of(found) == Counter(wanted)
    assert found.errors.count() == 0
    found.check()
    assert found.prefixes() == {"ex": "http://example.org/"}
    assert found.next_file_number == len(found.files) + 1
    counts = {Path(count["name"]).name: count["statements"] for count in found.counts()}
    assert counts["e.nt"] == 300
    assert counts["g.nt.bz2"] == 3000


def test_names__the_order_of_arguments_does_not_matter(spark: Any, folder: Path) -> None:
    options = SourceOptions(first_file_number=7)
    one = find_files(spark, [str(folder / "z"), f"{folder}/e*.nt", str(folder / "a.ttl")], options)
    two = find_files(
        spark, [f"file:{folder}/a.ttl", str(folder / "e.nt"), str(folder / "z/*")], options
    )
    assert one == two
    assert [(file.number, Path(file.uri).name) for file in one] == [
        (7, "a.ttl"),
        (8, "e.nt"),
        (9, "f.nq.gz"),
        (10, "g.nt.bz2"),
        (11, "h.ttl.bz2"),
    ]


def test_names__that_cannot_be_read_are_refused(spark: Any, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot read"):
        find_files(spark, str(folder / "nothing.nt"), SourceOptions())
    with pytest.raises(UsageError, match="shows no RDF format"):
        find_files(spark, str(folder / "readme.txt"), SourceOptions())
    (tmp_path / "empty").mkdir()
    written(tmp_path / "empty", "x.txt", "")
    with pytest.raises(UsageError, match="known extension"):
        find_files(spark, str(tmp_path / "empty"), SourceOptions())
    with pytest.raises(UsageError, match="paths or a DataFrame"):
        read_statements(spark, 5)  # type: ignore[arg-type]
    [file] = find_files(spark, str(folder / "readme.txt"), SourceOptions(format="nt"))
    assert file.format == "ntriples"


@pytest.mark.parametrize("block", [4_000])
def test_what_spark_reads__is_as_opened_by_name(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    # As for files on HDFS or in object stores.
    monkeypatch.setattr(statements, "_is_split_by_spark", lambda file, options: _splits(file))
    options = SourceOptions()
    files = find_files(spark, str(folder), options)
    split = [file for file in files if _splits(file)]
    handed = [file for file in files if not _splits(file)]
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(block))
    try:
        lines_read = statements._parsed_lines(spark, split, options)
        contents = statements._parsed_contents(spark, handed, options)
        unread = Statements(spark, options, files, lines_read.unionByName(contents))
        found = unread.stored(str(tmp_path / "work"))
        assert rows_of(found) == Counter(loaded_rows([folder])[0])
        sizes = {Path(count["name"]).name: count["bytes"] for count in found.counts()}
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    assert sizes["e.nt"] == (folder / "e.nt").stat().st_size
    assert sizes["g.nt.bz2"] == len(lines(3000, 3).encode())


def _splits(file: Any) -> bool:
    return bool(file.by_lines and file.compression in (None, "bzip2"))


def test_one_of_a_thousand_files_is_broken(spark: Any, tmp_path: Path) -> None:
    for number in range(1000):
        written(tmp_path, f"{number:03}.nt", f"_:a <http://e/p> <http://e/{number}> .\n")
    with (tmp_path / "617.nt").open("a") as file:
        file.write("# fine\n\u00e9 <http://e/p> .\n_:a _:b _:c .\n")
    found = read_statements(spark, str(tmp_path)).stored(str(tmp_path / "work"))
    with pytest.raises(ParseError) as caught:
        found.check()
    assert caught.value.filename == str(tmp_path / "617.nt")
    assert caught.value.lineno == 3
    assert "2 faults in all" in str(caught.value)
    errors = found.errors.orderBy("line").collect()
    text = (tmp_path / "617.nt").read_bytes()
    assert [(row.file, row.line, row.byte) for row in errors] == [
        (str(tmp_path / "617.nt"), 3, text.index(b"\xc3")),
        (str(tmp_path / "617.nt"), 4, text.index(b"_:a _:b")),
    ]
    assert found.rows.count() == 1000
    lenient = read_statements(spark, str(tmp_path), SourceOptions(lenient=True))
    lenient.at(str(tmp_path / "work")).check()


def test_table__is_one_source(spark: Any) -> None:
    table = spark.createDataFrame(
        [("_:a", "<http://e/p>", '"x"@EN', None), ("<http://e/a>", "<http://e/p>", "_:a", "_:g")],
        "s string, p string, o string, g string",
    )
    found = read_statements(spark, table, SourceOptions(first_file_number=3))
    assert rows_of(found) == Counter(
        [
            (b"\x02f3xa", b"\x01http://e/p", b'\x04x"@en', None),
            (b"\x01http://e/a", b"\x01http://e/p", b"\x02f3xa", b"\x02f3xg"),
        ]
    )
    assert found.next_file_number == 4
    bad = read_statements(spark, table.selectExpr("p AS s", "o AS p", "s AS o"))
    rows = bad.errors.collect()
    assert [(row.file, row.line, row.byte) for row in rows] == [("table", None, None)] * 2
    with pytest.raises(UsageError, match="no column o"):
        read_statements(spark, table.select("s", "p"))


def test_cut_document__with_a_fault_is_read_again_whole(spark: Any, tmp_path: Path) -> None:
    text = "@prefix : <http://e/> .\n" + "".join(f":a{n} :p [] .\n" for n in range(9))
    # What is wrong swallows the statement behind it: cut there, that one would be kept.
    broken = text + ":b :p .\n:c :p :d ;\n.\n" + text.replace(":a", ":z") + "# end\n:x .\n"
    written(tmp_path, "a.ttl", text)
    written(tmp_path, "b.ttl", broken)
    lenient = SourceOptions(cut_bytes=100, split_bytes=70, lenient=True)
    found = read_statements(spark, str(tmp_path / "*.ttl"), lenient)
    assert found.cut == [1, 2]
    stored = found.stored(str(tmp_path / "work"))
    wanted, loaded = loaded_rows([tmp_path / "a.ttl", tmp_path / "b.ttl"], lenient=True)
    assert rows_of(stored) == Counter(wanted)
    places = [(row.line, row.byte) for row in stored.errors.orderBy("line").collect()]
    lines = [problem.line for problem in loaded.problems]
    starts = [0, *(at + 1 for at, byte in enumerate(broken.encode()) if byte == 10)]
    assert places == [(line, starts[line - 1]) for line in lines if line is not None]
    assert rows_of(found.at(str(tmp_path / "work"))) == Counter(wanted)
    strict = SourceOptions(cut_bytes=100, split_bytes=70)
    with pytest.raises(ParseError) as caught:
        read_statements(spark, str(tmp_path), strict).stored(str(tmp_path / "strict")).check()
    assert (caught.value.filename, caught.value.lineno) == (str(tmp_path / "b.ttl"), lines[0])
