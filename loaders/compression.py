"""Readers and writers of compressed files: gzip, bzip2, xz and zstd behind one interface.

Start at `reader` and `writer`. Always true: a compressed stream that ends early is an error;
consecutive members or frames are one text.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, cast

from triplestore.errors import BudgetError, ParseError, UsageError

from .formats import BYTE_ORDER_MARK

_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_CHUNK = 1 << 15  # compressed bytes per read
_MAX_STEP = 1 << 22  # decompressed bytes per step
_XZ_MEMORY = 1 << 29  # maximum memory that a file may ask for; `xz -9` takes 65 MB
_ZSTD_WINDOW = 31  # maximum binary logarithm of a window; `zstd --ultra --long=31` takes that


def _damages() -> tuple[type[Exception], ...]:
    """The exceptions of the libraries for damaged data."""
    zstd = sys.modules.get(_ZSTD)
    own = (zstd.ZstdError,) if zstd is not None else ()
    return (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, *own)


class _Members(io.RawIOBase):
    """Decompresses consecutive members or frames, and refuses a missing end."""

    def __init__(self, stream: BinaryIO, make: Callable[[], Any], name: str, kind: str) -> None:
        self._stream = stream
        self._make = make
        self._member = make()
        self._fresh = True  # the current member has no input yet
        self._rest = b""
        self._begun = False  # no output yet
        self._ready = memoryview(b"")
        self._name = name
        self._kind = kind

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill `target` with the output of one step; 0 at the end."""
        view = memoryview(target).cast("B")
        while not self._ready:
            piece = self._decompressed()
            if piece is None:
                return 0
            if piece and not self._begun:
                piece = piece.removeprefix(BYTE_ORDER_MARK)
                self._begun = True
            self._ready = memoryview(piece)
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decompressed(self) -> bytes | None:
        """The next bytes of text (may be empty), or None at the end."""
        if self._member.eof:
            self._rest = self._member.unused_data
            self._member = self._make()
            self._fresh = True
        given, self._rest = self._rest, b""
        if not given and getattr(self._member, "needs_input", True):
            given = self._stream.read(_CHUNK)
            if not given and not self._fresh:
                raise ParseError(f"the {self._kind} data end too early", filename=self._name)
        if self._fresh:
            if self._kind == "gzip":
                given = given.lstrip(b"\0")  # padding on tapes is allowed between members
            if not given:
                return None
        self._fresh = False
        try:
            return self._step(given)
        except MemoryError as error:
            raise BudgetError(
                f"{self._name}: there is not enough memory to decompress the {self._kind} data"
            ) from error
        except _damages() as error:
            raise self._damaged(error) from error

    def _step(self, given: bytes) -> bytes:
        """The next decompressed bytes."""
        out = cast(bytes, self._member.decompress(given, _MAX_STEP))
        self._rest = getattr(self._member, "unconsumed_tail", b"")
        return out

    def _damaged(self, error: Exception) -> ParseError:
        if "emory" in str(error):
            return ParseError(
                f"decompressing the {self._kind} data needs too much memory ({error}): "
                "compress them with a smaller window",
                filename=self._name,
            )
        return ParseError(f"the {self._kind} data are damaged: {error}", filename=self._name)

    def close(self) -> None:
        """Also close the compressed stream."""
        self._stream.close()
        super().close()


def zstd() -> Any:
    """The library for zstd: a part of Python from 3.14 on."""
    return import_module(_ZSTD)


def _zstd_decompressor() -> Any:
    library = zstd()
    return library.ZstdDecompressor(
        options={library.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    )


_READERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_AUTO, _XZ_MEMORY),
    "zstd": _zstd_decompressor,
}


def reader(stream: BinaryIO, compression: str, name: str) -> BinaryIO:
    """The decompressed bytes of a stream."""
    return cast(BinaryIO, _Members(stream, _READERS[compression], name, compression))


def _zstd_writer(stream: BinaryIO) -> BinaryIO:
    library = zstd()
    parameter = library.CompressionParameter
    options = {parameter.compression_level: 3, parameter.checksum_flag: 1}
    return cast(BinaryIO, library.ZstdFile(stream, "wb", options=options))


_WRITERS: dict[str, Callable[[BinaryIO], Any]] = {
    "gzip": lambda stream: gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=6, mtime=0),
    "bzip2": lambda stream: bz2.BZ2File(stream, "wb"),
    "xz": lambda stream: lzma.LZMAFile(stream, "wb", preset=3),  # noqa: SIM115 - for the caller
    "zstd": _zstd_writer,
}


def writer(stream: BinaryIO, compression: str | None) -> BinaryIO:
    """A stream that compresses into another; closing it does not close the other."""
    if compression is None:
        return stream
    if compression not in _WRITERS:
        raise UsageError(
            f"{compression!r} is not a known compression; give one of: {', '.join(_WRITERS)}"
        )
    return cast(BinaryIO, _WRITERS[compression](stream))
