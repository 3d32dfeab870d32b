"""Results read while they arrive: start at `stream_results`.

Always true: the same checks as in `read` hold, piece by piece; what is kept does not grow with the
document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import pyoxigraph as ox

from triplestore.errors import ParseError, TripleStoreError
from triplestore.sparql.results.read import GUARDS, MOST_VARIABLES, VARIABLE, require_depth
from triplestore.terms.guards.document_limits import USUAL
from triplestore.terms.guards.parser_guard import Guard, Refused

_SHOWN = 300  # maximum length of a parser's message, which may quote the document
_Form = ox.QueryResultsFormat


class SolutionStream(NamedTuple):
    """Solutions: the names of the variables, and terms row by row, None if unbound."""

    variables: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def stream_results(pieces: Iterator[bytes], form: ox.QueryResultsFormat) -> SolutionStream:
    """The solutions of a SELECT in XML, JSON or TSV; raises ParseError, also while rows are read.

    >>> found = stream_results(iter([b"?x\\t?y\\n<http://e", b"/a>\\t\\n"]), _Form.TSV)
    >>> found.variables, list(found.rows)
    (('x', 'y'), [(<NamedNode value=http://e/a>, None)])
    """
    fed = _Fed(pieces, GUARDS[form](USUAL), form)
    try:
        found = ox.parse_query_results(cast(Any, fed), form)
        if isinstance(found, ox.QueryBoolean):
            raise ParseError("it is the answer of an ASK")
        assert isinstance(found, ox.QuerySolutions)
        names = tuple(variable.value for variable in found.variables)
    except TripleStoreError:
        raise
    except (SyntaxError, ValueError, MemoryError) as error:
        raise _as_parse_error(error) from error
    if len(names) > MOST_VARIABLES:
        raise ParseError(f"expected at most {MOST_VARIABLES:,} variables")
    return SolutionStream(names, _rows(found))


def _rows(found: ox.QuerySolutions) -> Iterator[tuple[Any, ...]]:
    try:
        for solution in found:
            row = tuple(solution)
            for term in row:
                if isinstance(term, ox.Triple):
                    require_depth(term)
            yield row
    except TripleStoreError:
        raise
    except (SyntaxError, ValueError, MemoryError) as error:
        raise _as_parse_error(error) from error


def _as_parse_error(error: BaseException) -> BaseException:
    """A parser's error as one of ours."""
    if isinstance(error, SyntaxError):
        return ParseError(str(error.msg)[:_SHOWN], line=error.lineno, column=error.offset)
    if isinstance(error, MemoryError) and "buffer maximal size" in str(error):
        return ParseError("expected terms of less than 16 MB")
    return error if isinstance(error, MemoryError) else ParseError(str(error)[:_SHOWN])


class _Fed:
    """Pieces as a file for pyoxigraph's parsers, guarded one by one."""

    def __init__(self, pieces: Iterator[bytes], guard: Guard, form: ox.QueryResultsFormat) -> None:
        self._pieces = pieces
        self._guard = guard
        self._form = form
        self._left = b""
        self._variables = 0
        self._in_head = True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            try:
                self._guard.look(piece)
            except Refused as refused:
                raise ParseError(refused.message) from None
            self._count_variables(piece)
            self._left = piece
        found = self._left if size < 0 else self._left[:size]
        self._left = self._left[len(found) :]
        return found

    def _count_variables(self, piece: bytes) -> None:
        """Refuse a head of XML or TSV with too many variables; `GUARDS` counts those of JSON."""
        if not self._in_head:
            return
        if self._form == _Form.XML:
            self._variables += len(VARIABLE.findall(piece))
            self._in_head = b"</head" not in piece
        elif self._form == _Form.TSV:
            line, end, _ = piece.partition(b"\n")
            self._variables += line.count(b"\t")
            self._in_head = not end
        if self._variables > MOST_VARIABLES:
            raise ParseError(f"expected at most {MOST_VARIABLES:,} variables")
