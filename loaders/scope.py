"""The labels of blank nodes in a store: each blank node belongs to the file it was read from.

Start at `prefix` and `Renamer`. In file number n (durable, never used twice in a store) a label L
becomes `f<n>x<L>`. The k-th generated label of the file (the parser gives random names to the
anonymous nodes of Turtle and similar formats) becomes `f<n>b<k>`. So a file that is loaded into two
new stores has the same labels in both. A label that ends with a dot, which only `rdf:nodeID` in
RDF/XML may do, becomes `f<n>d<L>_`.

The new labels are legal (a letter, then characters of L), unique within a file (`x`, `b` and `d`
separate the kinds, followed by the label or its number) and between files (the number ends at the
first letter). Labels would grow with every dump and load, so the writer replaces labels of this
form by `b<id>` (see writers.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import numpy as np

from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import Spans, spans_of_keys
from triplestore.terms.term_keys import BLANK, TRIPLE

from .thresholds import LOADING

#: The parser's label for a node without one: a random hexadecimal number.
GENERATED = re.compile(rb"[a-f][0-9a-f]{23,31}")
_SCOPED = re.compile(rb"f[0-9]+[xbd]")
# The terms of canonical N-Triples: a literal, an IRI, or a blank node (its label is captured).
IN_TRIPLE = re.compile(rb'"(?:[^"\\]|\\.)*"|<[^<>]*>|_:([^ ]+)')


def prefix(number: int) -> bytes:
    """The prefix of a file's labels.

    >>> prefix(3)
    b'f3x'
    """
    return b"f%dx" % number


def is_scoped(label: bytes) -> bool:
    """Whether a label has the form that loading gives.

    >>> is_scoped(b"f12xalice"), is_scoped(b"alice")
    (True, False)
    """
    return _SCOPED.match(label) is not None


class Renamer:
    """The labels of one file; generated ones are numbered in the order of their first use."""

    def __init__(self, number: int, generated: bool, many: bool = False) -> None:
        """`generated`: labels may be the parser's; `many`: there may be many, so save memory."""
        self.plain = prefix(number)
        self._numbered = b"f%db" % number
        self._dotted = b"f%dd" % number
        self._generated = generated
        self._known: dict[bytes, int] = {}
        self._many = many
        self._collector: TermCollector | None = None

    def forget(self) -> None:
        """Release the memory; no further labels follow."""
        self._known = {}
        self._collector = None

    def keys(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys of terms (see terms/term_keys.py) with the labels in them renamed.

        >>> Renamer(3, generated=False).keys([b"\\x02a", b"\\x02a.", b"\\x01http://a"])
        [b'\\x02f3xa', b'\\x02f3da._', b'\\x01http://a']
        """
        met = [label for key in keys for label in self._generated_labels(key)]
        numbers = dict(zip(met, self._numbers(met), strict=True)) if met else {}
        return [self._renamed(key, numbers) for key in keys]

    def _generated_labels(self, key: bytes) -> list[bytes]:
        if not self._generated:
            return []
        if key[0] == BLANK:
            labels = [key[1:]]
        elif key[0] == TRIPLE:
            labels = [label for label in IN_TRIPLE.findall(key) if label]
        else:
            return []
        return [label for label in labels if GENERATED.fullmatch(label)]

    def _numbers(self, labels: list[bytes]) -> list[int]:
        if self._collector is None:
            known = self._known
            numbers = [known.setdefault(label, len(known) + 1) for label in labels]
            if self._many and len(known) > LOADING.few_labels:
                self._collector = TermCollector(Dictionary())
                self._collector.add(*_spans(list(known)))  # numbers them in this order
                self._known = {}
            return numbers
        return cast("list[int]", self._collector.add(*_spans(labels)).tolist())

    def _renamed(self, key: bytes, numbers: dict[bytes, int]) -> bytes:
        def scoped(label: bytes) -> bytes:
            number = numbers.get(label)
            if number is not None:
                return self._numbered + b"%d" % number
            return self._dotted + label + b"_" if label.endswith(b".") else self.plain + label

        def replaced(match: re.Match[bytes]) -> bytes:
            label = match.group(1)
            return match.group() if label is None else b"_:" + scoped(label)

        if key[0] == BLANK:
            return key[:1] + scoped(key[1:])
        if key[0] == TRIPLE and b"_:" in key:
            return IN_TRIPLE.sub(replaced, key)
        return key


def _spans(labels: list[bytes]) -> Spans:
    return spans_of_keys([b"\x02" + label for label in labels])


def renamed_terms(terms: Spans, free: int, renamer: Renamer) -> Spans:
    """The terms with renamed blank nodes, whose new texts follow `buf[:free]`."""
    places = np.flatnonzero((terms.kinds == BLANK) | (terms.kinds == TRIPLE))
    if len(places) == 0:
        return terms
    stops = terms.starts + terms.lengths
    chosen = (column[places].tolist() for column in (terms.kinds, terms.starts, stops))
    keys = [
        bytes((kind,)) + terms.buf[start:stop].tobytes()
        for kind, start, stop in zip(*chosen, strict=True)
    ]
    fresh = spans_of_keys(renamer.keys(keys))
    starts, lengths, hashes = terms.starts.copy(), terms.lengths.copy(), terms.hashes.copy()
    starts[places] = fresh.starts + free
    lengths[places] = fresh.lengths
    hashes[places] = fresh.hashes
    buf = np.concatenate([terms.buf[:free], fresh.buf])
    return Spans(buf, starts, lengths, terms.kinds, hashes)
