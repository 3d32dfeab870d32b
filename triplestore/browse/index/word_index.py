"""An index of the words of many texts, for searches by the beginnings of words.

Start at `WordIndex`. Every place where a word begins is kept with the eight bytes from there on as
a number, sorted; so the places that begin with a word are one range, found by two binary searches.
Longer words are compared byte by byte in that range. Everything is columns; a search costs as much
as the number of places that its words begin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triplestore.browse.index.folded_texts import FoldedTexts
from triplestore.relations.packed_keys import I64, U8, U32, U64, Bools

EQUAL, BEGINS_WORDS, WORDS, BEGINS, PREFIXES = range(5)
"""How well a text matches: it is equal; begins with the whole words; has the whole words; begins
with the words, the last of them not whole; has words that begin with them."""

_KEY_BYTES = 8


class Matches(NamedTuple):
    """The texts that have all words, increasing, and how well each matches."""

    texts: I64
    quality: U8


class WordIndex:
    """The places of words.

    >>> from triplestore.browse.index.folded_texts import fold_texts
    >>> raw = np.frombuffer(b"full professorprofessorassociate professor of law", np.uint8)
    >>> index = WordIndex(fold_texts(raw, np.array([0, 14, 23, 49]), humps=False))
    >>> found = index.find(["prof"])
    >>> found.texts.tolist(), found.quality.tolist()
    ([0, 1, 2], [4, 3, 4])
    >>> index.find(["professor"]).quality.tolist(), index.find(["l", "assoc"]).texts.tolist()
    ([2, 0, 2], [2])
    """

    def __init__(self, texts: FoldedTexts) -> None:
        self.buffer = texts.buffer
        self.starts = texts.starts
        (places,) = texts.words.nonzero()
        keys = _keys_at(self.buffer, places)
        order = np.argsort(keys, kind="stable")
        self._keys: U64 = keys[order]
        self._places = places[order].astype(np.int64)
        self._texts: U32 = self.text_of(places)[order].astype(np.uint32)
        self._first: I64 = np.full(len(self), -1, dtype=np.int64)
        of_text = self.text_of(places)
        self._first[of_text[::-1]] = places[::-1]
        self._last = self._ends()

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        columns = (self.buffer, self.starts, self._keys, self._places, self._texts)
        return sum(column.nbytes for column in (*columns, self._first, self._last))

    def text_of(self, places: I64) -> I64:
        """The numbers of the texts that have these bytes."""
        return self.starts.searchsorted(places, side="right") - 1

    def find(self, words: list[str]) -> Matches:
        """The texts that have, for each of these folded words, a word that begins with it."""
        spelt = [word.encode() for word in words]
        ranges = sorted((self._range(word) for word in dict.fromkeys(spelt)), key=_size)
        has: Bools | None = None
        whole: Bools | None = None
        for word, lo, hi in ranges:
            places, texts = self._places[lo:hi], self._texts[lo:hi]
            if len(word) > _KEY_BYTES:
                fits = self._continues(places, word)
                places, texts = places[fits], texts[fits]
            here, here_whole = (np.zeros(len(self), dtype=np.bool_) for _ in range(2))
            here[texts] = True
            here_whole[texts[self._is_end(places + len(word))]] = True
            has = here if has is None else has & here
            whole = here_whole if whole is None else whole & here_whole
        assert has is not None and whole is not None, "a search has at least one word"
        (found,) = has.nonzero()
        return Matches(found, self._quality(found, whole[found], b" ".join(spelt)))

    def _quality(self, found: I64, whole: Bools, phrase: bytes) -> U8:
        first = self._first[found]
        begins = _keys_at(self.buffer, first) >> _shift(phrase) == _key(phrase) >> _shift(phrase)
        if len(phrase) > _KEY_BYTES:
            (open_,) = begins.nonzero()
            begins[open_] = self._continues(first[open_], phrase)
        equal = begins & (first + len(phrase) == self._last[found])
        quality = np.where(begins, np.uint8(BEGINS), np.uint8(PREFIXES))
        quality[whole] = np.where(begins[whole], np.uint8(BEGINS_WORDS), np.uint8(WORDS))
        quality[equal] = EQUAL
        return quality

    def _range(self, word: bytes) -> tuple[bytes, int, int]:
        lo = _key(word)
        hi = lo | ((np.uint64(1) << _shift(word)) - np.uint64(1))
        return (
            word,
            int(self._keys.searchsorted(lo, side="left")),
            int(self._keys.searchsorted(hi, side="right")),
        )

    def _continues(self, places: I64, word: bytes) -> Bools:
        """Which places continue as the word does after its first eight bytes."""
        fits = np.ones(len(places), dtype=np.bool_)
        open_ = np.arange(len(places))
        last = len(self.buffer) - 1
        for offset in range(_KEY_BYTES, len(word)):
            at = np.minimum(places[open_] + offset, last)
            same = self.buffer[at] == word[offset]
            fits[open_[~same]] = False
            open_ = open_[same]
            if len(open_) == 0:
                break
        return fits

    def _is_end(self, places: I64) -> Bools:
        after = self.buffer[places]
        found: Bools = (after == 0) | (after == 32)
        return found

    def _ends(self) -> I64:
        """After the last byte of each text that belongs to a word."""
        body = self.buffer[: self.starts[-1]] if len(self) else self.buffer[:0]
        inside = (body != 0) & (body != 32)
        last = np.maximum.accumulate(np.where(inside, np.arange(len(body)), -1))
        return last[self.starts[1:] - 1] + 1 if len(self) else np.zeros(0, dtype=np.int64)


def _size(item: tuple[bytes, int, int]) -> int:
    return item[2] - item[1]


def _key(word: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(word[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0"), "big"))


def _shift(word: bytes) -> np.uint64:
    """How many bits of a key lie behind a word of up to eight bytes."""
    return np.uint64(8 * max(0, _KEY_BYTES - len(word)))


def _keys_at(buffer: U8, places: I64) -> U64:
    """The eight bytes from each place on, up to the end of its text, as numbers in their order."""
    keys = np.zeros(len(places), dtype=np.uint64)
    open_ = np.ones(len(places), dtype=np.bool_)
    for offset in range(_KEY_BYTES):
        codes = buffer[places + offset]
        open_ &= codes != 0
        keys <<= np.uint64(8)
        keys |= np.where(open_, codes, np.uint8(0))
    return keys
