"""One document in another format."""

from __future__ import annotations

import io
from pathlib import Path

import pyoxigraph as ox
import pytest

from triplestore.errors import ParseError, UsageError
from triplestore.loaders import BadStatement, convert

TRIG = b"@prefix : <http://x/> . :a :b :c . :g { :a :b _:d }"


def converted(data: bytes, source: str, target: str, **options: object) -> bytes:
    stream = io.BytesIO()
    convert(io.BytesIO(data), stream, from_format=source, to_format=target, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def test_convert__all_graphs_and_prefixes() -> None:
    assert converted(TRIG, "trig", "nq") == (
        b"<http://x/a> <http://x/b> <http://x/c> .\n<http://x/a> <http://x/b> _:d <http://x/g> .\n"
    )
    assert b"@prefix : <http://x/>" in converted(TRIG, "trig", "trig")


def test_convert__chooses_and_names_graphs() -> None:
    graph, other = ox.NamedNode("http://x/g"), ox.NamedNode("http://x/h")
    assert converted(TRIG, "trig", "nt", from_graph=graph) == (b"<http://x/a> <http://x/b> _:d .\n")
    assert converted(TRIG, "trig", "nt", from_graph=ox.DefaultGraph()) == (
        b"<http://x/a> <http://x/b> <http://x/c> .\n"
    )
    assert converted(TRIG, "trig", "nq", from_graph=graph, to_graph=other) == (
        b"<http://x/a> <http://x/b> _:d <http://x/h> .\n"
    )
    with pytest.raises(UsageError, match="from_graph"):
        converted(TRIG, "trig", "ttl")


def test_convert__paths_and_compression(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_bytes(TRIG)
    assert convert(tmp_path / "a.trig", tmp_path / "a.nq.gz") == 0
    assert convert(tmp_path / "a.nq.gz", tmp_path / "b.nq") == 0
    assert (tmp_path / "b.nq").read_bytes() == converted(TRIG, "trig", "nq")
    with pytest.raises(UsageError, match="output needs a format"):
        convert(tmp_path / "a.trig", tmp_path / "a.dat")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "a.nt").touch()
    (tmp_path / "two" / "b.nt").touch()
    with pytest.raises(UsageError, match="takes one"):
        convert(tmp_path / "two", tmp_path / "c.nq")


@pytest.mark.parametrize("source", ["nt", "nq", "ttl"])
def test_convert__lenient_leaves_out_and_counts(source: str) -> None:
    data = b"<a:b> <a:c> <a:d> .\n<a:b> <a:c> <d> .\n<a:b> <a:c> <a:e> .\n"
    problems: list[BadStatement] = []
    stream = io.BytesIO()
    skipped = convert(
        io.BytesIO(data), stream, from_format=source, to_format="nt", lenient=True,
        report=problems.append,
    )  # fmt: skip
    assert stream.getvalue() == b"<a:b> <a:c> <a:d> .\n<a:b> <a:c> <a:e> .\n"
    assert skipped == 1
    assert [problem.line for problem in problems] == [2]
    with pytest.raises(ParseError) as caught:
        converted(data, source, "nt")
    assert caught.value.lineno == 2
