"""Queries that are run often, each time with other values for their variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triplestore.store.arguments import TermLike
from triplestore.store.run_query import by_name, query

if TYPE_CHECKING:
    from triplestore.sparql.engine import Result
    from triplestore.store.query_options import QueryOptions, Substitutions
    from triplestore.store.readable import StateView


@dataclass(frozen=True)
class Prepared:
    """A parsed query; each call evaluates it on the current state.

    Start reading at `Querying.prepare`, which makes them.
    """

    view: Callable[[], StateView]
    text: str
    options: QueryOptions

    def __call__(self, substitutions: Substitutions | None = None, **values: TermLike) -> Result:
        """The result, with these variables bound: by name, or as a mapping for other names."""
        given: dict[str, TermLike] = {**by_name(substitutions), **values}
        return query(self.view(), self.text, self.options._replace(substitutions=given))

    def __str__(self) -> str:
        return self.text
