"""Many clients in one event loop, each on a connection of its own that it keeps.

Start at `loaded`. Each client sends a request, reads the whole answer, and sends the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import quote


def request_bytes(port: int, query: str) -> bytes:
    """A GET of a query, as bytes."""
    return (
        f"GET /query?query={quote(query)} HTTP/1.1\r\nHost: localhost:{port}\r\n"
        "Accept: application/sparql-results+json\r\n\r\n"
    ).encode()


async def loaded(
    port: int, queries: Sequence[str], clients: int, seconds: float
) -> tuple[list[float], float, int]:
    """The times of all requests, the whole time, and the bytes of the first client's answers."""
    requests = [request_bytes(port, query) for query in queries]
    until = time.perf_counter() + seconds
    began = time.perf_counter()
    done = await asyncio.gather(
        *(_client(port, requests, 7 * number, until) for number in range(clients))
    )
    whole = time.perf_counter() - began
    return [one for times, _ in done for one in times], whole, done[0][1]


async def _client(
    port: int, requests: Sequence[bytes], first: int, until: float
) -> tuple[list[float], int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times: list[float] = []
    size = 0
    place = first
    try:
        while (now := time.perf_counter()) < until:
            writer.write(requests[place % len(requests)])
            size += len(await read_answer(reader))
            times.append(time.perf_counter() - now)
            place += 1
    finally:
        writer.close()
        await writer.wait_closed()
    return times, size


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """The body of an answer with a length; raises for a status other than 200."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if not head.startswith("http/1.1 200"):
        raise RuntimeError(head)
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    return await reader.readexactly(length)
