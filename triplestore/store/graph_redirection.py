"""Queries and updates on other graphs than those they name: start at `query_on` and `update_on`.

Over HTTP a request may name the graphs for its text. The result is a text again, so that the code
that runs it does not need to know about this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant
from triplestore.sparql.algebra.nodes import DatasetClause
from triplestore.sparql.algebra.updates import Modify, Operation
from triplestore.sparql.syntax.parser import parse_query, parse_update
from triplestore.sparql.syntax.query_printer import write
from triplestore.store.arguments import TermLike


def query_on(
    text: str,
    default: Iterable[TermLike],
    named: Iterable[TermLike],
    prefixes: Mapping[str, str],
    base_iri: str | None = None,
) -> str:
    """A query that sees these graphs instead of those in its FROM clauses.

    >>> from pyoxigraph import NamedNode
    >>> text = query_on("ASK FROM <http://e/a> { ?s ?p 1 }", [NamedNode("http://e/b")], [], {})
    >>> print(text)
    ASK
    FROM <http://e/b>
    WHERE {
      ?s ?p 1 .
    }
    """
    query = parse_query(text, prefixes=prefixes, base=base_iri)
    return write(replace(query, dataset=_dataset(default, named)))


def update_on(
    text: str,
    default: Iterable[TermLike],
    named: Iterable[TermLike],
    prefixes: Mapping[str, str],
    base_iri: str | None = None,
) -> str:
    """An update each WHERE of which sees these graphs; it must not name any by WITH or USING."""
    dataset = _dataset(default, named)
    update = parse_update(text, prefixes=prefixes, base=base_iri)

    def changed(operation: Operation) -> Operation:
        if not isinstance(operation, Modify):
            return operation
        if operation.graph is not None or operation.dataset is not None:
            raise UsageError(
                "name the graphs of an update in the request or in the update, not both"
            )
        return replace(operation, dataset=dataset)

    return write(replace(update, operations=tuple(map(changed, update.operations))))


def _dataset(default: Iterable[TermLike], named: Iterable[TermLike]) -> DatasetClause:
    return DatasetClause(tuple(map(Constant.of, default)), tuple(map(Constant.of, named)))
