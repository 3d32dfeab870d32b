"""The contract of operators, the nodes of plans.

Start at `Operator`; a plan is its root. `run` returns the whole result as one frame, `stream`
returns it in blocks as they are made.

How blocks are passed on. `open` returns either a tuple of blocks that are ready, or an iterator of
blocks. The tuple is the fast path: while an operator's input is a small tuple and its output fits
in a block, no generator is made, so a rule on a small delta costs some microseconds per operator.
Each operator has one code path for both, which depends on the sizes.

Always true
    - A block has at most `context.block_rows` rows (whole results of `run` may have more), the
      names and types that the operator announces, and keeps its `order` and `unique`, as does the
      concatenation of all its blocks. Empty blocks are not passed on.
    - A block of an iterator is valid as long as it is referenced, but charged to the budget only
      until the next one is requested; a reader that keeps blocks must charge them.
    - Nothing stays charged when a plan has ended by exhaustion, by an error, or by being closed.
    - The frame returned by `run` belongs to the caller: it is no longer charged.
    - A plan may run any number of times, once at a time and in one thread at a time; its statistics
      add up until `clear_statistics`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from time import perf_counter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import BLOCK_ROWS, Context
from triplestore.operators.deep_calls import Elsewhere
from triplestore.operators.frame import ID, Array, Frame, Type, empty_frame, row_width, width_of

Stream: TypeAlias = Generator[Frame, None, None]
Blocks: TypeAlias = tuple[Frame, ...] | Stream
MOST_DEEP = 48
"""Maximum number of nested operators on one stack; deeper ones get another stack."""

_PACKED = 8  # number of pieces of at most a block each that are joined to one

Text: TypeAlias = str | Callable[[], str]
"""The text of a condition for people, or a function that makes it."""


class Statistics:
    """The statistics of one operator, summed over its calls since the last `clear`.

    Rows, blocks and calls are exact, even if a plan was stopped (they count what was passed on
    until then); seconds include those of the operators below; bytes are the maximum that the
    operator itself had charged at a time.
    """

    __slots__ = ("blocks", "bytes", "calls", "rows", "seconds")

    def __init__(self) -> None:
        self.calls = self.blocks = self.rows = self.bytes = 0
        self.seconds = 0.0

    def clear(self) -> None:
        """Reset all figures to zero."""
        self.calls = 0
        self.blocks = 0
        self.rows = 0
        self.seconds = 0.0
        self.bytes = 0


class Operator(ABC):
    """One node of a plan; `children` are the operators that it reads.

    names, types   the columns of its result
    order, unique  those of its result (see `Frame`)
    estimate       the expected number of rows
    """

    kind: ClassVar[str] = "operator"

    def __init__(
        self,
        names: tuple[str, ...],
        types: tuple[Type, ...],
        children: tuple[Operator, ...] = (),
        *,
        order: tuple[str, ...] = (),
        unique: bool = False,
        estimate: float = 0.0,
    ) -> None:
        if len(set(names)) != len(names) or len(names) != len(types):
            raise UsageError(
                f"{self.kind}: columns need different names and one type each: {names}"
            )
        self.names = names
        self.types = types
        self.children = children
        self.order = order
        self.unique = unique
        self.estimate = float(estimate)
        self.width = 4 * len(types) if types.count(ID) == len(types) else row_width(types)
        self.statistics = Statistics()
        self._every: tuple[Operator, ...] = ()
        # The number of operators on the stack of the caller of `open`: this one and those below.
        height = 0
        for child in children:
            below = child._height % MOST_DEEP
            if below > height:
                height = below
        self._height: int = 1 + height
        self._held = 0  # bytes charged by this operator now
        self._block = 0  # the part of them for the block passed on last
        self._reading: list[tuple[Operator, Stream]] = []  # children that are open

    # Methods for subclasses to define.

    @abstractmethod
    def _open(self, context: Context) -> Blocks:
        """The blocks of the result: a tuple if they are ready, or an iterator."""

    def detail(self) -> str:
        """The details of the operator besides its kind, for people."""
        return ""

    # Public methods.

    def run(self, context: Context) -> Frame:
        """The whole result as one frame."""
        blocks: Blocks = ()
        account = Account(context)
        try:
            blocks = self.open(context)
            if isinstance(blocks, tuple) and len(blocks) == 1:
                return blocks[0]
            return gather(self, blocks, account)
        finally:
            if not isinstance(blocks, tuple):
                blocks.close()
            account.close()
            self.settle(context)

    def stream(self, context: Context) -> Stream:
        """The result in blocks; closing the iterator stops the plan."""
        blocks: Blocks = ()
        try:
            blocks = self.open(context)
            yield from blocks
        finally:
            if not isinstance(blocks, tuple):
                blocks.close()
            self.settle(context)

    def open(self, context: Context) -> Blocks:
        """Begin; for the parent of this operator, which must exhaust or close the blocks."""
        record = self.statistics
        record.calls += 1
        began = perf_counter()
        try:
            context.check()
            blocks = self._open(context)
        except BaseException:
            record.seconds += perf_counter() - began
            self._close(context)
            raise
        if isinstance(blocks, tuple):
            if self._reading:
                self._close_children(context)
            for block in blocks:
                record.rows += block.rows
                record.blocks += 1
            record.seconds += perf_counter() - began
            return blocks
        record.seconds += perf_counter() - began
        return self._timed(context, blocks)

    def whole(self, context: Context) -> Frame | None:
        """The whole result if it exists already and needs no copy, else None."""
        return None

    def settle(self, context: Context) -> None:
        """Close the iterators of this plan, and release what its operators have charged."""
        for node in self.nodes():
            if node._held or node._reading:
                node._close(context)

    def nodes(self) -> tuple[Operator, ...]:
        """All operators of this plan, each before those that it reads."""
        if not self._every:
            found: list[Operator] = []
            stack: list[Operator] = [self]
            while stack:
                node = stack.pop()
                found.append(node)
                stack.extend(reversed(node.children))
            self._every = tuple(found)
        return self._every

    def bytes_kept(self) -> int:
        """The number of bytes that the operators of this plan hold after the last run."""
        return sum(node._own_bytes() for node in self.nodes())

    def _own_bytes(self) -> int:
        return 0

    def clear_statistics(self) -> None:
        """Set the statistics of all operators of this plan to zero."""
        for node in self.nodes():
            node.statistics.clear()

    def detail_naming(self, name_of: Callable[[int], str]) -> str:
        """The same as `detail`, with names of ids."""
        return self.detail()

    def label(self, name_of: Callable[[int], str] = str) -> str:
        """One line for people: `hash join ?x`."""
        return f"{self.kind} {self.detail_naming(name_of)}".rstrip()

    def __repr__(self) -> str:
        return f"<{self.label()}>"

    # Methods for subclasses to call.

    def _charge(self, context: Context, size: int) -> None:
        """Charge state that lasts until `_release`, or until this operator ends."""
        context.charge(size)
        self._held += size
        if self._held > self.statistics.bytes:
            self.statistics.bytes = self._held

    def _release(self, context: Context, size: int) -> None:
        context.release(size)
        self._held -= size

    def _charge_block(self, context: Context, size: int) -> None:
        """Charge the next block that is passed on, instead of the one before it."""
        if self._block:
            self._release(context, self._block)
            self._block = 0
        context.charge(size)
        self._held += size
        if self._held > self.statistics.bytes:
            self.statistics.bytes = self._held
        self._block = size

    def _account(self, context: Context) -> Account:
        """A budget for algorithms, charged to this operator."""
        return Account(context, self)

    def _read(self, context: Context, child: Operator) -> Blocks:
        """Open a child; its iterator is closed when this operator ends."""
        blocks = _elsewhere(child, context) if child._height == MOST_DEEP else child.open(context)
        if not isinstance(blocks, tuple):
            self._reading.append((child, blocks))
        return blocks

    def _collect(self, context: Context, child: Operator) -> Frame:
        """The whole result of a child as one frame, charged to this operator until it ends."""
        whole = child.whole(context)
        if whole is not None:
            return whole
        return gather(child, self._read(context, child), self._account(context))

    def _timed(self, context: Context, blocks: Stream) -> Stream:
        record = self.statistics
        try:
            while True:
                began = perf_counter()
                try:
                    context.check()
                    block = next(blocks, None)
                finally:
                    record.seconds += perf_counter() - began
                if block is None:
                    return
                if block.rows:
                    record.rows += block.rows
                    record.blocks += 1
                    yield block
        finally:
            blocks.close()
            self._close(context)

    def _close_children(self, context: Context) -> None:
        for child, iterator in self._reading:
            iterator.close()
            child._close(context)  # an iterator that never started does not close it
        self._reading.clear()

    def _close(self, context: Context) -> None:
        self._close_children(context)
        if self._held:
            context.release(self._held)
            self._held = self._block = 0


def _elsewhere(child: Operator, context: Context) -> Blocks:
    """Open an operator on a separate stack, and read its blocks there.

    A plan with thousands of joins is that deep: each operator is a call.
    """

    def stop() -> None:
        context.deadline = 0.0  # in the past

    def close(blocks: Stream) -> None:
        blocks.close()
        child._close(context)

    thread: Elsewhere[Frame] = Elsewhere(stop, close)
    try:
        blocks: Blocks = thread.call(child.open, context)
    except BaseException:
        thread.close()
        raise
    if isinstance(blocks, tuple):
        thread.close()
        return blocks
    thread.follow(blocks)
    return thread


class Account:
    """The part of a context's budget that one user holds, and can release at once.

    With an operator, everything is charged to that operator, and released when it ends.
    """

    __slots__ = ("context", "held", "operator")

    def __init__(self, context: Context, operator: Operator | None = None) -> None:
        self.context = context
        self.operator = operator
        self.held = 0

    def check(self) -> None:
        """Raise if the operation was cancelled or is out of time."""
        self.context.check()

    def charge(self, size: int) -> None:
        """Take bytes from the budget."""
        if self.operator is None:
            self.context.charge(size)
        else:
            self.operator._charge(self.context, size)
        self.held += size

    def release(self, size: int) -> None:
        """Give bytes back."""
        if self.operator is None:
            self.context.release(size)
        else:
            self.operator._release(self.context, size)
        self.held -= size

    def close(self) -> None:
        """Give back all that is held."""
        if self.held:
            self.release(self.held)


def gather(operator: Operator, blocks: Blocks, account: Account) -> Frame:
    """All blocks of an operator as one frame, charged to `account` unless they were ready."""
    ready = isinstance(blocks, tuple)  # then they stay charged to the operator below
    kept: list[list[Array]] = []
    rows = 0
    block = None
    for block in blocks:
        if not ready:
            account.charge(block.nbytes)
        kept.append(list(block.columns))
        rows += block.rows
        if not ready:
            pack_last(kept)
    if block is not None and rows == block.rows:
        return block
    if rows == 0:
        return empty_frame(operator.names, operator.types, operator.order, operator.unique)
    columns = []
    for i, kind in enumerate(operator.types):  # column by column, so that the peak is lower
        size = rows * width_of(kind)
        account.charge(size)
        columns.append(_concatenate([pieces[i] for pieces in kept], rows, kind, account))
        for pieces in kept:
            pieces[i] = columns[i][:0]
        if not ready:
            account.release(size)
    return Frame(operator.names, columns, rows, operator.order, operator.unique)


def pack_last(kept: list[list[Array]]) -> None:
    """Join the last pieces of kept columns, if they are many small ones.

    The allocator leaves holes between arrays of the size of blocks: 250 MB for 200.

    >>> kept = [[np.array([i])] for i in range(8)]
    >>> pack_last(kept)
    >>> len(kept), kept[0][0].tolist()
    (1, [0, 1, 2, 3, 4, 5, 6, 7])
    """
    last = kept[-_PACKED:]
    if len(last) < _PACKED or any(not one or len(one[0]) > BLOCK_ROWS for one in last):
        return
    kept[-_PACKED:] = [[np.concatenate(column) for column in zip(*last, strict=True)]]


def _concatenate(pieces: list[Array], rows: int, kind: Type, account: Account) -> Array:
    column = np.empty(rows, kind)
    start = 0
    for i, piece in enumerate(pieces):
        column[start : start + len(piece)] = piece
        start += len(piece)
        if i % 64 == 63:
            account.check()
    return column


def positions(names: tuple[str, ...], wanted: tuple[str, ...], who: str) -> list[int]:
    """The places of the wanted columns in `names`; an error if one is missing."""
    try:
        return [names.index(name) for name in wanted]
    except ValueError:
        missing = [name for name in wanted if name not in names]
        raise UsageError(
            f"{who}: no column {', '.join(missing)}; the input has {', '.join(names) or 'none'}"
        ) from None


def shown(text: Text) -> str:
    """A text; calls the function that makes it, if it is one."""
    return text if isinstance(text, str) else text()


def variables(names: tuple[str, ...]) -> str:
    """Names as text of variables: `?x, ?y`."""
    return " ".join(f"?{name}" for name in names)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One name or several as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)
