"""Requests that are refused: start at `RefusedRequest`.

Under `/api/` a refusal is JSON, `{"error": {"message": ...}}`; elsewhere it is plain text.
"""

from __future__ import annotations

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope

from triplestore.errors import (
    BudgetError,
    CancelledError,
    ConflictError,
    InconsistencyError,
    LockedError,
    ParseError,
    ReadOnlyError,
    ShapesError,
    TimeLimitError,
    UsageError,
)

logger = logging.getLogger("triplestore.server")

_STATUS: dict[type[Exception], int] = {
    ParseError: 400,
    UsageError: 400,
    ShapesError: 400,
    ReadOnlyError: 403,
    ModuleNotFoundError: 501,  # a library of an extra: the message says how to install it
    ConflictError: 409,
    LockedError: 503,
    InconsistencyError: 409,
    TimeLimitError: 504,
    BudgetError: 503,
    CancelledError: 503,
}


class RefusedRequest(Exception):  # noqa: N818 - an answer, not an error of the server
    """A request is answered with this status and message.

    details   more for a program, such as `line`, `column` and `hint`
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: dict[str, str] | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.details = details or {}


def refused_by(error: BaseException) -> RefusedRequest:
    """The status and message for an error.

    >>> refused_by(ParseError("expected '.'", line=3, column=7)).details
    {'line': 3, 'column': 7}
    """
    if isinstance(error, RefusedRequest):
        return error
    for kind, status in _STATUS.items():
        if isinstance(error, kind):
            headers = {"Retry-After": "5"} if kind is LockedError else None
            return RefusedRequest(status, str(error), headers, _place(error))
    logger.error("a request failed", exc_info=error)
    return RefusedRequest(500, "internal error; see the log of the server")


def _place(error: BaseException) -> dict[str, Any]:
    if not isinstance(error, ParseError) or error.lineno is None:
        return {}
    place = {"line": error.lineno, "column": error.offset}
    return {name: number for name, number in place.items() if number is not None}


def refusal(refused: RefusedRequest, scope: Scope) -> Response:
    """The response to a refused request."""
    if "/api/" in scope.get("path", ""):
        error = {"message": refused.message, **refused.details}
        return JSONResponse({"error": error}, refused.status, refused.headers)
    return PlainTextResponse(f"{refused.message}\n", refused.status, refused.headers)


async def on_refused(request: Request, error: Exception) -> Response:
    """The response for a `RefusedRequest` that was raised before a job began."""
    assert isinstance(error, RefusedRequest)
    return refusal(error, request.scope)


async def on_http_error(request: Request, error: Exception) -> Response:
    """The response for a path or method that the server does not have."""
    assert isinstance(error, HTTPException)
    refused = RefusedRequest(error.status_code, error.detail, dict(error.headers or {}))
    return refusal(refused, request.scope)
