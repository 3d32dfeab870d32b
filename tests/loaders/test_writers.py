"""Rows out as documents: pyoxigraph's serialiser is the oracle, and loading again the proof."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.loaders.loading_helpers import NQ, NT, canonical, loaded, quads_of
from tests.terms import strategies as some
from triplestore.errors import StorageError, UsageError
from triplestore.loaders import dump, writers
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of

graphs = st.just(ox.DefaultGraph()) | some.iris | some.blanks
quads = st.lists(
    st.builds(ox.Quad, some.iris | some.blanks, some.iris, some.terms, graphs), max_size=8
)
BOTH = pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "python"])


def rows_of(given: list[ox.Quad], dictionary: Dictionary) -> tuple[Any, ...]:
    keys = [
        b"" if isinstance(term, ox.DefaultGraph) else key_of(term)
        for quad in given
        for term in quad
    ]
    ids = np.zeros(len(keys), np.uint32)
    some_ids = dictionary.encode_keys([key for key in keys if key])
    ids[[bool(key) for key in keys]] = some_ids
    return tuple(np.ascontiguousarray(column) for column in ids.reshape(-1, 4).T)


def written(
    given: list[ox.Quad], form: Any, *, kernel: bool, blocks: int = 1, **options: Any
) -> bytes:
    dictionary = Dictionary()
    rows = rows_of(given, dictionary)
    size = max(1, -(-len(given) // blocks))
    parts = [tuple(c[i : i + size] for c in rows) for i in range(0, len(given), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writers, "worth_kernels", lambda rows: kernel)
        data = dump(parts, dictionary, None, form, **options)
    assert data is not None
    return data


def plain(given: list[ox.Quad]) -> bool:
    """True if no label has a form that is written as a number."""
    return "_:" not in "".join(map(str, given))


@BOTH
@given(given_quads=quads, blocks=st.integers(1, 4))
@example(
    given_quads=[
        ox.Quad(ox.NamedNode("a:b"), ox.NamedNode("a:b"), ox.Literal(text), ox.DefaultGraph())
        for text in ("\uffff\ufffe\ufffdx", '\x7f\x00\x1f"\\', "\u0fbf", "\uffff")
    ],
    blocks=1,
)
def test_dump__lines_are_those_of_pyoxigraph(
    kernel: bool, given_quads: list[ox.Quad], blocks: int
) -> None:
    data = written(given_quads, "nq", kernel=kernel, blocks=blocks)
    again = list(ox.parse(data, NQ))
    assert canonical(again) == canonical(given_quads)
    assert data == ox.serialize(again, format=NQ)  # canonical escapes and spaces, in order
    if plain(given_quads):
        assert data == ox.serialize(given_quads, format=NQ)


@BOTH
@pytest.mark.parametrize("form", ["nq", "trig", "jsonld"])
@given(given_quads=quads)
def test_dump__loads_back_isomorphic(kernel: bool, form: str, given_quads: list[ox.Quad]) -> None:
    if form == "jsonld":  # has no triple terms
        given_quads = [quad for quad in given_quads if not isinstance(quad.object, ox.Triple)]
    data = written(given_quads, form, kernel=kernel)
    result, dictionary = loaded(data, large=False, format=form)
    assert canonical(quads_of(result, dictionary)) == canonical(given_quads)


LABELS = [
    "alice",
    "f1xalice",
    "f2xalice",
    "f1b1",
    "b1",
    "b2",
    "xb1",
    "xxb1",
    "b",
    "f1",
    "fx",
    "b1a",
]


@BOTH
def test_dump__labels_stay_apart_and_short(kernel: bool) -> None:
    p = ox.NamedNode("a:p")
    given_quads = [
        ox.Quad(ox.BlankNode(label), p, ox.Literal(label), ox.DefaultGraph()) for label in LABELS
    ]
    # Labels that the dictionary knows only inside triple terms; most look like numbers of ours.
    lost = ["f9xlost", *(f"{x}b{i}" for i in range(3, 80) for x in ("", "x"))]
    inner = [ox.Triple(ox.BlankNode(label), p, p) for label in [*LABELS, *lost]]
    given_quads += [ox.Quad(p, p, triple, ox.DefaultGraph()) for triple in inner]
    data = written(given_quads, "nt", kernel=kernel)
    assert canonical(ox.parse(data, NT)) == canonical(given_quads)
    assert b'_:alice <a:p> "alice"' in data
    assert b"f1xalice <a:p>" not in data


@BOTH
def test_dump__labels_do_not_grow_from_cycle_to_cycle(kernel: bool) -> None:
    data = b'_:x <a:p> _:y .\n_:y <a:p> <<( _:x <a:p> "_:x" )>> .\n'
    lengths = []
    for number in range(1, 6):
        result, dictionary = loaded(data, large=kernel, format=NT, first_file_number=number)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writers, "worth_kernels", lambda rows: kernel)
            again = dump([(result.s, result.p, result.o, result.g)], dictionary, None, "nt")
        assert again is not None
        assert canonical(ox.parse(again, NT)) == canonical(ox.parse(data, NT))
        data = again
        lengths.append(len(data))
    assert lengths[0] == lengths[-1]


@pytest.mark.slow_kernels
def test_dump__a_term_longer_than_the_output_buffer() -> None:
    long = ox.Literal("\0" * 3_000_000)  # 18 MB of escapes
    node = ox.NamedNode("a:b")
    quad = ox.Quad(node, node, long, ox.DefaultGraph())
    assert written([quad, quad], "nt", kernel=True) == ox.serialize([quad.triple] * 2, format=NT)


def test_dump__turtle_is_grouped_and_uses_prefixes() -> None:
    node = [ox.NamedNode(f"http://x/{name}") for name in "abpq"]
    given_quads = [
        ox.Quad(node[0], node[2], node[1], ox.DefaultGraph()),
        ox.Quad(node[1], node[2], node[0], ox.DefaultGraph()),
        ox.Quad(node[0], node[3], node[1], ox.DefaultGraph()),
    ]
    text = written(given_quads, "ttl", kernel=False, prefixes={"": "http://x/"}).decode()
    assert "@prefix : <http://x/>" in text
    assert text.count(":a :p") == 1 and ":a :q" not in text


def test_dump__named_graphs_need_a_format_that_has_them() -> None:
    node = ox.NamedNode("a:b")
    quad = ox.Quad(node, node, node, node)
    with pytest.raises(UsageError, match="from_graph"):
        written([quad], "nt", kernel=False)
    with pytest.raises(UsageError, match="from_graph"):
        written([quad], "ttl", kernel=False)
    one = written([quad], "nt", kernel=False, one_graph=True)
    assert one == b"<a:b> <a:b> <a:b> .\n"


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_dump__paths_are_compressed_by_their_name(tmp_path: Path, ending: str) -> None:
    node = ox.NamedNode("a:b")
    dictionary = Dictionary()
    rows = rows_of([ox.Quad(node, node, node, ox.DefaultGraph())] * 1000, dictionary)
    path = tmp_path / f"out.nt{ending}"
    assert dump([rows], dictionary, path) is None
    result, _ = loaded(None, path=path, large=True)
    assert len(result) == 1000
    assert (path.stat().st_size < 1000) == bool(ending)
    assert list(tmp_path.iterdir()) == [path]


def test_dump__a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.nt"
    path.write_bytes(b"before")

    def failing() -> Any:
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        dump(failing(), Dictionary(), path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StorageError, match="cannot write"):
        dump([], Dictionary(), tmp_path / "absent" / "out.nt")


def test_dump__pipes_are_written_to(tmp_path: Path) -> None:
    node = ox.NamedNode("a:b")
    dictionary = Dictionary()
    rows = rows_of([ox.Quad(node, node, node, ox.DefaultGraph())], dictionary)
    pipe = tmp_path / "pipe.nt"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    dump([rows], dictionary, pipe)
    assert os.read(reader, 100) == b"<a:b> <a:b> <a:b> .\n"
    os.close(reader)


def test_dump__streams_are_not_closed() -> None:
    stream = io.BytesIO()
    assert dump([], Dictionary(), stream, "ttl") is None
    assert not stream.closed
    with pytest.raises(UsageError, match="format"):
        dump([], Dictionary(), stream)
