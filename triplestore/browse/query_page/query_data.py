"""Answers of queries as plain data: start at `query_data`.

Only the rows of one page are decoded. Always true: everything in one answer is of one commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from triplestore.browse.term_data import COPIES, TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import BudgetError, TimeLimitError, UsageError
from triplestore.relations import INFERRED
from triplestore.relations.packed_keys import U8, U32
from triplestore.sparql.algebra.nodes import Slice, walk
from triplestore.sparql.results.solutions import Solutions, Triples
from triplestore.sparql.syntax.parser import parse_query
from triplestore.sparql.syntax.query_printer import write
from triplestore.store.arguments import QueryOptions
from triplestore.store.readable import view_of
from triplestore.store.run_query import query as ask
from triplestore.terms import key_of
from triplestore.thread_limits import needs

if TYPE_CHECKING:
    import pyoxigraph as ox

    from triplestore.network.services import ServicesLike
    from triplestore.operators.context import Flag
    from triplestore.store import ReadableStore
    from triplestore.store.state_view import StateView


_Row = TypeVar("_Row", bound=Iterable[Any])
_AT_ONCE = 1000
"""Number of rows that are decoded before their size is looked at."""


class AskedQuery(NamedTuple):
    """A query and how it is answered.

    facts    "all", "explicit" or "inferred"
    offset   the number of rows to leave out
    limit    maximum number of rows
    marked   whether rows that need inferred facts are marked, which asks the query again
    timeout, budget, cancel   limits, as for `Store.query`
    services  the endpoints that SERVICE may ask; None for those of the store
    """

    text: str
    facts: str = "all"
    offset: int = 0
    limit: int = 1000
    marked: bool = False
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    base: str | None = None
    union: bool = False
    language: str = "en"
    services: ServicesLike | None = None

    @property
    def options(self) -> QueryOptions:
        """The options of the engine."""
        return QueryOptions(
            facts=self.facts,
            base_iri=self.base,
            use_default_graph_as_union=self.union,
            timeout=self.timeout,
            budget=self.budget,
            cancel=self.cancel,
            allow_service=self.services,
        )


def query_data(store: ReadableStore, asked: AskedQuery) -> dict[str, Any]:
    """One page of the answer of a query: rows, a boolean, or triples.

    `inferred` of a triple says that the store has it and does not assert it. With `marked`, that of
    a row says that the row is not among the answers over the asserted facts alone (a LIMIT of the
    query aside); it is None where that is not known: for LIMITs inside of the query, and for more
    answers than are worth comparing. `advice` lists likely mistakes if there are no rows. Pages of
    one answer may overlap, or miss rows, if `commit` is not the same in all of them.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :B[?x] :- :A[?x] . ")
    >>> _ = store.load("@prefix : <http://e/> . :a a :A . :b a :B .", "ttl")
    >>> found = query_data(store, AskedQuery("SELECT ?x { ?x a :B } ORDER BY ?x", marked=True))
    >>> [row[0]["short"] for row in found["rows"]], found["inferred"]
    ([':a', ':b'], [True, False])
    """
    started = time.perf_counter()
    if asked.limit < 0 or asked.offset < 0:
        raise UsageError("offset and limit must not be negative")
    view = view_of(store)
    services = store.allow_service if asked.services is None else asked.services
    result = ask(view, asked.text, asked.options._replace(allow_service=services))
    data = TermData(view, asked.language)
    if isinstance(result, Solutions):
        made = _rows(view, result, asked, data)
    elif isinstance(result, Triples):
        made = _triples(view, result, asked, data)
    else:
        made = {"kind": "boolean", "value": bool(result), "more": False}
    if not (made.get("rows", True) and made.get("triples", True)) and not asked.offset:
        made["advice"] = result.advice() if not isinstance(result, bool) else []
    seconds = time.perf_counter() - started
    return {"advice": [], **made, "commit": view.commit, "seconds": seconds}


def _rows(view: StateView, result: Solutions, asked: AskedQuery, data: TermData) -> dict[str, Any]:
    started = time.perf_counter()
    rows = _within_limits(result.page, asked.offset, asked.limit + 1)
    shown = rows[: asked.limit]
    made: dict[str, Any] = {
        "kind": "rows",
        "vars": list(result.variables),
        "rows": data.rows(shown),
        "offset": asked.offset,
        "more": len(rows) > len(shown),
    }
    if asked.marked and asked.facts == "all" and shown:
        made["inferred"] = _marks(view, shown, asked, time.perf_counter() - started)
    return made


def _triples(view: StateView, result: Triples, asked: AskedQuery, data: TermData) -> dict[str, Any]:
    triples = _within_limits(result.page, asked.offset, asked.limit)
    rows = data.rows(map(tuple, triples))
    marks = are_inferred(view, triples)
    return {
        "kind": "triples",
        "triples": [[*row, mark] for row, mark in zip(rows, marks, strict=True)],
        "count": len(result),
        "offset": asked.offset,
        "more": len(result) > asked.offset + len(triples),
    }


def _within_limits(page: Callable[[int, int], list[_Row]], offset: int, count: int) -> list[_Row]:
    """Rows `offset` to `offset + count`; raises if their texts take more memory than is allowed,
    because ids say nothing of the lengths of terms."""
    rows: list[_Row] = []
    size = 0
    while len(rows) < count:
        wanted = min(_AT_ONCE, count - len(rows))
        part = page(offset + len(rows), wanted)
        rows += part
        size += sum(len(str(term)) for row in part for term in row if term is not None)
        needs(COPIES * size)
        if len(part) < wanted:
            break
    return rows


def are_inferred(view: StateView, triples: list[ox.Triple]) -> list[bool]:
    """Which triples the default graph has, and no graph asserts."""
    keys = [key_of(term) for t in triples for term in (t.subject, t.predicate, t.object)]
    ids = view.dictionary.lookup_keys(keys).reshape(-1, 3)
    s, p, o = (np.ascontiguousarray(column) for column in ids.T)
    status: U8 = view.tables.status_of_facts(p, s, o)
    marks = (status == INFERRED) & ids.all(axis=1)
    (open_,) = marks.nonzero()
    if view.tables.quad_total():
        for place in open_.tolist():
            one = (s[place : place + 1], o[place : place + 1])
            index, _ = view.tables.quads(int(p[place])).probe((0, 1), one)
            marks[place] = len(index) == 0
    listed: list[bool] = marks.tolist()
    return listed


# -- rows that need inferred facts ----------------------------------------------------------------


def _marks(
    view: StateView, rows: list[tuple[Any, ...]], asked: AskedQuery, spent: float
) -> list[bool] | None:
    """Which rows are not among the answers over asserted facts; None if that is not known.

    spent  seconds that finding the rows took
    """
    text = _without_limit(view, asked)
    if text is None:
        return None
    try:
        timeout = None if asked.timeout is None else max(asked.timeout - spent, 0.01)
        options = asked.options._replace(facts="explicit", timeout=timeout)
        found = ask(view, text, options)
        assert isinstance(found, Solutions)
        columns = found.id_columns(BROWSE.compared_rows)
    except (TimeLimitError, BudgetError):
        return None
    if columns is None:
        return None
    keys = [b"" if term is None else key_of(term) for row in rows for term in row]
    known = {b"": 0}
    named = [key for key in dict.fromkeys(keys) if key]
    known.update(zip(named, view.dictionary.lookup_keys(named).tolist(), strict=True))
    if any(key and not known[key] for key in named) or _has_made(columns):
        return _marks_by_terms(rows, found)
    if not columns:
        return [not len(found)] * len(rows)
    ours = np.array([known[key] for key in keys], np.uint32).reshape(len(rows), -1)
    return _not_among(ours, np.column_stack(columns))


def _marks_by_terms(rows: list[tuple[Any, ...]], found: Solutions) -> list[bool]:
    """The same where the query made terms, whose ids differ from run to run."""
    others = set(found.tuples())
    return [tuple(row) not in others for row in rows]


def _not_among(ours: U32, others: U32) -> list[bool]:
    wide = np.dtype((np.void, ours.dtype.itemsize * ours.shape[1]))
    mine = np.ascontiguousarray(ours).view(wide).ravel()
    theirs = np.ascontiguousarray(others).view(wide).ravel()
    listed: list[bool] = (~np.isin(mine, theirs)).tolist()
    return listed


def _has_made(columns: list[U32]) -> bool:
    from triplestore.terms import FIRST_QUERY_ID

    return any(bool((column >= FIRST_QUERY_ID).any()) for column in columns)


def _without_limit(view: StateView, asked: AskedQuery) -> str | None:
    """The query without its own LIMIT and OFFSET; None if others inside of it cut its answers."""
    query = parse_query(asked.text, prefixes=view.prefixes, base=asked.base)
    if isinstance(query.pattern, Slice):
        query = replace(query, pattern=query.pattern.pattern)
    if any(isinstance(node, Slice) for node in walk(query.pattern)):
        return None
    return write(query)
