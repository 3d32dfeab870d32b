"""Documents in, columns of ids out; and back. Start at `load` (local.py) and writers.py."""

from .formats import EXTENSIONS, format_of, known_names
from .local import load
from .progress import Progress
from .report import FileReport, Loaded, Problem
from .sources import Source, find_sources

__all__ = [
    "EXTENSIONS",
    "FileReport",
    "Loaded",
    "Problem",
    "Progress",
    "Source",
    "find_sources",
    "format_of",
    "known_names",
    "load",
]
