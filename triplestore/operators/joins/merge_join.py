"""The join of two inputs that are sorted by the columns of the join: both stream.

Start at `MergeJoin._windows`. The inputs are split at keys: rows below the lesser of the two last
keys read are complete on both sides and can be joined; the others wait for more. So it holds one or
two blocks of each side, and the rows of one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import Frame, Type
from triplestore.operators.joins.hash_join import HashJoin, How, JoinOperator
from triplestore.operators.joins.join_index import JoinIndex
from triplestore.operators.operator import Blocks, Operator, Stream, as_tuple, gather
from triplestore.operators.row_keys import Words, narrow, order_keys
from triplestore.operators.row_operators import Project
from triplestore.relations.packed_keys import pack


def mergeable(left: Operator, right: Operator, on: Sequence[str]) -> tuple[str, ...] | None:
    """The columns `on` in the order by which both inputs are sorted, or None.

    Keys of two id columns, or of one column of any type but object, can be merged.
    """
    size = len(on)
    order = left.order[:size]
    if size == 0 or set(order) != set(on) or right.order[:size] != order:
        return None
    types = [left.types[left.names.index(name)] for name in order]
    return order if _key_fits(types) else None


def _key_fits(types: Sequence[Type]) -> bool:
    if len(types) == 1:
        return not types[0].hasobject
    return len(types) == 2 and all(narrow(kind) for kind in types)


class MergeJoin(JoinOperator):
    """Joins two inputs whose known orders begin with the columns `on`.

    >>> from triplestore.operators import Values
    >>> one = Values(Frame.of(x=[1, 2, 3], order=("x",)))
    >>> two = Values(Frame.of(x=[1, 1, 3], y=[7, 8, 9], order=("x", "y")))
    >>> MergeJoin(one, two).run(Context()).to_rows()
    [(1, 7), (1, 8), (3, 9)]
    """

    kind: ClassVar[str] = "merge join"

    def __init__(self, left: Operator, right: Operator, *args: Any, **options: Any) -> None:
        super().__init__(left, right, *args, **options)
        order = mergeable(left, right, self.on)
        if order is None:
            raise UsageError(
                f"merge join: inputs are sorted by {left.order} and {right.order}, which does not"
                f" fit a join on {self.on}; use a hash join"
            )
        self._left_on = [left.names.index(name) for name in order]
        self._right_on = [right.names.index(name) for name in order]

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.left)
        if isinstance(blocks, tuple) and not blocks:
            return ()
        right = self.right.whole(context)
        if right is None:
            others = self._read(context, self.right)
            if not isinstance(others, tuple):
                return self._stream(context, blocks, others)
            right = gather(self.right, others, self._account(context))
        index = JoinIndex(right, self._right_on, self._account(context), ordered=True)
        if isinstance(blocks, tuple) and len(blocks) == 1:
            return self._matches(context, blocks[0], right, index)
        return (piece for block in blocks for piece in self._matches(context, block, right, index))

    def _stream(self, context: Context, blocks: Blocks, others: Blocks) -> Stream:
        left = _Side(self, self.left, self._left_on, blocks, context)
        right = _Side(self, self.right, self._right_on, others, context)
        for window, other in self._windows(left, right):
            if not window:
                right.release(other)
                continue
            account = self._account(context)
            matches = gather(self.right, tuple(other), account)
            index = JoinIndex(matches, self._right_on, account, ordered=True)
            for block in window:
                yield from self._matches(context, block, matches, index)
            account.close()
            left.release(window)
            right.release(other)

    def _windows(self, left: _Side, right: _Side) -> Iterator[tuple[list[Frame], list[Frame]]]:
        """Rows of both sides in ascending, disjoint ranges of keys."""
        left.pull()
        right.pull()
        while left.frames and (right.frames or self.how in ("left", "anti")):
            cut = min((side.last for side in (left, right) if not side.done), default=None)
            yield left.take(cut), right.take(cut)
            for side in (left, right):
                if not side.done and side.last == cut:
                    side.pull()


def join(
    left: Operator,
    right: Operator,
    on: str | Sequence[str] | None = None,
    how: How = "inner",
    **options: Any,
) -> Operator:
    """A merge join if the inputs are sorted for it, otherwise a hash join. An inner hash join
    indexes the input that is expected to be smaller. `options` are those of `JoinOperator`.

    >>> from triplestore.operators import Values
    >>> one, two = Values(Frame.of(x=[1, 2, 3])), Values(Frame.of(x=[3, 1], y=[7, 8]))
    >>> join(two, one)
    <project ?x ?y>
    >>> join(one, two, how="semi")
    <hash join ?x (semi)>
    """
    columns = as_tuple([name for name in left.names if name in right.names] if on is None else on)
    if mergeable(left, right, columns):
        return MergeJoin(left, right, columns, how, **options)
    if how == "inner" and left.estimate < right.estimate:
        names = (*left.names, *(name for name in right.names if name not in columns))
        return Project(HashJoin(right, left, columns, how, **options), names)
    return HashJoin(left, right, columns, how, **options)


class _Side:
    """One input: the frames that are not joined yet, with their keys."""

    def __init__(
        self,
        join: JoinOperator,
        operator: Operator,
        on: list[int],
        blocks: Blocks,
        context: Context,
    ) -> None:
        self._blocks = iter(blocks)
        self._on = on
        self._join = join
        self._context = context
        self.frames: list[tuple[Frame, Words]] = []
        self.last: Any = None
        self.done = False

    def pull(self) -> None:
        """Read another block; `done` if there is none."""
        block = next(self._blocks, None)
        if block is None:
            self.done = True
            return
        self._join._charge(self._context, block.nbytes)
        keys = _keys(block, self._on)
        self.frames.append((block, keys))
        self.last = keys[-1]

    def take(self, cut: Any) -> list[Frame]:
        """Remove and return the rows below `cut` (all if it is None)."""
        taken = []
        kept = []
        for frame, keys in self.frames:
            if cut is None or keys[-1] < cut:
                taken.append(frame)
                continue
            place = int(keys.searchsorted(cut, "left"))
            if place:
                taken.append(frame.slice(0, place))
                frame, keys = frame.slice(place, frame.rows), keys[place:]
            kept.append((frame, keys))
        self.frames = kept
        return taken

    def release(self, frames: list[Frame]) -> None:
        """Release rows that were taken, after they are joined."""
        self._join._release(self._context, sum(frame.nbytes for frame in frames))


def _keys(frame: Frame, on: list[int]) -> Words:
    columns = [frame.columns[i] for i in on]
    if len(columns) == 2:
        return pack(columns[0], columns[1])
    keys: Words = np.asarray(order_keys(columns[0]))
    return keys
