"""Documents that LOAD names: files and pages, of those places only that were allowed.

Start at `fetch`. What is always true: nothing is read from a place that is not named, whatever the
IRI of the document looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, url2pathname

import pyoxigraph as ox

from triplestore.errors import UsageError

_SECONDS = 60
_ACCEPT = (
    "text/turtle, application/n-triples, application/n-quads, application/trig, "
    "application/rdf+xml;q=0.8, application/ld+json;q=0.5"
)


@dataclass(frozen=True, slots=True)
class Document:
    """A file's path, or data and their format."""

    path: Path | None = None
    data: bytes | None = None
    format: ox.RdfFormat | None = None


def fetch(iri: str, allowed: Iterable[str]) -> Document:
    """The document of an IRI, which must begin with one of those that are allowed.

    >>> fetch("file:///data/a.ttl", ["file:///data/"]).path.name
    'a.ttl'
    >>> fetch("file:///etc/passwd", ["file:///data/"])
    Traceback (most recent call last):
    ...
    triplestore.errors.UsageError: LOAD <file:///etc/passwd> is not allowed: ...
    """
    require_allowed(iri, allowed)
    parts = urlsplit(iri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Document(path=Path(url2pathname(parts.path)))
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"LOAD <{iri}>: only file:, http: and https: can be loaded")
    opener = build_opener(_Redirects(tuple(allowed)))
    with opener.open(Request(iri, headers={"Accept": _ACCEPT}), timeout=_SECONDS) as answer:
        media_type = answer.headers.get("Content-Type", "")
        return Document(data=answer.read(), format=_format(iri, media_type))


def require_allowed(iri: str, allowed: Iterable[str]) -> None:
    """Raise UsageError unless an IRI is below one of those that are allowed."""
    below = any(iri.startswith(start) for start in allowed)
    if not below or ".." in unquote(urlsplit(iri).path).split("/"):
        raise UsageError(
            f"LOAD <{iri}> is not allowed: name it, or what it begins with, in `load_from`"
        )


class _Redirects(HTTPRedirectHandler):
    """Follows redirections to what is allowed."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self._allowed = allowed

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """The request that follows a redirection."""
        require_allowed(newurl, self._allowed)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _format(iri: str, media_type: str) -> ox.RdfFormat:
    found = ox.RdfFormat.from_media_type(media_type.partition(";")[0].strip())
    if found is None:
        found = ox.RdfFormat.from_extension(urlsplit(iri).path.rpartition(".")[2])
    if found is None:
        raise UsageError(f"LOAD <{iri}>: {media_type or 'what came'} is no format of RDF")
    return found
