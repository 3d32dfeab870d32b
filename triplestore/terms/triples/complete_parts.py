"""Adds the parts of loaded triple terms to the dictionary.

Start at `complete_parts`. Parts are found, numbered and added as the other terms of a load are: by
kind and bytes, one level of nesting after the other.
"""

from __future__ import annotations

import numpy as np

from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.triples.find_parts import PIECE, columns_of_parts, split_ids, triple_ids
from triplestore.terms.triples.part_columns import NO_PARTS


def complete_parts(dictionary: Dictionary, segment: TermSegment) -> None:
    """Add the missing parts of the triple terms of a segment that was just added.

    >>> dictionary = Dictionary()
    >>> segment = TermSegment.from_keys(1, [b"\\x06<<( <http://a> <http://p> _:b )>>"])
    >>> dictionary.add_segment(segment)
    >>> complete_parts(dictionary, segment)
    >>> dictionary.size, [column.tolist() for column in segment.triples.columns()]
    (4, [[1], [2], [3], [4]])
    """
    while segment.triples is None:
        ids = triple_ids(segment)
        if len(ids) == 0:
            segment.triples = NO_PARTS
            return
        collector = TermCollector(dictionary)
        numbers = [
            collector.add(*split_ids(segment, ids[lo : lo + PIECE]))
            for lo in range(0, len(ids), PIECE)
        ]
        found, new = collector.seal()
        segment.triples = columns_of_parts(ids, found[np.concatenate(numbers)])
        if new is None:
            return
        dictionary.add_segment(new)
        segment = new
