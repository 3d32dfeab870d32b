"""Blank nodes belong to the file that brought them: the labels they are kept under.

Start at `prefix` and `rename`. File number n (durable, never used twice in a store) turns a label
L into `f<n>x<L>`, and the k-th generated label of the file (the anonymous nodes of Turtle and its
kin, to which the parser gives random names) into `f<n>b<k>`, so that loading a file twice in a new
store gives the same labels twice.

This is legal (a letter first, then what L may contain), injective within a file (`x` and `b` part
the two kinds, and what follows is the label itself or its number) and between files (a number is
digits up to the first `x` or `b`). Labels would grow with every dump and load; therefore the
writer gives labels of this form as `b<id>` (see writers.py).
"""

from __future__ import annotations

import re

import numpy as np

from triplestore.terms.model import BLANK, TRIPLE
from triplestore.terms.spans import Spans, spans_of_keys

#: What the parser calls a node without a label: a random number in hexadecimal.
GENERATED = re.compile(rb"[a-f][0-9a-f]{23,31}")
_SCOPED = re.compile(rb"f[0-9]+[xb]")
# What may stand in canonical N-Triples: a literal, an IRI, or a blank node (its label captured).
IN_TRIPLE = re.compile(rb'"(?:[^"\\]|\\.)*"|<[^<>]*>|_:([^ ]+)')


def prefix(number: int) -> bytes:
    """What comes before the labels of a file.

    >>> prefix(3)
    b'f3x'
    """
    return b"f%dx" % number


def is_scoped(label: bytes) -> bool:
    """True if a label has the form that loading gives.

    >>> is_scoped(b"f12xalice"), is_scoped(b"alice")
    (True, False)
    """
    return _SCOPED.match(label) is not None


class Renamer:
    """The labels of one file; generated ones are numbered in the order in which they are met."""

    def __init__(self, number: int, generated: bool) -> None:
        self.plain = prefix(number)
        self._numbered = b"f%db" % number
        self._generated = generated
        self._known: dict[bytes, int] = {}

    def label(self, label: bytes) -> bytes:
        """The label under which a label of the file is kept."""
        if not self._generated or not GENERATED.fullmatch(label):
            return self.plain + label
        number = self._known.setdefault(label, len(self._known) + 1)
        return self._numbered + b"%d" % number

    def key(self, key: bytes) -> bytes:
        """A term's key with the labels in it renamed (see terms/model.py)."""
        if key[0] == BLANK:
            return key[:1] + self.label(key[1:])
        if key[0] == TRIPLE and b"_:" in key:
            return IN_TRIPLE.sub(self._renamed, key)
        return key

    def _renamed(self, match: re.Match[bytes]) -> bytes:
        label = match.group(1)
        return match.group() if label is None else b"_:" + self.label(label)


def renamed_terms(terms: Spans, free: int, renamer: Renamer) -> Spans:
    """Terms of which the blank nodes were renamed; their new texts come behind `buf[:free]`."""
    places = np.flatnonzero((terms.kinds == BLANK) | (terms.kinds == TRIPLE))
    if len(places) == 0:
        return terms
    stops = terms.starts + terms.lengths
    fresh = spans_of_keys(
        [
            renamer.key(bytes((kind,)) + terms.buf[start:stop].tobytes())
            for kind, start, stop in zip(
                terms.kinds[places].tolist(),
                terms.starts[places].tolist(),
                stops[places].tolist(),
                strict=True,
            )
        ]
    )
    starts, lengths, hashes = terms.starts.copy(), terms.lengths.copy(), terms.hashes.copy()
    starts[places] = fresh.starts + free
    lengths[places] = fresh.lengths
    hashes[places] = fresh.hashes
    buf = np.concatenate([terms.buf[:free], fresh.buf])
    return Spans(buf, starts, lengths, terms.kinds, hashes)
