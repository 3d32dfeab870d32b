"""Queries and updates of rdflib on our engine: start at `query` and `update`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox
from rdflib.graph import Graph
from rdflib.plugins.sparql import CUSTOM_EVALS, operators, prepareUpdate
from rdflib.plugins.sparql.sparql import SPARQLError
from rdflib.query import Result
from rdflib.term import Identifier, Literal, Variable

from triplestore.errors import QuerySyntaxError, UsageError
from triplestore.expressions.text.term_parser import RELATIVE
from triplestore.network.services import Services, ServicesLike, services_of
from triplestore.rdflib_store.namespaces import usual_prefixes
from triplestore.rdflib_store.terms import from_term, to_term
from triplestore.store.answers import are_triples
from triplestore.store.writes.fetching import require_allowed

if TYPE_CHECKING:
    from triplestore.store import Store

UNION = "__UNION__"
"""rdflib's name for the union of all graphs."""


def query(
    store: Store,
    asked: Any,
    prefixes: Mapping[str, Any],
    bindings: Mapping[Any, Identifier],
    graph: Any,
    allow_service: ServicesLike | None = None,
) -> Result:
    """The result of a query of rdflib, on the graph of this name in the store, or on the union."""
    text, prefixes, base = _text_of(asked, prefixes)
    functions = _custom_functions(text)
    values = {str(name).removeprefix("?"): to_term(value) for name, value in bindings.items()}
    # A query on one graph sees only this graph; a query on a data set may have FROM.
    whole = graph == UNION or graph == ox.DefaultGraph()
    with _relative_iris_left_to_rdflib():
        found = store.query(
            text,
            prefixes=_known(store, prefixes),
            base_iri=base,
            default_graph=None if whole else [graph],
            use_default_graph_as_union=graph == UNION,
            substitutions=values,
            custom_functions=functions,
            allow_service=allow_service,
        )
    return _result(found)


def update(
    store: Store,
    text: Any,
    prefixes: Mapping[str, Any],
    bindings: Any,
    graph: Any,
    load_from: Sequence[str],
    allow_service: ServicesLike | None = None,
) -> None:
    """Run an update on our engine; raises `_LEFT_TO_RDFLIB` if it needs rdflib's evaluator."""
    services = store.allow_service if allow_service is None else services_of(allow_service)
    allowed = services.with_entries(load_from)
    own = graph == ox.DefaultGraph() or (graph == UNION and not any(store.named_graphs()))
    if not isinstance(text, str) or bindings or not own:
        _require_allowed_loads(text, prefixes, allowed)
        raise _LEFT_TO_RDFLIB
    try:
        with _relative_iris_left_to_rdflib():
            store.update(
                text,
                prefixes=_known(store, prefixes),
                load_from=load_from,
                allow_service=services,
            )
    except NotImplementedError:  # rdflib's sign that it is to evaluate the text itself
        _require_allowed_loads(text, prefixes, allowed)
        raise


@contextmanager
def without_service(asked: Any) -> Iterator[None]:
    """Refuse to leave SERVICE to rdflib's evaluator, which would ask any endpoint."""
    try:
        yield
    except NotImplementedError:
        text = asked if isinstance(asked, str) else str(getattr(asked, "algebra", asked))
        if _SERVICE.search(text):
            raise UsageError(
                "rdflib itself would evaluate this text, and ask any endpoint of its SERVICE: "
                "write it without relative IRIs, functions and evaluators of rdflib, and updates "
                "without bindings and for the default graph"
            ) from None
        raise


_SERVICE = re.compile(r"(?i)\bservice|ServiceGraphPattern")


def _require_allowed_loads(asked: Any, prefixes: Mapping[str, Any], allowed: Services) -> None:
    """Refuse LOAD from a source that is not allowed: rdflib's evaluator would load anything."""
    prepared = prepareUpdate(asked, initNs=dict(prefixes)) if isinstance(asked, str) else asked
    for operation in prepared.algebra:
        if operation.name == "Load":
            require_allowed(str(operation.iri), allowed)


_LEFT_TO_RDFLIB = NotImplementedError("left to rdflib's evaluator")
"""Raised by a store so that rdflib itself evaluates a query or an update."""


@contextmanager
def _relative_iris_left_to_rdflib() -> Iterator[None]:
    """Leave texts with unresolved relative IRIs to rdflib, which keeps such IRIs."""
    try:
        yield
    except QuerySyntaxError as error:
        if RELATIVE in str(error):
            raise _LEFT_TO_RDFLIB from error
        raise


def _known(store: Store, prefixes: Mapping[str, Any]) -> dict[str, str]:
    named = {prefix or "": str(namespace) for prefix, namespace in prefixes.items()}
    return {**usual_prefixes(), **store.prefixes, **named}


# rdflib's casts are registered like functions of users; ours are built in.
_CASTS = frozenset(operators._CUSTOM_FUNCTIONS)


def _custom_functions(text: str) -> dict[Any, Callable[..., Any]]:
    """The functions registered with rdflib, over terms of pyoxigraph.

    Texts that may name raw functions, and all texts with `CUSTOM_EVALS`, are left to rdflib, since
    these see its evaluation.
    """
    if CUSTOM_EVALS:
        raise _LEFT_TO_RDFLIB
    functions: dict[Any, Callable[..., Any]] = {}
    for iri, (function, raw) in operators._CUSTOM_FUNCTIONS.items():
        if iri in _CASTS:
            continue
        if raw and re.split("[/#:]", iri)[-1] in text:
            raise _LEFT_TO_RDFLIB
        functions[ox.NamedNode(iri)] = partial(_call, function)
    return functions


def _call(function: Callable[..., Any], *terms: Any) -> Any:
    """Call a function on rdflib's terms; None if it raises an error of the expression."""
    try:
        value = function(*map(from_term, terms))
    except (SPARQLError, TypeError):
        return None
    return to_term(value if isinstance(value, Identifier) else Literal(value))


def _text_of(asked: Any, prefixes: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str | None]:
    if isinstance(asked, str):
        return asked, prefixes, None
    # A result of `prepareQuery` has its text; other objects are left to rdflib.
    made_of = getattr(asked, "_original_args", None)
    if made_of is None:
        raise _LEFT_TO_RDFLIB
    text, own, base = made_of
    return str(text), {**prefixes, **(own or {})}, None if base is None else str(base)


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
    """The solutions in the form of rdflib, made on demand."""
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
