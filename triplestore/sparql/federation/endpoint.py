"""One endpoint: questions to it, and its answers as columns of ids.

Start at `Endpoint.ask`. Always true: blank nodes of an answer are new, the same within one answer;
what is wrong with an answer is a `ServiceError` that names the endpoint; limits of the query are
other errors, which SILENT does not hide.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count, islice
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import pyoxigraph as ox

from triplestore.errors import ServiceError
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.network.exchange import Exchange, Head, IdleConnections, Question, hint_for
from triplestore.network.services import Services
from triplestore.operators.context import Context
from triplestore.sparql.results.read_stream import stream_results
from triplestore.terms.term_keys import key_of

_ROWS = 2048  # number of rows that become columns at a time
_ACCEPT = (
    "application/sparql-results+json, application/sparql-results+xml;q=0.8, "
    "text/tab-separated-values;q=0.5"
)
_SENT = "application/x-www-form-urlencoded"
_NO_POST = (405, 501)
_FORMS = (
    ox.QueryResultsFormat.JSON,
    ox.QueryResultsFormat.XML,
    ox.QueryResultsFormat.TSV,
)
_USUAL_NAMES = {
    "application/json": ox.QueryResultsFormat.JSON,
    "application/xml": ox.QueryResultsFormat.XML,
    "text/xml": ox.QueryResultsFormat.XML,
}


class RejectedError(ServiceError):
    """The endpoint did not accept the text of a question."""


class LostRowError(ServiceError):
    """An answer does not say to which rows it belongs."""


class AnswerKeys(NamedTuple):
    """Some rows of an answer; `numbers` are those of the rows that were sent along, if asked."""

    columns: list[list[bytes | None]]
    numbers: np.ndarray | None
    size: int


class AnswerRows(NamedTuple):
    """The same as columns of ids."""

    columns: list[U32]
    numbers: np.ndarray | None
    size: int


class Endpoint:
    """An endpoint by its IRI."""

    def __init__(self, iri: str, services: Services, terms: QueryTerms) -> None:
        self._iri = iri
        self._services = services
        self._terms = terms
        self._posts = True
        self._idle = IdleConnections()
        self.requests = 0

    @property
    def what(self) -> str:
        """How messages name it."""
        return f"SERVICE <{self._iri}>"

    def close(self) -> None:
        """Close idle connections."""
        self._idle.close()

    def ask(
        self, text: str, names: Sequence[str], row: str | None, sent: int, context: Context
    ) -> Iterator[AnswerRows]:
        """The answer to a query, some rows at a time.

        names  the variables whose values are wanted
        row    the variable with the number of a row that was sent along, below `sent`
        """
        read = _AnswerReader(names, row, sent, self._services.rows)
        exchange = self._begin(text, read, context)
        with closing(exchange):
            for keys, numbers, size in exchange.pieces():
                if read.lost:
                    break
                context.check()
                ids = [self._terms.encode_keys(column) for column in keys]
                yield AnswerRows(ids, numbers, size)
            if read.lost:
                raise LostRowError(
                    f"{self.what}: its rows do not have the values of the VALUES that was sent"
                )

    def _begin(self, text: str, read: _AnswerReader, context: Context) -> Exchange[AnswerKeys]:
        """A request whose answer has begun, with the method that the endpoint accepts."""
        exchange, head = self._request(text, read, context)
        if head.status in _NO_POST and self._posts:
            exchange.close()
            self._posts = False
            exchange, head = self._request(text, read, context)
        if head.status >= 300:
            exchange.close()
            said = f": {head.text}" if head.text and not head.text.startswith("<") else ""
            reason = f"it answered {head.status} {head.reason}{said}"
            rejected = head.status in (400, 413, 414, 422, 500)
            text = f"{self.what}: {reason}{hint_for(self.what)}"
            raise (RejectedError if rejected else ServiceError)(text)
        return exchange

    def _request(
        self, text: str, read: _AnswerReader, context: Context
    ) -> tuple[Exchange[AnswerKeys], Head]:
        iri = self._iri.partition("#")[0]
        form = urlencode({"query": text})
        headers = {"Accept": _ACCEPT}
        if self._posts:
            headers["Content-Type"] = _SENT
            question = Question(iri, headers, form.encode())
        else:
            question = Question(f"{iri}{'&' if '?' in iri else '?'}{form}", headers)
        self.requests += 1
        exchange = Exchange(question, self._services, context, self.what, read.read, self._idle)
        try:
            return exchange, exchange.head()
        except BaseException:
            exchange.close()
            raise


class _AnswerReader:
    """Makes columns of keys of an answer, in the thread that reads it.

    lost  whether a row does not have the number of one that was sent along
    """

    def __init__(self, names: Sequence[str], row: str | None, sent: int, most: int) -> None:
        self._names = names
        self._row = row
        self._sent = sent
        self._most = most
        self.lost = False

    def read(self, head: Head, pieces: Iterator[bytes]) -> Iterator[AnswerKeys]:
        """The rows of an answer."""
        found = stream_results(pieces, _form_of(head))
        places = {name: place for place, name in enumerate(found.variables)}
        rename = _Renaming()
        total = 0
        while chunk := list(islice(found.rows, _ROWS)):
            total += len(chunk)
            if total > self._most:
                raise ValueError(
                    f"it sends more than {self._most:,} rows; allow more with Services(rows=...)"
                )
            columns = list(zip(*chunk, strict=True))
            nothing: Sequence[Any] = [None] * len(chunk)
            taken = [columns[places[n]] if n in places else nothing for n in self._names]
            keys = [[rename.key(term) for term in column] for column in taken]
            numbers = None
            if self._row is not None:
                numbers = self._numbers(columns[places[self._row]] if self._row in places else ())
            yield AnswerKeys(keys, numbers, len(chunk))

    def _numbers(self, terms: Sequence[Any]) -> np.ndarray:
        """The numbers of rows that an answer repeats."""
        try:
            found = np.array([int(term.value) for term in terms], np.int64)
        except (AttributeError, ValueError, OverflowError):
            found = np.zeros(0, np.int64)
        if len(found) == 0 or found.min() < 0 or found.max() >= self._sent:
            self.lost = True
        return found


def _form_of(head: Head) -> ox.QueryResultsFormat:
    name = head.media_type.partition(";")[0].strip().lower()
    found = _USUAL_NAMES.get(name) or ox.QueryResultsFormat.from_media_type(name)
    if found not in _FORMS:
        raise ValueError(
            f"it answered with {name or 'a text of unknown type'} instead of results of SPARQL: is "
            "this the address of an endpoint?"
        )
    return found


class _Renaming:
    """New labels for the blank nodes of one answer."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)
        self._numbers = count()
        self._known: dict[str, ox.BlankNode] = {}

    def key(self, term: Any) -> bytes | None:
        if term is None:
            return None
        return key_of(self._renamed(term))

    def _renamed(self, term: Any) -> Any:
        if isinstance(term, ox.BlankNode):
            found = self._known.get(term.value)
            if found is None:
                found = ox.BlankNode(f"s{self._token}{next(self._numbers)}")
                self._known[term.value] = found
            return found
        if isinstance(term, ox.Triple):
            subject, object_ = self._renamed(term.subject), self._renamed(term.object)
            return ox.Triple(subject, term.predicate, object_)
        return term
