"""The options of loads, of `reason`, of queries and of updates, as records that are passed down.

The public methods (`Store.load`, `Store.reason`, `Store.update`, `ReadableStore.query`, and those
of `Transaction`) have these fields as keywords, explain them, and make the record once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.operators.context import Flag
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.sparql.plan.planner import PlanOptions
    from triplestore.store.arguments import TermLike
    from triplestore.text_limits import TextLimits


PathLike: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The keywords of `Store.load`."""

    format: RdfFormat | str | None = None
    path: PathLike | Iterable[PathLike] | None = None
    base_iri: str | None = None
    to_graph: TermLike | None = None
    replace_graph: TermLike | None = None
    named_graphs: str = "keep"
    lenient: bool = False
    progress: bool = False
    cancel: Callable[[], bool] | None = None
    threads: int | None = None
    max_line_bytes: int | None = None
    max_term_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonOptions:
    """The names of regimes and the keywords of `Store.reason`."""

    regimes: tuple[str, ...] = ()
    rules: RulesLike | None = None
    ontology: Places | None = None
    imports: Places = ()
    network: bool = False
    scope: Any = None
    trivial: bool | None = None
    strict: bool | None = None
    equality: str | None = None
    tuning: Mapping[str, Any] | None = None
    progress: bool = False
    cancel: Callable[[], bool] | None = None


class QueryOptions(NamedTuple):
    """The options of a query; see `ReadableStore.query`.

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
