"""Whole graphs over HTTP, the SPARQL 1.1 Graph Store Protocol: start at `reading` and `changing`.

https://www.w3.org/TR/sparql11-http-rdf-update/ - graphs are named by `?graph=IRI` or `?default`,
or by an address below `/store/`, which is then the name of the graph.
"""

from __future__ import annotations

import email
from email.policy import HTTP
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias, cast
from uuid import uuid4

import pyoxigraph as ox
from starlette.requests import Request

from triplestore.server.limited_changes import limited_change
from triplestore.server.negotiation import QUADS, TRIPLES, content_type, negotiated
from triplestore.server.protocol import accepted, own_address, read_body, read_graph
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerJob, AnswerOutput
from triplestore.server.settings import Settings

if TYPE_CHECKING:
    from triplestore.store import Store, Transaction

GraphName: TypeAlias = ox.NamedNode | ox.DefaultGraph


class SentTriples(NamedTuple):
    """Triples that a client sends."""

    data: bytes
    form: ox.RdfFormat


def reading(store: Store, request: Request) -> AnswerJob:
    """GET: a graph, or all graphs if none is named; by default the asserted quads."""
    graph, facts = read_graph(request)
    accept = accepted(request)

    def job(output: AnswerOutput) -> None:
        store.refresh()
        if graph is not None and not store.contains_named_graph(graph):
            raise RefusedRequest(404, f"graph {graph} does not exist")
        media_type, form = negotiated(accept, QUADS if graph is None else TRIPLES)
        output.media_type = content_type(media_type)
        store.dump(cast(IO[bytes], output), form, from_graph=graph, facts=facts)

    return job


async def changing(store: Store, request: Request, settings: Settings) -> AnswerJob:
    """PUT: replace a graph; POST: add to a graph, or make one; DELETE: remove a graph."""
    method = request.method
    graph, _ = read_graph(request)
    location = None
    if graph is None:
        if method != "POST":
            raise RefusedRequest(400, "name a graph with ?graph=IRI or ?default")
        graph = ox.NamedNode(f"{own_address(request).rstrip('/')}/{uuid4()}")
        location = graph.value
    documents = [] if method == "DELETE" else await _documents(request, settings.body)
    base = graph.value if isinstance(graph, ox.NamedNode) else str(request.url.replace(query=""))

    def job(output: AnswerOutput) -> None:
        with limited_change(store, settings, output) as transaction:
            existed = transaction.contains_named_graph(graph)
            if method == "DELETE":
                _delete(transaction, graph, existed)
            else:
                _load(transaction, graph, documents, base, method == "PUT", output)
        if not existed:
            output.status = 201
        if location is not None:
            output.headers["location"] = location
        output.write(f"{transaction.change}\n".encode())

    return job


def _delete(transaction: Transaction, graph: GraphName, existed: bool) -> None:
    if isinstance(graph, ox.DefaultGraph):
        transaction.clear_graph(graph)
        return
    if not existed:
        raise RefusedRequest(404, f"graph {graph} does not exist")
    transaction.remove_graph(graph)


def _load(
    transaction: Transaction,
    graph: GraphName,
    documents: list[SentTriples],
    base: str,
    replace: bool,
    output: AnswerOutput,
) -> None:
    for number, document in enumerate(documents):
        first = replace and not number
        transaction.load(
            document.data,
            document.form,
            base_iri=base,
            to_graph=None if first else graph,
            replace_graph=graph if first else None,
            named_graphs="refuse",
            cancel=output.is_over,
        )
    if isinstance(graph, ox.NamedNode):
        transaction.add_graph(graph)  # also if it has no triples


async def _documents(request: Request, longest: int) -> list[SentTriples]:
    """The documents of the body: one, or the parts of a form."""
    body = await read_body(request, longest)
    header = request.headers.get("content-type", "")
    if not header.lower().startswith("multipart/form-data"):
        return [_document(header, body)]
    head = f"content-type: {header}\r\n\r\n".encode("latin-1")
    form = email.message_from_bytes(head + body, policy=HTTP)
    return [
        _document(str(part["content-type"] or ""), cast(bytes, part.get_payload(decode=True)))
        for part in form.walk()
        if not part.is_multipart()
    ]


def _document(header: str, data: bytes) -> SentTriples:
    media_type = header.partition(";")[0].strip().lower()
    form = ox.RdfFormat.from_media_type(media_type) if media_type else None
    if form is None:
        raise RefusedRequest(415, f"{media_type!r} is not a media type of RDF")
    return SentTriples(data, form)
