"""Queries and updates of rdflib on our engine: start at `query` and `update`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox
from rdflib.graph import Graph
from rdflib.query import Result
from rdflib.term import Identifier, Variable

from triplestore.rdflib_store.terms import from_term, to_term
from triplestore.store.answers import are_triples

if TYPE_CHECKING:
    from triplestore.store import Store

UNION = "__UNION__"
"""What rdflib says instead of a graph's name if it means all of them."""


def query(
    store: Store,
    asked: Any,
    prefixes: Mapping[str, Any],
    bindings: Mapping[Any, Identifier],
    graph: Any,
) -> Result:
    """The result of a query of rdflib, on the graph with this name in the store, or the union."""
    text, prefixes, base = _text_of(asked, prefixes)
    known = {**store.prefixes, **_plain(prefixes)}
    values = {str(name).removeprefix("?"): to_term(value) for name, value in bindings.items()}
    # A graph that is asked is asked alone; a data set may say FROM.
    whole = graph == UNION or graph == ox.DefaultGraph()
    found = store.query(
        text,
        prefixes=known,
        base_iri=base,
        default_graph=None if whole else [graph],
        use_default_graph_as_union=graph == UNION,
        substitutions=values,
    )
    return _result(found)


def update(store: Store, text: Any, prefixes: Mapping[str, Any], bindings: Any, graph: Any) -> None:
    """Carry out an update; what only rdflib's own evaluator can do is left to it."""
    own = graph == ox.DefaultGraph() or (graph == UNION and not any(store.named_graphs()))
    if not isinstance(text, str) or bindings or not own:
        raise NotImplementedError  # that is how a store tells rdflib to do it by itself
    store.update(text, prefixes={**store.prefixes, **_plain(prefixes)})


def _text_of(asked: Any, prefixes: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str | None]:
    if isinstance(asked, str):
        return asked, prefixes, None
    # What `prepareQuery` makes keeps what it was made of; anything else is for rdflib.
    made_of = getattr(asked, "_original_args", None)
    if made_of is None:
        raise NotImplementedError  # that is how a store tells rdflib to do it by itself
    text, own, base = made_of
    return str(text), {**prefixes, **(own or {})}, None if base is None else str(base)


def _plain(prefixes: Mapping[str, Any]) -> dict[str, str]:
    return {prefix or "": str(namespace) for prefix, namespace in prefixes.items()}


def _result(found: Any) -> Result:
    if isinstance(found, bool):
        result = Result("ASK")
        result.askAnswer = found
        return result
    if are_triples(found):
        result = Result("CONSTRUCT")
        result.graph = Graph()
        for triple in found:
            result.graph.add(
                (from_term(triple.subject), from_term(triple.predicate), from_term(triple.object))
            )
        return result
    result = Result("SELECT")
    result.vars = [Variable(name) for name in found.variables]
    result.bindings = _bindings(found, result.vars)
    return result


def _bindings(found: Any, names: list[Variable]) -> Iterator[dict[Variable, Identifier]]:
    """The solutions as rdflib has them, made as they are asked for."""
    known: dict[Any, Identifier] = {}
    for row in found.tuples():
        solution = {}
        for name, term in zip(names, row, strict=True):
            if term is None:
                continue
            made = known.get(term)
            if made is None:
                made = known[term] = from_term(term)
            solution[name] = made
        yield solution
