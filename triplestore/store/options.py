"""What callers may say of a load or of `reason`, as records that are passed down.

The public methods (`Store.load`, `Store.reason`, and those of `Transaction`) have these fields as
keywords, explain them, and make the record once. Queries and updates: see `query_options`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyoxigraph import DefaultGraph, NamedNode, RdfFormat

    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.store.arguments import GraphLike

PathLike: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The keywords of `Store.load`."""

    format: RdfFormat | str | None = None
    path: PathLike | Iterable[PathLike] | None = None
    base_iri: str | None = None
    to_graph: GraphLike | None = None
    replace_graph: GraphLike | None = None
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
    scope: str | Iterable[str | NamedNode | DefaultGraph] | None = None
    trivial: bool | None = None
    strict: bool | None = None
    equality: str | None = None
    tuning: Mapping[str, Any] | None = None
    progress: bool = False
    cancel: Callable[[], bool] | None = None
