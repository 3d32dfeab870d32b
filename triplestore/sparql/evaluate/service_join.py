"""The join of a plan with a SERVICE: start at `ServiceJoin`.

The distinct values of a block's shared variables are sent along, in batches (`ServiceCall`).
Always true: a row with an unbound shared variable gets the endpoint's value; other values stay as
they are; a block of rows is asked about at most once per endpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from triplestore.errors import ServiceError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.joins.match_pairs import cut_pairs
from triplestore.operators.operator import Blocks, Operator, Stream
from triplestore.operators.row_keys import distinct_ids
from triplestore.sparql.federation.service_call import ServiceCall
from triplestore.terms.term_keys import IRI, to_ntriples


class ServiceJoin(Operator):
    """For each row of the child, the solutions of a SERVICE that are compatible with it.

    place  the IRI of the endpoint, or the name of the variable that has it
    sent   columns of the child whose values are sent along
    asked  variables whose values are wanted: new columns, and some of `sent`
    """

    kind: ClassVar[str] = "service"

    def __init__(
        self,
        child: Operator,
        call: ServiceCall,
        terms: QueryTerms,
        place: str,
        *,
        by_variable: bool,
        silent: bool,
        sent: tuple[str, ...],
        asked: tuple[str, ...],
    ) -> None:
        self.child = child
        self._call = call
        self._terms = terms
        self._place = place
        self._by_variable = by_variable
        self._silent = silent
        self._sent = sent
        self._asked = asked
        new = tuple(name for name in asked if name not in child.names)
        super().__init__(
            (*child.names, *new),
            (*child.types, *(ID,) * len(new)),
            (child,),
            estimate=child.estimate,
        )

    def detail(self) -> str:
        """The endpoint, and what is sent along."""
        name = f"?{self._place}" if self._by_variable else f"<{self._place}>"
        sent = " ".join(f"?{one}" for one in self._sent)
        asked = f", {self._call.requests} requests" if self._call.requests else ""
        return f"{name} for {sent or 'all'}{asked}"

    def _open(self, context: Context) -> Blocks:
        return self._each(context, self._read(context, self.child))

    def _each(self, context: Context, blocks: Blocks) -> Stream:
        try:
            for block in blocks:
                yield from self._of_block(context, block)
        finally:
            self._call.close()

    def _of_block(self, context: Context, block: Frame) -> Stream:
        if not self._by_variable:
            yield from self._of_rows(context, block, self._place)
            return
        for iri, rows in self._places(block):
            if iri is None:
                yield self._unanswered(block.take(rows))
            else:
                yield from self._of_rows(context, block.take(rows), iri)

    def _places(self, block: Frame) -> Iterator[tuple[str | None, Array]]:
        """The endpoints of a block, and the rows of each; None for those without one."""
        name = self._place
        column = block[name] if name in block.names else np.zeros(block.rows, np.uint32)
        ids, places = distinct_ids(column)
        for number, key in enumerate(self._terms.keys(ids)):
            rows = np.flatnonzero(places == number)
            if key and key[0] == IRI:
                yield key[1:].decode(), rows
            elif self._silent:
                yield None, rows
            elif key:
                raise ServiceError(f"SERVICE ?{name}: {to_ntriples(key).decode()} is not an IRI")
            else:
                raise ServiceError(
                    f"SERVICE ?{name}: ?{name} has no value; bind it in the same group, for "
                    f"example by VALUES ?{name} {{ <https://example.org/sparql> }}"
                )

    def _unanswered(self, block: Frame) -> Frame:
        empty = np.zeros(block.rows, np.uint32)
        new = len(self.names) - len(block.names)
        return Frame(self.names, [*block.columns, *[empty] * new], block.rows)

    def _of_rows(self, context: Context, block: Frame, iri: str) -> Stream:
        rows, places = _distinct([block[name] for name in self._sent], block.rows)
        order = np.argsort(places, kind="stable")
        starts = places[order].searchsorted(np.arange(len(rows) + 1))
        room = context.block_rows
        for index, columns in self._call.answers(iri, rows, context):
            lo, hi = starts[index], starts[index + 1]
            total = int((hi - lo).sum())
            self._charge_block(context, min(total, room) * (self.width + 16))
            for left, right in cut_pairs(lo, hi, total, room, False):
                context.check()
                yield self._joined(block.take(order[right]), [c.take(left) for c in columns])

    def _joined(self, rows: Frame, columns: list[Array]) -> Frame:
        """Rows with the solutions that they match."""
        answered = dict(zip(self._asked, columns, strict=True))
        made: list[Array] = []
        for name, own in zip(rows.names, rows.columns, strict=True):
            if name in answered:
                own = np.where(own == 0, answered[name], own)
            made.append(own)
        made += [answered[name] for name in self.names[len(rows.names) :]]
        return Frame(self.names, made, rows.rows)


def _distinct(columns: list[Array], count: int) -> tuple[Array, Array]:
    """The distinct rows of some columns as a matrix, and the place of each row among them.

    >>> _distinct([np.array([5, 4, 5], np.uint32)], 3)[0].tolist()
    [[4], [5]]
    """
    if not columns:
        return np.zeros((1, 0), np.uint32), np.zeros(count, np.int64)
    if len(columns) == 1:
        values, places = distinct_ids(columns[0])
        return values.reshape(-1, 1), places
    rows, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return rows, places.reshape(-1)
