"""Which format of results is meant: start at `results_format`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias

import pyoxigraph as ox

from triplestore.errors import UsageError

FormatLike: TypeAlias = ox.QueryResultsFormat | str
"""A format of pyoxigraph, or its name, file ending or media type."""

Output: TypeAlias = str | PathLike[str] | IO[bytes]
"""A path, or something binary that can be written to."""


def results_format(given: FormatLike | None, output: Output | None = None) -> ox.QueryResultsFormat:
    """The format that is named, else the one of a path's ending.

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
        said = "no format is given" if given is None else f"{given!r} is no format of results"
        raise UsageError(f"{said}; there are {', '.join(_LISTED)}, as names, endings, media types")
    return found


_LISTED = ("json", "xml", "csv", "tsv")
_NAMES = {
    **{name: ox.QueryResultsFormat.from_extension(name) for name in _LISTED},
    "srj": ox.QueryResultsFormat.JSON,
    "srx": ox.QueryResultsFormat.XML,
}
