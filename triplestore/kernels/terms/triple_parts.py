"""The kernel that splits texts of triple terms into the texts of their parts."""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

ESCAPED = 0x80
"""Set in the kind of a part whose text has escapes: it is not yet the text of a key."""

_LESS, _GREATER, _QUOTE, _SPACE = 60, 62, 34, 32
_AT, _BACKSLASH = 64, 92
_IRI, _BLANK, _STRING, _LANG, _TYPED, _TRIPLE = 1, 2, 3, 4, 5, 6


@kernel("void(u8r, i64r, i64r, i64w, i64w, u8w)")
def split_triples(buf, starts, lengths, part_starts, part_lengths, part_kinds):
    """Write the spans and kinds of subject, predicate and object of each text.

    buf           has texts as keys have them: `<<( s p o )>>`, canonical N-Triples
    part_starts   three for each text, as part_lengths and part_kinds; a kind has ESCAPED if its
                  span has a backslash. The span of a part without one is the text of its key
    """
    for i in range(starts.size):
        at = starts[i] + 4
        stop = starts[i] + lengths[i] - 4
        for place in range(3):
            out = 3 * i + place
            sign = buf[at]
            first, last = at + 1, stop - 1
            if place < 2:
                end = _GREATER if sign == _LESS else _SPACE
                last = at
                while last < stop and buf[last] != end:
                    last += 1
                at = last + (2 if sign == _LESS else 1)
            kind = _IRI
            if sign == _QUOTE:
                kind = _STRING
                if buf[last] != _QUOTE:
                    quote = last
                    while quote > first and buf[quote] != _QUOTE:
                        quote -= 1
                    kind = _LANG if buf[quote + 1] == _AT else _TYPED
                    last = stop
            elif sign != _LESS:
                kind = _BLANK
                first += 1
                if place == 2:
                    last = stop
            elif buf[first] == _LESS:
                kind = _TRIPLE
                first, last = first - 1, stop
            part_starts[out] = first
            part_lengths[out] = last - first
            mark = 0
            if kind != _TRIPLE:
                for j in range(first, last):
                    if buf[j] == _BACKSLASH:
                        mark = ESCAPED
                        break
            part_kinds[out] = np.uint8(kind | mark)
