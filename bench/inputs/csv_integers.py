"""Columns of integers from files of comma-separated values, on several threads.

Start reading at `read_integers`. Files have no header, no quotes and no blanks. All reasoners of
the comparison read the same files, so reading must not dominate: 15 MB take 18 ms of processor
time; numpy's reader takes 31 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bench.inputs.integer_kernels import read_integers as read_lines
from triplestore.errors import ParseError
from triplestore.relations.packed_keys import U32, U64

Source: TypeAlias = str | PathLike[str]

_PIECE = 1 << 18  # bytes read at once
_AFTER = 16  # bytes after the last one that the kernel may read; a piece and these are whole words


def read_integers(source: Source, columns: int) -> tuple[U32, ...]:
    """The columns of a file whose lines have this number of integers below 2^32.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile() as file:
    ...     _ = file.write(b"1,20" + b"\\n" + b"3,4000000000")
    ...     file.flush()
    ...     [column.tolist() for column in read_integers(file.name, 2)]
    [[1, 3], [20, 4000000000]]
    """
    size = Path(source).stat().st_size
    return _read(source, columns, size, _room_for(size, columns))


def _room_for(size: int, columns: int) -> U32:
    """Room for all numbers in a file of this size: each takes at least two bytes."""
    return np.empty(columns * ((size + 1) // (2 * columns) + 1), dtype=np.uint32)


def _read(source: Source, columns: int, size: int, out: U32) -> tuple[U32, ...]:
    """The columns of a file of this size, written to `out`."""
    room = len(out) // columns
    with Path(source).open("rb", buffering=0) as file:
        rows = 0
        for words, stop, begin in _pieces(file, size):
            rows = read_lines(words, 0, stop, columns, rows, room, out)
            if rows < 0:
                raise _problem(source, begin - 1 - rows, columns)
    return tuple(out[c * room : c * room + rows] for c in range(columns))


def read_all(sources: Iterable[tuple[Source, int]], *, threads: int = 2) -> list[tuple[U32, ...]]:
    """`read_integers` of several (file, columns), in order; the largest are read first."""
    wanted = list(sources)
    sizes = [Path(source).stat().st_size for source, _ in wanted]
    # Allocated in this thread: other threads get fresh memory, whose pages are faulted in one by
    # one (LUBM-10: 1,000 faults and up to 5 ms).
    rooms = [_room_for(size, columns) for size, (_, columns) in zip(sizes, wanted, strict=True)]
    with ThreadPoolExecutor(threads) as pool:
        jobs = {
            i: pool.submit(_read, *wanted[i], sizes[i], rooms[i])
            for i in sorted(range(len(wanted)), key=lambda i: -sizes[i])
        }
        return [jobs[i].result() for i in range(len(wanted))]


def _pieces(file: FileIO, size: int) -> Iterator[tuple[U64, int, int]]:
    """The first `size` bytes in pieces of whole lines: words, bytes in them, place in the file.

    All are read into one buffer that stays in the processor's cache: a whole file in memory costs
    more in page faults than in reading.
    """
    words = (min(_PIECE, size) + 7) // 8
    buffer = bytearray(8 * words + _AFTER)
    begin = filled = 0
    while begin < size:
        wanted = min(len(buffer) - _AFTER, size - begin)
        _fill(file, memoryview(buffer)[filled:wanted])
        filled = wanted
        if begin + filled == size:
            stop = filled
            buffer[stop : stop + _AFTER] = bytes(_AFTER)
        else:
            stop = buffer.rfind(b"\n", 0, filled) + 1
        if not stop:  # a line longer than the buffer
            buffer = buffer + bytes(len(buffer) - _AFTER)
            continue
        yield np.frombuffer(buffer, dtype=np.uint64), stop, begin
        buffer[: filled - stop] = buffer[stop:filled]
        begin += stop
        filled -= stop


def _fill(file: FileIO, room: memoryview) -> None:
    while len(room):
        more = file.readinto(room)
        if not more:
            raise ParseError(f"{file.name} became shorter while it was read")
        room = room[more:]


def _problem(source: Source, at: int, columns: int) -> ParseError:
    with Path(source).open("rb") as file:
        before = file.read(at)
    line = 1 + before.count(b"\n")
    begin = before.rfind(b"\n") + 1
    what = "one integer" if columns == 1 else f"{columns} integers with commas between them"
    return ParseError(
        f"each line must have {what}, from 0 to {2**32 - 1}, and nothing else",
        filename=str(source),
        line=line,
        column=at - begin + 1,
    )
