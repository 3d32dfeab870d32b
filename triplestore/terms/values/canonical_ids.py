"""Which terms of a new segment have the value of another term: canonical ids.

Start at `canonical_ids`. Always true: the canonical id of a term is the least id among the terms of
the same value (XSD identity), in this segment or an older one; every other term is its own. Two
values are compared only where class and key agree. The term is read again only where these do not
decide (a time zone, more digits than a double has, text). Costs a sort of the keys, a search of the
keys that two segments share, and plain Python for undecided ties only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.terms.value_keys import NO_DETAIL
from triplestore.terms.values.encode_values import I64, U8, U16, U32, U64, encode_rows, encode_texts
from triplestore.terms.values.segment_values import Entries, ValueTable, sort_entries, tied
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    EXACT,
    LANG,
    LANG_MARK,
    SPACE_OF,
    STRING,
    STRING_MARK,
    TYPED,
    ZONED_OR_MINUS,
    Class,
    plain_key_of,
    value_of,
)

_CHUNK = 1 << 20
_NAMED = 1 << 40  # codes of values that were compared by their identity


class TermSource(Protocol):
    """Where the terms of older segments are looked up: the dictionary."""

    def key(self, id: int, /) -> bytes:
        """The term key (kind, then text) of an id."""

    def lookup_keys(self, keys: Sequence[bytes], /) -> NDArray[np.uint32]:
        """The ids of term keys, 0 for unknown ones."""


def build_values(
    first_id: int,
    buf: U8,
    starts: I64,
    lengths: I64,
    kinds: U8,
    older: Sequence[ValueTable] = (),
    source: TermSource | None = None,
) -> ValueTable:
    """The values of a segment whose term i has id `first_id + i` and its text in `buf`.

    older   the tables of all earlier segments
    source  the dictionary that holds their terms
    """
    entries = canonical_ids(first_id, buf, starts, lengths, kinds, older, source)
    return ValueTable.of_entries(first_id, len(kinds), entries)


def canonical_ids(
    first_id: int,
    buf: U8,
    starts: I64,
    lengths: I64,
    kinds: U8,
    older: Sequence[ValueTable],
    source: TermSource | None,
) -> Entries:
    """All entries of the segment of these terms, with their canonical ids."""

    def key_at(place: int) -> bytes:
        start = int(starts[place])
        return bytes([kinds[place]]) + buf[start : start + int(lengths[place])].tobytes()

    typed = np.flatnonzero(kinds == TYPED)
    encoded = encode_rows(buf, starts, lengths, typed)
    good = np.flatnonzero(encoded.marks)
    marks, keys, details = encoded.take(good)
    entries = _Literals(typed[good], marks, keys, details, key_at)
    del typed, encoded, details
    count = len(good)
    entries = _with_plain_texts(entries, buf, starts, lengths, kinds, older)
    canonical = (entries.places + first_id).astype(np.uint32)
    order = sort_entries(entries.marks, entries.keys)
    _join_within(entries, order, canonical)
    for table in older:
        assert source is not None
        _join_older(entries, order, canonical, table, source)
    if source is not None:
        _join_older_plain_texts(entries, count, canonical, source, first_id)
    if len(entries.places) == count:
        return Entries(entries.places, entries.marks, entries.keys, canonical, order)
    # Plain strings are kept only where they are not their own canonical id, all in id order.
    own = (entries.places + first_id).astype(np.uint32)
    kept = np.flatnonzero((np.arange(len(own)) < count) | (canonical != own))
    kept = kept[np.argsort(entries.places[kept])]
    marks, keys = entries.marks[kept], entries.keys[kept]
    return Entries(entries.places[kept], marks, keys, canonical[kept], sort_entries(marks, keys))


# --------------------------------------------------------------------------------- identity


class _Literals(NamedTuple):
    """Entries that are compared with others; `details` None: they are read from the terms."""

    places: I64
    marks: U8
    keys: U64
    details: U16 | None
    key_at: Callable[[int], bytes]

    def take(self, at: NDArray[Any]) -> _Literals:
        details = None if self.details is None else self.details[at]
        return _Literals(self.places[at], self.marks[at], self.keys[at], details, self.key_at)


class _Identities:
    """Numbers for the identities of values, the same for the same value."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, object], int] = {}

    def codes(self, side: _Literals) -> I64:
        """A number for each entry: the same, within class and key, exactly for the same value."""
        details = side.details if side.details is not None else self._details(side)
        codes = SPACE_OF[side.marks].astype(np.int64) << 16 | details
        for row in np.flatnonzero(details == NO_DETAIL).tolist():
            value = value_of(side.key_at(int(side.places[row])))
            assert value is not None
            codes[row] = _NAMED + self._numbers.setdefault(value.identity, len(self._numbers))
        return codes

    def _details(self, side: _Literals) -> U16:
        """Details, encoded again unless the mark says that there are none."""
        details = np.zeros(len(side.marks), dtype=np.uint16)
        plain = (side.marks & np.uint8(EXACT | ZONED_OR_MINUS)) == EXACT
        rows = np.flatnonzero(~plain)
        keys = [side.key_at(place) for place in side.places[rows].tolist()]
        typed = [i for i, key in enumerate(keys) if key[0] == TYPED]
        again = np.full(len(rows), NO_DETAIL, dtype=np.uint16)
        again[typed] = encode_texts([keys[i][1:] for i in typed]).details
        details[rows] = again
        return details


def _join_within(entries: _Literals, order: U32, canonical: U32) -> None:
    """Give entries of the same value in one segment the id of the first of them."""
    group = _groups(CLASS_OF[entries.marks[order]], entries.keys[order])
    repeated = tied(group)
    at = order[repeated]
    group = group[repeated]
    codes = _Identities().codes(entries.take(at))
    ids = canonical[at]
    by = np.lexsort((ids, codes, group))
    first = _starts(group[by], codes[by])
    leader = np.maximum.accumulate(np.where(first, np.arange(len(by)), 0))
    canonical[at[by]] = ids[by][leader]


def _groups(*columns: NDArray[Any]) -> I64:
    """Ascending numbers of the runs of equal rows."""
    return np.cumsum(_starts(*columns), dtype=np.int64) - 1


def _starts(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """True where a row differs from the one before."""
    starts = np.ones(len(columns[0]), dtype=np.bool_)
    starts[1:] = False
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def _join_older(
    entries: _Literals, order: U32, canonical: U32, table: ValueTable, source: TermSource
) -> None:
    """Give entries whose value occurs in an older table the canonical id from there."""
    counts = np.bincount(CLASS_OF[entries.marks])
    stops = np.cumsum(counts)
    for kind in np.flatnonzero(counts).tolist():
        if table.count(Class(kind)):
            part = order[stops[kind] - counts[kind] : stops[kind]]
            for lo in range(0, len(part), _CHUNK):
                mine = part[lo : lo + _CHUNK].astype(np.int64)
                _join_chunk(entries, Class(kind), mine, canonical, table, source)


def _join_chunk(
    entries: _Literals,
    kind: Class,
    mine: I64,
    canonical: U32,
    table: ValueTable,
    source: TermSource,
) -> None:
    """The same for entries of one class, in the order of their keys."""
    group = _groups(entries.keys[mine])
    keys = entries.keys[mine[_starts(group)]]
    start, stop = table.search_many(kind, keys)
    counts = stop - start
    hit = counts[group] > 0
    mine, group = mine[hit], group[hit]
    if len(mine) == 0:
        return
    theirs = table.positions(_ranges(start, counts))
    their_group = np.repeat(np.arange(len(keys)), counts)
    ids = table.ids_at(theirs)
    their_marks = table.marks_at(theirs)
    side = _Literals(ids.astype(np.int64), their_marks, keys[their_group], None, source.key)
    names = _Identities()
    _assign(
        canonical,
        mine,
        (group, names.codes(entries.take(mine))),
        (their_group, names.codes(side)),
        table.canonical(ids),
    )


def _assign(
    canonical: U32,
    mine: I64,
    my_codes: tuple[I64, I64],
    their_codes: tuple[I64, I64],
    their_canonical: U32,
) -> None:
    """canonical[mine[i]] = their_canonical[j] where group and code of i and j are equal."""
    group, code = (np.concatenate(both) for both in zip(their_codes, my_codes, strict=True))
    by = np.lexsort((code, group))  # stable: in each run of equals, theirs come first
    first = _starts(group[by], code[by])
    leader = by[np.maximum.accumulate(np.where(first, np.arange(len(by)), 0))]
    theirs = len(their_canonical)
    same = (by >= theirs) & (leader < theirs)
    at = mine[by[same] - theirs]
    canonical[at] = np.minimum(canonical[at], their_canonical[leader[same]])


def _ranges(starts: I64, counts: I64) -> I64:
    """All of start, start + 1, ... (count of them), one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts) + np.repeat(starts, counts)


# ------------------------------------------------------- typed literals whose value is a text


def _with_plain_texts(
    entries: _Literals,
    buf: U8,
    starts: I64,
    lengths: I64,
    kinds: U8,
    older: Sequence[ValueTable],
) -> _Literals:
    """The entries, then one for each plain string that may have the value of a typed one.

    Plain strings have no entry otherwise: `"a"^^xsd:token` is rare, strings are not.
    """
    parts = [entries]
    for kind, plain in ((Class.TEXT, STRING), (Class.LANG_TEXT, LANG)):
        wanted = [entries.keys[CLASS_OF[entries.marks] == kind]]
        for table in older:
            lo, hi = table.class_range(kind)
            wanted.append(table.keys_between(lo, hi))
        texts = np.concatenate(wanted)
        if len(texts) == 0:
            continue
        places, ends = _plain_texts(buf, starts, lengths, kinds, plain)
        keys = _prefix_keys(buf, starts[places], ends)
        possible = np.isin(keys, texts)
        places, keys = places[possible], keys[possible]
        exact = (keys & np.uint64(0xFF)) < 8 if plain == STRING else np.zeros(len(keys), np.bool_)
        mark = STRING_MARK if plain == STRING else LANG_MARK
        marks = np.where(exact, mark | EXACT, mark).astype(np.uint8)
        details = np.where(exact, 0, NO_DETAIL).astype(np.uint16)
        parts.append(_Literals(places, marks, keys, details, entries.key_at))
    if len(parts) == 1:
        return entries
    return _Literals(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.marks for part in parts]),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.details for part in parts if part.details is not None]),
        entries.key_at,
    )


def _plain_texts(buf: U8, starts: I64, lengths: I64, kinds: U8, kind: int) -> tuple[I64, I64]:
    """Places of the plain literals of a kind that have a value, and lengths of their texts."""
    places = np.flatnonzero(kinds == kind)
    if kind == STRING:
        return places, lengths[places]
    texts = (buf[starts[p] : starts[p] + lengths[p]].tobytes() for p in places.tolist())
    ends = [text.rindex(b'"') if b"--" not in text.rpartition(b'"')[2] else -1 for text in texts]
    found = np.array(ends, dtype=np.int64)
    return places[found >= 0], found[found >= 0]


def _prefix_keys(buf: U8, starts: I64, lengths: I64) -> U64:
    """`prefix_key` of slices of `buf`."""
    keys = np.minimum(lengths, 8).astype(np.uint64)
    for i in range(7):
        inside = np.flatnonzero(lengths > i)
        keys[inside] |= buf[starts[inside] + i].astype(np.uint64) << np.uint64(56 - 8 * i)
    return keys


def _join_older_plain_texts(
    entries: _Literals, typed: int, canonical: U32, source: TermSource, first_id: int
) -> None:
    """Give typed literals whose value is that of an older plain string the id of that."""
    classes = CLASS_OF[entries.marks[:typed]]
    rows = np.flatnonzero((classes == Class.TEXT) | (classes == Class.LANG_TEXT))
    if len(rows) == 0:
        return
    keys = []
    for place in entries.places[rows].tolist():
        value = value_of(entries.key_at(place))
        key = None if value is None else plain_key_of(value)
        assert key is not None
        keys.append(key)
    ids = source.lookup_keys(keys)
    known = (ids > 0) & (ids < first_id)
    rows = rows[known]
    canonical[rows] = np.minimum(canonical[rows], ids[known])
