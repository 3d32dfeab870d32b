"""One request and its response, which is read in pieces within limits.

Start at `Exchange`. A thread reads the response, because a thread that waits for the network cannot
be interrupted; the caller takes its pieces, checks its own limits while it waits, and abandons the
exchange whenever it wants. Readers of formats run in that thread as well, because parsers belong
to one thread. Always true: each redirection is checked like the first IRI; at most some pieces wait
between the threads; the thread ends soon after `close`; only texts of errors leave it, since their
frames hold parsers.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import BadStatusLine, HTTPException, HTTPResponse
from queue import Empty, Full, Queue
from typing import Generic, NamedTuple, TypeAlias, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

from triplestore._version import VERSION
from triplestore.data_classes import data_class
from triplestore.errors import ParseError, ServiceError
from triplestore.network.connecting import SECONDS, PinnedConnection, connect
from triplestore.network.services import Services
from triplestore.operators.context import Context

_AGENT = f"triplestore/{VERSION}"
_PIECE = 1 << 16
_WAITING = 8  # maximum number of pieces between the threads
_POLL = 0.05
_HEAD = 1 << 16  # maximum bytes of the text of an error that are read
_SHOWN = 300
_REDIRECTS = (301, 302, 303, 307, 308)


@data_class
class Question:
    """A request: `body` is sent by POST; without one it is a GET."""

    iri: str
    headers: Mapping[str, str]
    body: bytes | None = None


@data_class
class Head:
    """The beginning of a response.

    iri   where it came from, after redirections
    text  the beginning of the body of a failure
    """

    status: int
    reason: str
    media_type: str
    iri: str
    text: str = ""


Piece = TypeVar("Piece")
Place: TypeAlias = tuple[str, str | None, int | None]


class _Failure(NamedTuple):
    """Why an answer is missing, or breaks off."""

    reason: str


class _RefusedError(Exception):
    """The response cannot be used; the message says why."""


class IdleConnections:
    """Connections that the next request to the same place may use."""

    def __init__(self) -> None:
        self._kept: dict[Place, list[PinnedConnection]] = {}

    def take(self, place: Place) -> PinnedConnection | None:
        """A connection to a place, if one is idle."""
        kept = self._kept.get(place)
        return kept.pop() if kept else None

    def give(self, place: Place, connection: PinnedConnection) -> None:
        """Keep a connection whose last response was read to its end."""
        self._kept.setdefault(place, []).append(connection)

    def close(self) -> None:
        """Close all of them."""
        for kept in self._kept.values():
            while kept:
                kept.pop().close()


class Exchange(Generic[Piece]):
    """A request on its way.

    convert   makes pieces for the caller of the bytes of the response
    idle      where connections are kept for the next request; None to close them
    what      how messages name the request, such as `SERVICE <https://ex.org/sparql>`
    services  what is allowed, and the limits
    context   the limits of the query, which are checked while the caller waits
    """

    def __init__(
        self,
        question: Question,
        services: Services,
        context: Context,
        what: str,
        convert: Callable[[Head, Iterator[bytes]], Iterator[Piece]],
        idle: IdleConnections | None = None,
    ) -> None:
        self._question = question
        self._services = services
        self._context = context
        self._what = what
        self._convert = convert
        self._idle = IdleConnections() if idle is None else idle
        self._keeps = idle is not None
        self._queue: Queue[Head | Piece | _Failure | None] = Queue(_WAITING)
        self._stopped = threading.Event()
        self._connection: PinnedConnection | None = None
        self._response: HTTPResponse | None = None
        self._until = time.monotonic() + services.seconds
        self._thread = threading.Thread(target=self._run, name="fetch", daemon=True)
        require_allowed(question.iri, services, what)
        self._thread.start()

    # --- the caller's thread ---------------------------------------------------------------------

    def head(self) -> Head:
        """The beginning of the response; raises ServiceError if there is none."""
        found = self._take()
        assert isinstance(found, Head)
        return found

    def pieces(self) -> Iterator[Piece]:
        """The body, after `head`."""
        while (piece := self._take()) is not None:
            assert not isinstance(piece, Head)
            yield piece

    def close(self) -> None:
        """Abandon what was not read."""
        self._stopped.set()
        connection = self._connection
        if connection is not None and self._thread.is_alive():
            connection.wake()

    def failure(self, reason: str) -> ServiceError:
        """The error for a reason."""
        return ServiceError(f"{self._what}: {reason}{hint_for(self._what)}")

    def _take(self) -> Head | Piece | None:
        while True:
            self._context.check()
            if time.monotonic() > self._until:
                self.close()
                seconds = self._services.seconds
                raise self.failure(
                    f"it took more than {seconds:g} seconds; allow more with Services(seconds=...)"
                )
            try:
                found = self._queue.get(timeout=_POLL)
            except Empty:
                continue
            if isinstance(found, _Failure):
                self.close()
                raise self.failure(found.reason)
            return found

    # --- the reading thread ----------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._read()
            self._put(None)
        except ParseError as error:
            self._put(_Failure(f"its answer cannot be read: {error.msg}"))
        except TimeoutError:
            limit = min(self._services.seconds, SECONDS)
            self._put(_Failure(f"it sent nothing for more than {limit:g} seconds"))
        except (_RefusedError, OSError, HTTPException, ValueError, zlib.error) as error:
            self._put(_Failure(str(error) or type(error).__name__))
        except BaseException as error:
            self._put(_Failure(repr(error)))
            raise
        finally:
            self._close_connection()

    def _put(self, item: Head | Piece | _Failure | None) -> None:
        while not self._stopped.is_set():
            with suppress(Full):
                self._queue.put(item, timeout=_POLL)
                return

    def _read(self) -> None:
        response, iri = self._answered()
        media_type = response.headers.get("Content-Type", "")
        if response.status >= 300:
            text = response.read1(_HEAD).decode(errors="replace")[:_SHOWN].strip()
            self._put(Head(response.status, response.reason, media_type, iri, text))
            return
        self._require_room(response.length or 0)
        head = Head(response.status, response.reason, media_type, iri)
        self._put(head)
        for piece in self._convert(head, self._body(response)):
            self._put(piece)
            if self._stopped.is_set():
                return
        connection = self._connection
        is_whole = response.isclosed() or response.length == 0
        if self._keeps and is_whole and connection is not None and connection.is_open:
            response.close()
            self._idle.give(_place_of(urlsplit(iri)), connection)
            self._connection = None

    def _body(self, response: HTTPResponse) -> Iterator[bytes]:
        """The bytes of a response, decompressed."""
        decode = _Decoder(response.headers.get("Content-Encoding", ""))
        size = 0
        while not self._stopped.is_set() and (raw := response.read1(_PIECE)):
            for piece in decode.pieces(raw):
                size += len(piece)
                self._require_room(size)
                yield piece
        if self._stopped.is_set():
            raise _RefusedError("abandoned")
        if response.length:
            raise _RefusedError(f"it ended {response.length:,} bytes early")
        decode.finish()

    def _require_room(self, size: int) -> None:
        if size > self._services.bytes:
            raise _RefusedError(
                f"it sends more than {self._services.bytes:,} bytes; allow more with "
                "Services(bytes=...)"
            )

    def _answered(self) -> tuple[HTTPResponse, str]:
        """The response after redirections, and where it came from."""
        iri, body = self._question.iri, self._question.body
        for _ in range(self._services.redirects + 1):
            response = self._ask(iri, body)
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or target is None:
                return response, iri
            status = response.status
            if status == 303:
                body = None
            self._close_connection()
            iri = urljoin(iri, target)
            if not self._services.allows(iri):
                raise _RefusedError(
                    f"it redirects ({status}), and <{iri}> is not allowed: allow both, or use the "
                    "new address"
                )
        raise _RefusedError(f"it redirects ({status}) more than {self._services.redirects} times")

    def _ask(self, iri: str, body: bytes | None) -> HTTPResponse:
        parts = urlsplit(iri)
        kept = self._idle.take(_place_of(parts))
        if kept is not None:
            try:
                return self._sent(kept, parts, body)
            except (ConnectionError, BadStatusLine):
                kept.close()  # the server had closed it meanwhile
        left = max(self._until - time.monotonic(), 0.01)
        return self._sent(connect(iri, parts, self._services, left), parts, body)

    def _sent(
        self, connection: PinnedConnection, parts: SplitResult, body: bytes | None
    ) -> HTTPResponse:
        self._connection = connection
        if self._stopped.is_set():
            raise _RefusedError("abandoned")
        method = "GET" if body is None else "POST"
        headers = {"User-Agent": _AGENT, "Accept-Encoding": "gzip", **self._question.headers}
        if body is None:
            headers.pop("Content-Type", None)
        connection.request(method, _target(parts), body, headers)
        self._response = connection.getresponse()
        return self._response

    def _close_connection(self) -> None:
        for one in (self._response, self._connection):
            if one is not None:
                one.close()


def as_bytes(head: Head, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes as they are, for `convert`."""
    return pieces


def hint_for(what: str) -> str:
    """What can be done about a failure, besides what its message says."""
    return "; SERVICE SILENT would continue without it" if what.startswith("SERVICE") else ""


def require_allowed(iri: str, services: Services, what: str) -> None:
    """Raise ServiceError unless an IRI of http or https is allowed."""
    if not iri.startswith(("http://", "https://")):
        raise ServiceError(f"{what}: only http: and https: can be asked")
    if not services.allows(iri):
        raise ServiceError(
            f"{what} is not allowed: name it in allow_service=[...] of the query or of the store "
            "(--allow-service on the command line)"
        )


def _place_of(parts: SplitResult) -> Place:
    return parts.scheme, parts.hostname, parts.port


def _target(parts: SplitResult) -> str:
    """The path and the query of an IRI, with other characters than ASCII escaped."""
    text = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return "".join(c if "!" <= c <= "~" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


class _Decoder:
    """Undoes gzip, piece by piece, so that few bytes never become many at once."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise _RefusedError(f"it is encoded as {encoding[:50]!r}, which was not asked for")
        self._inflate = (
            None if name in ("", "identity") else zlib.decompressobj(zlib.MAX_WBITS | 32)
        )

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """The decoded text of the next bytes."""
        if self._inflate is None:
            yield raw
            return
        while raw:
            yield self._inflate.decompress(raw, _PIECE)
            raw = self._inflate.unconsumed_tail

    def finish(self) -> None:
        """Raise if the compressed text is not complete."""
        if self._inflate is not None and not self._inflate.eof:
            raise _RefusedError("its compressed text ended early")
