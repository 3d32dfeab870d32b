"""The SPARQL 1.1 Protocol: requests read from HTTP.

Start at `read_operation`. Always true: every fault of a request raises `RefusedRequest` with the
status and a sentence that says what to do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import NoReturn
from urllib.parse import parse_qsl, quote

import pyoxigraph as ox
from starlette.requests import ClientDisconnect, Request

from triplestore.data_classes import data_class
from triplestore.server.refusals import RefusedRequest

FORM = "application/x-www-form-urlencoded"
TEXTS = {"application/sparql-query": "query", "application/sparql-update": "update"}
"""Media types of requests whose body is the text, and the parameter that it replaces."""

_GRAPHS = {
    "query": ("default-graph-uri", "named-graph-uri"),
    "update": ("using-graph-uri", "using-named-graph-uri"),
}
_FACTS = ("all", "explicit", "inferred")

_STALL = 30.0
"""Seconds for which a client may send nothing, unless the server has others."""

_SLOWEST = 1000
"""Minimum bytes per second of a body, on average after that time."""

FormFields = list[tuple[str, str]]
GraphNames = tuple[ox.NamedNode, ...]


@data_class
class SparqlRequest:
    """A requested query or update.

    kind      "query" or "update"
    text      the query or update
    graphs    the graphs whose merge is the default graph, and those that GRAPH reaches; None if the
              request names none
    facts     the facts that a query sees; an extension of ours
    union     the default graph is the union of all graphs; an extension of Oxigraph
    """

    kind: str
    text: str
    graphs: tuple[GraphNames, GraphNames] | None = None
    facts: str = "all"
    union: bool = False


async def read_operation(
    request: Request, kinds: Sequence[str], longest: int
) -> SparqlRequest | None:
    """The operation of a request to an endpoint for these kinds; None without one."""
    pairs = _pairs(request.url.query)
    if request.method == "POST":
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type == FORM:
            pairs += _pairs(_decoded(await read_body(request, longest)))
        elif media_type in TEXTS:
            pairs.append((TEXTS[media_type], _decoded(await read_body(request, longest))))
        else:
            known = ", ".join([FORM, *TEXTS])
            raise RefusedRequest(415, f"a POST body must be one of: {known}; not {media_type!r}")
    given = [(name, value) for name, value in pairs if name in _GRAPHS]
    if not given and request.method != "POST":
        return None
    if len(given) != 1:
        raise RefusedRequest(400, f"give one of the parameters {' and '.join(kinds)}, once")
    kind, text = given[0]
    if kind not in kinds:
        raise RefusedRequest(400, f"this endpoint does not accept the parameter {kind}")
    if kind == "update" and request.method != "POST":
        raise RefusedRequest(405, "send updates by POST", {"Allow": "POST"})
    return _operation(kind, text, pairs)


def _operation(kind: str, text: str, pairs: FormFields) -> SparqlRequest:
    default, named = (graphs_of(pairs, name) for name in _GRAPHS[kind])
    if not default and not named:
        return SparqlRequest(kind, text, facts=_facts_of(pairs), union=_union_of(pairs))
    return SparqlRequest(kind, text, (default, named), _facts_of(pairs))


async def read_body(request: Request, longest: int) -> bytes:
    """The body of a request, of at most `longest` bytes."""
    return b"".join([piece async for piece in body_pieces(request, longest)])


async def body_pieces(request: Request, longest: int) -> AsyncIterator[bytes]:
    """The body of a request in pieces; refuses one that is too long, or comes too slowly."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        raise RefusedRequest(415, f"send the body without compression, not as {encoding!r}")
    if int(request.headers.get("content-length", 0)) > longest:
        _refuse_long(longest)
    stall = getattr(request.app.state, "stall_seconds", _STALL)
    size, began = 0, time.monotonic()
    pieces = request.stream()
    while True:
        try:
            async with asyncio.timeout(stall):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            _refuse_slow()
        except ClientDisconnect:
            raise RefusedRequest(400, "the body of the request is incomplete") from None
        size += len(piece)
        if size > longest:
            _refuse_long(longest)
        if size < (time.monotonic() - began - stall) * _SLOWEST:
            _refuse_slow()
        yield piece


def _refuse_long(longest: int) -> NoReturn:
    raise RefusedRequest(413, f"a request may have at most {longest:,} bytes")


def _refuse_slow() -> NoReturn:
    raise RefusedRequest(408, "the body of the request comes too slowly", {"connection": "close"})


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise RefusedRequest(400, f"the body is not UTF-8: {error}") from None


def _pairs(text: str) -> FormFields:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise RefusedRequest(400, f"cannot read the parameters: {error}") from None


def graphs_of(pairs: FormFields, name: str) -> GraphNames:
    """The graphs that a parameter names."""
    try:
        return tuple(ox.NamedNode(value) for key, value in pairs if key == name)
    except ValueError as error:
        raise RefusedRequest(400, f"{name}: {error}") from None


def _facts_of(pairs: FormFields) -> str:
    facts = [value for name, value in pairs if name == "facts"]
    if len(facts) > 1 or not set(facts) <= set(_FACTS):
        raise RefusedRequest(400, f"facts must be one of: {', '.join(_FACTS)}")
    return facts[0] if facts else "all"


def _union_of(pairs: FormFields) -> bool:
    return any(name == "union-default-graph" and value.lower() != "false" for name, value in pairs)


def read_graph(request: Request) -> tuple[ox.NamedNode | ox.DefaultGraph | None, str]:
    """The graph of a request to the graph store (None for all), and the facts.

    An address below `/store/` names itself, as the protocol's direct identification has it.
    """
    pairs = _pairs(request.url.query)
    named = graphs_of(pairs, "graph")
    default = any(name == "default" for name, _ in pairs)
    if request.path_params.get("graph"):
        if named or default:
            raise RefusedRequest(400, "this address names a graph: leave ?graph and ?default out")
        named = graphs_of([("graph", own_address(request))], "graph")
    if len(named) + default > 1:
        raise RefusedRequest(400, "give one graph, with ?graph=IRI or ?default")
    facts = _facts_of(pairs) if any(name == "facts" for name, _ in pairs) else "explicit"
    return (named[0] if named else ox.DefaultGraph() if default else None), facts


def own_address(request: Request) -> str:
    """The address of a request without its parameters, as the client has written it."""
    scope = request.scope
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    host = request.headers.get("host") or request.url.netloc
    return f"{scope.get('scheme', 'http')}://{host}{raw.decode('latin-1').partition('?')[0]}"


def accepted(request: Request) -> str | None:
    """The `Accept` headers of a client, joined; None without one."""
    return ", ".join(request.headers.getlist("accept")) or None
