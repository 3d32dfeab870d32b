"""Read documents into columns of ids, and write them. Start at `load` (local.py) and writers.py."""

from triplestore.terms.guards.document_limits import Limits, limits_of

from .convert import convert
from .formats import EXTENSIONS, format_of, known_names
from .local import load
from .progress import Progress
from .report import BadStatement, FileReport, Loaded
from .sources import DocumentSource, find_sources
from .writers import dump

__all__ = [
    "EXTENSIONS",
    "BadStatement",
    "DocumentSource",
    "FileReport",
    "Limits",
    "Loaded",
    "Progress",
    "convert",
    "dump",
    "find_sources",
    "format_of",
    "known_names",
    "limits_of",
    "load",
]
