"""Term keys: the bytes that stand for a term, and the way from and to pyoxigraph's terms.

A key is one byte of kind, then the text; two terms are the same RDF term exactly if their keys
are the same bytes, and the order of keys (kind, then bytes) is the order in which bulk loads
number terms.

    kind        text
    IRI     1   the IRI in UTF-8
    BLANK   2   the label, without `_:`
    STRING  3   the lexical form of a plain (xsd:string) literal
    LANG    4   the lexical form, `"@`, the language tag in lower case (then `--ltr` or `--rtl`)
    TYPED   5   the lexical form, `"^^<`, the datatype's IRI, `>`
    TRIPLE  6   `<<( s p o )>>` in canonical N-Triples

So a literal without escapes is one slice of an N-Triples line, and is split at its last `"`.
Start at `key_of`, `term_of` and `to_ntriples`. Terms of rdflib are accepted wherever terms are;
they are recognised by the name of their module: rdflib itself is never imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeAlias, TypeVar, cast

import pyoxigraph as ox

from triplestore.errors import UsageError, WrongTypeError
from triplestore.terms.guards.document_limits import check_depth
from triplestore.terms.thresholds import TERMS
from triplestore.terms.vocabulary import XSD_STRING

Term: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
"""A term of pyoxigraph. Where terms are taken, they may also be of rdflib."""

IRI = 1
BLANK = 2
STRING = 3
LANG = 4
TYPED = 5
TRIPLE = 6

KIND_NAMES = {
    IRI: "IRI",
    BLANK: "blank node",
    STRING: "string",
    LANG: "language-tagged string",
    TYPED: "typed literal",
    TRIPLE: "triple term",
}


_Text = TypeVar("_Text", str, bytes)
_Result = TypeVar("_Result")


def cache_of_short(
    maxsize: int,
) -> Callable[[Callable[[_Text], _Result]], Callable[[_Text], _Result]]:
    """Keep the results of a function of one text, unless the text is long.

    A cache bounded only by its number of entries holds any amount of memory if a caller chooses
    long arguments. This one holds at most `maxsize` times some hundred bytes.

    >>> @cache_of_short(8)
    ... def doubled(text):
    ...     return [text, text]
    >>> doubled("a") is doubled("a"), doubled("a" * 1000) is doubled("a" * 1000)
    (True, False)
    """

    def of(function: Callable[[_Text], _Result]) -> Callable[[_Text], _Result]:
        kept = lru_cache(maxsize)(function)

        @wraps(function)
        def called(text: _Text) -> _Result:
            return kept(text) if len(text) <= TERMS.cached_text else function(text)

        return called

    return of


def key_of(term: Any) -> bytes:
    """The key of a term of pyoxigraph or rdflib.

    >>> key_of(ox.Literal("chat", language="fr"))
    b'\\x04chat"@fr'
    """
    make = _KEYS.get(type(term))
    return make(term) if make is not None else _key_of_other(term)


def term_of(key: bytes) -> Term:
    """The pyoxigraph term of a key.

    >>> term_of(b'\\x05042"^^<http://www.w3.org/2001/XMLSchema#integer>').value
    '042'
    """
    kind = key[0]
    text = key[1:].decode()
    if kind == IRI:
        return _named_node(text)
    if kind == BLANK:
        return ox.BlankNode(text)
    if kind == STRING:
        return ox.Literal(text)
    try:
        if kind == LANG:
            lexical, _, tag = text.rpartition('"@')
            return _tagged(lexical, tag)
        if kind == TYPED:
            lexical, _, datatype = text.rpartition('"^^<')
            return ox.Literal(lexical, datatype=_datatype(datatype[:-1]))
    except ValueError:
        return _parsed(to_ntriples(key))
    if kind == TRIPLE:
        return _parsed(key[1:])
    raise AssertionError(f"unknown kind of term: {kind}")


def to_ntriples(key: bytes) -> bytes:
    """The term of a key as canonical N-Triples.

    >>> to_ntriples(b'\\x03say "hi"')
    b'"say \\\\"hi\\\\""'
    """
    kind = key[0]
    text = key[1:]
    if kind == IRI:
        return b"<" + _escape_iri(text) + b">"
    if kind == BLANK:
        return b"_:" + text
    if kind == STRING:
        return b'"' + _escape_string(text) + b'"'
    if kind == LANG:
        lexical, _, tag = text.rpartition(b'"@')
        return b'"' + _escape_string(lexical) + b'"@' + tag
    if kind == TYPED:
        lexical, _, datatype = text.rpartition(b'"^^<')
        return b'"' + _escape_string(lexical) + b'"^^<' + _escape_iri(datatype[:-1]) + b">"
    if kind == TRIPLE:
        return text
    raise AssertionError(f"unknown kind of term: {kind}")


# --- keys of pyoxigraph terms -------------------------------------------------------------------


def _key_of_named_node(term: ox.NamedNode) -> bytes:
    return b"\x01" + term.value.encode()


def _key_of_blank_node(term: ox.BlankNode) -> bytes:
    return b"\x02" + term.value.encode()


def _key_of_literal(term: ox.Literal) -> bytes:
    lexical = term.value.encode()
    language = term.language
    if language is not None:
        direction = term.direction
        tag = language.lower() if direction is None else f"{language.lower()}--{direction.value}"
        return b"\x04" + lexical + b'"@' + tag.encode()
    datatype = term.datatype.value
    if datatype == XSD_STRING:
        return b"\x03" + lexical
    if '"' in datatype:
        raise UsageError(f"the IRI of a datatype cannot contain a quotation mark: <{datatype}>")
    return b"\x05" + lexical + b'"^^<' + datatype.encode() + b">"


def _key_of_triple(term: ox.Triple) -> bytes:
    if isinstance(term.object, ox.Triple):
        check_depth(term)
    parts = (term.subject, term.predicate, term.object)
    return b"\x06<<( " + b" ".join(to_ntriples(key_of(part)) for part in parts) + b" )>>"


_KEYS: dict[type, Any] = {
    ox.NamedNode: _key_of_named_node,
    ox.BlankNode: _key_of_blank_node,
    ox.Literal: _key_of_literal,
    ox.Triple: _key_of_triple,
}


# --- keys of anything else ----------------------------------------------------------------------


def _key_of_other(term: Any) -> bytes:
    for kind in type(term).__mro__:
        if kind in _KEYS:
            return bytes(_KEYS[kind](term))
        if kind.__module__ == "rdflib.term" and kind.__name__ in _RDFLIB:
            return key_of(from_rdflib(term, kind.__name__))
    raise WrongTypeError(
        f"{term!r} is not an RDF term: give a NamedNode, BlankNode, Literal or Triple of "
        "pyoxigraph, or a URIRef, BNode or Literal of rdflib"
    )


_RDFLIB = frozenset({"URIRef", "BNode", "Literal"})


def from_rdflib(term: Any, kind: str) -> Term:
    """The pyoxigraph term for an rdflib term of this class (`URIRef`, `BNode` or `Literal`)."""
    try:
        text = str(term)
        text.encode()  # a lone surrogate is an error here, with a message that names the term
        if kind == "URIRef":
            return ox.NamedNode(text)
        if kind == "BNode":
            return ox.BlankNode(text)
        if term.language is not None:
            return ox.Literal(text, language=term.language)
        if term.datatype is None:
            return ox.Literal(text)
        return ox.Literal(text, datatype=ox.NamedNode(str(term.datatype)))
    except ValueError as error:
        raise UsageError(f"{term!r} of rdflib is not a valid RDF term: {error}") from error


# --- terms of keys ------------------------------------------------------------------------------


def _named_node(iri: str) -> Term:
    try:
        return ox.NamedNode(iri)
    except ValueError:  # a lenient parser accepted it: return it the same way
        return _parsed(b"<" + _escape_iri(iri.encode()) + b">")


@cache_of_short(1024)
def _datatype(iri: str) -> ox.NamedNode:
    return ox.NamedNode(iri)


def _tagged(lexical: str, tag: str) -> ox.Literal:
    language, _, direction = tag.partition("--")
    if not direction:
        return ox.Literal(lexical, language=language)
    return ox.Literal(lexical, language=language, direction=_DIRECTIONS[direction])


_DIRECTIONS = {
    direction.value: direction for direction in (ox.BaseDirection.LTR, ox.BaseDirection.RTL)
}


def _parsed(text: bytes) -> Term:
    """The term that this N-Triples text stands for, by pyoxigraph's parser."""
    line = b"<x:> <x:> " + text + b" ."
    (quad,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES, lenient=True)
    return cast(Term, quad.object)


# --- escapes ------------------------------------------------------------------------------------

# Canonical N-Triples escapes controls, the two delimiters, and U+FFFE and U+FFFF.
_IN_STRING = re.compile(rb'[\x00-\x1f"\\\x7f]|\xef\xbf[\xbe\xbf]')
_NOT_IN_IRI = re.compile(rb'[\x00-\x20<>"{}|^`\\]')
_SHORT = {
    b"\b": rb"\b",
    b"\t": rb"\t",
    b"\n": rb"\n",
    b"\f": rb"\f",
    b"\r": rb"\r",
    b'"': rb"\"",
    b"\\": rb"\\",
}


def _escape_string(text: bytes) -> bytes:
    return _IN_STRING.sub(_escaped, text)


def _escape_iri(text: bytes) -> bytes:
    return _NOT_IN_IRI.sub(_numbered, text)


def _escaped(match: re.Match[bytes]) -> bytes:
    return _SHORT.get(match.group()) or _numbered(match)


def _numbered(match: re.Match[bytes]) -> bytes:
    return b"\\u%04X" % ord(match.group().decode())
