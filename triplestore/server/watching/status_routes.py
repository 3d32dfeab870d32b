"""Whether the server is well, and ready: start at `status_routes`.

Both are public. Before a login they say nothing about the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from triplestore.errors import TripleStoreError
from triplestore.server.access.caller import caller_of
from triplestore.server.running import Runner

if TYPE_CHECKING:
    from triplestore.store import Store


def status_routes(stores: Mapping[str, Store], runner: Runner) -> list[Route]:
    """`/health` and `/ready` of some stores."""

    async def health(request: Request) -> Response:
        """Whether the server answers, the last commit and size, and how many queries run."""
        found: dict[str, object] = {"status": "ok"}
        if caller_of(request).role is not None:
            for store in stores.values():
                store.refresh()
            if len(stores) == 1:
                (store,) = stores.values()
                found |= {"commit": store.commit, "quads": len(store)}
            found["running"] = runner.running
        return JSONResponse(found)

    async def ready(request: Request) -> Response:
        """Whether the server can answer queries now: 503 while it ends, or without its stores."""
        if runner.stopped:
            return JSONResponse({"status": "ending"}, 503)
        for name, store in stores.items():
            try:
                store.refresh()
            except (TripleStoreError, OSError) as error:
                known = caller_of(request).role is not None
                reason = f"{name}: {error}" if known else "a store cannot be read"
                return JSONResponse({"status": "not ready", "reason": reason}, 503)
        return JSONResponse({"status": "ready"})

    return [Route("/health", health), Route("/ready", ready)]
