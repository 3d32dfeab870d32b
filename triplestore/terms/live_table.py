"""The live table: the newest terms, in plain Python, until they are sealed into a segment.

Always true: `keys[i]` is the key of id `first_id + i` and `ids[keys[i]]` is that id. One writer
appends while readers in other threads look: a key is in `keys` before it is in `ids`, so that an
id that a reader finds can always be decoded. Once as many texts were asked for as there are, they
are also kept in one buffer, from which many are taken at once (`texts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from triplestore.terms.spans import I64, U8, U32, texts_of_keys
from triplestore.terms.values.canonical_ids import TermSource
from triplestore.terms.values.segment_values import ValueTable
from triplestore.terms.values.value_stack import LiveValues


class _Buffer(NamedTuple):
    """The first terms of a table in one buffer: where texts begin, their lengths, and kinds.

    version  that of the table: what was taken back since then would still be in here
    """

    version: int
    buf: U8
    starts: I64
    lengths: I64
    kinds: U8


class LiveTable:
    """Terms first_id, first_id + 1, ... and their values."""

    __slots__ = ("_asked", "_buffer", "_version", "first_id", "ids", "keys", "values")

    def __init__(self, first_id: int, source: TermSource) -> None:
        self.first_id = first_id
        self.keys: list[bytes] = []
        self.ids: dict[bytes, int] = {}
        self.values = LiveValues(source)
        self._forget()

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<live terms {self.first_id}..{self.last_id}>"

    @property
    def last_id(self) -> int:
        """The id of the newest term (first_id - 1 if there is none)."""
        return self.first_id + len(self.keys) - 1

    def add(self, key: bytes, tables: Sequence[ValueTable]) -> int:
        """Append a new term and give its id; `tables` are the values of all segments."""
        term_id = self.first_id + len(self.keys)
        self.values.add(term_id, key, tables)
        self.keys.append(key)
        self.ids[key] = term_id
        return term_id

    def after(self, term_id: int) -> LiveTable:
        """A copy without the terms up to `term_id`, which are in a segment now."""
        rest = LiveTable.__new__(LiveTable)
        rest.first_id = term_id + 1
        rest.keys = self.keys[rest.first_id - self.first_id :]
        rest.ids = {key: i for i, key in enumerate(rest.keys, rest.first_id)}
        rest.values = self.values.after(term_id)
        rest._forget()
        return rest

    def _forget(self) -> None:
        self._buffer: _Buffer | None = None
        self._version = 0
        self._asked = 0  # texts since the buffer was made

    def texts(self, ids: U32) -> tuple[U8, I64, I64, U8]:
        """Texts of some terms: a buffer, where each begins in it, its length, and its kind."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            return texts_of_keys(list(map(self.keys.__getitem__, rows.tolist())))
        return buffer.buf, buffer.starts[rows], buffer.lengths[rows], buffer.kinds[rows]

    def lengths(self, ids: U32) -> I64:
        """The bytes of the texts of some terms."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            sizes = map(len, map(self.keys.__getitem__, rows.tolist()))
            return np.fromiter(sizes, np.int64, len(rows)) - 1
        lengths: I64 = buffer.lengths[rows]
        return lengths

    def kinds(self, ids: U32) -> U8:
        """The kinds of some terms."""
        rows = ids - np.uint32(self.first_id)
        buffer = self._buffered(rows)
        if buffer is None:
            keys = map(self.keys.__getitem__, rows.tolist())
            return np.frombuffer(bytes([key[0] for key in keys]), np.uint8)
        kinds: U8 = buffer.kinds[rows]
        return kinds

    def _buffered(self, rows: U32) -> _Buffer | None:
        """The buffer with these rows, if there is one or it is worth being made now."""
        buffer, version = self._buffer, self._version
        if len(rows) == 0:
            return None
        if buffer is not None and buffer.version == version and rows.max() < len(buffer.starts):
            return buffer
        self._asked += len(rows)
        if self._asked < len(self.keys):
            return None
        self._asked = 0
        self._buffer = buffer = _Buffer(version, *texts_of_keys(self.keys[:]))
        return buffer

    def truncate(self, size: int) -> None:
        """Take back the terms with ids above `size`, also if Ctrl-C came while one was added."""
        self._version += 1
        self.values.truncate(size)
        for key in self.keys[size + 1 - self.first_id :]:
            self.ids.pop(key, None)
        del self.keys[size + 1 - self.first_id :]
        self._version += 1  # once more, for a reader that made its buffer in between
        self._buffer = None
