"""What a request of the page asks for: start at `Parameters` and `read_json`.

Always true: every fault raises a `RefusedRequest` that names the parameter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from triplestore.server.protocol import read_body
from triplestore.server.refusals import RefusedRequest

MAX_ROWS = 50_000
"""Maximum number of rows of one answer."""


class Parameters:
    """Named values of a request: of its address, or of a JSON object.

    >>> given = Parameters({"limit": "20", "marked": True})
    >>> given.whole("limit", 10), given.flag("marked"), given.text("kind", "any")
    (20, True, 'any')
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def of(cls, request: Request) -> Parameters:
        """Those of the address."""
        return cls(request.query_params)

    def text(self, name: str, default: str | None = None, *, choices: tuple[str, ...] = ()) -> str:
        """A text; without a default it must be given."""
        value = self._values.get(name)
        if value is None or (value == "" and default is not None):
            if default is None:
                raise RefusedRequest(400, f"the parameter {name} is missing")
            return default
        if not isinstance(value, str):
            raise RefusedRequest(400, f"{name} must be a text")
        if choices and value not in choices:
            raise RefusedRequest(400, f"{name} must be one of: {', '.join(choices)}")
        return value

    def optional(self, name: str) -> str | None:
        """A text, or None."""
        return self.text(name) if self._values.get(name) not in (None, "") else None

    def whole(self, name: str, default: int, least: int = 0, most: int = MAX_ROWS) -> int:
        """A whole number; greater ones than `most` become `most`."""
        number = self.number(name, default)
        if number is None or number != int(number) or number < least:
            raise RefusedRequest(400, f"{name} must be a whole number of at least {least}")
        return min(int(number), most)

    def number(self, name: str, default: float | None = None) -> float | None:
        """A number, or the default."""
        value = self._values.get(name)
        if value is None or value == "":
            return default
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise RefusedRequest(400, f"{name} must be a number") from None
        if number != number or number in (float("inf"), -float("inf")):
            raise RefusedRequest(400, f"{name} must be a finite number")
        return number

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self._values.get(name, default)
        if isinstance(value, bool):
            return value
        if value in ("true", "1", ""):
            return True
        if value in ("false", "0", None):
            return False
        raise RefusedRequest(400, f"{name} must be true or false")

    def get(self, name: str) -> Any:
        """The value as it was given; None without one."""
        return self._values.get(name)


async def read_json(request: Request, longest: int) -> Parameters:
    """The JSON object that a request has as its body.

    Forms of other sites cannot send this media type without being asked for permission.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusedRequest(415, f"send a JSON object as application/json, not {media_type!r}")
    body = await read_body(request, longest)
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, f"the body is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise RefusedRequest(400, "the body must be a JSON object")
    return Parameters(values)
