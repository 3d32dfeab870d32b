"""Names of formats of results. Start at `results_format`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias

import pyoxigraph as ox

from triplestore.errors import UsageError

FormatLike: TypeAlias = ox.QueryResultsFormat | str
"""A format of pyoxigraph, or its name, file ending or media type."""

Output: TypeAlias = str | PathLike[str] | IO[bytes]
"""A path, or a binary file object open for writing."""


def results_format(given: FormatLike | None, output: Output | None = None) -> ox.QueryResultsFormat:
    """The format with this name, by default the one of a path's ending.

    >>> results_format("json"), results_format(None, "a/b.csv")
    (<QueryResultsFormat SPARQL Results in JSON>, <QueryResultsFormat SPARQL Results in CSV>)
    """
    if isinstance(given, ox.QueryResultsFormat):
        return given
    name = given
    if name is None and isinstance(output, str | PathLike):
        name = Path(output).suffix
    text = (name or "").lower().removeprefix(".")
    found = _NAMES.get(text) or ox.QueryResultsFormat.from_media_type(text)
    if found is None:
        said = "no format given" if given is None else f"{given!r} is not a format of results"
        raise UsageError(f"{said}; use {', '.join(_LISTED)}, a file ending or a media type")
    return found


_LISTED = ("json", "xml", "csv", "tsv")
_NAMES = {
    **{name: ox.QueryResultsFormat.from_extension(name) for name in _LISTED},
    "srj": ox.QueryResultsFormat.JSON,
    "srx": ox.QueryResultsFormat.XML,
}
