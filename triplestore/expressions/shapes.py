"""Shapes: what a term is besides its text, as small numbers, for columns of texts.

A term is a lexical form and a *shape*: its kind and, for literals with a tag or a datatype, what
follows the lexical form in the key (`"@en`, `"^^<...>`). Start at `Shapes`. Always true: shape 0 is
no value; shapes below 8 are the kinds of terms that have no such end; two terms are the same if
their shapes and lexical forms are. Numbers are never given twice, so that any thread may read while
another adds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.operators.context import current
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED

U16: TypeAlias = NDArray[np.uint16]

NOTHING = 0
TEXT = STRING
"""The shape of plain strings."""

_FIRST_END = 8  # as in the kernel `split_literals`
_MOST_ENDS = 4096
_MOST_BYTES = 1 << 20
_KIND_OF_MARK = {ord("@"): LANG, ord("^"): TYPED}


class Shapes:
    """The shapes that occurred in one query.

    >>> shapes = Shapes()
    >>> shapes.of_end(b'"@en'), shapes.of_end(b'"@fr'), shapes.of_end(b'"@en')
    (8, 9, 8)
    >>> shapes.key(9, b"oui"), shapes.kinds().tolist()
    (b'\\x04oui"@fr', [0, 1, 2, 3, 0, 0, 6, 0, 4, 4])
    """

    __slots__ = ("_lock", "_numbers", "_tables", "keys", "table")

    def __init__(self) -> None:
        self.keys: list[bytes | None] = [None] * _FIRST_END
        """For each shape the key of its term with an empty text."""
        for kind in (IRI, BLANK, STRING, TRIPLE):
            self.keys[kind] = bytes([kind])
        self.table = (np.zeros(0, np.uint8), np.zeros(1, np.int64))
        """The ends one after the other, and where each begins; for the kernel."""
        self._numbers: dict[bytes, int] = {}
        self._tables: dict[str, NDArray[Any]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_full(self) -> bool:
        """Whether no more ends are taken."""
        return len(self._numbers) >= _MOST_ENDS or len(self.table[0]) >= _MOST_BYTES

    def of_end(self, end: bytes) -> int:
        """The shape of literals with this end."""
        with self._lock:
            found = self._numbers.get(end)
            if found is None:
                current().need(3 * len(end))
                found = self._numbers[end] = len(self.keys)
                self.keys.append(bytes([_KIND_OF_MARK[end[1]]]) + end)
                ends, places = self.table
                ends = np.append(ends, np.frombuffer(end, np.uint8))
                self.table = (ends, np.append(places, len(ends)))
            return found

    def of_key(self, key: bytes | None) -> tuple[int, bytes]:
        """Shape and lexical form of a term."""
        if key is None:
            return NOTHING, b""
        if key[0] not in (LANG, TYPED):
            return key[0], key[1:]
        at = key.rindex(b'"')
        return self.of_end(key[at:]), key[1:at]

    def key(self, shape: int, text: bytes) -> bytes | None:
        """The key of the term with this shape and lexical form."""
        empty = self.keys[shape]
        return None if empty is None else empty[:1] + text + empty[1:]

    def mapped(self, name: str, function: Callable[[bytes], Any], dtype: Any) -> NDArray[Any]:
        """A function of the keys of shapes, whatever the text, as an array; 0 or None for no shape.

        name  under which the array is kept
        """
        found = self._tables.get(name)
        if found is None or len(found) < len(self.keys):
            none = None if dtype is np.object_ else 0
            values = [none if key is None else function(key) for key in self.keys[:]]
            found = self._tables[name] = np.array(values, dtype)
        return found

    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each shape."""
        return self.mapped("kind", lambda key: key[0], np.uint8)

    def plain(self) -> NDArray[np.bool_]:
        """Which shapes are those of strings without a language."""
        return self.mapped("plain string", lambda key: key[0] == STRING, np.bool_)

    def strings(self) -> NDArray[np.bool_]:
        """Which shapes are those of plain and of tagged strings."""
        return self.mapped("string", lambda key: key[0] in (STRING, LANG), np.bool_)
