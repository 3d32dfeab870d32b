"""Which parts of a state are in files, and which must be written.

Used by checkpoints, which write the missing parts beside existing files, and by backups, which copy
these. Always true: `term_parts` and `layer_parts` cover every term and every layer of the state
once, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.relations import Layer, merge_layers
from triplestore.storage.state import KeptPart, State
from triplestore.terms import TermSegment

IsKept: TypeAlias = Callable[[KeptPart], bool]


def term_parts(state: State, is_kept: IsKept) -> list[tuple[TermSegment, bool]]:
    """Segments for all terms of a state, and for each whether it is in a file."""
    parts: list[tuple[TermSegment, bool]] = []
    next_id = 1
    for segment in state.dictionary.segments:
        if not is_kept(segment) or segment.last_id > state.term_count:
            continue
        if segment.first_id > next_id:
            parts.append((state.dictionary.segment_of(next_id, segment.first_id - 1), False))
        parts.append((segment, True))
        next_id = segment.last_id + 1
    if next_id <= state.term_count:
        parts.append((state.dictionary.segment_of(next_id, state.term_count), False))
    return parts


def layer_parts(state: State, is_kept: IsKept) -> list[tuple[int, int, Layer, bool]]:
    """(start, stop, layer, in a file): layers equivalent to the layers [start, stop) of a state.

    Neighbours that are in no file become one layer, which may be empty.
    """
    old = state.tables.layers
    parts: list[tuple[int, int, Layer, bool]] = []
    start = 0
    while start < len(old):
        stop = start + 1
        if is_kept(old[start]):
            parts.append((start, stop, old[start], True))
        else:
            while stop < len(old) and not is_kept(old[stop]):
                stop += 1
            merged = merge_layers(old[start:stop], bottom=start == 0)
            parts.append((start, stop, merged, False))
        start = stop
    return parts
