"""Terms numbered as they come and given their ids at the end, for loads that parse no text.

`Numbering` is what both ways do: large loads use a `TermCollector`, small ones a dictionary of
Python, because loading the kernels would take longer than loading the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.spans import U32, Spans


class Numbering(Protocol):
    """Distinct terms, numbered from 1 on in the order of their coming."""

    def add(self, spans: Spans) -> U32:
        """The numbers of some terms."""

    def seal(self) -> tuple[U32, TermSegment | None, list[bytes]]:
        """The ids of all numbers, the segment of new terms, or their keys."""


class ManyTerms:
    """With kernels."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._collector = TermCollector(dictionary)

    def add(self, spans: Spans) -> U32:
        """The numbers of some terms."""
        return self._collector.add(*spans)

    def seal(self) -> tuple[U32, TermSegment | None, list[bytes]]:
        """The ids of all numbers, and the segment of new terms."""
        return *self._collector.seal(), []


class FewTerms:
    """Without kernels.

    >>> from triplestore.terms.spans import spans_of_keys
    >>> few = FewTerms(Dictionary())
    >>> few.add(spans_of_keys([b"\\x01http://b", b"\\x01http://a", b"\\x01http://b"])).tolist()
    [1, 2, 1]
    >>> few.seal()
    (array([0, 2, 1], dtype=uint32), None, [b'\\x01http://a', b'\\x01http://b'])
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._numbers: dict[bytes, int] = {}

    def add(self, spans: Spans) -> U32:
        """The numbers of some terms."""
        data, starts = spans.buf.tobytes(), spans.starts.tolist()
        ends, kinds = (spans.starts + spans.lengths).tolist(), spans.kinds.tolist()
        return self.add_keys(
            bytes((kind,)) + data[a:b] for kind, a, b in zip(kinds, starts, ends, strict=True)
        )

    def add_keys(self, keys: Iterable[bytes]) -> U32:
        """The numbers of terms given as keys; 0 for an empty one, which stands for no term."""
        numbers = self._numbers
        found = [numbers.setdefault(key, len(numbers) + 1) if key else 0 for key in keys]
        return np.array(found, np.uint32)

    def seal(self) -> tuple[U32, TermSegment | None, list[bytes]]:
        """The ids of all numbers, and the keys of new terms in the order of their ids."""
        keys = list(self._numbers)
        ids = np.zeros(len(keys) + 1, np.uint32)
        ids[1:] = self._dictionary.lookup_keys(keys)
        new = sorted(key for key, id in zip(keys, ids[1:].tolist(), strict=True) if id == 0)
        for id, key in enumerate(new, self._dictionary.size + 1):
            ids[self._numbers[key]] = id
        return ids, None, new
