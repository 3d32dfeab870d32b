"""What callers may say about a query or an update, beside its text.

The methods of stores, snapshots and transactions have these as keywords, and explain them; one
record is made there, and handed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict

from pyoxigraph import NamedNode, Variable

from triplestore.store.arguments import GraphLike, TermLike
from triplestore.terms import Term

if TYPE_CHECKING:
    from triplestore.operators.context import Flag
    from triplestore.sparql.plan.planner import PlanOptions
    from triplestore.text_limits import TextLimits


class Accumulator(Protocol):
    """One group of an aggregate that a caller gives."""

    def accumulate(self, element: Any, /) -> None:
        """Take one more term."""

    def finish(self) -> Term | None:
        """The result; None for an error."""


Substitutions: TypeAlias = Mapping[str, TermLike] | Mapping[Variable, TermLike]
"""Values of variables, which are given by name or as variables."""

CustomFunctions: TypeAlias = (
    Mapping[str, Callable[..., Term | None]] | Mapping[NamedNode, Callable[..., Term | None]]
)
"""Functions by IRI; None is an error."""

CustomAggregates: TypeAlias = (
    Mapping[str, Callable[[], Accumulator]] | Mapping[NamedNode, Callable[[], Accumulator]]
)
"""Aggregates by IRI."""


class QueryKeywords(TypedDict, total=False):
    """The keywords of `Querying.query`, which explains them."""

    facts: str
    equality: str
    base_iri: str | None
    prefixes: Mapping[str, str] | None
    use_default_graph_as_union: bool
    default_graph: GraphLike | Iterable[GraphLike] | None
    named_graphs: Iterable[GraphLike] | None
    timeout: float | None
    budget: int | None
    cancel: Flag | None
    limits: TextLimits | None
    substitutions: Substitutions | None
    custom_functions: CustomFunctions | None
    custom_aggregate_functions: CustomAggregates | None


class QueryOptions(NamedTuple):
    """The options of a query; see `Querying.query`.

    planning  which improvements the planner makes, for tests and measurements; None for all
    form      the form that the query must have, such as "SELECT"; None for any
    """

    facts: str = "all"
    equality: str = "all"
    base_iri: str | None = None
    prefixes: Mapping[str, str] | None = None
    use_default_graph_as_union: bool = False
    default_graph: GraphLike | Iterable[GraphLike] | None = None
    named_graphs: Iterable[GraphLike] | None = None
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    limits: TextLimits | None = None
    substitutions: Substitutions | None = None
    custom_functions: CustomFunctions | None = None
    custom_aggregate_functions: CustomAggregates | None = None
    planning: PlanOptions | None = None
    form: str | None = None


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
