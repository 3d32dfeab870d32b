"""Live queries of texts: start at `live_query`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant
from triplestore.live.query import LiveQuery
from triplestore.sparql.algebra.nodes import Select
from triplestore.sparql.algebra.substitute import with_values
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import by_name, default_budget, parsed
from triplestore.store.state_view import StateView


def live_query(text: str, view: StateView, options: QueryOptions) -> LiveQuery:
    """The live query of a text; only a SELECT has rows to follow."""
    query = parsed(view, text, options)
    if not isinstance(query, Select):
        form = type(query).__name__.upper()
        raise UsageError(
            f"this is {'an' if form == 'ASK' else 'a'} {form} query, and only the rows of a SELECT "
            "can be followed: write it as a SELECT, or use changes() for all triples"
        )
    values = {n: Constant.of(v) for n, v in by_name(options.substitutions).items()}
    if values:
        query = cast("Select", with_values(query, values))
    budget = default_budget() if options.budget is None else options.budget
    return LiveQuery(query, budget)


def options_key(options: QueryOptions) -> Hashable:
    """Equal for options under which a query has the same rows."""
    return tuple(_key(value) for value in options)


def _key(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted((str(name), str(one)) for name, one in value.items()))
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(map(str, value))
    return value if isinstance(value, Hashable) else str(value)
