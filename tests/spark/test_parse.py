"""Tasks give the rows and labels of the local loader, however files are cut; in this process."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spark.parsing_helpers import (
    Row,
    faults_of,
    files_of,
    loaded_rows,
    parsed,
    rows_and_notes,
)
from triplestore.loaders.compression import zstd
from triplestore.loaders.spark.importing.parse import Plan, parse_contents, parse_lines, parse_terms
from triplestore.loaders.spark.importing.sources import SourceFile, SourceOptions
from triplestore.loaders.spark.importing.splits import TaskOptions

TURTLE = """@prefix ex: <http://example.org/> .
ex:a ex:p [ ex:q ( 1 2.5 "x" ) ; ex:r _:b ] , "long \\n text"@EN-gb .
_:b ex:p [] . # a comment . with dots
ex:c ex:p <http://[::1]/x> , [ ex:q <http://[::1]/y> ] , [] .
"""

TRIG = """PREFIX ex: <http://example.org/>
ex:g { ex:a ex:p [ ex:q _:x ] } { _:x ex:p () }
GRAPH _:x { ex:b ex:p ( _:x ) . }
"""

RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:ex="http://example.org/">
<rdf:Description rdf:about="http://example.org/a">
<ex:p rdf:parseType="Resource"><ex:q>1</ex:q></ex:p>
<ex:r rdf:nodeID="b"/></rdf:Description></rdf:RDF>"""

JSON_LD = """{"@context": {"ex": "http://example.org/"}, "@id": "ex:a",
  "ex:p": [{"ex:q": 1}, {"@id": "_:b"}], "ex:r": {"@list": [1, 2]}}"""

LINES = st.sampled_from(
    [
        '<http://example.org/a> <http://example.org/p> "x" .',
        "_:a <http://example.org/p> _:b .",
        '_:a <http://example.org/p> "\u00e9\\u00e9\\n"@EN .',
        "<http://[::1]/a> <http://example.org/p> _:c .",
        '<http://example.org/a> <http://example.org/p> <<( _:a <http://example.org/p> "1" )>> .',
        "# a comment .",
        "",
        "  \t",
    ]
)
BAD_LINES = st.sampled_from(["<http://example.org/a> .", "\u00e9", "_:a _:b _:c .", '"x" "y'])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def written(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def same_rows(rows: list[Row], others: list[Row]) -> bool:
    return Counter(rows) == Counter(others)


@given(lines=st.lists(st.tuples(LINES, ENDS), max_size=30), split=st.integers(1, 400))
def test_ranges__give_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str]], split: int
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    text = "".join(line + end for line, end in lines)
    files = [written(folder, "a.nt", text), written(folder, "b.nq", text.rstrip("\r\n"))]
    rows, notes = parsed(files, SourceOptions(split_bytes=split))
    assert same_rows(rows, loaded_rows(files)[0])
    assert not faults_of(notes)
    counted = sum(note["bytes"] for note in notes if note["file"] == 1 and note["kind"] == "part")
    assert counted == len(text.encode())


@given(
    lines=st.lists(st.tuples(st.one_of(LINES, BAD_LINES), ENDS), max_size=30),
    split=st.integers(1, 400),
)
def test_bad_lines__are_told_with_line_and_byte(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str]], split: int
) -> None:
    text = "".join(line + end for line, end in lines)
    file = written(tmp_path_factory.mktemp("lines"), "a.nt", text)
    rows, notes = parsed([file], SourceOptions(split_bytes=split))
    wanted, loaded = loaded_rows([file], lenient=True)
    assert same_rows(rows, wanted)
    found = faults_of(notes)
    assert [fault[1] for fault in sorted(found, key=lambda fault: fault[1] or 0)] == [
        problem.line for problem in loaded.problems
    ]
    data = text.encode()
    for _, line, byte, _ in found:
        assert byte is not None
        before = data[:byte]
        ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        assert line == ends + 1
    assert sum(note["bad"] for note in notes if note["kind"] == "part") == loaded.bad


def test_documents__rows_and_labels_of_the_local_loader(tmp_path: Path) -> None:
    files = [
        written(tmp_path, "a.ttl", TURTLE),
        written(tmp_path, "b.trig", TRIG),
        written(tmp_path, "c.rdf", RDF_XML),
        written(tmp_path, "d.jsonld", JSON_LD),
    ]
    rows, notes = parsed(files, SourceOptions(first_file_number=5))
    assert same_rows(rows, loaded_rows(files, first_file_number=5)[0])
    assert [note["statements"] for note in notes] == [15, 6, 3, 8]
    assert notes[0]["prefixes"] == {"ex": "http://example.org/"}


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstd().compress),
    ],
)
def test_compressed__the_same_rows(tmp_path: Path, suffix: str, compress: object) -> None:
    assert callable(compress)
    plain = written(tmp_path, "a.ttl", TURTLE)
    lines = "".join(f"_:a <http://e/p> <http://e/{n}> .\n" for n in range(100))
    files = [
        written(tmp_path, f"a.ttl{suffix}", compress(TURTLE.encode())),
        written(tmp_path, f"b.nt{suffix}", compress(lines.encode())),
        written(tmp_path, "c.nt", compress(lines.encode())),  # its name says it is plain
    ]
    rows, notes = parsed(files, SourceOptions(split_bytes=50))
    assert not faults_of(notes)
    assert same_rows(rows, loaded_rows(files)[0])
    assert len([row for row in rows if row[0] == b"\x02f3xa"]) == 100
    assert len([row for row in rows if b"f1b1" in row[0]]) == len(
        [row for row in parsed([plain])[0] if b"f1b1" in row[0]]
    )


def test_broken_files__are_faults_and_the_others_are_read(tmp_path: Path) -> None:
    line = b"<http://e/s> <http://e/p> <http://e/o> .\n"
    whole = gzip.compress(line * 1000)
    files = [
        written(tmp_path, "a.nt.gz", whole[: len(whole) // 2]),
        written(tmp_path, "b.nt.gz", line),
        written(tmp_path, "c.ttl.gz", gzip.compress(TURTLE.encode())[:-9]),
        written(tmp_path, "d.ttl", "@prefix ex: <http://e/> .\nex:a ex:b ex:c .\n\nex:a ex:b ."),
        written(tmp_path, "e.rdf", "<rdf:RDF\n"),
        written(tmp_path, "f.nt", line),
    ]
    rows, notes = parsed(files)
    faults = faults_of(notes)
    assert [fault[0] for fault in faults] == [1, 2, 3, 4, 5]
    assert "end too early" in faults[0][3]
    assert "does not start like" in faults[1][3]
    assert faults[3][1:3] == (4, 44)
    assert (b"\x01http://e/s", b"\x01http://e/p", b"\x01http://e/o", None) in rows


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_faults_of_documents__tell_where_their_lines_begin(tmp_path: Path, end: str) -> None:
    text = f"@prefix e: <http://e/> .{end}# \u00e9{end}{end}e:a e:b .{end}e:c e:d e:e .{end}"
    file = written(tmp_path, "a.ttl", text)
    [(_, line, byte, _)] = faults_of(parsed([file])[1])
    assert (line, byte) == (4, text.encode().index(b"e:a e:b"))


def test_strict_document__stops_at_its_first_fault_lenient_goes_on(tmp_path: Path) -> None:
    text = "@prefix e: <http://e/> .\ne:a e:b .\ne:a e:b e:c .\ne:d .\n\ne:e e:f e:g .\n"
    file = written(tmp_path, "a.ttl", text)
    rows, notes = parsed([file])
    assert (len(rows), [fault[1] for fault in faults_of(notes)]) == (0, [2])
    rows, notes = parsed([file], SourceOptions(lenient=True))
    wanted, loaded = loaded_rows([file], lenient=True)
    assert same_rows(rows, wanted)
    assert [fault[1] for fault in faults_of(notes)] == [p.line for p in loaded.problems]


def test_to_graph__takes_the_default_graph_only(tmp_path: Path) -> None:
    file = written(tmp_path, "b.trig", TRIG)
    rows, _ = parsed([file], SourceOptions(to_graph="http://e/g"))
    assert {row[3] for row in rows} == {b"\x01http://example.org/g", b"\x01http://e/g", b"\x02f1xx"}


# --- what Spark reads for us --------------------------------------------------------------------


def plan_of(files: list[SourceFile]) -> Plan:
    return Plan({file.number: file for file in files}, TaskOptions.of(SourceOptions()))


@settings(max_examples=50)
@given(
    texts=st.lists(
        st.lists(st.tuples(st.one_of(LINES, BAD_LINES), ENDS), max_size=12), min_size=1, max_size=3
    ),
    blocks=st.integers(1, 5),
    at_once=st.integers(1, 9),
    backwards=st.booleans(),
)
def test_lines_from_spark__are_as_those_of_ranges(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[tuple[str, str]]],
    blocks: int,
    at_once: int,
    backwards: bool,
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    paths = []
    rows: list[tuple[str, int, int]] = []
    for number, lines in enumerate(texts, 1):
        text = "".join(line + end for line, end in lines)
        paths.append(written(folder, f"{number}.nt", text))
        found = text.split("\n")
        found = found[:-1] if found[-1] == "" else found
        placed = [(line, number, 1000 * (i // blocks)) for i, line in enumerate(found)]
        # The blocks of a file need not come to a task in their order.
        rows += sorted(placed, key=lambda row: -row[2]) if backwards else placed
    schema = pa.schema([("value", pa.string()), ("mark", pa.int64()), ("block", pa.int64())])
    batches = [
        pa.table([list(column) for column in zip(*rows[i : i + at_once], strict=True)], schema)
        .combine_chunks()
        .to_batches()[0]
        for i in range(0, len(rows), at_once)
    ]
    found_rows, notes = rows_and_notes(parse_lines(plan_of(files_of(paths)), iter(batches)))
    wanted_rows, wanted_notes = parsed(paths)
    assert same_rows(found_rows, wanted_rows)
    assert faults_of(notes) == faults_of(wanted_notes)


def test_contents__are_as_opened_by_name(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "a.ttl.gz", gzip.compress(TURTLE.encode())),
        written(tmp_path, "b.nt.gz", gzip.compress(b"_:a <http://e/p> <http://e/o> .\n<x>")),
        written(tmp_path, "c.rdf", RDF_XML + "<"),
    ]
    schema = pa.schema([("mark", pa.int64()), ("content", pa.binary())])
    contents = [path.read_bytes() for path in paths]
    batch = pa.table([[1, 2, 3], contents], schema).to_batches()
    rows, notes = rows_and_notes(parse_contents(plan_of(files_of(paths)), iter(batch)))
    wanted, wanted_notes = parsed(paths)
    assert same_rows(rows, wanted)
    assert faults_of(notes) == faults_of(wanted_notes)
    assert [fault[0] for fault in faults_of(notes)] == [2, 3]


def test_terms__null_is_the_default_graph_and_a_fault_elsewhere() -> None:
    batch = pa.table(
        {
            "s": ["<http://e/a>", "_:b", None, "<http://e/a>", "<http://e/a>"],
            "p": ["<http://e/p>"] * 5,
            "o": [
                '"x"@EN',
                "<http://e/o>",
                "<http://e/o>",
                '"a\nb"',
                "<http://e/o> .\n<http://e/x>",
            ],
            "g": [None, "<http://e/g>", "<http://e/g>", None, None],
        }
    ).to_batches()
    file = SourceFile(4, "table", 0, "", "nquads", None, 0)
    rows, notes = rows_and_notes(parse_terms(file, TaskOptions.of(SourceOptions()), iter(batch)))
    assert rows == [
        (b"\x01http://e/a", b"\x01http://e/p", b'\x04x"@en', None),
        (b"\x02f4xb", b"\x01http://e/p", b"\x01http://e/o", b"\x01http://e/g"),
    ]
    assert [note["text"][:4] for note in notes[:-1]] == ["null", "<htt", "<htt"]
    assert notes[-1]["bad"] == 3
    kept = TaskOptions.of(SourceOptions(keep_labels=True))
    rows, _ = rows_and_notes(parse_terms(file, kept, iter(batch)))
    assert rows[1][0] == b"\x02b"
