"""SPARQL queries of a store, a snapshot or a transaction.

Start at `query`. The engine keeps the algebra of texts for all stores of a process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant
from triplestore.network.services import services_of
from triplestore.operators.context import Context
from triplestore.relations.views.equality import Classes, equality_of
from triplestore.sparql.engine import NOTHING_CUSTOM, AskedState, Custom, Engine, Result
from triplestore.store.arguments import (
    DEFAULTS,
    GraphLike,
    QueryOptions,
    Substitutions,
    TermLike,
    facts_mask,
    graph_key,
)
from triplestore.text_limits import DEFAULT

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U32
    from triplestore.sparql.algebra.nodes import Query
    from triplestore.sparql.engine import Result
    from triplestore.sparql.evaluate.text_hits import SearchText, TextSearch
    from triplestore.store.arguments import QueryOptions
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary


def _write_answer(*given: Any, **options: Any) -> bytes | None:
    # Late: the writers of all formats; many programs read rows only.
    from triplestore.store.answers import write_answer

    return write_answer(*given, **options)


_ENGINE = Engine(_write_answer)

ALL, REPRESENTATIVES = "all", "representatives"
"""Values of `equality`: all facts, or one answer for each class of equals."""


def query(view: StateView, text: str, options: QueryOptions = DEFAULTS) -> Result:
    """The result of a query on one state.

    `default_graph` and `named_graphs` override the query's FROM and FROM NAMED, as for pyoxigraph;
    `use_default_graph_as_union` does not, because a server sets it once for all queries.
    """
    budget = default_budget() if options.budget is None else options.budget
    limits = options.limits or DEFAULT
    context = Context(budget, seconds=options.timeout, cancel=options.cancel, text=limits)
    custom = NOTHING_CUSTOM
    if options.custom_functions or options.custom_aggregate_functions:
        functions = by_name(options.custom_functions)
        custom = Custom(functions, by_name(options.custom_aggregate_functions))
    return _ENGINE.query(
        text,
        asked_state(view, options),
        context,
        base=options.base_iri,
        options=options.planning,
        values={n: Constant.of(v) for n, v in by_name(options.substitutions).items()},
        custom=custom,
        form=options.form,
    )


def asked_state(view: StateView, options: QueryOptions) -> AskedState:
    """The part of a state that a query sees."""
    dictionary, default_graph = view.dictionary, options.default_graph
    if options.use_default_graph_as_union:
        default: tuple[int, ...] = (0, *view.tables.graphs().tolist())
    elif default_graph is None:
        default = (0,)
    else:
        default = _ids(dictionary, _listed(default_graph))
    named = None if options.named_graphs is None else _ids(dictionary, options.named_graphs)
    seen = of_representatives(view, options.equality)  # graphs keep their own names
    return AskedState(
        seen.dictionary,
        seen.tables,
        facts_mask(options.facts),
        default,
        named,
        {**view.prefixes, **(options.prefixes or {})},
        view.hidden > 0,
        default_graph is not None and not options.use_default_graph_as_union,
        seen.plans,
        services_of(options.allow_service),
        text_search_of(view),
    )


def text_search_of(view: StateView) -> SearchText | None:
    """Opens the text index of a state; None if it has none."""
    return None if view.text is None else partial(_searcher, view)


def _searcher(view: StateView) -> TextSearch:
    # Late: few stores have a text index.
    from triplestore.text_search.literals import Wanted
    from triplestore.text_search.searching import searcher_of

    assert view.text is not None
    size = view.dictionary.size if view.term_count is None else view.term_count
    wanted = Wanted(view.dictionary, view.tables, size)
    return searcher_of(view.text, wanted, view.term_count is not None)


class RepresentativeNames:
    """A dictionary in which the name of a term stands for the representative of its class."""

    def __init__(self, dictionary: Dictionary, classes: Classes) -> None:
        self._dictionary = dictionary
        self._classes = classes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dictionary, name)

    def lookup_key(self, key: bytes) -> int:
        """The id of the representative of a key; 0 if it is unknown."""
        return int(self.lookup_keys([key])[0])

    def lookup_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of the representatives of keys; 0 for unknown ones."""
        return self._classes.representatives(self._dictionary.lookup_keys(keys))


def of_representatives(view: StateView, equality: str | None) -> StateView:
    """The state that a query with this `equality` sees.

    A query for representatives sees the tables that rules see; a name in it stands for its class,
    so any member can be used. Named graphs keep their own terms.
    """
    if equality not in (None, ALL, REPRESENTATIVES):
        raise UsageError(
            f'equality={equality!r} is not supported: use "{ALL}" or "{REPRESENTATIVES}"'
        )
    found = equality_of(view.tables)
    if found is None or equality != REPRESENTATIVES:
        return view
    dictionary = cast("Dictionary", RepresentativeNames(view.dictionary, found.classes))
    return replace(view, dictionary=dictionary, tables=found.tables)


def read(view: StateView, text: str, options: QueryOptions) -> None:
    """Parse a query and keep its algebra for later evaluations."""
    parsed(view, text, options)


def parsed(view: StateView, text: str, options: QueryOptions) -> Query:
    """The rewritten algebra of a query."""
    known = {**view.prefixes, **(options.prefixes or {})}
    aggregates = by_name(options.custom_aggregate_functions)
    return _ENGINE.parse(text, known, options.base_iri, aggregates=aggregates)


def by_name(given: Mapping[Any, Any] | None) -> dict[str, Any]:
    """By the names of variables or functions, which may be texts or terms of pyoxigraph."""
    return {str(getattr(name, "value", name)): value for name, value in (given or {}).items()}


@cache
def default_budget() -> int | None:
    """The default maximum number of bytes of a query: half of the machine's memory.

    None if the system does not say.
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _listed(graphs: GraphLike | Iterable[GraphLike]) -> list[GraphLike]:
    if isinstance(graphs, list | tuple | set | frozenset):
        return list(graphs)
    return [cast("GraphLike", graphs)]


def _ids(dictionary: Dictionary, graphs: Iterable[GraphLike]) -> tuple[int, ...]:
    """The ids of graphs, 0 for the default graph; unknown graphs are left out."""
    keys = [graph_key(graph) for graph in graphs]
    named = dictionary.lookup_keys([key for key in keys if key is not None]).tolist()
    own = [0] if None in keys else []
    return tuple(own + sorted({term_id for term_id in named if term_id}))


@data_class(slots=False)
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
