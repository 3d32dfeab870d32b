"""The built files of the page: start at `asset_routes` and `page_or`.

`make ui` writes them to `bundle/`. Without them the server answers as it does for programs.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from triplestore.data_classes import data_class
from triplestore.server.connections.security_headers import PAGE_POLICY

BUNDLE = Path(__file__).resolve().parent / "bundle"
"""Where the build puts the page; the wheel contains it."""

MISSING = """
The page for browsers is not part of this installation. `make ui` builds it (needs Node 20).
"""

# Most names of assets contain a hash of their content; all other files are asked for each time.
FOREVER = "public, max-age=31536000, immutable"
ASK = "no-cache"
_WITHOUT_HASH = ("favicon.svg", "licenses.txt")

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}

Handler = Callable[[Request], Awaitable[Response]]


@data_class
class PageFile:
    """One file of the page, compressed once."""

    packed: bytes
    media_type: str
    tag: str

    def answer(self, request: Request, caching: str) -> Response:
        """The file, or that it has not changed since the browser read it."""
        headers = {
            # Also of a 304, whose headers replace those that the browser keeps.
            "content-security-policy": PAGE_POLICY,
            "cache-control": caching,
            "etag": self.tag,
            "vary": "accept, accept-encoding",
        }
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(self.packed, media_type=self.media_type, headers=headers)
        return Response(gzip.decompress(self.packed), media_type=self.media_type, headers=headers)


def is_built(bundle: Path = BUNDLE) -> bool:
    """Whether this installation has the page."""
    return (bundle / "index.html").is_file()


def page_or(plain: Handler, bundle: Path = BUNDLE) -> Handler:
    """Answers browsers by the page, and programs by `plain`, which also stands in for the page."""

    async def index(request: Request) -> Response:
        wanted = "text/html" in request.headers.get("accept", "")
        if wanted and (page := page_file("index.html", bundle)):
            return page.answer(request, ASK)
        response = await plain(request)
        if wanted:
            text = bytes(response.body).decode() + MISSING
            response = PlainTextResponse(text)
        response.headers["vary"] = "accept"
        return response

    return index


def asset_routes(bundle: Path = BUNDLE) -> list[Route]:
    """Routes of the files that the page loads.

    >>> [route.path for route in asset_routes()]
    ['/page/{name}']
    """

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        found = page_file(f"page/{name}", bundle)
        if found is None:
            return PlainTextResponse("the page has no such file", 404)
        return found.answer(request, ASK if name in _WITHOUT_HASH else FOREVER)

    return [Route("/page/{name}", asset)]


@cache
def page_file(name: str, bundle: Path = BUNDLE) -> PageFile | None:
    """A file of the page by its path inside of the bundle; None if the page has no such file."""
    path = bundle / name
    if path.suffix not in _MEDIA_TYPES or name not in _names(bundle):
        return None
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # built anew while the server runs
        return None
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return PageFile(gzip.compress(content, 9, mtime=0), _MEDIA_TYPES[path.suffix], tag)


@cache
def _names(bundle: Path) -> frozenset[str]:
    """The files of the page: only these are read, whatever a request names."""
    if not is_built(bundle):
        return frozenset()
    files = (path for path in bundle.rglob("*") if path.is_file())
    return frozenset(path.relative_to(bundle).as_posix() for path in files)
