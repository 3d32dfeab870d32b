"""The sources of a task: a file by name, a range of one, or its contents as passed by Spark.

Start at `source_of`. A range of a file has the lines that begin in it, so adjacent ranges have each
line once. Here a line ends with a line feed; other line ends of the parser do not matter.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, cast

from triplestore.errors import StorageError
from triplestore.loaders.formats import MAGIC_BYTES, sniff_compression
from triplestore.loaders.sources import DocumentSource
from triplestore.loaders.spark.importing.sources import SourceFile


def source_of(file: SourceFile, contents: bytes | None = None) -> DocumentSource:
    """The file as a source of the local loader; with `contents` if it cannot be opened by name."""
    form = file.rdf_format
    if contents is not None:
        return DocumentSource(
            file.name, form, data=contents, size=len(contents), compression=file.compression
        )
    path = Path(cast(str, file.path))
    return DocumentSource(
        file.name, form, path=path, size=file.length, compression=file.compression
    )


def lines_source(file: SourceFile, start: int, stop: int) -> DocumentSource | None:
    """The lines that begin in a range of the file; None if no line does.

    A compressed file whose name does not show it cannot be split: its first range is the whole
    file, and the others are empty.
    """
    stream = opened(file)
    if sniff_compression(stream.read(MAGIC_BYTES)) is not None:
        stream.close()
        return source_of(file) if start == 0 else None
    first, end = _line_from(stream, start), _line_from(stream, stop)
    if first >= end:
        stream.close()
        return None
    stream.seek(first)
    ranged = cast(BinaryIO, io.BufferedReader(_Range(stream, end - first), 1 << 18))
    return DocumentSource(file.name, file.rdf_format, stream=ranged)


def range_bytes(file: SourceFile, start: int, stop: int) -> bytes:
    """The bytes of a range."""
    with opened(file) as stream:
        stream.seek(start)
        return stream.read(stop - start)


def line_starts(stream: Iterable[bytes], wanted: set[int], cr_ends_lines: bool) -> dict[int, int]:
    """The places where these lines (numbered from 1) begin.

    >>> line_starts(io.BytesIO(b"a\\r\\nb\\rc\\n"), {1, 2, 3}, True)
    {1: 0, 2: 3, 3: 5}
    """
    found = {}
    line = 1
    at = 0
    for text in stream:
        within = 0
        while within < len(text):
            if line in wanted:
                found[line] = at + within
            line += 1
            end = text.find(b"\r", within) if cr_ends_lines else -1
            if end < 0 or text[end:] == b"\r\n":
                break
            within = end + 1
        at += len(text)
    return found


def opened(file: SourceFile) -> io.BufferedReader:
    """The file, opened by name."""
    try:
        return Path(cast(str, file.path)).open("rb")
    except OSError as error:
        raise StorageError(
            f"cannot read {file.name}: {error.strerror or error}; a file without a scheme must "
            "exist on every node under the same name"
        ) from error


def _line_from(stream: io.BufferedReader, place: int) -> int:
    """The beginning of the first line that begins at this place or later."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    stream.readline()
    return stream.tell()


class _Range(io.RawIOBase):
    """The next `length` bytes of a file; closes the file at their end."""

    def __init__(self, stream: io.BufferedReader, length: int) -> None:
        self._stream = stream
        self._left = length

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if self._left == 0:
            return 0
        count = self._stream.readinto(memoryview(target).cast("B")[: self._left])
        self._left -= count
        if self._left == 0:
            self._stream.close()
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()
