"""Columns of texts: terms as spans of a buffer, so that kernels compute functions of strings.

Start at `Texts`, which `texts_of_ids` and `texts_of_keys` make; `keyed` returns to keys of terms.
Always true: bytes of stored terms are not copied if one segment holds all of them; a text
without a value has the shape 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.shapes import NOTHING, TEXT, U16, Shapes
from triplestore.kernels.jit import is_installed, is_loaded
from triplestore.operators.context import current
from triplestore.operators.row_keys import distinct_ids
from triplestore.operators.sort_positions import sort_words
from triplestore.terms.sort_terms import sorted_terms
from triplestore.terms.spans import copy_texts, offsets_of, pieces, texts_of_keys
from triplestore.terms.thresholds import TERMS

U8: TypeAlias = NDArray[np.uint8]
I64: TypeAlias = NDArray[np.int64]

_TEXT = 40  # bytes per text besides its own
_LOOKED_AT = 1024  # keys between two looks at whether they have too many datatypes and languages


@data_class
class Texts:
    """Terms by their places in a list of texts.

    Text i is `buf[starts[i] : starts[i] + lengths[i]]`, the lexical form of a term of `shapes[i]`.

    codes  for each row, its text
    """

    buf: U8
    starts: I64
    lengths: I64
    shapes: U16
    codes: I64

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def size(self) -> int:
        """The number of texts."""
        return len(self.starts)

    def with_shapes(self, shapes: U16) -> Texts:
        """The same texts with other shapes."""
        return Texts(self.buf, self.starts, self.lengths, shapes, self.codes)

    def with_codes(self, codes: I64) -> Texts:
        """The same texts for other rows."""
        return Texts(self.buf, self.starts, self.lengths, self.shapes, codes)

    def by_row(self) -> Texts:
        """The same with one text for each row."""
        codes = self.codes
        rows = np.arange(len(codes))
        return Texts(self.buf, self.starts[codes], self.lengths[codes], self.shapes[codes], rows)


def worth_texts(rows: int) -> bool:
    """Whether kernels are faster for this many rows than one text after the other."""
    if is_loaded():
        return rows >= TERMS.warm_texts
    return rows >= TERMS.cold_texts and is_installed()


def texts_of_ids(ids: U32, terms: QueryTerms) -> Texts | None:
    """The texts of terms; None if they have too many different datatypes and languages."""
    distinct, codes = distinct_ids(ids)
    current().need(_TEXT * len(distinct))
    buf, starts, lengths, kinds = terms.spans(distinct)
    shapes, sizes = np.empty(len(starts), np.uint16), np.empty(len(starts), np.int64)
    recent = np.zeros(64, np.uint16)
    for lo, hi in pieces(lengths):
        current().check()
        part = slice(lo, hi)
        given = buf, starts[part], lengths[part], kinds[part]
        if not _split(*given, recent, terms.shapes, shapes[part], sizes[part]):
            return None
    return Texts(buf, starts, sizes, shapes, codes)


def _split(
    buf: U8,
    starts: I64,
    lengths: I64,
    kinds: U8,
    recent: U16,
    known: Shapes,
    shapes: U16,
    sizes: I64,
) -> bool:
    """Write shapes and lengths of lexical forms; False if there are too many ends."""
    from triplestore.kernels.terms.text_parts import split_literals

    at = 0
    while True:
        at = split_literals(buf, starts, lengths, kinds, at, *known.table, recent, shapes, sizes)
        if at == len(starts):
            return True
        if known.is_full:
            return False
        begin = int(starts[at])
        known.of_end(buf[begin + int(sizes[at]) : begin + int(lengths[at])].tobytes())


def texts_of(keys: Sequence[bytes | None], codes: I64, shapes: Shapes) -> Texts | None:
    """The texts of terms, given by their keys; None as for `texts_of_ids`."""
    current().need(2 * sum(len(key) for key in keys if key is not None) + _TEXT * len(keys))
    split: list[tuple[int, bytes]] = []
    for start in range(0, len(keys), _LOOKED_AT):
        if shapes.is_full:
            return None
        current().check()
        split += map(shapes.of_key, keys[start : start + _LOOKED_AT])
    buf, starts, lengths, _ = texts_of_keys([b"\0" + text for _, text in split])
    numbers = np.array([shape for shape, _ in split], np.uint16)
    return Texts(buf, starts, lengths, numbers, codes)


def numbered(texts: Texts) -> tuple[I64, I64]:
    """The first of each distinct text, and the number of each row's text among these."""
    from triplestore.kernels.terms.text_parts import number_texts

    current().need(48 * texts.size)
    firsts, codes = np.empty(texts.size, np.int64), np.empty(texts.size, np.int64)
    slots = np.zeros(texts.size * 3 // 2 + 2, np.uint64)
    count = 0
    spans = texts.buf, texts.starts, texts.lengths, texts.shapes
    for lo, hi in pieces(texts.lengths):
        current().check()
        count = number_texts(*spans, lo, hi, count, slots, codes, firsts)
    return firsts[:count], codes[texts.codes]


def keyed(texts: Texts, shapes: Shapes) -> tuple[list[bytes | None], I64]:
    """The distinct terms as keys, and the place of each row's term among them."""
    firsts, codes = numbered(texts)
    starts, lengths = texts.starts[firsts], texts.lengths[firsts]
    size = int(lengths.sum())
    current().need(2 * size + 100 * len(firsts))
    many = len(firsts) > 0 and size * 4 > len(texts.buf)
    buf = texts.buf.tobytes() if many else texts.buf
    kinds = [None if key is None else (key[:1], key[1:]) for key in shapes.keys]
    keys: list[bytes | None] = []
    spans = zip(starts.tolist(), lengths.tolist(), texts.shapes[firsts].tolist(), strict=True)
    for start, length, shape in spans:
        parts = kinds[shape]
        if parts is None:
            keys.append(None)
        else:
            keys.append(parts[0] + bytes(buf[start : start + length]) + parts[1])
    return keys, codes


def ids_of_texts(texts: Texts, terms: QueryTerms) -> U32 | None:
    """The ids of many plain strings; None for other terms, and for few."""
    used = texts.shapes
    if not worth_texts(texts.size) or not ((used == TEXT) | (used == NOTHING)).all():
        return None
    firsts, codes = numbered(texts)
    has = np.flatnonzero(used[firsts] == TEXT)
    ids = np.zeros(len(firsts), np.uint32)
    places = firsts[has]
    ids[has] = terms.encode_strings(texts.buf, texts.starts[places], texts.lengths[places])
    return ids[codes]


def joined(
    texts: Texts, ranks: I64, groups: I64, count: int, separator: bytes, has_text: NDArray[np.bool_]
) -> Texts:
    """The texts of each of the groups 0 .. count-1, one after the other with separators.

    ranks     for each text its place among the texts of a group
    groups    the group of each row
    has_text  which shapes have a text; a group with another one has no value
    """
    limits = current()
    limits.need(int(texts.lengths[texts.codes].sum()) + (len(separator) + 60) * len(groups))
    if count == 1:
        times = np.zeros(texts.size, np.int64)
        times[ranks] = np.bincount(texts.codes, minlength=texts.size)
        owners, places = np.zeros(len(groups), np.int64), np.repeat(np.arange(texts.size), times)
    else:
        keys = (groups.astype(np.uint64) << np.uint64(32)) | ranks[texts.codes].astype(np.uint64)
        keys = sort_words(keys, limits)
        owners = (keys >> np.uint64(32)).astype(np.int64)
        places = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    text_at = np.empty(texts.size, np.int64)
    text_at[ranks] = np.arange(texts.size)
    chosen = text_at[places]
    sizes = texts.lengths[chosen]
    is_last = np.ones(len(owners), np.bool_)
    is_last[:-1] = owners[1:] != owners[:-1]
    steps = sizes + np.where(is_last, 0, len(separator))
    stops = np.cumsum(steps)
    made = np.empty(int(stops[-1]) if len(stops) else 0, np.uint8)
    starts = stops - steps
    for lo, hi in pieces(sizes):
        limits.check()
        part = chosen[lo:hi]
        copy_texts(texts.buf, texts.starts[part], sizes[lo:hi], made, starts[lo:hi])
    between = (starts + sizes)[~is_last]
    for place, byte in enumerate(separator):
        made[between + place] = byte
    ends = np.zeros(count, np.int64)
    ends[owners[is_last]] = stops[is_last]
    ends = np.maximum.accumulate(ends)
    lengths = np.diff(ends, prepend=0)
    shapes = np.full(count, TEXT, np.uint16)
    shapes[groups[~has_text[texts.shapes[texts.codes]]]] = NOTHING
    return Texts(made, ends - lengths, lengths, shapes, np.arange(count))


def listed_texts(texts: Texts) -> Texts:
    """The same with each text listed once."""
    firsts, codes = numbered(texts)
    starts, lengths = texts.starts[firsts], texts.lengths[firsts]
    return Texts(texts.buf, starts, lengths, texts.shapes[firsts], codes)


def ranks_of_texts(buf: U8, starts: I64, lengths: I64, kinds: U8) -> I64:
    """The place of each of some distinct terms in the order of kinds, then bytes."""
    offsets = offsets_of(lengths)
    current().need(int(offsets[-1]) + 30 * len(starts))
    near = np.empty(int(offsets[-1]), np.uint8)
    copy_texts(buf, starts, lengths, near, offsets[:-1].astype(np.int64))
    order = sorted_terms(near, offsets, kinds, np.arange(len(starts), dtype=np.uint32))
    ranks = np.empty(len(starts), np.int64)
    ranks[order] = np.arange(len(starts))
    return ranks
