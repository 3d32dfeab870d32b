"""The parts of triple terms: from the text of one to the keys of its three parts.

Start at `parts_of` (one key) and `split_texts` (many texts at once, by kernel). The text of a
triple term is canonical N-Triples, `<<( s p o )>>`; the key of a part has no escapes. Always true:
both give the same keys, and `key_of` of the term's own parts gives them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from triplestore.terms.spans import I64, U8, Spans, with_hashes
from triplestore.terms.term_keys import BLANK, TRIPLE

Parts = tuple[bytes, bytes, bytes]

_ESCAPE = rb"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))"
_SHORT = {b"b": b"\b", b"t": b"\t", b"n": b"\n", b"f": b"\f", b"r": b"\r"}


def parts_of(key: bytes) -> Parts:
    """The keys of subject, predicate and object of the key of a triple term.

    >>> parts_of(b'\\x06<<( _:b <http://p> "a\\\\"b"@en )>>')
    (b'\\x02b', b'\\x01http://p', b'\\x04a"b"@en')
    """
    text = key[5:-4]
    if text[:1] == b"<":
        subject, _, rest = text[1:].partition(b"> <")
        first = b"\x01" + _unescaped(subject)
    else:
        label, _, rest = text[2:].partition(b" <")
        first = b"\x02" + label
    predicate, _, object_ = rest.partition(b"> ")
    return first, b"\x01" + _unescaped(predicate), _object(object_)


def _object(text: bytes) -> bytes:
    if text[:3] == b"<<(":
        return b"\x06" + text
    if text[:1] == b"<":
        return b"\x01" + _unescaped(text[1:-1])
    if text[:1] == b"_":
        return b"\x02" + text[2:]
    if text[-1:] == b'"':
        return b"\x03" + _unescaped(text[1:-1])
    kind = b"\x05" if text[-1:] == b">" else b"\x04"
    return kind + _unescaped(text[1:])


def _unescaped(text: bytes) -> bytes:
    # The pattern is compiled when it is first needed, and kept by `re`.
    return re.sub(_ESCAPE, _character, text, flags=re.DOTALL) if b"\\" in text else text


def _character(match: re.Match[bytes]) -> bytes:
    short, long, letter = match.groups()
    if letter is not None:
        return _SHORT.get(letter, letter)
    return chr(int(short or long, 16)).encode()


def has_blank(key: bytes) -> bool:
    """True for a blank node, and for a triple term that has one.

    >>> has_blank(b"\\x06<<( <http://a> <http://p> <<( _:b <http://p> 1 )>> )>>")
    True
    """
    while key[0] == TRIPLE:
        subject, _, key = parts_of(key)
        if subject[0] == BLANK:
            return True
    return key[0] == BLANK


def parts_of_all(keys: Iterable[bytes]) -> list[bytes]:
    """The keys of the parts of several triple terms, three for each."""
    return [part for key in keys for part in parts_of(key)]


def triple_keys(keys: Sequence[bytes]) -> list[bytes]:
    """Those of some keys that are triple terms'."""
    return [key for key in keys if key[0] == TRIPLE]


def split_texts(buf: U8, starts: I64, lengths: I64) -> Spans:
    """The parts of many triple terms, three for each, as spans.

    >>> text = np.frombuffer(b"<<( <http://a> <http://p> _:b )>>", np.uint8)
    >>> parts = split_texts(text, np.array([0]), np.array([33]))
    >>> parts.starts.tolist(), parts.lengths.tolist(), parts.kinds.tolist()
    ([5, 16, 28], [8, 8, 1], [1, 1, 2])
    """
    # Late: importing kernels takes time that stores without triple terms need not spend.
    from triplestore.kernels.terms.triple_parts import ESCAPED, split_triples

    count = 3 * len(starts)
    firsts, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
    kinds = np.empty(count, np.uint8)
    split_triples(buf, starts, lengths, firsts, sizes, kinds)
    escaped = np.flatnonzero(kinds & np.uint8(ESCAPED))
    if len(escaped) == 0:
        return with_hashes(buf, firsts, sizes, kinds)
    kinds[escaped] &= np.uint8(ESCAPED - 1)
    texts = [
        _unescaped(buf[first : first + size].tobytes())
        for first, size in zip(firsts[escaped].tolist(), sizes[escaped].tolist(), strict=True)
    ]
    lengths_now = np.array([len(text) for text in texts], np.int64)
    firsts[escaped] = len(buf) + np.cumsum(lengths_now) - lengths_now
    sizes[escaped] = lengths_now
    longer = np.concatenate((buf, np.frombuffer(b"".join(texts), np.uint8)))
    return with_hashes(longer, firsts, sizes, kinds)
