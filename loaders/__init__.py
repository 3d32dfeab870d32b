"""Documents in, columns of ids out; and back. Start at `load` (local.py) and writers.py."""

from triplestore.terms.guards.document_limits import Limits, limits_of

from .convert import convert
from .formats import EXTENSIONS, format_of, known_names
from .local import load
from .progress import Progress
from .report import FileReport, Loaded, Problem
from .sources import Source, find_sources
from .writers import dump

__all__ = [
    "EXTENSIONS",
    "FileReport",
    "Limits",
    "Loaded",
    "Problem",
    "Progress",
    "Source",
    "convert",
    "dump",
    "find_sources",
    "format_of",
    "known_names",
    "limits_of",
    "load",
]
