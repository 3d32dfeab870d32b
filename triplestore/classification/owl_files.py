"""Ontology files in OWL's own syntaxes, read through py-horned-owl (the extra `owl`).

Start at `load_ontology`. Files of RDF are loaded as everywhere; functional syntax, OWL/XML,
Manchester syntax and OBO are translated to RDF/XML first.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplestore.errors import ParseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

SYNTAXES = {
    ".ofn": "ofn",
    ".fss": "ofn",
    ".owx": "owx",
    ".omn": "omn",
    ".obo": "obo",
}
"""Ends of names -> the name of the syntax in py-horned-owl."""

_STARTS = ((b"Prefix(", "ofn"), (b"Ontology(", "ofn"), (b"format-version:", "obo"))
_HEAD = 4096


def syntax_of(path: Path) -> str | None:
    """The syntax of a file if it is one of OWL's own, by its name or its first lines.

    >>> syntax_of(Path("family.ofn")), syntax_of(Path("family.obo.gz"))
    ('ofn', 'obo')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    if suffixes and suffixes[-1] in SYNTAXES:
        return SYNTAXES[suffixes[-1]]
    if not suffixes or suffixes[-1] not in (".owl", ".xml") or not path.is_file():
        return None
    head = _opened(path, _HEAD).lstrip()
    if head.startswith(b"<") and b"<rdf:RDF" not in head and b"<Ontology" in head:
        return "owx"
    return next((name for start, name in _STARTS if head.startswith(start)), None)


def load_ontology(load: Callable[..., Any], path: Path) -> None:
    """Load an ontology file in any syntax.

    load  `Store.load`, or that of a transaction
    """
    syntax = syntax_of(path)
    if syntax is None:
        load(path=str(path))
        return
    load(_as_rdf(path, syntax), "rdf", base_iri=f"file://{path.absolute()}")


def _opened(path: Path, size: int = -1) -> bytes:
    if path.suffix == ".gz":
        with gzip.open(path) as file:
            return file.read(size)
    with path.open("rb") as file:
        return file.read(size)


def _as_rdf(path: Path, syntax: str) -> str:
    try:
        # Late: an optional library.
        import pyhornedowl
    except ImportError:
        raise UsageError(
            f"{path} is in a syntax of OWL ({syntax}), which needs the extra owl: "
            "pip install entailstore[owl]"
        ) from None
    text = _opened(path).decode()
    open_text: Any = pyhornedowl.open_ontology_from_string
    try:
        read = open_text(text, syntax)
        written: str = read.save_to_string("rdf")
    except BaseException as error:  # panics of the library are not of class Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ParseError(f"{path} cannot be read as {syntax}: {error}") from None
    return written
