"""SPARQL queries of a store, a snapshot or a transaction.

Start at `query`. The engine keeps the algebra of texts for all stores of a process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from triplestore.expressions.tree import Constant
from triplestore.operators.context import Context
from triplestore.reasoning.equality.answers import of_representatives
from triplestore.sparql.engine import NOTHING_CUSTOM, AskedState, Custom, Engine, Result
from triplestore.store.answers import write_answer
from triplestore.store.arguments import TermLike, facts_mask, graph_key
from triplestore.store.query_options import DEFAULTS, QueryOptions
from triplestore.text_limits import DEFAULT

if TYPE_CHECKING:
    from triplestore.store.readable import View
    from triplestore.terms import Dictionary

_ENGINE = Engine(write_answer)


def query(view: View, text: str, options: QueryOptions = DEFAULTS) -> Result:
    """The result of a query on one state.

    `default_graph` and `named_graphs` go before the query's FROM and FROM NAMED, as for pyoxigraph;
    the union of all graphs is only the default graph of queries whose FROM names none, because a
    server is configured with it once for all queries.
    """
    budget = default_budget() if options.budget is None else options.budget
    limits = options.limits or DEFAULT
    context = Context(budget, seconds=options.timeout, cancel=options.cancel, text=limits)
    custom = NOTHING_CUSTOM
    if options.custom_functions or options.custom_aggregate_functions:
        functions = _by_name(options.custom_functions)
        custom = Custom(functions, _by_name(options.custom_aggregate_functions))
    return _ENGINE.query(
        text,
        _asked(view, options),
        context,
        base=options.base_iri,
        options=options.planning,
        values={n: Constant.of(v) for n, v in _by_name(options.substitutions).items()},
        custom=custom,
    )


def _asked(view: View, options: QueryOptions) -> AskedState:
    """What of a state a query sees."""
    dictionary, default_graph = view.dictionary, options.default_graph
    if options.use_default_graph_as_union:
        default: tuple[int, ...] = (0, *view.tables.graphs().tolist())
    elif default_graph is None:
        default = (0,)
    else:
        default = _ids(dictionary, _listed(default_graph))
    named = None if options.named_graphs is None else _ids(dictionary, options.named_graphs)
    seen = of_representatives(view, options.equality)  # but graphs have names of their own
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
    )


def read(view: View, text: str, options: QueryOptions) -> None:
    """Parse a query, and keep its algebra for when it is asked."""
    known = {**view.prefixes, **(options.prefixes or {})}
    aggregates = _by_name(options.custom_aggregate_functions)
    _ENGINE.parse(text, known, options.base_iri, aggregates=aggregates)


def _by_name(given: Mapping[Any, Any] | None) -> dict[str, Any]:
    """By the names of variables or functions, which may be texts or terms of pyoxigraph."""
    return {str(getattr(name, "value", name)): value for name, value in (given or {}).items()}


@cache
def default_budget() -> int | None:
    """The bytes a query may use if nobody says how many: half of the machine's memory.

    None where the system does not say how much there is.
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _listed(graphs: TermLike | Iterable[TermLike]) -> list[TermLike]:
    return list(graphs) if isinstance(graphs, list | tuple | set | frozenset) else [graphs]


def _ids(dictionary: Dictionary, graphs: Iterable[TermLike]) -> tuple[int, ...]:
    """The ids of graphs, 0 for the default graph; graphs that nobody knows are left out."""
    keys = [graph_key(graph) for graph in graphs]
    named = dictionary.lookup_keys([key for key in keys if key is not None]).tolist()
    own = [0] if None in keys else []
    return tuple(own + sorted({term_id for term_id in named if term_id}))
