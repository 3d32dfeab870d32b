"""Part columns made from the texts of triple terms, and the parts that a dictionary still lacks.

Start at `parts_of_segment` (the columns, by looking the parts up) and `missing_parts` (the keys of
the parts that are not known). Costs one split of each text and one look-up of each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from triplestore.terms.spans import U32, Spans
from triplestore.terms.term_keys import TRIPLE
from triplestore.terms.triples.part_columns import NO_PARTS, PartColumns
from triplestore.terms.triples.split_triples import parts_of_all, split_texts, triple_keys

if TYPE_CHECKING:
    from triplestore.terms.segment import TermSegment

Find: TypeAlias = Callable[[Spans, U32], None]
"""Writes the ids of terms to an array, where it is 0."""

PIECE = 1 << 16
"""Triple terms whose parts are looked up together."""


def parts_of_segment(segment: TermSegment, find: Find) -> PartColumns:
    """The parts of the triple terms of a segment, 0 for those that are not found.

    >>> from triplestore.terms.segment import TermSegment
    >>> keys = [b"\\x01http://a", b"\\x06<<( <http://a> <http://a> _:b )>>"]
    >>> found = parts_of_segment(TermSegment.from_keys(1, keys), lambda spans, out: None)
    >>> [column.tolist() for column in found.columns()]
    [[2], [1], [1], [0]]
    """
    ids = triple_ids(segment)
    if len(ids) == 0:
        return NO_PARTS
    found = np.zeros(3 * len(ids), np.uint32)
    for lo in range(0, len(ids), PIECE):
        spans = split_ids(segment, ids[lo : lo + PIECE])
        out = found[3 * lo : 3 * (lo + PIECE)]
        segment.find_many(spans, out)
        find(spans, out)
    return columns_of_parts(ids, found)


def triple_ids(segment: TermSegment) -> U32:
    """The ids of the triple terms of a segment."""
    return np.concatenate([np.zeros(0, np.uint32), *segment.of_kind(TRIPLE, 0)])


def split_ids(segment: TermSegment, ids: U32) -> Spans:
    """The parts of some triple terms of a segment, three for each."""
    buf, starts, lengths, _ = segment.spans_of(ids)
    return split_texts(buf, starts, lengths)


def parts_of_keys(
    first_id: int, keys: Sequence[bytes], look_up: Callable[[Sequence[bytes]], U32]
) -> PartColumns:
    """The parts of the triple terms among keys with the ids first_id, first_id + 1, ..."""
    rows = [row for row, key in enumerate(keys, first_id) if key[0] == TRIPLE]
    if not rows:
        return NO_PARTS
    return columns_of_parts(np.array(rows, np.uint32), look_up(parts_of_all(triple_keys(keys))))


def missing_parts(keys: Sequence[bytes], look_up: Callable[[Sequence[bytes]], U32]) -> list[bytes]:
    """The keys of the parts of triple terms that are not known, sorted."""
    parts = sorted(set(parts_of_all(keys)))
    return [key for key, known in zip(parts, look_up(parts).tolist(), strict=True) if not known]


def columns_of_parts(ids: U32, found: U32) -> PartColumns:
    """Columns from the ids of terms and of their parts, three for each."""
    return PartColumns.of(ids, *found.reshape(-1, 3).T)
