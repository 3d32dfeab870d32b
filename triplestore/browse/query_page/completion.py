"""Completion placeholder."""

from typing import Any


def complete(store: Any, text: str, offset: int, **options: Any) -> dict[str, Any]:
    """Nothing yet."""
    return {"from": offset, "to": offset, "items": []}
