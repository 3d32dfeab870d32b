"""Small texts of a job, on a path that all nodes share or at any URI of Spark.

On a path a text is a file, written under another name and renamed. Elsewhere it is a folder with
one part, as Spark writes texts, because Spark's writer reaches every place of its tables.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_uri(place: str) -> bool:
    """Whether a place has a scheme.

    >>> is_uri("s3a://bucket/a"), is_uri("file:///a"), is_uri("/a"), is_uri("a.db")
    (True, True, False, False)
    """
    return _SCHEME.match(place) is not None


def is_local(place: str) -> bool:
    """Whether a place is a path."""
    return not is_uri(place) or place.startswith("file://")


def join(place: str, name: str) -> str:
    """A name in a place."""
    return f"{place.rstrip('/')}/{name}"


def read_text(spark: Any, place: str) -> str | None:
    """The text at a place; None without one."""
    if is_local(place):
        path = Path(place.removeprefix("file://"))
        return path.read_text() if path.is_file() else None
    try:
        rows = spark.read.text(place, wholetext=True).collect()
    except Exception as error:  # the exceptions differ with and without Connect
        if "PATH_NOT_FOUND" in str(error) or "does not exist" in str(error):
            return None
        raise
    return str(rows[0][0]).rstrip("\n") if rows else None


def write_text(spark: Any, place: str, text: str) -> None:
    """Write a text, in one step if the place allows it."""
    if not is_local(place):
        frame = spark.createDataFrame([(text,)], "value string").coalesce(1)
        frame.write.mode("overwrite").text(place)
        return
    path = Path(place.removeprefix("file://"))
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(path)
