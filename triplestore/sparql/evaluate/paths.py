"""The join of a plan with a property path.

Start at `PathProbe`. The distinct values of one end are expanded in chunks, so that only the pairs
of one chunk are held; the size of chunks follows the number of these pairs. If both ends are known,
the one with fewer values is expanded. Always true: each pair of ends yields as many rows as
the step returns it (one, for closures).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.joins.match_pairs import cut_pairs
from triplestore.operators.leaves import slices
from triplestore.operators.operator import Blocks, Operator, Stream, Text, shown
from triplestore.relations.packed_keys import U32, pack
from triplestore.sparql.evaluate.steps import Nodes, PathStep

_FIRST_CHUNK = 16
_PAIRS = 1 << 18  # approximate number of pairs held at a time


class PathStarts(Operator):
    """The nodes from which a path may start, as one column."""

    kind: ClassVar[str] = "path starts"

    def __init__(self, name: str, step: PathStep, backward: bool = False) -> None:
        super().__init__((name,), (ID,), order=(name,), unique=True, estimate=step.size)
        self._step = step
        self._backward = backward

    def _open(self, context: Context) -> Blocks:
        nodes = self._step.starts(self._backward)
        self._charge(context, nodes.nbytes)
        if len(nodes) == 0:
            return ()
        frame = Frame(self.names, [nodes], len(nodes), self.order, True)
        if len(nodes) <= context.block_rows:
            return (frame,)
        return slices(frame, context.block_rows)


class PathProbe(Operator):
    """For each row of the child, the ends of a path: columns of the child, ids, or new columns.

    At least one end is known; `nodes` are those of the graph. Ids of `ends` can be replaced between
    runs.
    """

    kind: ClassVar[str] = "path"

    def __init__(
        self,
        child: Operator,
        step: PathStep,
        subject: str | int,
        object_: str | int,
        nodes: Nodes,
        *,
        text: Text = "",
        estimate: float | None = None,
    ) -> None:
        self.child = child
        self.step = step
        self._nodes = nodes
        self.text = text
        self.ends = (subject, object_)
        self._known = [isinstance(end, int) or end in child.names for end in self.ends]
        new = [
            end
            for end, known in zip(self.ends, self._known, strict=True)
            if isinstance(end, str) and not known
        ]
        self._same = len(new) == 2 or (subject == object_ and isinstance(subject, str))
        assert any(self._known), "a path needs an end to start from"
        super().__init__(
            (*child.names, *new),
            (*child.types, *(ID,) * len(new)),
            (child,),
            order=(),
            estimate=child.estimate * 2 if estimate is None else estimate,
        )

    def detail(self) -> str:
        """The path."""
        return shown(self.text)

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.child)
        if isinstance(blocks, tuple) and not blocks:
            return ()
        pieces = (piece for block in blocks for piece in self._of_block(context, block))
        if isinstance(blocks, tuple) and len(blocks) == 1 and blocks[0].rows == 1:
            return tuple(piece for piece in pieces if piece.rows)
        return pieces

    def _of_block(self, context: Context, block: Frame) -> Stream:
        values = [self._values(block, place) for place in (0, 1)]
        if all(self._known) and not self._same:
            sizes = [len(np.unique(column)) for column in values]
            backward = sizes[1] < sizes[0]
        else:
            backward = not self._known[0]
        nodes, places = np.unique(values[1 if backward else 0], return_inverse=True)
        other = values[0 if backward else 1] if all(self._known) else None
        order = np.argsort(places, kind="stable")
        if self.step.empty and all(isinstance(end, str) for end in self.ends):
            # A path of length zero starts from a term of the query, or from a node of the graph.
            nodes, places, order = self._of_the_graph(nodes, places, order)
        starts = places[order].searchsorted(np.arange(len(nodes) + 1))
        at, chunk = 0, _FIRST_CHUNK
        account = self._account(context)
        while at < len(nodes):
            context.check()
            stop = min(at + chunk, len(nodes))
            index, found = self.step.expand(nodes[at:stop], backward, account)
            account.charge(12 * len(found))
            rows = order[starts[at] : starts[stop]]
            yield from self._rows(context, block, rows, places[rows] - at, index, found, other)
            account.release(12 * len(found))
            if len(found) < _PAIRS // 2:
                chunk = min(chunk * 2, 1 << 16)
            elif len(found) > 2 * _PAIRS:
                chunk = max(1, chunk // 4)
            at = stop

    def _of_the_graph(self, nodes: U32, places: Array, order: Array) -> tuple[U32, Array, Array]:
        known = self._nodes.contain(nodes)
        if known.all():
            return nodes, places, order
        number = np.cumsum(known) - 1
        order = order[known[places[order]]]
        return nodes[known], number[places], order

    def _values(self, block: Frame, place: int) -> U32:
        end = self.ends[place]
        if not self._known[place]:
            return np.zeros(0, np.uint32)
        if isinstance(end, int):
            return np.full(block.rows, end, np.uint32)
        return block[end]

    def _rows(
        self,
        context: Context,
        block: Frame,
        rows: Array,
        places: Array,
        index: Array,
        found: U32,
        other: U32 | None,
    ) -> Stream:
        """The rows of the block that start from nodes of a chunk, with the nodes reached."""
        if other is not None:
            keys = np.sort(pack(index.astype(np.uint32), found))
            context.check()
            wanted = pack(places.astype(np.uint32), other[rows])
            lo, hi = keys.searchsorted(wanted, "left"), keys.searchsorted(wanted, "right")
        else:
            lo, hi = index.searchsorted(places, "left"), index.searchsorted(places, "right")
        total = int((hi - lo).sum())
        room = context.block_rows
        self._charge_block(context, min(total, room) * (self.width + 16))
        for left, right in cut_pairs(lo, hi, total, room, False):
            context.check()
            columns = [column.take(rows[left]) for column in block.columns]
            if other is None:
                columns.append(found.take(right))
            if columns or len(left):
                yield Frame(self.names, columns, len(left))
