"""pyoxigraph behind starlette: the least that answers a query, in a thread, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def peer_app(folder: Path) -> Starlette:
    """The application over a store of pyoxigraph; it has no limits, logs or logins."""
    import pyoxigraph

    store = pyoxigraph.Store.read_only(str(folder))
    form = pyoxigraph.QueryResultsFormat.JSON

    def answer(text: str) -> bytes:
        found: Any = store.query(text)
        return bytes(found.serialize(format=form))

    async def query(request: Request) -> Response:
        document = await run_in_threadpool(answer, request.query_params["query"])
        return Response(document, media_type=form.media_type)

    return Starlette(routes=[Route("/query", query)])
