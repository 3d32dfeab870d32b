"""Sources: names and formats, compressed or not, damaged or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.loaders.loading_helpers import lines_of, loaded
from triplestore.errors import ParseError, StorageError, UsageError
from triplestore.loaders import compression, find_sources, format_of
from triplestore.loaders.compression import zstd
from triplestore.loaders.formats import EXTENSIONS, split_name

# Nothing here is about what the kernels do.
pytestmark = pytest.mark.slow_kernels

LINE = b"<http://a/%d> <http://p> <http://b> .\n"
DATA = b"".join(LINE % i for i in range(20_000))
BOTH = pytest.mark.parametrize("large", [True, False], ids=["blocks", "small"])

COMPRESS: dict[str, Any] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd().compress,
}


def count(given: Any = None, *, large: bool = True, **options: Any) -> int:
    return len(loaded(given, large=large, **options)[0])


@BOTH
@pytest.mark.parametrize("ending", COMPRESS)
def test_load__compressed_files(tmp_path: Path, ending: str, large: bool) -> None:
    path = tmp_path / f"data.nt{ending}"
    path.write_bytes(COMPRESS[ending](DATA))
    assert count(path=path, large=large) == 20_000
    hidden = path.rename(tmp_path / "data.nt")  # told by the first bytes alone
    assert count(path=hidden, large=large) == 20_000
    with hidden.open("rb") as stream:
        assert count(stream, large=large, format="nt") == 20_000
    assert count(hidden.read_bytes(), large=large, format="nt") == 20_000


@BOTH
@pytest.mark.parametrize("ending", ["", *COMPRESS])
def test_load__a_byte_order_mark_is_not_part_of_the_text(
    tmp_path: Path, ending: str, large: bool
) -> None:
    path = tmp_path / f"data.nt{ending}"
    path.write_bytes(COMPRESS.get(ending, bytes)(b"\xef\xbb\xbf" + DATA))
    assert count(path=path, large=large) == 20_000
    turtle = "\ufeff@prefix : <http://x/> . :a :b :c ."
    assert count(turtle, large=large, format="ttl") == 1
    with pytest.raises(ParseError, match="input:2:1"):  # anywhere else it is none
        loaded("\ufeff\n\ufeff" + turtle, large=large, format="ttl")


@pytest.mark.parametrize("ending", COMPRESS)
def test_load__members_one_after_the_other_are_one_document(ending: str) -> None:
    half = len(DATA) // 2 + 5  # in the middle of a line
    parts = [COMPRESS[ending](part) for part in (DATA[:half], b"", DATA[half:])]
    assert count(b"".join(parts), format="nt") == 20_000


@BOTH
@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("cut", [1, 5, 100])
def test_load__compressed_data_that_end_early_are_refused(
    tmp_path: Path, ending: str, cut: int, large: bool
) -> None:
    path = tmp_path / f"data.nt{ending}"
    path.write_bytes(COMPRESS[ending](DATA)[:-cut])
    with pytest.raises(ParseError, match=r"end too early|damaged") as caught:
        count(path=path, large=large)
    assert caught.value.filename == str(path)


@pytest.mark.parametrize("ending", COMPRESS)
def test_load__flipped_bits_in_compressed_data_are_refused(tmp_path: Path, ending: str) -> None:
    good = COMPRESS[ending](DATA)
    if ending == ".zst":
        good = zstd().compress(DATA, options={zstd().CompressionParameter.checksum_flag: 1})
    for at in range(6, len(good), max(1, len(good) // 25)):
        bad = bytearray(good)
        bad[at] ^= 0x10
        path = tmp_path / f"data.nt{ending}"
        path.write_bytes(bad)
        try:
            rows = count(path=path)
        except ParseError:
            continue
        assert rows == 20_000, at  # bytes that mean nothing, such as a time


def test_load__a_name_that_lies_about_compression(tmp_path: Path) -> None:
    path = tmp_path / "data.nt.gz"
    path.write_bytes(DATA)
    with pytest.raises(ParseError, match=r"gzip.*does not start"):
        count(path=path)
    path.write_bytes(b"")
    assert count(path=path) == 0


def test_members__large_expansion_stays_bounded() -> None:
    bomb = gzip.compress(b"\n" * 300_000_000, 9)
    stream = compression.reader(io.BytesIO(bomb), "gzip", "bomb")
    view = memoryview(bytearray(1 << 20))
    assert stream.readinto(view) > 0  # type: ignore[attr-defined]
    assert len(stream._ready) < 1 << 26  # type: ignore[attr-defined]


@BOTH
def test_load__folders_and_globs_are_sorted_and_know_extensions(
    tmp_path: Path, large: bool
) -> None:
    (tmp_path / "sub").mkdir()
    for name, text in {
        "b.nt": LINE % 2,
        "a.ttl": LINE % 1,
        "sub/c.nt.gz": gzip.compress(LINE % 3),
        "notes.txt": b"no data",
        "d.nt~": b"no data",
    }.items():
        (tmp_path / name).write_bytes(text)
    for path in (tmp_path, str(tmp_path / "**" / "*"), tmp_path / "**" / "*"):
        result, dictionary = loaded(None, path=path, large=large)
        subjects = [dictionary.key(i).decode()[1:] for i in result.s.tolist()]
        assert subjects == ["http://a/1", "http://a/2", "http://a/3"]
        assert [Path(file.name).name for file in result.files] == ["a.ttl", "b.nt", "c.nt.gz"]
        assert [file.number for file in result.files] == [1, 2, 3]
        assert result.next_file_number == 4
    only = loaded(None, path=[tmp_path / "b.nt", tmp_path / "a.ttl"], large=large)[0]
    assert [Path(file.name).name for file in only.files] == ["b.nt", "a.ttl"]


def test_find_sources__says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    for message, args in {
        "known extension": (None, tmp_path),
        r"no file .* matches": (None, str(tmp_path / "*.nt")),
        "shows no RDF format": (None, tmp_path / "notes.txt"),
        "either": (None, None),
        "standard input needs a format": (None, "-"),
        "a document needs a format": ("<a:b> <a:b> <a:b> .", None),
        "whose name shows no format": (io.BytesIO(b""), None),
        "cannot load from int": (3, None),
    }.items():
        with pytest.raises(UsageError, match=message):
            find_sources(*args)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="No such file"):
        find_sources(None, tmp_path / "absent.nt")
    with pytest.raises(UsageError, match="give one of: ntriples, nquads"):
        format_of("spreadsheet")


def test_find_sources__file_names_with_glob_marks(tmp_path: Path) -> None:
    path = tmp_path / "a[1].nt"
    path.write_bytes(DATA)
    assert count(path=path) == 20_000


@BOTH
def test_load__streams_of_bytes_and_text(large: bool) -> None:
    text = "<http://a> <http://p> 'é\U0001f600' ."
    wanted = ['<http://a> <http://p> "é\U0001f600"']
    for given in (text, text.encode(), io.StringIO(text), io.BytesIO(text.encode())):
        result, dictionary = loaded(given, large=large, format="ttl")
        assert lines_of(result, dictionary) == wanted
    for lone in ("\n<http://a> <http://p> '\ud800' .", io.StringIO("\ud800")):
        with pytest.raises(ParseError, match="surrogate"):
            loaded(lone, large=large, format="ttl")


@BOTH
def test_load__streams_stay_open_and_stdin_is_a_dash(
    monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    stream = io.BytesIO(DATA)
    assert count(stream, large=large, format="nt") == 20_000
    assert not stream.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DATA)))
    assert count(path="-", large=large, format="nt") == 20_000
    assert not sys.stdin.buffer.closed


@BOTH
def test_load__slow_pipes(large: bool) -> None:
    reader, writer = os.pipe()

    def feed() -> None:
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            for i in range(0, 3_000, 7):
                pipe.write(DATA[i : min(i + 7, 3_000)])

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(reader, "rb") as stream:
        result, _ = loaded(stream, large=large, format="nt", lenient=True)
    feeder.join()
    assert len(result) == DATA[:3_000].count(b".\n")


def test_split_name__every_extension() -> None:
    for extension, form in EXTENSIONS.items():
        assert split_name(f"a.b{extension.upper()}.gz") == (form, "gzip")
        assert split_name(f"a.b{extension}") == (form, None)
    assert split_name("gz") == (None, None)
    assert split_name("a.gz") == (None, "gzip")
