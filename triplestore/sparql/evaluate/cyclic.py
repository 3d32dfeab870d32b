"""A worst-case optimal join for cycles of patterns.

Start at `Cyclic`. For `?x :p ?y . ?y :p ?z . ?z :p ?x`, joins of two patterns at a time first make
all paths of two steps. These are very many if some nodes have many neighbours in and out, though
few of them close. Here each pair (?x, ?y) reads ?z from the pattern with the fewest values for it,
and looks them up in the others. Up to a constant factor, this takes at most as much work as the
largest result that relations of these sizes can have. Always true: the rows are those of
the joins that it replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np

from triplestore.operators.context import Context
from triplestore.operators.frame import Array, Frame
from triplestore.operators.group_table import GroupTable, use_kernels
from triplestore.operators.joins.smallest_fan import by_smallest_fan, pays, sampled_every
from triplestore.operators.leaves import atom, slices
from triplestore.operators.operator import Blocks, Operator, Stream, Text
from triplestore.relations.packed_keys import pack
from triplestore.relations.relation import StoredRelation


class CycleLink(NamedTuple):
    """A pattern of a relation of two columns between a known variable and the new one."""

    relation: StoredRelation
    where: int
    known: str
    place: int
    """The column of the known variable."""
    label: Text


class Rest(Operator):
    """A leaf with the rows of another operator, set by the operator that reads them."""

    kind: ClassVar[str] = "rows"

    def __init__(self, like: Operator) -> None:
        super().__init__(
            like.names, like.types, order=like.order, unique=like.unique, estimate=like.estimate
        )
        self.blocks: Blocks = ()

    def _open(self, context: Context) -> Blocks:
        blocks, self.blocks = self.blocks, ()
        return blocks


class Cyclic(Operator):
    """The rows of `left` with each value of a new variable that all links allow.

    rest, joins  the same by joins of two inputs: `joins` is a plan over `rest`, and is used if rows
                 have about as many values in the first link as in the best one
    more         minimum factor between these numbers for using the links
    """

    kind: ClassVar[str] = "cyclic join"

    def __init__(
        self,
        left: Operator,
        rest: Rest,
        joins: Operator,
        name: str,
        links: Sequence[CycleLink],
        more: float,
    ) -> None:
        super().__init__(joins.names, joins.types, (left, joins), estimate=joins.estimate)
        self._left = left
        self._rest = rest
        self._joins = joins
        self._name = name
        self._links = tuple(links)
        self._more = more
        self._from_left = [left.names.index(n) if n != name else None for n in joins.names]

    def detail(self) -> str:
        """The new variable, and its patterns."""
        shown = []
        for link in self._links:
            ends = [link.known, self._name] if link.place == 0 else [self._name, link.known]
            shown.append(atom(link.label, ends))
        return f"?{self._name} of {', '.join(shown)}"

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self._left)
        if isinstance(blocks, tuple):
            first = blocks[0] if blocks else None
            every: Blocks = blocks
        else:
            first = next(blocks, None)
            every = () if first is None else _all(first, blocks)
        if first is None:
            return ()
        fans, step = self._sampled(first)
        ways = float(fans.min(axis=0).sum())
        if pays(fans, self._more):
            whole = max(1.0, self._left.estimate / first.rows) * step
            return self._through_links(context, every, _Members(self, context, ways * whole))
        self._rest.blocks = every
        return self._read(context, self._joins)

    def _sampled(self, block: Frame) -> tuple[Array, int]:
        """The fans of a sample of the rows of a block, and the step between them."""
        step = sampled_every(block.rows)
        return self._fans([column[::step] for column in block.columns]), step

    def _fans(self, columns: Sequence[Array]) -> Array:
        """For each link, its number of values for each row."""
        names = self._left.names
        return np.array(
            [
                link.relation.fanout([link.place], [columns[names.index(link.known)]])
                for link in self._links
            ]
        )

    def _through_links(self, context: Context, blocks: Blocks, members: _Members) -> Stream:
        for whole in blocks:
            pieces = (
                (whole,) if whole.rows <= context.block_rows else slices(whole, context.block_rows)
            )
            for block in pieces:
                for number, rows in by_smallest_fan(self._fans(block.columns)):
                    yield from self._from_link(context, block, rows, self._links[number], members)

    def _from_link(
        self, context: Context, block: Frame, rows: Array, link: CycleLink, members: _Members
    ) -> Iterator[Frame]:
        """The results for some rows of a block, whose values come from one link."""
        wanted = block[link.known][rows]
        found = link.relation.probe_blocks(
            [link.place], [wanted], link.where, block_rows=context.block_rows
        )
        for index, (values,) in found:
            context.check()
            self._charge_block(context, len(index) * (16 + self.width))
            places = rows[index]
            for other in self._links:
                if other is not link and len(places):
                    known = block[other.known][places]
                    pair = (known, values) if other.place == 0 else (values, known)
                    fits = members.have(other, pair)
                    places, values = places[fits], values[fits]
            if len(places):
                columns = [
                    values if place is None else block.columns[place].take(places)
                    for place in self._from_left
                ]
                yield from slices(Frame(self.names, columns, len(places)), context.block_rows)


class _Members:
    """Tests which pairs the links have: in the relations, or, for very many pairs, in a table of
    all their rows, which takes a tenth of the time."""

    def __init__(self, operator: Operator, context: Context, expected: float) -> None:
        self._account = operator._account(context)
        self._expected = expected
        self._tables: dict[tuple[int, int], GroupTable] = {}

    def have(self, link: CycleLink, pair: tuple[Array, Array]) -> Array:
        """Which of these pairs a link has."""
        relation = link.relation
        if self._expected < len(relation) or not use_kernels(len(relation)):
            return relation.contains(pair, link.where)
        key = (id(relation), link.where)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = GroupTable(self._account)
            for first, second in relation.scan(link.where):
                self._account.check()
                table.insert(pack(first, second))
        found: Array = table.find(pack(*pair)) >= 0
        return found


def _all(first: Frame, rest: Iterator[Frame]) -> Stream:
    yield from chain((first,), rest)
