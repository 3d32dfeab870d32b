"""The join of a stream with a relation, using the relation's indexes.

Start at `Probe`: rules join their delta with a large relation this way, at a cost that depends on
the delta and not on the relation. It is also the semi- and anti-join with a relation (`NOT` atoms,
EXISTS), and the outer join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import ClassVar, TypeAlias

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import BOOLEAN, ID, Array, Frame
from triplestore.operators.joins.hash_join import HOWS, How
from triplestore.operators.leaves import Pattern, atom, check_pattern, slices
from triplestore.operators.operator import Blocks, Operator, Stream, Text
from triplestore.relations.relation import StoredRelation
from triplestore.relations.status import HOLDS

Found: TypeAlias = tuple[Array, tuple[Array, ...]]
"""An answer of `Relation.probe`: the place of each row's value, and the free columns."""


class Probe(Operator):
    """For each row of the child, the rows of a relation that match a pattern.

    In the pattern, a name that the child has, or an int, is looked up; other names become columns;
    None stands for any id. At least one column is looked up. `how` as in `JoinOperator`; semi and
    anti only test whether there is a row. Rows come in the order of the child. `relation` and
    `where` can be replaced between runs.

    >>> from triplestore.operators import Values
    >>> from triplestore.relations import Tables, bulk_layer
    >>> s, p, o = np.array([[1, 9, 5], [1, 9, 6], [2, 9, 5]], dtype=np.uint32).T
    >>> knows = Tables([bulk_layer(p, s, o)]).relation(9)
    >>> people = Values(Frame.of(x=[1, 3]))
    >>> Probe(people, knows, ("x", "y")).run(Context()).to_rows()
    [(1, 5), (1, 6)]
    >>> Probe(people, knows, ("x", None), how="anti").run(Context()).to_rows()
    [(3,)]
    """

    kind: ClassVar[str] = "probe"

    def __init__(
        self,
        child: Operator,
        relation: StoredRelation,
        pattern: Pattern,
        *,
        where: int = HOLDS,
        how: How = "inner",
        matched: str | None = None,
        name: Text = "",
        estimate: float | None = None,
    ) -> None:
        if how not in HOWS:
            raise UsageError(f"probe: how is one of {', '.join(HOWS)}, not {how!r}")
        if matched is not None and how != "left":
            raise UsageError(f"probe: a column {matched!r} of matches needs how='left'")
        self.child = child
        self.relation = relation
        self.where = where
        self.how = how
        self.name = name
        self.pattern = check_pattern(self.kind, relation, pattern)
        self._matched = matched is not None
        self._split(child)
        names = child.names
        if how in ("inner", "left"):
            names = (*names, *self._new)
        super().__init__(
            names + ((matched,) if matched is not None else ()),
            (*child.types, *(ID,) * (len(names) - len(child.names)))
            + ((BOOLEAN,) if self._matched else ()),
            (child,),
            order=child.order,
            unique=child.unique and (how in ("semi", "anti") or None not in self.pattern),
            estimate=self._expected() if estimate is None else estimate,
        )

    def detail(self) -> str:
        """The pattern, and the kind of join unless it is inner."""
        return self.detail_naming(str)

    def detail_naming(self, name_of: Callable[[int], str]) -> str:
        """The same, with names of ids."""
        pattern = atom(self.name, self.pattern, name_of)
        return pattern if self.how == "inner" else f"{pattern} ({self.how})"

    def _split(self, child: Operator) -> None:
        """Find the columns of the relation that are looked up, and those that are free."""
        self._bound: list[int] = []
        self._values: list[int] = []  # the child's column for each bound column; -1: a constant
        free: list[str | None] = []
        names = child.names
        for place, entry in enumerate(self.pattern):
            known = -1
            if entry in names:
                known = names.index(str(entry))
                if child.types[known] is not ID and child.types[known] != ID:
                    raise UsageError(f"probe: ?{entry} holds {child.types[known]}, not ids")
            elif not isinstance(entry, int):
                free.append(entry)
                continue
            self._bound.append(place)
            self._values.append(known)
        if not self._bound:
            raise UsageError(
                f"probe: {atom(self.name, self.pattern)} looks up no column; use a join"
            )
        self._new: tuple[str, ...] = ()
        self._free: list[int] = []
        self._same: list[tuple[int, int]] = []  # free columns that must be equal
        for i, name in enumerate(free):
            if name is None:
                continue
            if name in self._new:
                self._same.append((free.index(name), i))
            else:
                self._new += (name,)
                self._free.append(i)
        self._only = not self._same and len(self._bound) == 1  # semi: only one column is looked up

    def _expected(self) -> float:
        each = self.relation.estimate(self._bound)
        if self.how in ("semi", "anti"):
            return self.child.estimate / 2
        return self.child.estimate * (max(1.0, each) if self.how == "left" else each)

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.child)
        if isinstance(blocks, tuple):
            if not blocks:
                return ()
            if len(blocks) == 1:
                return self._one(context, blocks[0])
        return (piece for block in blocks for piece in self._one(context, block))

    def _one(self, context: Context, block: Frame) -> Blocks:
        """The result for one block of the child."""
        context.check()  # a chain of many joins reads its first blocks before any is passed on
        values = [
            block.columns[known] if known >= 0 else np.array([self.pattern[place]], ID)
            for place, known in zip(self._bound, self._values, strict=True)
        ]
        if block.rows > 1:
            values = [
                value if known >= 0 else value.repeat(block.rows)
                for value, known in zip(values, self._values, strict=True)
            ]
        if len(self._bound) == len(self.pattern):
            return self._chosen(context, block, self.relation.contains(tuple(values), self.where))
        if self.how in ("semi", "anti"):
            return self._chosen(context, block, self._exists(context, block, values))
        found = self.relation.probe_blocks(
            self._bound, values, self.where, block_rows=context.block_rows
        )
        if self._same:
            found = (self._equal(part) for part in found)
        if self.how == "left":
            frames = self._outer(context, block, found)
        else:
            frames = (self._joined(context, block, part) for part in found if len(part[0]))
        first = next(frames, None)
        if first is None:
            return ()
        second = next(frames, None)
        if second is None and first.rows <= context.block_rows:
            return (first,)
        return _cut((first,) if second is None else chain((first, second), frames), context)

    def _joined(self, context: Context, block: Frame, part: Found) -> Frame:
        index, free = part
        rows = len(index)
        self._charge_block(context, rows * (8 + self.width))
        if rows == block.rows == 1:
            columns = [*block.columns]
        else:
            columns = [column.take(index) for column in block.columns]
        columns += [free[i] for i in self._free]
        return Frame(self.names, columns, rows, self.order, self.unique)

    def _equal(self, part: Found) -> Found:
        """The rows whose free columns are equal where the pattern repeats a name."""
        index, free = part
        mask = np.ones(len(index), BOOLEAN)
        for one, other in self._same:
            mask &= free[one] == free[other]
        return index[mask], tuple(column[mask] for column in free)

    def _outer(self, context: Context, block: Frame, found: Iterator[Found]) -> Stream:
        """Joined rows and rows without a match, in the order of the block."""
        first, second = next(found, None), next(found, None)
        if first is not None and second is None:
            yield self._with_missing(context, block, first, 0, block.rows)
            return
        if first is not None and second is not None:
            found = chain((first, second), found)
        done = 0  # rows of the block that were passed on, or that have a match
        none = np.empty(0, np.int64)
        free = (np.empty(0, ID),) * (len(self.pattern) - len(self._bound))
        last: Found = (none, free)  # kept back, so that rows behind the last match can be added
        for part in found:
            if len(part[0]):
                if len(last[0]):
                    stop = int(last[0][-1]) + 1
                    yield self._with_missing(context, block, last, done, stop)
                    done = stop
                last = part
        yield self._with_missing(context, block, last, done, block.rows)

    def _with_missing(
        self, context: Context, block: Frame, part: Found, start: int, stop: int
    ) -> Frame:
        """The joined rows of `part`, and the rows [start, stop) of the block without a match."""
        index, free = part
        is_missing = np.ones(stop - start, BOOLEAN)
        is_missing[index[index.searchsorted(start) :] - start] = False
        missing = np.flatnonzero(is_missing) + start
        if len(missing) == 0 and not self._matched:
            return self._joined(context, block, part)
        rows = len(index) + len(missing)
        self._charge_block(context, rows * (24 + self.width))
        both = np.concatenate((index, missing))
        order = both.argsort(kind="stable")
        places = both.take(order)
        columns = [column.take(places) for column in block.columns]
        none = np.zeros(len(missing), ID)
        columns += [np.concatenate((free[i], none))[order] for i in self._free]
        if self._matched:
            columns.append(order < len(index))
        return Frame(self.names, columns, rows, self.order, self.unique)

    def _exists(self, context: Context, block: Frame, values: list[Array]) -> Array:
        """Which rows of the block have a match."""
        if self._only:
            return self.relation.semijoin(self._bound[0], values[0], self.where)
        found = np.zeros(block.rows, BOOLEAN)
        for part in self.relation.probe_blocks(
            self._bound, values, self.where, block_rows=context.block_rows
        ):
            context.check()
            found[(self._equal(part) if self._same else part)[0]] = True
        return found

    def _chosen(self, context: Context, block: Frame, found: Array) -> tuple[Frame, ...]:
        """The rows of the block with a match, or for anti-joins those without one."""
        if self.how == "left":
            columns = (*block.columns, found) if self._matched else block.columns
            return (Frame(self.names, columns, block.rows, self.order, self.unique),)
        mask = ~found if self.how == "anti" else found
        if np.count_nonzero(mask) == block.rows:  # faster than mask.all()
            return (block,)
        self._charge_block(context, block.rows * self.width)
        chosen = block.where(mask)
        return (chosen,) if chosen.rows else ()


def _cut(frames: Iterable[Frame], context: Context) -> Stream:
    """The frames; long ones in slices."""
    for frame in frames:
        if frame.rows <= context.block_rows:
            yield frame
        else:
            yield from slices(frame, context.block_rows)
