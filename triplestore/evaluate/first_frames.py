"""Frames to begin with: the facts of a batch that match one atom. Start at `FirstFrames.of`."""

from __future__ import annotations

import numpy as np

from triplestore.evaluate.binding_frames import Rows
from triplestore.evaluate.family_constants import slices_of
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import bounds
from triplestore.relations.packed_keys import U32, Columns, columns_of, low
from triplestore.rules.families import CompiledAtom, Family


class FirstFrames:
    """Families that look at the same batch one after the other share its columns."""

    __slots__ = ("_batch", "_split", "_type_id")

    def __init__(self, type_id: int) -> None:
        self._type_id = type_id
        self.forget()

    def forget(self) -> None:
        """Keep no columns: nothing looks at the batch again."""
        self._batch: Batch | None = None
        self._split: dict[tuple[RelationKey, int], Columns | None] = {}

    def of(
        self, family: Family, atom: CompiledAtom, batch: Batch, numbered: bool = False
    ) -> tuple[Rows, int]:
        """The facts of a batch that match an atom, as a frame.

        numbered  whether the places of the facts in the batch are the last column
        """
        rows: Rows = [None] * (family.width + 1)
        sliced, number = False, None
        if atom.relation == ANY:
            columns, number = self._triples(batch)
        else:
            first = atom.terms[0]
            pairs = isinstance(atom.relation, int) and not numbered
            sliced = pairs and first < 0
            found: Columns | None = None
            if pairs and first >= 0 and atom.relation in batch:
                found = slices_of(family, first, batch[atom.relation])
            if found is None:
                alone = -first if sliced else 0
                found = self._columns(atom.relation, len(atom.terms), alone, batch)
            if found is None:
                return rows, 0
            columns = found
        n = len(columns[0])
        if numbered:
            rows[family.width] = np.arange(n, dtype=np.uint32) if number is None else number
        keep = None
        for place, term in enumerate(atom.terms):
            column = columns[place]
            if term < 0:
                if place == 0 and sliced:
                    continue
                same = column == np.uint32(-term)
            elif rows[term] is None:
                rows[term] = column
                continue
            else:
                same = column == rows[term]
            keep = same if keep is None else keep & same
        if keep is None or keep.all():
            return rows, n
        return [None if c is None else c[keep] for c in rows], int(np.count_nonzero(keep))

    def _columns(
        self, relation: RelationKey, arity: int, first: int, batch: Batch
    ) -> Columns | None:
        """The facts of a relation in a batch as columns: all, or those with one first id (of which
        the second column comes twice); None if there are none. Families that look at the same
        batch one after the other share them."""
        if batch is not self._batch:
            self._batch, self._split = batch, {}
        wanted = relation, first
        if wanted in self._split:
            return self._split[wanted]
        keys = batch.get(relation)
        found: Columns | None = None
        if keys is not None and first:
            lo, hi = bounds(keys, first)  # a class: a slice of sorted keys
            if lo < hi:
                second = low(keys[lo:hi])
                found = second, second
        elif keys is not None and len(keys):
            found = columns_of(keys, arity)
        self._split[wanted] = found
        return found

    def _triples(self, batch: Batch) -> tuple[Columns, U32 | None]:
        """All facts of two-column relations as (s, p, o)."""
        found = []
        for name, keys in batch.items():
            if isinstance(name, int):
                first, second = columns_of(keys, 2)
                p = np.full(len(keys), name, dtype=np.uint32)
                found.append((second, p, first) if name == self._type_id else (first, p, second))
        if not found:
            empty = np.empty(0, dtype=np.uint32)
            return (empty, empty, empty), None
        return tuple(np.concatenate(column) for column in zip(*found, strict=True)), None
