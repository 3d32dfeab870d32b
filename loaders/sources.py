"""Sources of a load: paths, folders, globs, standard input, streams, text and bytes.

Start at `find_sources`: it turns the arguments of a load into a list of `DocumentSource`, in an
order that does not depend on the file system. A source has a name (for messages), a format and, if
known, a size, and opens its decompressed bytes.
"""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError, unreadable
from triplestore.terms.guards.other_syntaxes import advice, other_syntax, syntax_of_name

from . import compression
from .formats import (
    BYTE_ORDER_MARK,
    EXTENSIONS,
    MAGIC_BYTES,
    TABLE_EXTENSIONS,
    format_of,
    known_names,
    sniff_compression,
    split_name,
)
from .pipes import Pipe

PathLike: TypeAlias = "str | os.PathLike[str]"
InputLike: TypeAlias = "str | bytes | IO[bytes] | IO[str] | os.PathLike[str]"

STDIN = "-"
_STDIN_NAME = "stdin"
_LONGEST_NAME = 4096
_GLOB_MARKS = frozenset("*?[")


@data_class(frozen=False)
class DocumentSource:
    """One document: the source of its bytes, and how they are read."""

    name: str
    format: ox.RdfFormat
    path: Path | None = None
    data: bytes | None = None
    stream: BinaryIO | None = None  # read once, from its position; not closed
    size: int | None = None  # bytes as stored (compressed), if known
    compression: str | None = field(default=None)
    check: Callable[[], None] = lambda: None  # raises during a wait if the load was cancelled

    def open(self) -> Opened:
        """Open it; a stream can be opened only once."""
        raw = self._raw()
        first = raw.peek(MAGIC_BYTES)[:MAGIC_BYTES]
        found = sniff_compression(first)
        if found is None and self.compression is not None and first:
            raw.close()
            raise ParseError(
                f"is named as {self.compression}, but does not start like {self.compression} data",
                filename=self.name,
            )
        if found is None and (syntax := other_syntax(raw.peek(MAGIC_BYTES))) is not None:
            raw.close()
            raise ParseError(advice(syntax, self.name), filename=self.name)
        if first.startswith(BYTE_ORDER_MARK):
            raw.read(len(BYTE_ORDER_MARK))
        counted = _Counted(raw)
        data = cast(BinaryIO, counted)
        return Opened(compression.reader(data, found, self.name) if found else data, counted)

    @property
    def can_reopen(self) -> bool:
        """Whether it can be read twice."""
        return self.data is not None or (self.path is not None and self.size is not None)

    def _raw(self) -> io.BufferedReader:
        if self.path is not None:
            try:
                if self.size is None:
                    return io.BufferedReader(Pipe.opened(self.path, lambda: self.check()), 1 << 18)
                return self.path.open("rb")
            except OSError as error:
                raise unreadable(self.name, error) from error
        if self.data is not None:
            return io.BufferedReader(_Adapter(io.BytesIO(self.data), self.name), 1 << 18)
        assert self.stream is not None
        if self.name == _STDIN_NAME and (number := _descriptor(self.stream)) is not None:
            pipe = Pipe(number, "standard input", lambda: self.check(), own=False)
            return io.BufferedReader(pipe, 1 << 18)
        stream, self.stream = self.stream, None
        return io.BufferedReader(_Adapter(stream, self.name), 1 << 18)


class Opened:
    """The decompressed bytes of a source, and the position in it."""

    def __init__(self, data: BinaryIO, counted: _Counted) -> None:
        self.data = data
        self._counted = counted

    @property
    def position(self) -> int:
        """Bytes read of the source as it is stored."""
        return self._counted.count

    def read_into(self, view: memoryview) -> int:
        """Fill the view; fewer bytes only at the end."""
        done = 0
        while done < len(view):
            count = self.data.readinto(view[done:])  # type: ignore[attr-defined]
            if not count:
                break
            done += count
        return done

    def close(self) -> None:
        """Close the source, but not a stream of the caller."""
        self.data.close()


def find_sources(
    input: InputLike | None,
    path: PathLike | Iterable[PathLike] | None = None,
    format: ox.RdfFormat | str | None = None,
) -> list[DocumentSource]:
    """All documents of a call of `load`, in the order of its arguments.

    Folders and globs are sorted, and give only files with a known extension.
    """
    form = None if format is None else format_of(format)
    if (input is None) == (path is None):
        raise UsageError("give either a document (input) or files (path)")
    if isinstance(input, os.PathLike):
        path = input
    if path is not None:
        paths = [path] if isinstance(path, str | os.PathLike) else path
        return [source for item in paths for source in _named_sources(item, form)]
    if isinstance(input, str | bytes | bytearray | memoryview):
        if isinstance(input, str):
            _refuse_name(input, form)
        text = input if isinstance(input, str) else bytes(input)
        return [_text_source(text, _needed(form, "a document"))]
    if not hasattr(input, "read"):
        raise UsageError(
            f"cannot load from {type(input).__name__}: give text, bytes or a stream, or path=..."
        )
    return [_stream_source(input, form)]


def _refuse_name(text: str, form: ox.RdfFormat | None) -> None:
    """Refuse a text that is the name of a file: `input` is a document itself."""
    if not text.strip() or "\n" in text or len(text) > _LONGEST_NAME:
        return
    advice = f"load(path={text!r}), or load(Path({text!r}))"
    if os.path.exists(text):  # noqa: PTH110 - a name with a NUL is not an error here
        raise UsageError(f"{text!r} is the name of a file, not a document: call {advice}")
    if form is None and split_name(Path(text))[0] is not None and not any(map(str.isspace, text)):
        raise UsageError(
            f"{text!r} looks like the name of a file that does not exist; "
            f"files are loaded by {advice}"
        )


def _named_sources(item: PathLike, form: ox.RdfFormat | None) -> Iterator[DocumentSource]:
    if item == STDIN:
        yield DocumentSource(_STDIN_NAME, _needed(form, "standard input"), stream=sys.stdin.buffer)
    else:
        yield from _files_of(os.fspath(item), form)


def _files_of(name: str, form: ox.RdfFormat | None) -> Iterator[DocumentSource]:
    path = Path(name)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if split_name(file)[0] and file.is_file())
        if not files:
            raise UsageError(f"no file in {name} has a known extension: {' '.join(EXTENSIONS)}")
    elif _GLOB_MARKS.isdisjoint(name) or path.exists():
        yield _file_source(path, form, form or split_name(path)[0])
        return
    else:
        matches = (Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207
        files = sorted(file for file in matches if split_name(file)[0] and file.is_file())
        if not files:
            raise UsageError(f"no file with a known extension matches {name}")
    for file in files:
        yield _file_source(file, form, split_name(file)[0])


def _file_source(path: Path, form: ox.RdfFormat | None, own: ox.RdfFormat | None) -> DocumentSource:
    if form is None and own is None:
        syntax = syntax_of_name(path)
        if syntax is not None:
            raise ParseError(advice(syntax, str(path)), filename=str(path))
        if not TABLE_EXTENSIONS.keys().isdisjoint(map(str.lower, path.suffixes)):
            raise UsageError(
                f"{path} is a table: load it with load_table, or the command load-table, which say "
                "what its columns mean"
            )
        raise UsageError(
            f"the name of {path} shows no RDF format; give one of: {', '.join(known_names())}"
        )
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    size = status.st_size if path.is_file() else None  # a pipe has none
    return DocumentSource(
        str(path),
        cast(ox.RdfFormat, form or own),
        path=path,
        size=size,
        compression=split_name(path)[1],
    )


def _text_source(text: str | bytes, form: ox.RdfFormat) -> DocumentSource:
    try:
        data = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1 if isinstance(text, str) else None
        raise ParseError(
            "expected Unicode text, found a lone surrogate", filename="input", line=line
        ) from error
    return DocumentSource("input", form, data=data, size=len(data))


def _stream_source(stream: Any, form: ox.RdfFormat | None) -> DocumentSource:
    name = getattr(stream, "name", None)
    name = name if isinstance(name, str) else "stream"
    own, compressed = split_name(name)
    return DocumentSource(
        name, form or _needed(own, "a stream whose name shows no format"), stream=stream,
        compression=compressed,
    )  # fmt: skip


def _descriptor(stream: Any) -> int | None:
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def _needed(form: ox.RdfFormat | None, what: str) -> ox.RdfFormat:
    if form is None:
        raise UsageError(f"{what} needs a format; give one of: {', '.join(known_names())}")
    return form


class _Adapter(io.RawIOBase):
    """An object with `read`, of bytes or text, as a raw stream of bytes."""

    def __init__(self, stream: Any, name: str) -> None:
        self._read = getattr(stream, "read1", None) or stream.read
        self._rest = memoryview(b"")
        self._name = name

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, target: Any) -> int:
        """Read once into `target`; 0 at the end."""
        view = memoryview(target).cast("B")
        if not self._rest:
            given = self._read(len(view))
            if isinstance(given, str):
                try:
                    given = given.encode()
                except UnicodeEncodeError as error:
                    raise ParseError(f"a lone surrogate: {error}", filename=self._name) from error
            self._rest = memoryview(given or b"")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class _Counted(io.RawIOBase):
    """A reader that counts its bytes."""

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self.count = 0

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, target: Any) -> int:
        """Read and count."""
        count = self._raw.readinto(target)
        self.count += count
        return count

    def close(self) -> None:
        """Close the file below."""
        self._raw.close()
        super().close()
