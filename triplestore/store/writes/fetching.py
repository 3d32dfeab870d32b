"""Documents that LOAD names: files and pages, only from places that were allowed.

Start at `fetch`. Always true: only allowed places are read, whatever the IRI of the document looks
like; at most as many bytes of a page are kept as the limits allow. The rules for the network are
those of SERVICE (`network.exchange`).
"""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import ServiceError, UsageError
from triplestore.network.exchange import Exchange, Question, as_bytes
from triplestore.network.services import Services, ServicesLike, services_of
from triplestore.operators.context import UNLIMITED, Context, current

_ACCEPT = (
    "text/turtle, application/n-triples, application/n-quads, application/trig, "
    "application/rdf+xml;q=0.8, application/ld+json;q=0.5"
)


@data_class
class FetchedDocument:
    """A file's path, or data and their format."""

    path: Path | None = None
    data: bytes | None = None
    format: ox.RdfFormat | None = None


def fetch(iri: str, allowed: ServicesLike) -> FetchedDocument:
    """The document of an IRI, which must be allowed.

    >>> fetch("file:///data/a.ttl", ["file:///data/"]).path.name
    'a.ttl'
    >>> fetch("file:///etc/passwd", ["file:///data/"])
    Traceback (most recent call last):
    ...
    triplestore.errors.ServiceError: LOAD <file:///etc/passwd> is not allowed: ...
    """
    services = services_of(allowed)
    require_allowed(iri, services)
    parts = urlsplit(iri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return FetchedDocument(path=Path(url2pathname(parts.path)))
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"LOAD <{iri}>: only file:, http: and https: can be loaded")
    data, media_type = _read_page(iri, services, current())
    return FetchedDocument(data=data, format=_format(iri, media_type))


def require_allowed(iri: str, allowed: ServicesLike) -> None:
    """Raise ServiceError unless an IRI is below one of those that are allowed."""
    if not services_of(allowed).allows(iri):
        raise ServiceError(
            f"LOAD <{iri}> is not allowed: add it, or a prefix of it, to `load_from`"
        )


def _read_page(iri: str, services: Services, context: Context) -> tuple[bytes, str]:
    """All of a page, which is charged to the context, and its media type."""
    # The context's own limits hold here, not those of answers of endpoints.
    services = replace(services, bytes=UNLIMITED, seconds=float("inf"))
    question = Question(iri, {"Accept": _ACCEPT})
    exchange = Exchange(question, services, context, f"LOAD <{iri}>", as_bytes)
    data = BytesIO()
    room = context.budget - context.used
    try:
        head = exchange.head()
        if head.status >= 300:
            raise exchange.failure(f"{head.status} {head.reason}")
        for piece in exchange.pieces():
            size = data.tell() + len(piece)
            if size > room:
                context.charge(size)  # raises
            if size > context.text.document:
                raise exchange.failure(
                    f"the document has more than {context.text.document:,} bytes: fetch it "
                    "yourself and load that file, or give limits=TextLimits(document=...)"
                )
            data.write(piece)
    finally:
        exchange.close()
    context.charge(data.tell())
    return data.getvalue(), head.media_type


def _format(iri: str, media_type: str) -> ox.RdfFormat:
    found = ox.RdfFormat.from_media_type(media_type.partition(";")[0].strip())
    if found is None:
        found = ox.RdfFormat.from_extension(urlsplit(iri).path.rpartition(".")[2])
    if found is None:
        raise UsageError(f"LOAD <{iri}>: {media_type or 'the response'} is not a format of RDF")
    return found
