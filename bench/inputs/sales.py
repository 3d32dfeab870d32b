"""Small programs unlike LUBM and the highly recursive ones, for the choices of `auto`.

sales    purchases of items in nested categories: negation, and nested aggregates
spread   the nodes of a random graph that are reachable from some sources, and the others
lines    the same along lines of a hundred nodes: many rounds with few facts
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.inputs.classical import Pairs, random_pairs, setting
from bench.inputs.programs import Setting
from bench.inputs.random_numbers import below

SALES = """
:within[?x, ?y] :- :in[?x, ?y] .
:within[?x, ?z] :- :within[?x, ?y], :part[?y, ?z] .
:likes[?p, ?c] :- :bought[?p, ?i], :within[?i, ?c], NOT :withdrawn[?i, ?i] .
:liked[?p, ?n] :- AGGREGATE(:likes[?p, ?c] ON ?p BIND count(?c) AS ?n) .
:sold[?i, ?n] :- AGGREGATE(:bought[?p, ?i] ON ?i BIND count(?p) AS ?n) .
:Rare[?i] :- :sold[?i, ?n], FILTER(?n < 5) .
:Odd[?p] :- :bought[?p, ?i], :Rare[?i], :liked[?p, ?n], FILTER(?n < 25) .
"""

SPREAD = """
:Reached[?x] :- :source[?x, ?x] .
:Reached[?y] :- :Reached[?x], :edge[?x, ?y] .
:ends[?x, ?y] :- :Reached[?x], :edge[?x, ?y], NOT :edge[?y, ?x] .
"""


def sales(people: int = 5_000) -> Setting:
    """Twelve purchases a person; some items are bought much more often than others."""
    items = 2_000
    skewed = below(items, "sales/1", 12 * people) * below(items, "sales/2", 12 * people) // items
    own, parts = np.arange(items), np.arange(1, 60)
    old = below(items, "sales/old", items // 10)
    relations = {
        "bought": np.column_stack((items + below(people, "sales/3", 12 * people), skewed)),
        "in": np.column_stack((own, items + people + below(60, "sales/4", items))),
        "part": items + people + np.column_stack((parts, parts // 3)),
        "withdrawn": np.column_stack((old, old)),
    }
    return setting("sales", SALES, relations)


def spread(nodes: int = 20_000) -> Setting:
    """Five edges per node, a source for each twenty."""
    return _spread("spread", nodes, random_pairs("spread", nodes, nodes, 5 * nodes), 20)


def lines(nodes: int = 20_000) -> Setting:
    """Lines of a hundred nodes, each from a source."""
    own = np.arange(nodes)
    return _spread("lines", nodes, np.column_stack((own, own + 1))[own % 100 < 99], 100)


def _spread(name: str, nodes: int, edges: Pairs, each: int) -> Setting:
    sources = np.arange(0, nodes, each)
    relations = {"edge": edges, "source": np.column_stack((sources, sources))}
    return setting(name, SPREAD, relations)


KINDS: dict[str, Callable[[int], Setting]] = {
    made.__name__: made for made in (sales, spread, lines)
}
