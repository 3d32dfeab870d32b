"""Checks of a text before pyoxigraph's parsers read it: depth, and expansion of a few bytes.

Start at `guard_of`. These parsers are fast, but recursive for nested data, and quadratic in a few
places; if one crashes, the process ends. A guard reads the text as it comes, in pieces of any
length, and raises `Refused` before a parser gets text that could crash it. Always true: a guard
counts at least as deep as the parser does. Where the two could read a text differently (a comment
within a tag, a quotation mark without its partner) it refuses the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pyoxigraph as ox

from triplestore.errors import ParseError
from triplestore.terms.guards.document_limits import (
    CONTEXT_TERMS,
    ENTITY_BYTES,
    JSON_DEPTH,
    SMALL_ENTITY,
    TOO_DEEP,
    XML_ATTRIBUTES,
    XML_DEPTH,
    Chain,
    Limits,
)

_AT_ONCE = 1 << 16


class Refused(Exception):  # noqa: N818 - becomes a ParseError with the place
    """The text exceeds a limit; `at` is the position in the piece that was read."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class Guard:
    """Checks the pieces of a document in their order."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tail = b""  # the beginning of what was not complete in the last piece

    @property
    def waiting(self) -> int:
        """Number of bytes that will be read again: pieces should be at least as long."""
        return len(self._tail)

    def look(self, piece: bytes) -> None:
        """Raise `Refused` if the text up to the end of this piece exceeds a limit."""
        text = self._tail + piece
        try:
            done = self._scan(text)
        except Refused as refused:
            refused.at = max(0, refused.at - len(self._tail))
            raise
        self._tail = text[done:]
        if len(self._tail) > self._limits.term + 2:
            raise Refused(self.too_long(len(self._tail)))

    def too_long(self, length: int) -> str:
        """The message for a term or tag without an end."""
        return (
            f"expected the end of a term or tag after at most {self._limits.term:,} bytes "
            f"(max_term_bytes), found {length:,} without it"
        )

    def _scan(self, text: bytes) -> int:
        """Check the text; returns the position from which it must be read again."""
        raise NotImplementedError


class TripleTerms(Guard):
    """Turtle, TriG and N3, N-Triples and N-Quads: these parsers recurse on triple terms only."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._chain = Chain()

    @property
    def waiting(self) -> int:
        """Number of bytes that will be read again."""
        return self._chain.waiting

    def look(self, piece: bytes) -> None:
        """Raise `Refused` where triple terms are nested too deep."""
        at = self._chain.too_deep(piece)
        if at is not None:
            raise Refused(f"expected {TOO_DEEP}", at)
        if self.waiting > self._limits.term:
            raise Refused(self.too_long(self.waiting))


# --- RDF/XML -------------------------------------------------------------------------------------

_QUOTED = rb""""[^"]*+"|'[^']*+'"""
# A text and what ends it: a tag, an end tag, what is skipped, a DOCTYPE.
_MARKUP = re.compile(
    rb"(?s)[^<]*+<(?:"
    rb"([^\s!?/<>\"'][^>\"']*+(?:(?:" + _QUOTED + rb")[^>\"']*+)*+>)"
    rb"|(/[^\s!?/<>\"'=]++\s*+>)"
    rb"|(!--(?!-?>).*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>)"
    rb"|(!DOCTYPE(?:[^<>]|<[^<>]*+>)*+>)"
    rb")"
)
_OPEN, _CLOSE, _SKIPPED, _TYPES = 1, 2, 3, 4
_INCOMPLETE = re.compile(
    rb"(?s)<(?:/?[^\s!?/<>\"'][^>\"']*+(?:(?:" + _QUOTED + rb")[^>\"']*+)*+(?:\"[^\"]*+|'[^']*+)?"
    rb"|/|!(?:-(?:-(?:(?!-?>).*)?)?)?|!\[(?:C(?:D(?:A(?:T(?:A(?:\[.*)?)?)?)?)?)?"
    rb"|!D(?:O(?:C(?:T(?:Y(?:P(?:E(?:[^<>]|<[^<>]*+>)*+(?:<[^<>]*+)?)?)?)?)?)?)?|\?.*)?\Z"
)
_NAME = re.compile(rb"[^ \t\r\n>]*+")
_ENTITY = re.compile(rb'<!ENTITY\s+(?:%\s+)?([^\s"<>&;]+)\s+"([^"]*)"')
_REFERENCE = re.compile(rb"&([^#\s;&<>\"'][^\s;&<>\"']*);")
_LONG_TAG = 1 << 12
_SLASH = 47
_SPECIAL = re.compile(rb"=\s*[\"']")


class Xml(Guard):
    """RDF/XML: depth, attributes of an element, and the size of expanded entities.

    A lenient parser continues after a wrong end tag. The element then stays open for RDF until a
    correct end tag ends another one.
    """

    def __init__(self, limits: Limits, lenient: bool = False) -> None:
        super().__init__(limits)
        self._depth = 0
        self._names: list[bytes] | None = [] if lenient else None  # of elements that XML has open
        self._entities: dict[bytes, int] = {}
        self._large = False  # some entity is not small: count the expanded bytes
        self._grown = 0

    def _scan(self, text: bytes) -> int:
        at = 0
        depth = self._depth
        names = self._names
        while (found := _MARKUP.match(text, at)) is not None:
            end = found.end()
            kind = found.lastindex
            if kind == _OPEN:
                if text[end - 2] != _SLASH:
                    depth += 1
                    if depth > XML_DEPTH:
                        raise Refused(_deep("elements", XML_DEPTH), at)
                    if names is not None:
                        names.append(_name(text, found.start(_OPEN)))
                if end - at > _LONG_TAG:
                    self._check_long(text, found.start(1), end)
            elif kind == _CLOSE:
                if names is None:
                    depth -= depth > 0
                elif names and names.pop() == found[_CLOSE][1:-1].rstrip(b" \t\r\n"):
                    depth -= 1
            elif kind == _TYPES:
                self._define(found[_TYPES], at)
            at = end
        self._depth = depth
        markup = text.find(b"<", at)
        if markup >= 0 and _INCOMPLETE.match(text, markup) is None:
            raise Refused("expected a tag, a comment, CDATA or a DOCTYPE", markup)
        at = markup if markup >= 0 else self._end_of_text(text)
        if self._large:
            self._grow(text[:at])
        return at

    def _end_of_text(self, text: bytes) -> int:
        """The end of a text without further markup, or where a reference is cut by it."""
        if not self._large:
            return len(text)
        last = text.rfind(b"&", max(0, len(text) - 256))
        return len(text) if last < 0 else last

    def _check_long(self, text: bytes, at: int, end: int) -> None:
        if end - at > self._limits.term:
            raise Refused(self.too_long(end - at), at)
        if len(_SPECIAL.findall(text, at, end)) > XML_ATTRIBUTES:
            raise Refused(
                f"expected at most {XML_ATTRIBUTES:,} attributes and namespaces of an element", at
            )

    def _define(self, types: bytes, at: int) -> None:
        """Note the expanded sizes of the entities of a DOCTYPE; refuse large ones."""
        if types.count(b'"') % 2:
            raise Refused("expected a DOCTYPE with quotation marks in pairs, and no > in them", at)
        for name, value in _ENTITY.findall(types):
            size = len(value) + self._growth(value)
            if size > ENTITY_BYTES:
                raise Refused(
                    f"expected entities that become at most {ENTITY_BYTES:,} bytes, found "
                    f"{name[:40].decode(errors='replace')}, which becomes {size:,}: write out what "
                    "it stands for",
                    at,
                )
            self._entities[name] = max(size, self._entities.get(name, 0))
            self._large |= size > SMALL_ENTITY

    def _growth(self, text: bytes) -> int:
        return sum(self._entities.get(name, 0) for name in _REFERENCE.findall(text))

    def _grow(self, text: bytes) -> None:
        self._grown += self._growth(text)
        if self._grown > self._limits.line:
            raise Refused(
                f"expected entities that become at most {self._limits.line:,} bytes in all "
                "(max_line_bytes): write out what they stand for"
            )


def _name(text: bytes, at: int) -> bytes:
    """The name of a tag, as the parser reads it."""
    found = _NAME.match(text, at)
    assert found is not None
    return found[0]


def _deep(what: str, most: int) -> str:
    return f"expected {what} nested at most {most:,} deep"


# --- JSON-LD -------------------------------------------------------------------------------------

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS = re.compile(rb"(?s)" + _STRING)
_TOKEN = re.compile(rb"(?s)(?P<string>" + _STRING + rb")(?P<key>\s*+:)?|[][{},]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPENING = b"[{"
_QUOTE, _COMMA = 34, 44


class Json(Guard):
    """JSON-LD: depth, and the number of terms that a context defines.

    A subclass may check what is under another key than `@context`.
    """

    depth = JSON_DEPTH
    key = "@context"
    most = CONTEXT_TERMS
    what = "contexts of at most {:,} terms"

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        # For each open bracket: its number of commas if they are counted, else -1.
        self._open: list[int] = []
        self._counted_next = False
        self._word = self.key.lstrip("@").encode()

    def _scan(self, text: bytes) -> int:
        within = self._counted_next or bool(self._open and self._open[-1] >= 0)
        if within or self._word in text or b"\\u" in text:
            return self._scan_tokens(text)
        return self._scan_brackets(text)

    def _scan_brackets(self, text: bytes) -> int:
        """The fast way, where only depth is counted."""
        bare = _STRINGS.sub(b"", text)
        quote = bare.find(b'"')
        if quote < 0:
            quote = len(bare)
        for bracket in bare[:quote].translate(None, _NOT_BRACKETS):
            if bracket in _OPENING:
                self._push(0)
            elif self._open:
                self._open.pop()
        return len(text) - (len(bare) - quote)

    def _scan_tokens(self, text: bytes) -> int:
        at = 0
        for token in _TOKEN.finditer(text):
            at = token.end()
            first = text[token.start()]
            if first == _QUOTE:
                if token["key"] is not None:
                    self._counted_next = self._is_key(token["string"])
                elif not text[at : at + 1000].strip():
                    return token.start()  # the colon may still come
                continue
            if first in _OPENING:
                self._push(token.start())
            elif first == _COMMA:
                self._comma(token.start())
            elif self._open:
                self._open.pop()
            self._counted_next = False
        quote = text.find(b'"', at)
        return len(text) if quote < 0 else quote

    def _push(self, at: int) -> None:
        inside = self._counted_next or bool(self._open and self._open[-1] >= 0)
        self._open.append(0 if inside else -1)
        if len(self._open) > self.depth:
            raise Refused(_deep("objects and arrays", self.depth), at)

    def _comma(self, at: int) -> None:
        if not self._open or self._open[-1] < 0:
            return
        self._open[-1] += 1
        if self._open[-1] >= self.most:
            raise Refused(f"expected {self.what.format(self.most)}", at)

    def _is_key(self, string: bytes) -> bool:
        if b"\\" not in string:
            return string[1:-1] == self.key.encode()
        try:
            return bool(json.loads(string) == self.key)
        except ValueError:
            return True


_GUARDS: dict[ox.RdfFormat, Callable[[Limits], Guard]] = {
    ox.RdfFormat.TURTLE: TripleTerms,
    ox.RdfFormat.TRIG: TripleTerms,
    ox.RdfFormat.N3: TripleTerms,
    ox.RdfFormat.RDF_XML: Xml,
    ox.RdfFormat.JSON_LD: Json,
    ox.RdfFormat.N_TRIPLES: TripleTerms,
    ox.RdfFormat.N_QUADS: TripleTerms,
}


def guard_of(form: ox.RdfFormat, limits: Limits, lenient: bool = False) -> Guard:
    """The guard for a document of this format; `lenient`: the parser continues after errors."""
    if lenient and form == ox.RdfFormat.RDF_XML:
        return Xml(limits, lenient=True)
    return _GUARDS[form](limits)


class Feed:
    """A document in memory for a parser of pyoxigraph, guarded piece by piece.

    `check` is called between pieces, where Ctrl-C also takes effect.

    >>> text = Feed(b"<a:b> <a:c> <a:d> .", TripleTerms(Limits()))
    >>> len(list(ox.parse(text, ox.RdfFormat.N_TRIPLES)))
    1
    """

    def __init__(self, data: bytes, guard: Guard, check: Callable[[], None] = lambda: None) -> None:
        self._data = data
        self._guard = guard
        self._check = check
        self._at = 0
        self._guarded = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes; raises ParseError, with the line, if the guard refuses them."""
        self._check()
        if self._at == self._guarded:
            self._look()
        start = self._at
        self._at = min(start + (size if size > 0 else _AT_ONCE), self._guarded)
        return self._data[start : self._at]

    def whole(self) -> bytes:
        """All bytes, guarded."""
        while self.read():
            pass
        return self._data

    def _look(self) -> None:
        start = self._at
        piece = self._data[start : start + max(_AT_ONCE, self._guard.waiting)]
        try:
            self._guard.look(piece)
        except Refused as refused:
            line = 1 + self._data.count(b"\n", 0, start + refused.at)
            raise ParseError(refused.message, line=line) from None
        self._guarded = start + len(piece)
