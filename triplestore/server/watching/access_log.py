"""A line for each request: start at `AccessLog`.

Always true: a line never holds passwords, tokens or cookies, and no client can make two lines.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path

from triplestore.data_classes import data_class
from triplestore.errors import StorageError, UsageError

FORMATS = ("common", "json")
_LONGEST = 2000
"""Longer paths are cut."""


@data_class
class LoggedRequest:
    """One request; status 0 if its client went away before the answer."""

    client: str
    user: str | None
    method: str
    path: str
    version: str
    status: int
    size: int
    seconds: float


class AccessLog:
    """Writes to a file, or to standard error for `-`.

    The file is opened anew when it was moved, so that programs that rotate logs work.
    """

    def __init__(self, target: str, form: str = "common") -> None:
        if form not in FORMATS:
            raise UsageError(f"{form!r} is not a format of access logs: use common or json")
        self._form = form
        try:
            self._handler: logging.Handler = (
                logging.StreamHandler(sys.stderr)
                if target == "-"
                else WatchedFileHandler(Path(target), encoding="utf-8")
            )
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror or error}") from error

    def note(self, request: LoggedRequest) -> None:
        """Write one line."""
        line = common_line(request) if self._form == "common" else json_line(request)
        record = logging.LogRecord("access", logging.INFO, "", 0, line, None, None)
        self._handler.handle(record)

    def close(self) -> None:
        """Close the file."""
        self._handler.close()


def common_line(request: LoggedRequest, now: float | None = None) -> str:
    r"""A line in the Common Log Format.

    >>> print(common_line(LoggedRequest("::1", None, "GET", "/a\n\"b", "1.1", 200, 3, 0.1), 0.0))
    ::1 - - [...] "GET /a\n\"b HTTP/1.1" 200 3
    """
    when = datetime.fromtimestamp(time.time() if now is None else now).astimezone()
    user = "-" if request.user is None else _plain(request.user).replace(" ", "\\x20")
    asked = f"{_plain(request.method)} {_plain(request.path[:_LONGEST])} HTTP/{request.version}"
    date = when.strftime("%d/%b/%Y:%H:%M:%S %z")
    return f'{request.client} - {user} [{date}] "{asked}" {request.status} {request.size}'


def json_line(request: LoggedRequest) -> str:
    """A line as JSON, with the time the request took."""
    return json.dumps(
        {
            "time": datetime.now().astimezone().isoformat(timespec="milliseconds"),
            "client": request.client,
            "user": request.user,
            "method": request.method,
            "path": request.path[:_LONGEST],
            "status": request.status,
            "bytes": request.size,
            "seconds": round(request.seconds, 6),
        }
    )


def _plain(text: str) -> str:
    """A text without control characters and quotes."""
    return json.dumps(text)[1:-1]
