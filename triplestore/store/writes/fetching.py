"""Documents that LOAD names: files and pages, only from places that were allowed.

Start at `fetch`. Always true: only allowed places are read, whatever the IRI of the document looks
like; at most as many bytes of a page are kept as the limits allow. A separate thread reads a page,
because a thread that waits for the network cannot be interrupted: the caller checks its limits
meanwhile, and abandons that thread if necessary.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from http.client import HTTPException, HTTPResponse
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, url2pathname

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.operators.context import Context, current

_SECONDS = 60  # maximum time without a byte
_PIECE = 1 << 16
_POLL = 0.05
_MOST_REDIRECTIONS = 5
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


def fetch(iri: str, allowed: Iterable[str]) -> FetchedDocument:
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
        return FetchedDocument(path=Path(url2pathname(parts.path)))
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"LOAD <{iri}>: only file:, http: and https: can be loaded")
    data, media_type = _Page(iri, tuple(allowed), current()).read()
    return FetchedDocument(data=data, format=_format(iri, media_type))


def require_allowed(iri: str, allowed: Iterable[str]) -> None:
    """Raise UsageError unless an IRI is below one of those that are allowed."""
    below = any(iri.startswith(start) for start in allowed)
    if not below or ".." in unquote(urlsplit(iri).path).split("/"):
        raise UsageError(f"LOAD <{iri}> is not allowed: add it, or a prefix of it, to `load_from`")


class _Page(threading.Thread):
    """A page that is read within the limits of a context."""

    def __init__(self, iri: str, allowed: tuple[str, ...], context: Context) -> None:
        super().__init__(name="fetch", daemon=True)
        self._iri = iri
        self._allowed = allowed
        self._context = context
        self._room = context.budget - context.used
        self._most = min(context.text.document, self._room)
        self._data = BytesIO()
        self._media_type = ""
        self._ended = threading.Event()
        self._stopped = False
        self._error: BaseException | None = None

    def read(self) -> tuple[bytes, str]:
        """All of the page, which is charged to the context, and its media type."""
        self.start()
        try:
            while not self._ended.wait(_POLL):
                self._context.check()
        finally:
            self._stopped = True
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        data = self._data.getvalue()
        self._context.charge(len(data))
        return data, self._media_type

    def run(self) -> None:
        """Read it, in the thread."""
        try:
            self._fetch()
        except HTTPError as error:
            error.close()
            self._error = self._failure(f"{error.code} {error.reason}")
        except (OSError, HTTPException, ValueError) as error:
            own = isinstance(error, UsageError)
            self._error = error if own else self._failure(str(error) or type(error).__name__)
        except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
            self._error = error
        finally:
            self._ended.set()

    def _fetch(self) -> None:
        opener = build_opener(_Redirects(self._allowed))
        request = Request(self._iri, headers={"Accept": _ACCEPT})
        with opener.open(request, timeout=_SECONDS) as answer:
            assert isinstance(answer, HTTPResponse)
            self._media_type = answer.headers.get("Content-Type", "")
            self._require_room(answer.length or 0)
            while not self._stopped and (piece := answer.read1(_PIECE)):
                self._require_room(self._data.tell() + len(piece))
                self._data.write(piece)
            if answer.length and not self._stopped:
                raise self._failure(f"it ended {answer.length:,} bytes early")

    def _require_room(self, size: int) -> None:
        if size <= self._most:
            return
        if self._most == self._room:
            self._context.charge(size)
        raise self._failure(
            f"the document has more than {self._most:,} bytes: fetch it yourself and load that "
            "file, or give limits=TextLimits(document=...)"
        )

    def _failure(self, reason: str) -> UsageError:
        return UsageError(f"LOAD <{self._iri}>: {reason}")


class _Redirects(HTTPRedirectHandler):
    """Follows a few redirections to what is allowed."""

    max_redirections = _MOST_REDIRECTIONS

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self._allowed = allowed

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """The request that follows a redirection."""
        fp.close()  # otherwise all of its text would be read
        require_allowed(newurl, self._allowed)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _format(iri: str, media_type: str) -> ox.RdfFormat:
    found = ox.RdfFormat.from_media_type(media_type.partition(";")[0].strip())
    if found is None:
        found = ox.RdfFormat.from_extension(urlsplit(iri).path.rpartition(".")[2])
    if found is None:
        raise UsageError(f"LOAD <{iri}>: {media_type or 'the response'} is not a format of RDF")
    return found
