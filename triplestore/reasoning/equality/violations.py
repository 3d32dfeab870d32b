"""Violations where one individual stands for others: all of those that rules would list.

Start reading at `ViolatingRows`. A match of a constraint is a row of representatives, and stands
for as many matches as members can be chosen in: each is a violation, as it is under rules of
equality. Where a constraint asks for two things to be the same, that something is the same as
itself does not count unless it was asserted, as it is under rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.relations.layers.sorted_order import bounded_groups
from triplestore.relations.packed_keys import I64, U32, Bools, Columns, columns_of, in_sorted
from triplestore.relations.relation import BLOCK
from triplestore.relations.views.equality import NO_CLASSES, Equality, equality_of
from triplestore.terms.vocabulary import OWL_SAME_AS

if TYPE_CHECKING:
    from triplestore.datalog.program import Constraint
    from triplestore.relations import Tables

_SAME_AS = f"<{OWL_SAME_AS}>"


class ViolatingRows:
    """The matches of one constraint, as rows of a helper relation with columns for its variables.

    tables  as users see them
    names   the variables, which are the last columns
    """

    def __init__(
        self, tables: Tables, name: int, arity: int, constraint: Constraint, names: Sequence[str]
    ) -> None:
        self.equality: Equality | None = equality_of(tables)
        self.classes = NO_CLASSES if self.equality is None else self.equality.classes
        self.rows = tables.tuples(name, arity)
        self._first = arity - len(names)
        self._pairs = _same(constraint, {f"?{one}": n for n, one in enumerate(names, self._first)})

    def count(self, rows: Columns | None = None) -> int:
        """How many there are; of some rows of representatives, how many these stand for."""
        if not len(self.classes):
            return len(self.rows) if rows is None else len(rows[0])
        blocks = self.rows.scan() if rows is None else [rows]
        return sum(self._count(block) for block in blocks)

    def scan(self, rows: Columns | None = None) -> Iterator[Columns]:
        """All of them in blocks; or those for which some rows of representatives stand."""
        for block in self.rows.scan() if rows is None else [rows]:
            if not len(self.classes):
                yield block
                continue
            for found in self._expanded(block, range(self._first, len(block))):
                listed = self._are_listed(found)
                yield tuple(column[listed] for column in found)

    def contains(self, rows: Columns) -> Bools:
        """Which of these are among them."""
        images = [self.classes.representatives(column) for column in rows[self._first :]]
        held: Bools = self.rows.contains((*rows[: self._first], *images))
        return held & self._are_listed(rows)

    def since(self, before: ViolatingRows) -> Iterator[Columns]:
        """Those that were not there before, in blocks."""
        if self.classes == before.classes:
            keys = self.rows.keys()
            fresh = columns_of(keys[~in_sorted(keys, before.rows.keys())], self.rows.arity)
            yield from self.scan(fresh)
            return
        for block in self.scan():
            new = ~before.contains(block)
            yield tuple(column[new] for column in block)

    def _count(self, rows: Columns) -> int:
        if len(self._pairs) > 1:
            return sum(len(block[0]) for block in self.scan(rows))
        sizes = self._sizes(rows, range(self._first, len(rows)))
        for one, other in self._pairs:
            (same,) = ((rows[one] == rows[other]) & self.classes.is_member(rows[one])).nonzero()
            n = self.classes.sizes(rows[one][same])
            pairs = n * (n - 1) + self._reflexive(rows[one][same])
            sizes[same] = sizes[same] // (n * n) * pairs
        return int(sizes.sum())

    def _reflexive(self, reps: U32) -> I64:
        """How many members of each of these classes are said to be the same as themselves."""
        assert self.equality is not None
        heads = self.classes.representatives(self.equality.reflexive)
        return np.array([np.count_nonzero(heads == rep) for rep in reps.tolist()], dtype=np.int64)

    def _are_listed(self, rows: Columns) -> Bools:
        """Which rows need no equality of a member with itself unless it was asserted."""
        listed = np.ones(len(rows[0]), dtype=np.bool_)
        for one, other in self._pairs if self.equality is not None else ():
            assert self.equality is not None
            same = (rows[one] == rows[other]) & self.classes.is_member(rows[one])
            listed &= ~same | in_sorted(rows[one], self.equality.reflexive)
        return listed

    def _sizes(self, rows: Columns, places: Sequence[int]) -> I64:
        """How many choices of members there are for each row."""
        found = np.ones(len(rows[0]), dtype=np.int64)
        for place in places:
            found *= self.classes.sizes(rows[place])
        return found

    def _expanded(self, rows: Columns, places: Sequence[int]) -> Iterator[Columns]:
        """Rows with all choices of members in some places, at most a block at a time."""
        sizes = self._sizes(rows, places)
        for start, stop in bounded_groups(sizes, BLOCK):
            part = tuple(column[start:stop] for column in rows)
            if stop - start > 1 or sizes[start] <= BLOCK:
                for place in places:
                    index, members = self.classes.expand(part[place])
                    part = tuple(
                        members if at == place else column[index] for at, column in enumerate(part)
                    )
                yield part
            else:
                yield from self._in_pieces(part, places, int(sizes[start]))

    def _in_pieces(self, row: Columns, places: Sequence[int], size: int) -> Iterator[Columns]:
        """The same of one row that stands for too many."""
        place = max(places, key=lambda one: int(self.classes.sizes(row[one])[0]))
        members = self.classes.of_same(int(row[place][0]))
        step = max(1, BLOCK * len(members) // size)
        others = [one for one in places if one != place]
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            rows = [np.repeat(column, len(chosen)) for column in row]
            rows[place] = chosen
            yield from self._expanded(tuple(rows), others)


def _same(constraint: Constraint, places: dict[str, int]) -> list[tuple[int, int]]:
    """The places of variables that a constraint asks to be the same thing, two by two."""
    found = []
    for atom in constraint.atoms:
        terms = [*map(str, atom.terms)]
        if terms[1:2] == [_SAME_AS] and {terms[0], terms[-1]} <= places.keys():
            found.append((places[terms[0]], places[terms[-1]]))
    return found
