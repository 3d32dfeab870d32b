"""Recognises ontology syntaxes that are not RDF, for error messages that name them.

Start at `other_syntax`, which reads the beginning of a text; `advice` says what to do.
"""

from __future__ import annotations

import re
from pathlib import PurePath

_EXTENSIONS = {
    ".ofn": "OWL functional syntax",
    ".fss": "OWL functional syntax",
    ".omn": "Manchester syntax",
    ".owx": "OWL/XML",
    ".obo": "OBO format",
}
_FRAMES = (
    "Prefix|Namespace|Ontology|Class|ObjectProperty|DataProperty|AnnotationProperty|Individual"
)
_TAGS = (
    "format-version|data-version|ontology|date|saved-by|auto-generated-by|default-namespace|import"
    "|subsetdef|synonymtypedef|idspace|remark|namespace-id-rule|treat-xrefs-as-[a-z-]+"
)
_BEGINNINGS = {
    "OWL functional syntax": r"(?:Prefix|Ontology)\s*\(",
    "Manchester syntax": rf"(?:{_FRAMES}):\s",
    "OBO format": rf"(?:{_TAGS}):\s|\[(?:Term|Typedef|Instance)\]",
    "OWL/XML": r"<(?:owl:)?Ontology\s[^>]*(?:ontologyIRI=|>\s*<(?:Prefix|Import|Declaration)\b)",
}
_PATTERNS = {name: re.compile(text.encode()) for name, text in _BEGINNINGS.items()}
_PASSED_OVER = re.compile(
    rb"\s+|[#!][^\n]*\n|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.DOTALL
)
"""White space, comments of all of these syntaxes, and what stands before the root of XML."""

LOOKED_AT = 1 << 14
"""Number of bytes at the beginning of a text that are examined."""


def other_syntax(text: bytes) -> str | None:
    """The syntax in which a text begins, if it is one of ontologies that is not RDF.

    >>> other_syntax(b"Prefix(:=<http://e/>) Ontology(<http://e/o>)")
    'OWL functional syntax'
    >>> other_syntax(b"PREFIX : <http://e/> :a :b :c .") is None
    True
    """
    start = text[:LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    at = 0
    while found := _PASSED_OVER.match(start, at):
        at = found.end()
    return next((name for name, one in _PATTERNS.items() if one.match(start, at)), None)


def syntax_of_name(file: str | PurePath) -> str | None:
    """The same, from the name of a file.

    >>> syntax_of_name("go.obo")
    'OBO format'
    """
    suffixes = [one.lower() for one in PurePath(file).suffixes]
    return next((_EXTENSIONS[one] for one in suffixes[-2:] if one in _EXTENSIONS), None)


def advice(syntax: str, file: str) -> str:
    """What to do with a file in such a syntax, in one line.

    >>> advice("OBO format", "go.obo")
    'this is OBO format, not RDF; convert it first, for example with ROBOT: robot convert --input \
go.obo --output go.ttl'
    """
    target = str(PurePath(file).with_suffix(".ttl")) if PurePath(file).suffix else f"{file}.ttl"
    target = target if target != file else f"{file.removesuffix('.ttl')}-rdf.ttl"
    how = f"robot convert --input {file} --output {target}"
    return f"this is {syntax}, not RDF; convert it first, for example with ROBOT: {how}"
