"""What callers may say about a query or an update, beside its text.

The methods of stores, snapshots and transactions have these as keywords, and explain them; one
record is made there, and handed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from triplestore.operators.context import Flag
    from triplestore.sparql.plan.planner import PlanOptions
    from triplestore.store.arguments import TermLike
    from triplestore.text_limits import TextLimits


class QueryOptions(NamedTuple):
    """The options of a query; see `Reading.query`.

    planning  which improvements the planner makes, for tests and measurements; None for all
    """

    facts: str = "all"
    equality: str = "all"
    base_iri: str | None = None
    prefixes: Mapping[str, str] | None = None
    use_default_graph_as_union: bool = False
    default_graph: TermLike | Iterable[TermLike] | None = None
    named_graphs: Iterable[TermLike] | None = None
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    limits: TextLimits | None = None
    substitutions: Mapping[Any, TermLike] | None = None
    custom_functions: Mapping[Any, Callable[..., Any]] | None = None
    custom_aggregate_functions: Mapping[Any, Callable[[], Any]] | None = None
    planning: PlanOptions | None = None


class UpdateOptions(NamedTuple):
    """The options of an update; see `Store.update`."""

    base_iri: str | None = None
    prefixes: Mapping[str, str] | None = None
    load_from: Iterable[str] = ()
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    limits: TextLimits | None = None


DEFAULTS = QueryOptions()
