"""Texts in the form in which they are compared: lower case, without accents and punctuation.

Start at `fold_texts`. All texts lie in one buffer of UTF-8, each followed by a zero byte, so that
folding is a few calls of C for all of them. Letters, digits and everything beyond ASCII belong to
words; each other byte is a space.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np

from triplestore.browse.thresholds import BROWSE
from triplestore.relations.packed_keys import I64, U8, Bools

_MARK = "\x01"
"""Stands before a capital that begins a word, until the text is folded."""

_ACCENTS = re.compile("[\u0300-\u036f]+")
_NO_WORD = re.compile(r"[^\w\x00-\x7f]")
_SPACES = bytes(
    code if code >= 128 or code < 2 or chr(code).isalnum() else 32 for code in range(256)
)
_LOWER, _UPPER, _DIGIT = (
    np.array([code < 128 and test(chr(code)) for code in range(256)])
    for test in (str.islower, str.isupper, str.isdigit)
)
_CJK = np.array([0xE3 <= code <= 0xED for code in range(256)])
_WORD = np.array([code not in (0, 32) for code in range(256)])


class FoldedTexts(NamedTuple):
    """Folded texts.

    buffer  the texts, each followed by a zero byte; some zero bytes at the end
    starts  where each text begins; one more entry for the end of the last one
    words   whether a word begins at a byte of the buffer
    """

    buffer: U8
    starts: I64
    words: Bools


def fold(text: str) -> str:
    """One text as it is compared.

    >>> fold("  Café-Society (Graz)"), fold("FullProfessor")
    ('cafe society graz', 'fullprofessor')
    """
    return " ".join(_folded(text).encode().translate(_SPACES).decode().split())


def fold_texts(buffer: U8, offsets: I64, humps: bool) -> FoldedTexts:
    """The folded form of texts in UTF-8; `humps`: a word also begins in the middle of `fullName`.

    >>> raw = np.frombuffer("fullName Über".encode(), np.uint8)
    >>> folded = fold_texts(raw, np.array([0, 8, 14]), True)
    >>> bytes(folded.buffer).rstrip(b"\\0"), folded.starts.tolist()
    (b'fullname\\x00 uber', [0, 9, 15])
    >>> np.flatnonzero(folded.words).tolist()
    [0, 4, 10]
    """
    parts = []
    step = BROWSE.folded_texts
    for lo in range(0, len(offsets) - 1, step):
        bounds = offsets[lo : lo + step + 1]
        part = buffer[bounds[0] : bounds[-1]]
        parts.append(_fold_some(part, bounds - bounds[0], humps))
    return join_texts(parts)


def join_texts(parts: list[FoldedTexts]) -> FoldedTexts:
    """The texts of several parts, one after the other."""
    padding = np.zeros(16, dtype=np.uint8)
    ends = np.cumsum([0, *(int(part.starts[-1]) for part in parts)])
    buffers = [part.buffer[: int(part.starts[-1])] for part in parts]
    starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    words = [part.words[: int(part.starts[-1])] for part in parts]
    return FoldedTexts(
        np.concatenate([*buffers, padding]),
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        np.concatenate([*words, padding.view(np.bool_)]),
    )


def _fold_some(buffer: U8, offsets: I64, humps: bool) -> FoldedTexts:
    lengths = np.diff(offsets)
    kept = np.minimum(lengths, BROWSE.indexed_bytes)
    inside = np.arange(len(buffer)) - np.repeat(offsets[:-1], lengths)
    kept_bytes = inside < np.repeat(kept, lengths)
    part, inside = buffer[kept_bytes], inside[kept_bytes]
    part = np.where(part < 2, np.uint8(32), part)
    marked = _humps(part, inside) if humps else np.zeros(len(part), dtype=np.bool_)
    # Each byte moves on by the marks up to it and by one end for each text before it.
    text = np.repeat(np.arange(len(kept)), kept)
    places = np.arange(len(part)) + np.cumsum(marked) + text
    spread = np.zeros(len(part) + int(marked.sum()) + len(kept), dtype=np.uint8)
    spread[places] = part
    spread[places[marked] - 1] = 1
    folded = _folded(spread.tobytes().decode("utf-8", "ignore")).encode()
    codes = np.frombuffer(folded.translate(_SPACES), dtype=np.uint8)
    is_mark = codes == 1
    codes = codes[~is_mark]
    (marks,) = is_mark.nonzero()
    begins = np.zeros(len(codes) + 1, dtype=np.bool_)
    begins[marks - np.arange(len(marks))] = True
    (ends,) = (codes == 0).nonzero()
    starts = np.concatenate((np.zeros(1, dtype=np.int64), ends + 1))
    return FoldedTexts(codes, starts, begins[:-1] | _word_starts(codes))


def _humps(part: U8, inside: I64) -> Bools:
    """Where a capital follows a small letter, a digit a letter, or a small letter ends capitals."""
    before, after = np.roll(part, 1), np.roll(part, -1)
    upper, lower, digit = _UPPER[part], _LOWER[part], _DIGIT[part]
    goes_on = np.roll(inside, -1) > 0  # the next byte is of the same text
    ends_capitals = _UPPER[before] & _LOWER[after] & goes_on
    rises = upper & (_LOWER[before] | _DIGIT[before] | ends_capitals)
    numbers = digit & (_LOWER[before] | _UPPER[before])
    found: Bools = (rises | numbers | (lower & _DIGIT[before])) & (inside > 0)
    return found


def _word_starts(codes: U8) -> Bools:
    """Where a word begins; each sign of a script without spaces begins one."""
    word = _WORD[codes]
    starts = word.copy()
    starts[1:] &= ~word[:-1]
    starts |= _CJK[codes]
    return starts


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return _NO_WORD.sub(" ", plain.casefold())
