"""Frames: the columns of the variables of a family, while its body is matched.

A frame is a plain list with the column of each variable, or None, and a number of rows. It costs
less than a `Frame` of `operators` (0.3 instead of 3 us a step), which matters with 10,000 families
in a round. `FirstFrames` makes the first frame; `join_table` adds the constants of a family.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import bounds
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    SHIFT,
    U32,
    U64,
    Columns,
    columns_of,
    high,
    low,
)
from triplestore.rules.body_plans import TableStep
from triplestore.rules.families import CompiledAtom, Family, TableIndex

Bindings: TypeAlias = list[Any]
"""The columns of ids (U32) of the variables; None for variables that are not needed any more. The
last column has numbers of goals (U32), or the number of instances of each row (I64), or is None."""

_LOW = np.uint64(0xFFFFFFFF)


def column(rows: Bindings, term: int, n: int) -> U32:
    """The column of a variable, or of a constant."""
    if term < 0:
        return np.full(n, -term, dtype=np.uint32)
    column: U32 | None = rows[term]
    assert column is not None
    return column


def take(rows: Bindings, index: I64, keep: tuple[int, ...]) -> Bindings:
    """The rows at some positions; only the columns to keep."""
    made: Bindings = [None] * len(rows)
    for variable in keep:
        column = rows[variable]
        if column is not None:
            made[variable] = column[index]
    return made


def where(rows: Bindings, mask: np.ndarray, keep: tuple[int, ...], n: int) -> tuple[Bindings, int]:
    """The rows where a mask is true, and how many; only the columns to keep."""
    left = int(np.count_nonzero(mask))
    if left == n:
        return rows, n
    made: Bindings = [None] * len(rows)
    if left:
        for variable in keep:
            column = rows[variable]
            if column is not None:
                made[variable] = column[mask]
    return made, left


def split(rows: Bindings, n: int, pieces: int) -> Iterator[tuple[Bindings, int]]:
    """A frame cut into `pieces` parts, or into single rows if it has fewer; each with its size."""
    bounds = np.linspace(0, n, min(n, pieces) + 1).astype(np.int64).tolist()
    for start, stop in pairwise(bounds):
        yield [None if column is None else column[start:stop] for column in rows], stop - start


def together(family: Family, parts: Sequence[tuple[Bindings, int]]) -> tuple[Bindings, int]:
    """The rows of several frames of one family."""
    filled = [part for part in parts if part[1]]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    made: Bindings = []
    for place in range(family.width + 1):
        columns = [rows[place] for rows, _ in filled]
        if place == family.width and any(one is not None for one in columns):
            columns = [
                np.ones(n, dtype=np.int64) if one is None else one
                for one, (_, n) in zip(columns, filled, strict=True)
            ]
        known = [one for one in columns if one is not None]
        made.append(np.concatenate(known) if len(known) == len(filled) else None)
    return made, sum(n for _, n in filled)


def weights_of(family: Family, rows: Bindings) -> I64 | None:
    """The number of instances of each row; None if each row is one instance."""
    found: I64 | None = rows[family.width] if len(rows) > family.width else None
    return found


# -- first frames --------------------------------------------------------------------------------


class FirstFrames:
    """The facts of a batch that match an atom, as a frame. Families that read the same batch one
    after the other share its columns."""

    __slots__ = ("_batch", "_split", "_type_id")

    def __init__(self, type_id: int) -> None:
        self._type_id = type_id
        self.forget()

    def forget(self) -> None:
        """Drop the columns: nothing reads the batch again."""
        self._batch: Batch | None = None
        self._split: dict[tuple[RelationKey, int], Columns | None] = {}

    def of(
        self, family: Family, atom: CompiledAtom, batch: Batch, numbered: bool = False
    ) -> tuple[Bindings, int]:
        """The facts of a batch that match an atom, as a frame.

        numbered  whether the places of the facts in the batch are the last column
        """
        rows: Bindings = [None] * (family.width + 1)
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
        """The facts of a relation in a batch as columns; None if there are none.

        first  only facts with this first id, unless 0; the second column then comes twice
        """
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


# -- constants of a family -----------------------------------------------------------------------


def join_table(family: Family, step: TableStep, rows: Bindings, n: int) -> tuple[Bindings, int]:
    """Join a frame with the constants of a family: a row for each rule."""
    table = family.table
    assert table is not None
    columns = dict(zip(table.variables, table.columns, strict=True))
    if not step.bound:
        size = len(family.rules)
        empty = n == 1 and not any(c is not None for c in rows)
        # rule after rule, so that the next look-ups come in the order of the frame
        made: Bindings = (
            [None] * len(rows) if empty else take(rows, np.tile(np.arange(n), size), step.keep)
        )
        for variable in step.free:
            made[variable] = columns[variable] if empty else np.repeat(columns[variable], n)
        return made, n * size
    indexes = family.known.indexes
    index = indexes.get(step.bound)
    if index is None:  # the table's rows as a relation, with their numbers in the last column
        index = indexes[step.bound] = TableIndex([columns[v] for v in step.bound])
    places, found = index.match([column(rows, v, n) for v in step.bound])
    made = take(rows, places, step.keep)
    for variable in step.free:
        made[variable] = columns[variable][found]
    return made, len(places)


def slices_of(family: Family, term: int, keys: U64) -> tuple[U32, U32] | None:
    """The sorted keys whose first id is a constant that a variable of the table stands for, as
    columns; None if reading all keys costs less than looking for each constant."""
    table = family.table
    if table is None or term not in table.variables:
        return None
    slices = family.known.slices
    firsts = slices.get(term)
    if firsts is None:
        column = table.columns[table.variables.index(term)]
        firsts = slices[term] = np.unique(column).astype(np.uint64) << SHIFT
    if len(firsts) * 8 > len(keys):
        return None
    lo, hi = keys.searchsorted(firsts), keys.searchsorted(firsts | _LOW, side="right")
    found = (lo < hi).nonzero()[0]
    pieces = [keys[i:j] for i, j in zip(lo[found].tolist(), hi[found].tolist(), strict=True)]
    if not pieces:
        return NO_IDS, NO_IDS
    every = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return high(every), low(every)
