"""How many nonrecursive rule instances derive each fact: changes beside what is stored.

Start reading at `CountChanges`. In the papers an asserted fact has one more in its count (C_nr).
Here callers add that one, because the status says whether a fact is asserted.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.facts.fact_sets import RelationKey, no_keys
from triplestore.relations.facts.sorted_arrays import bounds, places_in, summed
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import I64, U32, Keys

_PIECES = 6  # maximum number of pieces of a relation before they are merged
_MANY = 1 << 14  # minimum number of rows to look for blocks of one first id
_A_BLOCK = 256  # minimum average number of rows of such blocks
_Piece: TypeAlias = tuple[Keys, I64]


class CountChanges:
    """Net changes of the counts of facts, by relation.

    >>> import numpy as np
    >>> from triplestore.relations import Tables
    >>> counts = CountChanges(Stored(Tables(), 0))
    >>> fact = np.array([1 << 32 | 5], np.uint64)
    >>> counts.change(9, fact, np.array([2]))
    >>> counts.change(9, fact, np.array([-1]))
    >>> counts.current(9, fact).tolist()
    [1]
    """

    __slots__ = ("_pieces", "stored")

    def __init__(self, stored: Stored | None) -> None:
        self.stored = stored
        self._pieces: dict[RelationKey, list[tuple[Keys, I64]]] = {}

    def change(self, relation: RelationKey, keys: Keys, by: NDArray[np.integer]) -> None:
        """Add to the counts of sorted, distinct facts."""
        if len(keys):
            self._pieces.setdefault(relation, []).append((keys, by.astype(np.int64, copy=False)))

    def current(self, relation: RelationKey, keys: Keys, before: U32 | None = None) -> I64:
        """The counts of facts now; `before` are those stored, if they are known."""
        if before is None and self.stored is not None:
            before = self.stored.of(relation).counts(keys)
        counts = np.zeros(len(keys), np.int64) if before is None else before.astype(np.int64)
        pieces = self._pieces.get(relation, [])
        if len(pieces) > _PIECES:
            _merge(pieces)
        for known, by in pieces:
            places = places_in(keys, known)
            counts += np.where(places >= 0, by[places], 0)
        return counts

    def changed(self, relation: RelationKey) -> tuple[Keys, I64]:
        """The facts of a relation whose counts changed, sorted, and by how much."""
        pieces = self._pieces.get(relation)
        if not pieces:
            return no_keys(relation), np.zeros(0, dtype=np.int64)
        if len(pieces) > 1:
            pieces[:] = [_together(pieces)]
        keys, by = pieces[0]
        moved = by != 0
        return (keys, by) if moved.all() else (keys[moved], by[moved])

    def copied(self) -> CountChanges:
        """A copy that can be changed independently."""
        made = CountChanges(self.stored)
        made._pieces = {name: list(pieces) for name, pieces in self._pieces.items()}
        return made

    def relations(self) -> list[RelationKey]:
        """The relations with changes."""
        return list(self._pieces)

    def taken(self, relation: RelationKey) -> list[tuple[Keys, I64]]:
        """Take the changes of a relation away, to be put back later."""
        return self._pieces.pop(relation, [])

    def put_back(self, relation: RelationKey, pieces: list[tuple[Keys, I64]]) -> None:
        """Put changes back that were taken."""
        if pieces:
            self._pieces[relation] = pieces

    def forget(self, relation: RelationKey) -> None:
        """Drop the changes of a relation."""
        self._pieces.pop(relation, None)


def _together(pieces: list[_Piece]) -> _Piece:
    """All pieces as one."""
    blocks = _blocks(pieces)
    if blocks is None:
        return _merged(pieces)
    parts = [_merged(blocks[first]) for first in sorted(blocks)]
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([by for _, by in parts])


def _merged(pieces: list[_Piece]) -> _Piece:
    """All pieces merged as one: neighbours in pairs, so that a row is copied log n times."""
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=False)
        odd = pieces[-1:] if len(pieces) % 2 else []
        pieces = [summed(*one, *other) for one, other in pairs] + odd
    return pieces[0]


def _blocks(pieces: list[_Piece]) -> dict[int, list[_Piece]] | None:
    """The rows by first id, or None if there are many first ids: members of a class come from one
    stratum, so they are copied once instead of being merged repeatedly."""
    if pieces[0][0].dtype != np.uint64 or sum(len(keys) for keys, _ in pieces) < _MANY:
        return None
    blocks: dict[int, list[_Piece]] = {}
    for keys, by in pieces:
        at, left = 0, len(keys) // _A_BLOCK
        while at < len(keys):
            if left < 0:
                return None
            first = int(keys[at]) >> 32
            stop = bounds(keys, first)[1]
            blocks.setdefault(first, []).append((keys[at:stop], by[at:stop]))
            at, left = stop, left - 1
    return blocks


def _merge(pieces: list[tuple[Keys, I64]]) -> None:
    """Merge the last pieces, as long as the one before is not twice as long."""
    pieces[-2:] = [summed(*pieces[-2], *pieces[-1])]
    while len(pieces) > 1 and len(pieces[-2][0]) < 2 * len(pieces[-1][0]):
        pieces[-2:] = [summed(*pieces[-2], *pieces[-1])]
