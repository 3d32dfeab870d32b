"""Splits the texts of queries into a shape, which they share with others, and constants.

Start at `TextShapes.read`. Programs often repeat a query with other constants; the plan of one can
answer another (see `slots`). A text is split at its IRIs, names, strings and numbers by one regular
expression: 8 to 25 us, less than its tokens alone.

Always true: two texts of one shape have the same tokens except for constants of the same
kind, and the same constants are equal to each other in both; so they have the same algebra except
for constants. Texts for which this may fail (with escapes, BASE, relative IRIs, unknown prefixes,
and updates) have no shape. Whether the split agrees with the tokens is checked once for each shape
(`is_cut_between_tokens`). For later texts it follows: constants begin where no token can extend
into them, and end where the same expression ends them in `expressions.text.tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from functools import cache
from typing import NamedTuple

import pyoxigraph as ox

from triplestore.expressions.text.term_parser import valid_iri
from triplestore.expressions.text.tokens import (
    AT,
    DECIMAL,
    DOUBLE,
    INTEGER,
    IRI,
    OPERATOR,
    PREFIXED,
    STRING,
    Tokens,
    name_pattern,
)
from triplestore.terms.term_keys import key_of
from triplestore.terms.vocabulary import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

_MOST_NAMES = 4096

_IRI = r'<[^\x00-\x20<>"{}|^`]*>'
_BEFORE = r"(?<=[\s({\[,;=!/|^*&)}\]])"  # characters that end any token before a name or a number


@cache
def _cut(is_ascii: bool) -> re.Pattern[str]:
    """The expression that splits texts, for ASCII or for all (see `expressions.text.tokens`)."""
    name = name_pattern(is_ascii)
    return re.compile(
        rf"""
          \#[^\n\r]*
        | ( {_IRI}
          | (?: "(?:[^"\n\r]++)*+" (?!") | '(?:[^'\n\r]++)*+' (?!') )
            (?: @[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--[a-z]+)? | \^\^ (?: {_IRI} | {name} ) )?
          | {_BEFORE} (?: {name}
              | (?: [0-9]+\.?[0-9]* | \.[0-9]+ ) [eE][+-]?[0-9]+ | [0-9]*\.[0-9]+ | [0-9]+ )
          )
        """,
        re.VERBOSE,
    )


_GAP = r"(?:\s++|\#[^\n\r]*+)*+"
_DECLARED = rf"[Pp][Rr][Ee][Ff][Ii][Xx]\s+([A-Za-z][A-Za-z0-9_-]*)?:\s*+({_IRI}){_GAP}"
_PROLOGUE = re.compile(rf"{_GAP}(?:{_DECLARED})*+")
_DECLARATION = re.compile(_DECLARED)
_FORM = re.compile(r"(?:select|ask|construct)\b", re.IGNORECASE)
_CONSTANTS = frozenset({IRI, PREFIXED, STRING, INTEGER, DECIMAL, DOUBLE})


class TextShape(NamedTuple):
    """A text split into its shape and its constants.

    key        what texts of one shape have in common
    constants  the distinct constants, as term keys
    pieces     the text between constants
    tokens     the constants as they are written
    numbers    for each token, the place of its constant in `constants`
    prologue   the text before SELECT, ASK or CONSTRUCT
    """

    key: Hashable
    constants: tuple[bytes, ...]
    pieces: tuple[str | None, ...]
    tokens: tuple[str | None, ...]
    numbers: tuple[int, ...]
    prologue: str


class CutText(NamedTuple):
    """A text cut at its constants, which are not looked at yet.

    key       what all texts of one shape have in common; others may have it too
    pieces    the text between constants
    tokens    the constants as they are written; None for a comment
    prologue  the text before SELECT, ASK or CONSTRUCT
    """

    key: Hashable
    pieces: tuple[str | None, ...]
    tokens: tuple[str | None, ...]
    prologue: str


class TextShapes:
    """Splits texts, and caches the meaning of prefixes and names by prologue.

    >>> shapes = TextShapes()
    >>> one = shapes.read("ASK { ?x <http://e/p> 5 }", {}, None)
    >>> other = shapes.read("ASK { ?x <http://e/q> 7 }", {}, None)
    >>> one.key == other.key, other.constants[0]
    (True, b'\\x01http://e/q')
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[Mapping[str, str], dict[str, bytes]] | None] = {}

    def read(self, text: str, prefixes: Mapping[str, str], base: str | None) -> TextShape | None:
        """The shape of a text; None if it has none."""
        cut = self.cut(text, prefixes, base)
        return None if cut is None else self.shape(cut, prefixes)

    def cut(self, text: str, prefixes: Mapping[str, str], base: str | None) -> CutText | None:
        """The text cut at its constants; None if it has no shape."""
        if "\\" in text:
            return None
        match = _PROLOGUE.match(text)
        assert match is not None
        end = match.end()
        if _FORM.match(text, end) is None:
            return None
        prologue = text[:end]
        found = _cut(text.isascii()).split(text[end:])
        pieces, tokens = tuple(found[::2]), tuple(found[1::2])
        return CutText((prologue, base, tuple(prefixes.items()), pieces), pieces, tokens, prologue)

    def shape(self, cut: CutText, prefixes: Mapping[str, str]) -> TextShape | None:
        """The shape of a cut text; None if it has none."""
        known = self._names(cut.prologue, prefixes)
        if known is None:
            return None
        tokens = cut.tokens
        numbers: list[int] = []
        places: dict[bytes, int] = {}
        namespaces, names = known
        for token in tokens:
            if token is None:  # a comment
                continue
            key = names.get(token)
            if key is None:
                key = key_of_token(token, namespaces)
                if key is None:
                    return None
                if len(names) > _MOST_NAMES:
                    names.clear()
                names[token] = key
            numbers.append(places.setdefault(key, len(places)))
        constants = tuple(places)
        sorts = "".join([" " if token is None else _sort_of(token) for token in tokens])
        kinds = bytes([key[0] for key in constants])
        same = tuple(numbers)
        shared = (cut.key, sorts, kinds, same)
        return TextShape(shared, constants, cut.pieces, tokens, same, cut.prologue)

    def _names(
        self, prologue: str, prefixes: Mapping[str, str]
    ) -> tuple[Mapping[str, str], dict[str, bytes]] | None:
        """The namespaces by prefix, and a cache of names; None if an IRI is relative to a base."""
        key = (prologue, tuple(prefixes.items()))
        found = self._known.get(key)
        if found is None and key not in self._known:
            if len(self._known) > 256:  # other threads may do the same at any time
                self._known.clear()
            declared = _namespaces(prologue)
            found = None if declared is None else ({**prefixes, **declared}, {})
            self._known[key] = found
        return found


def _namespaces(prologue: str) -> dict[str, str] | None:
    found = {}
    for prefix, iri in _DECLARATION.findall(prologue):
        try:
            found[prefix] = valid_iri(iri[1:-1])
        except ValueError:
            return None  # relative to a base
    return found


def _sort_of(token: str) -> str:
    """The kind of a constant in the grammar."""
    first = token[0]
    if first in "\"'":
        return "s" if token[-1] == first else "t"
    if first == "<":
        return "i"
    return _NUMBERS[datatype_of(token)] if first in ".0123456789" else "p"


def datatype_of(number: str) -> str:
    """The datatype of a number as it is written."""
    if "e" in number or "E" in number:
        return XSD_DOUBLE
    return XSD_DECIMAL if "." in number else XSD_INTEGER


_NUMBERS = {XSD_INTEGER: "n", XSD_DECIMAL: "d", XSD_DOUBLE: "f"}


def key_of_token(token: str, namespaces: Mapping[str, str]) -> bytes | None:
    """The term key of a constant; None if only the parser can tell.

    >>> key_of_token("e:a", {"e": "http://e/"}), key_of_token('"a"@en', {})
    (b'\\x01http://e/a', b'\\x04a"@en')
    """
    first = token[0]
    if first == "<":
        return _key_of_iri(token)
    if first in "\"'":
        return _key_of_string(token, namespaces)
    if first in ".0123456789":
        return b"\x05" + token.encode() + b'"^^<' + datatype_of(token).encode() + b">"
    prefix, _, local = token.partition(":")
    namespace = namespaces.get(prefix)
    return None if namespace is None else b"\x01" + (namespace + local).encode()


def _key_of_iri(token: str) -> bytes | None:
    try:
        return b"\x01" + valid_iri(token[1:-1]).encode()
    except ValueError:
        return None


def _key_of_string(token: str, namespaces: Mapping[str, str]) -> bytes | None:
    stop = token.rindex(token[0])
    lexical, rest = token[1:stop], token[stop + 1 :]
    try:
        if not rest:
            return b"\x03" + lexical.encode()
        if rest[0] == "@":
            return None if "--" in rest else key_of(ox.Literal(lexical, language=rest[1:]))
        datatype = key_of_token(rest[2:], namespaces)
        if datatype is None:
            return None
        return key_of(ox.Literal(lexical, datatype=ox.NamedNode(datatype[1:].decode())))
    except ValueError:
        return None


def is_cut_between_tokens(shape: TextShape) -> bool:
    """True if each constant of a text is exactly one token of it."""
    if any("#" in piece or '"' in piece or "'" in piece for piece in shape.pieces if piece):
        return False
    text, spans = "", {}
    for piece, token in zip(shape.pieces, (*shape.tokens, ""), strict=True):
        text += piece or ""
        if token is None:
            text += "\n"
        elif token:
            spans[len(text)] = len(text) + len(token)
            text += token
    made = Tokens(text)
    ends = {made.start(at): at for at in range(len(made.kinds))}
    return all(_is_one(made, ends.get(start), end) for start, end in spans.items())


def _is_one(tokens: Tokens, at: int | None, end: int) -> bool:
    """True if a constant begins at a token and ends with the token, its tag or datatype."""
    if at is None or tokens.kinds[at] not in _CONSTANTS:
        return False
    if tokens.kinds[at] == STRING and tokens.kinds[at + 1] == AT:
        at += 1
    elif tokens.kinds[at] == STRING and tokens.texts[at + 1] == "^^":
        at += 2 if tokens.kinds[at + 1] == OPERATOR else 0
    marks = 1 if tokens.kinds[at] == IRI else 0
    return tokens.starts[at] + len(tokens.texts[at]) + marks == end
