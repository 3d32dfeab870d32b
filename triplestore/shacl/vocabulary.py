"""The vocabulary of SHACL as keys of terms: start at `sh`.

Always true: a key is what the dictionary knows an IRI by (see `terms.term_keys`).
"""

from __future__ import annotations

from typing import TypeAlias

from triplestore.terms.vocabulary import (
    OWL_CLASS,
    OWL_IMPORTS,
    RDF_FIRST,
    RDF_NIL,
    RDF_REST,
    RDF_TYPE,
    RDFS_CLASS,
    RDFS_SUB_CLASS_OF,
    XSD_BOOLEAN,
)

SH = "http://www.w3.org/ns/shacl#"

Key: TypeAlias = bytes
"""The key of a term."""


def iri(text: str) -> Key:
    """The key of an IRI.

    >>> iri("http://example.org/a")
    b'\\x01http://example.org/a'
    """
    return b"\x01" + text.encode()


def sh(name: str) -> Key:
    """The key of a term of SHACL.

    >>> sh("path")
    b'\\x01http://www.w3.org/ns/shacl#path'
    """
    return iri(SH + name)


def local_name(key: Key) -> str:
    """The part of an IRI after its last `#` or `/`.

    >>> local_name(sh("path"))
    'path'
    """
    text = key[1:].decode()
    return text[max(text.rfind("#"), text.rfind("/")) + 1 :] or text


def lexical(key: Key) -> str:
    """The text of an IRI, or the lexical form of a literal.

    >>> lexical(b'\\x04chat"@fr'), lexical(b"\\x03chat")
    ('chat', 'chat')
    """
    text = key[1:].decode()
    return text.rpartition('"')[0] if key[0] in (4, 5) else text


TYPE = iri(RDF_TYPE)
FIRST, REST, NIL = iri(RDF_FIRST), iri(RDF_REST), iri(RDF_NIL)
SUB_CLASS_OF = iri(RDFS_SUB_CLASS_OF)
CLASSES = (iri(RDFS_CLASS), iri(OWL_CLASS))
IMPORTS = iri(OWL_IMPORTS)
TRUE = b'\x05true"^^<' + XSD_BOOLEAN.encode() + b">"
TRUTHS = (TRUE, b'\x051"^^<' + XSD_BOOLEAN.encode() + b">")

VIOLATION, WARNING, INFO = sh("Violation"), sh("Warning"), sh("Info")
SEVERITIES = (INFO, WARNING, VIOLATION)
"""The severities of the standard; the gravest is last."""

OF_RESULTS = frozenset(
    sh(name)
    for name in (
        "conforms",
        "result",
        "focusNode",
        "resultPath",
        "value",
        "sourceShape",
        "sourceConstraint",
        "sourceConstraintComponent",
        "resultSeverity",
        "resultMessage",
        "detail",
        "shapesGraphWellFormed",
    )
)
"""Predicates of reports, which say nothing of shapes."""
