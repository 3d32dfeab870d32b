"""Answers compressed by gzip or zstd, as the client accepts: start at `Compressed`.

Always true: a piece of an answer is sent when it is written, never kept for the next one; answers
that are short, streams of events, or compressed already pass unchanged.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias, cast

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplestore.loaders.compression import zstd

_SHORTEST = 1000
"""Answers with fewer bytes are sent as they are."""

_IN_THREAD = 1 << 14
"""Pieces with more bytes are compressed in a thread, so that other requests do not wait."""

_DENSE = re.compile(
    r"text/event-stream|image/(?!svg)|video/|audio/|font/|"
    r"application/(zip|gzip|zstd|vnd\.apache\.(parquet|arrow))"
)

_Compress: TypeAlias = Callable[[bytes, bool], bytes]
"""Compresses a piece; the second argument says whether it is the last one."""


@lru_cache(256)
def encoding_for(header: str) -> str | None:
    """The encoding for an `Accept-Encoding` header; None for none.

    >>> [encoding_for(text) for text in ("gzip, zstd", "gzip;q=1, zstd;q=0.5", "*;q=0, br", "")]
    ['zstd', 'gzip', None, None]
    """
    weights = {}
    for part in header.lower().split(","):
        name, _, parameter = part.strip().partition(";")
        weights[name.strip()] = _weight(parameter)
    offers = [(weights.get(name, weights.get("*", 0.0)), name) for name in ("gzip", "zstd")]
    weight, name = max(offers)
    return name if weight > 0 else None


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


class Compressed:
    """Compresses answers on their way to the client."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and compress its answer."""
        if scope["type"] == "http" and scope["method"] != "HEAD":
            encoding = encoding_for(Headers(scope=scope).get("accept-encoding", ""))
            if encoding is not None:
                send = _CompressedSend(send, encoding).send
        await self._app(scope, receive, send)


class _CompressedSend:
    """Waits for the first piece of an answer, which tells whether it is short."""

    def __init__(self, send: Send, encoding: str) -> None:
        self._send = send
        self._encoding = encoding
        self._start: Message | None = None
        self._compress: _Compress | None = None

    async def send(self, message: Message) -> None:
        """Send a message, compressed if it is part of a body."""
        if message["type"] == "http.response.start" and _may_change(message):
            self._start = message
        elif message["type"] == "http.response.body":
            await self._body(message)
        else:
            await self._send(message)

    async def _body(self, message: Message) -> None:
        data, is_last = message.get("body", b""), not message.get("more_body", False)
        if self._start is not None:
            start, self._start = self._start, None
            headers = MutableHeaders(raw=start["headers"])
            headers.add_vary_header("Accept-Encoding")
            if not is_last or len(data) >= _SHORTEST:
                self._compress = _COMPRESSORS[self._encoding]()
                headers["content-encoding"] = self._encoding
                etag = headers.get("etag")
                if etag is not None and not etag.startswith("W/"):
                    headers["etag"] = f"W/{etag}"  # the bytes differ by encoding
                del headers["content-length"]
            await self._send(start)
        if self._compress is not None:
            if len(data) > _IN_THREAD:
                data = await asyncio.to_thread(self._compress, data, is_last)
            elif data or is_last:
                data = self._compress(data, is_last)
            message = {**message, "body": data}
        await self._send(message)


def _may_change(start: Message) -> bool:
    start["headers"] = list(start.get("headers", ()))
    headers = Headers(raw=start["headers"])
    plain = "content-encoding" not in headers and "content-range" not in headers
    return plain and not _DENSE.match(headers.get("content-type", ""))


def _gzip() -> _Compress:
    stream = zlib.compressobj(4, zlib.DEFLATED, 31)

    def compress(data: bytes, is_last: bool) -> bytes:
        return stream.compress(data) + stream.flush(zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH)

    return compress


def _zstd() -> _Compress:
    library: Any = zstd()
    stream = library.ZstdCompressor(level=3)
    inside, end = library.ZstdCompressor.FLUSH_BLOCK, library.ZstdCompressor.FLUSH_FRAME

    def compress(data: bytes, is_last: bool) -> bytes:
        return cast(bytes, stream.compress(data, mode=end if is_last else inside))

    return compress


_COMPRESSORS: dict[str, Callable[[], _Compress]] = {"gzip": _gzip, "zstd": _zstd}
