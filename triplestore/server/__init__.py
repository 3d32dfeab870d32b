"""SPARQL over HTTP: a store served by starlette and uvicorn, which the extra `server` installs.

Start at `create_app` (app.py), which any ASGI server can run, and `serve` (serving.py), which runs
it. protocol.py reads requests, negotiation.py chooses the format of the answer, and running.py runs
queries in threads.
"""

from triplestore.server.app import create_app
from triplestore.server.serving import serve
from triplestore.server.settings import Settings

__all__ = ["Settings", "create_app", "serve"]
