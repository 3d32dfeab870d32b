"""What one SERVICE asks for some rows of values, in requests of limited size.

Start at `ServiceCall.answers`. A request sends a table of values along (VALUES), and the answer
says to which of its rows each solution belongs, so that terms which an endpoint writes differently
(`01` and `1`) still join. For an endpoint that rejects this, the values are sent as a FILTER, and
solutions belong to the rows that are compatible with them. Always true: the requests of one call
send each row once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.errors import ServiceError
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.network.services import Services
from triplestore.operators.context import Context
from triplestore.operators.frame import Array
from triplestore.sparql.federation.endpoint import Endpoint, LostRowError, RejectedError
from triplestore.sparql.federation.service_texts import Keys, ServiceTexts
from triplestore.terms.term_keys import BLANK

_FIRST_BATCH = 100  # rows of the first request; each next one has twice as many
_TABLE_BYTES = 200_000  # maximum size of the table that a request sends along


Matched: TypeAlias = tuple[Array, list[U32]]
"""For each solution the number of a row, and the columns of the wanted variables."""


class ServiceCall:
    """The questions of one SERVICE; `terms` and `services` are those of the query.

    silent   whether failures of the endpoint are answered by an empty solution
    sent     the variables whose values are sent along
    asked    the variables whose values are wanted: all of `sent` that are not in `certain`, too
    certain  the variables that every solution of the pattern binds
    """

    def __init__(
        self,
        texts: ServiceTexts,
        services: Services,
        terms: QueryTerms,
        *,
        silent: bool,
        sent: tuple[str, ...],
        asked: tuple[str, ...],
        certain: frozenset[str],
    ) -> None:
        self._texts = texts
        self._services = services
        self._terms = terms
        self._silent = silent
        self._sent = sent
        self._asked = asked
        self._certain = certain
        self._endpoints: dict[str, Endpoint] = {}
        self._without_values: set[str] = set()

    @property
    def requests(self) -> int:
        """The number of requests so far."""
        return sum(endpoint.requests for endpoint in self._endpoints.values())

    def close(self) -> None:
        """Close the connections that are kept for more requests."""
        for endpoint in self._endpoints.values():
            endpoint.close()

    def answers(self, iri: str, rows: Array, context: Context) -> Iterator[Matched]:
        """The solutions that are compatible with some distinct rows, for an endpoint.

        rows  ids of the variables `sent`, a column for each; 0 is unbound
        """
        endpoint = self._endpoints.get(iri)
        if endpoint is None:
            endpoint = self._endpoints[iri] = Endpoint(iri, self._services, self._terms)
        if not self._sent:
            yield from self._quietly(self._whole(endpoint, len(rows), context), len(rows), 0)
            return
        blank = self._terms.kinds(rows.ravel()).reshape(rows.shape) == BLANK
        known = np.array([name in self._certain for name in self._sent])
        kept = np.flatnonzero(~(blank & known).any(axis=1))
        at, size = 0, min(_FIRST_BATCH, self._services.batch)
        while at < len(kept):
            context.check()
            batch = _Batch.of(self._terms, rows, blank, kept[at : at + size])
            found = self._of_batch(endpoint, iri, batch, context)
            for index, columns in self._quietly(found, len(batch.numbers), at):
                yield batch.numbers[index], columns
            at += len(batch.numbers)
            size = min(2 * size, self._services.batch)

    def _quietly(self, found: Iterator[Matched], rows: int, at: int) -> Iterator[Matched]:
        """The solutions; if SILENT hides a failure, each row with unbound variables."""
        if not self._silent:
            yield from found
            return
        try:
            whole = list(found)  # a failure in the middle must not leave a part
        except ServiceError:
            nothing = [np.zeros(rows, np.uint32) for _ in self._asked]
            yield np.arange(rows), nothing
        else:
            yield from whole

    def _whole(self, endpoint: Endpoint, rows: int, context: Context) -> Iterator[Matched]:
        """All solutions, for each of the rows, which have no variable to send."""
        text = self._texts.whole(self._asked)
        for part in endpoint.ask(text, self._asked, None, 0, context):
            self._require_certain(endpoint, part.columns)
            yield (
                np.repeat(np.arange(rows), part.size),
                [np.tile(column, rows) for column in part.columns],
            )

    def _of_batch(
        self, endpoint: Endpoint, iri: str, batch: _Batch, context: Context
    ) -> Iterator[Matched]:
        if iri in self._without_values:
            yield from self._by_filter(endpoint, batch, context)
            return
        begun = False
        try:
            for found in self._by_values(endpoint, batch, context):
                begun = True
                yield found
            return
        except (RejectedError, LostRowError) as error:
            if begun:
                raise
            rejected = error
        others = self._by_filter(endpoint, batch, context)
        try:
            first = next(others, None)
        except ServiceError:
            raise rejected from None
        self._without_values.add(iri)
        if first is not None:
            yield first
            yield from others

    def _by_values(self, endpoint: Endpoint, batch: _Batch, context: Context) -> Iterator[Matched]:
        texts, asked = self._texts, self._asked
        text = texts.for_values(asked, self._sent, batch.keys)
        for part in endpoint.ask(text, asked, texts.row, len(batch.keys), context):
            assert part.numbers is not None
            self._require_certain(endpoint, part.columns)
            fits = np.ones(part.size, np.bool_)
            for place, name in enumerate(self._sent):
                if name in asked:  # a blank node was not sent: it equals nothing there
                    column = part.columns[asked.index(name)]
                    fits &= (column == 0) | ~batch.blank[part.numbers, place]
            yield part.numbers[fits], [column[fits] for column in part.columns]

    def _by_filter(self, endpoint: Endpoint, batch: _Batch, context: Context) -> Iterator[Matched]:
        names = tuple(dict.fromkeys((*self._asked, *self._sent)))
        by = [
            place
            for place, name in enumerate(self._sent)
            if name in self._certain
            and bool((batch.ids[:, place] != 0).all())
            and not batch.blank[:, place].any()
        ]
        keys = [[row[place] for place in by] for row in batch.keys]
        text = self._texts.for_filter(names, [self._sent[place] for place in by], keys)
        places: dict[tuple[int, ...], list[int]] = {}
        for number, row in enumerate(batch.ids[:, by].tolist()):
            places.setdefault(tuple(row), []).append(number)
        for part in endpoint.ask(text, names, None, 0, context):
            self._require_certain(endpoint, part.columns)
            there = np.stack([part.columns[names.index(name)] for name in self._sent], axis=1)
            alike = [places.get(tuple(row), []) for row in there[:, by].tolist()]
            solutions = np.repeat(np.arange(part.size), [len(found) for found in alike])
            index = np.array([number for found in alike for number in found], np.int64)
            own, other = batch.ids[index], there[solutions]
            fits = (own == 0) | (other == 0) | ((own == other) & ~batch.blank[index])
            kept = fits.all(axis=1)
            solutions = solutions[kept]
            columns = [column[solutions] for column in part.columns[: len(self._asked)]]
            yield index[kept], columns

    def _require_certain(self, endpoint: Endpoint, columns: list[U32]) -> None:
        """Refuse an answer without a value for a variable that the pattern always binds."""
        for name, column in zip(self._asked, columns, strict=False):
            if name in self._certain and not column.all():
                raise ServiceError(f"{endpoint.what}: a row of its answer has no value for ?{name}")


class _Batch(NamedTuple):
    """Rows that are sent together.

    numbers  their numbers among all rows
    blank    where they have blank nodes, which mean nothing to an endpoint and are not sent
    """

    numbers: Array
    ids: Array
    blank: Array
    keys: list[Keys]

    @classmethod
    def of(cls, terms: QueryTerms, rows: Array, blank: Array, numbers: Array) -> _Batch:
        """The first of these rows, at least one, that are not too large together."""
        columns = [
            terms.keys(np.where(blank[numbers, place], np.uint32(0), rows[numbers, place]))
            for place in range(rows.shape[1])
        ]
        keys: list[Keys] = [[key or None for key in row] for row in zip(*columns, strict=True)]
        sizes = np.cumsum([sum(len(key or b"") for key in row) for row in keys])
        count = max(1, int(sizes.searchsorted(_TABLE_BYTES)))
        numbers = numbers[:count]
        return cls(numbers, rows[numbers], blank[numbers], keys[:count])
