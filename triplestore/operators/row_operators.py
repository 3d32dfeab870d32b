"""Operators on one block at a time: filter, project, extend, limit, union.

Each is a `Map`: it turns each block into one block that is not longer. Columns that stay are not
copied.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import BOOLEAN, Array, Frame, Type, kept_order, width_of
from triplestore.operators.operator import (
    Blocks,
    Operator,
    Stream,
    Text,
    as_tuple,
    gather,
    positions,
    shown,
    variables,
)

Expression: TypeAlias = Callable[[Frame], Array]
"""Computes one value per row of a block."""


class Map(Operator):
    """An operator that turns each block of its child into one block that is not longer."""

    child: Operator

    @abstractmethod
    def _apply(self, context: Context, block: Frame) -> Frame:
        """The result for `block`; charges its allocations by `_charge_block`."""

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.child)
        if isinstance(blocks, tuple):
            if len(blocks) == 1:
                block = self._apply(context, blocks[0])
                return (block,) if block.rows else ()
            if not blocks:
                return ()
        return (self._apply(context, block) for block in blocks)


class FilterRows(Map):
    """The rows for which a condition holds.

    >>> from triplestore.operators import Values
    >>> rows = Values(Frame.of(x=[1, 2, 3], y=[3, 2, 1]))
    >>> FilterRows(rows, lambda frame: frame["x"] >= frame["y"]).run(Context()).to_rows()
    [(2, 2), (3, 1)]
    """

    kind: ClassVar[str] = "filter"

    def __init__(
        self,
        child: Operator,
        condition: Expression,
        *,
        text: Text = "",
        estimate: float | None = None,
    ) -> None:
        super().__init__(
            child.names,
            child.types,
            (child,),
            order=child.order,
            unique=child.unique,
            estimate=child.estimate / 2 if estimate is None else estimate,
        )
        self.child = child
        self.condition = condition
        self.text = text

    def detail(self) -> str:
        """The condition, if its text is known."""
        return shown(self.text)

    def _apply(self, context: Context, block: Frame) -> Frame:
        self._charge_block(context, block.rows * (1 + self.width))
        mask = self.condition(block)
        if mask.dtype != BOOLEAN or len(mask) != block.rows:
            raise AssertionError(f"{self.label()}: the condition is not a boolean column")
        return block if mask.all() else block.where(mask)


class Project(Map):
    """Some columns of the child, in a given order, under the same or other names.

    >>> from triplestore.operators import Values
    >>> rows = Values(Frame.of(x=[1, 2], y=[3, 4]))
    >>> Project(rows, {"b": "y", "a": "x"}).run(Context())
    <frame of 2 rows (b: uint32, a: uint32)>
    """

    kind: ClassVar[str] = "project"

    def __init__(self, child: Operator, columns: Sequence[str] | Mapping[str, str]) -> None:
        self.renames = isinstance(columns, Mapping)
        if isinstance(columns, Mapping):
            self.columns = dict(columns)
            new_name = {old: new for new, old in reversed(self.columns.items())}
            order = tuple(new_name[old] for old in kept_order(child.order, new_name))
        else:
            listed = as_tuple(columns)
            new_name = self.columns = dict(zip(listed, listed, strict=True))
            order = kept_order(child.order, new_name) if child.order else ()
        self._places = positions(child.names, tuple(self.columns.values()), self.kind)
        types = child.types
        super().__init__(
            tuple(self.columns),
            tuple([types[place] for place in self._places]),
            (child,),
            order=order,
            unique=child.unique and new_name.keys() >= set(child.names),
            estimate=child.estimate,
        )
        self.child = child

    def detail(self) -> str:
        """The columns, renamed ones as `?old→?new`."""
        return " ".join(
            f"?{new}" if new == old else f"?{old}→?{new}" for new, old in self.columns.items()
        )

    def whole(self, context: Context) -> Frame | None:
        """Views of the child's whole result."""
        frame = self.child.whole(context)
        if frame is not None:
            frame = self._apply(context, frame)
            self.statistics.calls += 1
            self.statistics.rows += frame.rows
            self.statistics.blocks += frame.rows > 0
        return frame

    def _apply(self, context: Context, block: Frame) -> Frame:
        columns = block.columns
        return Frame(
            self.names,
            [columns[place] for place in self._places],
            block.rows,
            self.order,
            self.unique,
        )


def rename(child: Operator, names: Mapping[str, str]) -> Project:
    """All columns of the child, some with new names: {old: new}."""
    positions(child.names, tuple(names), "rename")
    return Project(child, {names.get(name, name): name for name in child.names})


class Extend(Map):
    """The child's columns and one more, computed or constant.

    value  a function of a block, or one value for all rows
    type   the type of the new column

    >>> from triplestore.operators import INTEGER, Values
    >>> rows = Values(Frame.of(x=[1, 2]))
    >>> twice = Extend(rows, "y", lambda frame: frame["x"].astype(INTEGER) * 2, INTEGER)
    >>> twice.run(Context()).to_rows()
    [(1, 2), (2, 4)]
    """

    kind: ClassVar[str] = "extend"

    def __init__(
        self, child: Operator, name: str, value: Expression | object, type: Type, *, text: Text = ""
    ) -> None:
        if name in child.names:
            raise UsageError(f"extend: the input has a column {name} already")
        constant = not callable(value)
        super().__init__(
            (*child.names, name),
            (*child.types, type),
            (child,),
            order=(name, *child.order) if constant else child.order,
            unique=child.unique,
            estimate=child.estimate,
        )
        self.child = child
        self.name = name
        self.value = value
        self.type = type
        self.text = text or ("" if callable(value) else str(value))

    def detail(self) -> str:
        """The new column, and its expression if the text is known."""
        return f"?{self.name} := {shown(self.text)}" if self.text else f"?{self.name}"

    def _apply(self, context: Context, block: Frame) -> Frame:
        self._charge_block(context, block.rows * width_of(self.type))
        if callable(self.value):
            column = self.value(block)
            if column.dtype != self.type or len(column) != block.rows:
                raise AssertionError(
                    f"{self.label()}: {len(column)} values of {column.dtype} for {block.rows} rows"
                    f" of {self.type}"
                )
        else:
            column = np.full(block.rows, self.value, self.type)
        columns = (*block.columns, column)
        return Frame(self.names, columns, block.rows, self.order, self.unique)


class Limit(Operator):
    """At most `limit` rows after the first `offset`; stops its child early.

    >>> from triplestore.operators import Values
    >>> Limit(Values(Frame.of(x=[1, 2, 3, 4])), 2, offset=1).run(Context()).to_rows()
    [(2,), (3,)]
    """

    kind: ClassVar[str] = "limit"

    def __init__(self, child: Operator, limit: int | None, *, offset: int = 0) -> None:
        if offset < 0 or (limit is not None and limit < 0):
            raise UsageError(f"limit {limit} and offset {offset} must not be negative")
        rest = max(0.0, child.estimate - offset)
        super().__init__(
            child.names,
            child.types,
            (child,),
            order=child.order,
            unique=child.unique,
            estimate=rest if limit is None else min(rest, limit),
        )
        self.child = child
        self.limit = limit
        self.offset = offset

    def detail(self) -> str:
        """The two numbers."""
        limit = "all" if self.limit is None else str(self.limit)
        return f"{limit} after {self.offset}" if self.offset else limit

    def _open(self, context: Context) -> Blocks:
        if self.limit == 0:
            return ()
        blocks = self._read(context, self.child)
        cut = self._cut(blocks)
        return tuple(cut) if isinstance(blocks, tuple) else cut

    def _cut(self, blocks: Blocks) -> Stream:
        skip = self.offset
        left = self.limit
        for block in blocks:
            if skip >= block.rows:
                skip -= block.rows
                continue
            stop = block.rows if left is None else min(block.rows, skip + left)
            yield block if stop - skip == block.rows else block.slice(skip, stop)
            if left is not None:
                left -= stop - skip
                if left == 0:
                    return
            skip = 0


class Union(Operator):
    """The rows of several children, one child after the other, with duplicates.

    The children have the same columns, in any order.

    >>> from triplestore.operators import Values
    >>> one, two = Values(Frame.of(x=[1], y=[2])), Values(Frame.of(y=[3], x=[4]))
    >>> Union((one, two)).run(Context()).to_rows()
    [(1, 2), (4, 3)]
    """

    kind: ClassVar[str] = "union"

    def __init__(self, children: Sequence[Operator]) -> None:
        if not children:
            raise UsageError("union: at least one input is needed")
        names = children[0].names
        aligned = []
        for child in children:
            if set(child.names) != set(names):
                raise UsageError(
                    f"union: the inputs have different columns: {variables(names)} and"
                    f" {variables(child.names)}"
                )
            aligned.append(child if child.names == names else Project(child, names))
            if aligned[-1].types != children[0].types:
                raise UsageError("union: columns of the inputs have different types")
        only = aligned[0] if len(aligned) == 1 else None
        super().__init__(
            names,
            children[0].types,
            tuple(aligned),
            order=only.order if only else (),
            unique=only.unique if only else False,
            estimate=sum(child.estimate for child in children),
        )

    def _open(self, context: Context) -> Blocks:
        ready: list[Frame] = []
        rows = 0
        for i, child in enumerate(self.children):
            blocks = self._read(context, child)
            if not isinstance(blocks, tuple):
                return self._rest(context, ready, blocks, self.children[i + 1 :])
            ready.extend(blocks)
            rows += sum(block.rows for block in blocks)
        if len(ready) > 1 and rows <= context.block_rows:
            return (gather(self, tuple(ready), self._account(context)),)
        return tuple(ready)

    def _rest(
        self,
        context: Context,
        ready: list[Frame],
        blocks: Blocks,
        children: Sequence[Operator],
    ) -> Stream:
        yield from ready
        ready.clear()
        yield from blocks
        for child in children:
            yield from self._read(context, child)
