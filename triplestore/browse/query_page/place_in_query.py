"""What may stand at a place of a query that is being typed: start at `place_in_query`.

The text is unfinished, so it is read by tokens only, without a grammar: which braces are open, and
how many terms the current triple has. Always true: any text has a place, and reading it takes time
that grows with its length only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from triplestore.data_classes import data_class

LONGEST = 50_000
"""Maximum number of characters before the place that are read."""

CLAUSE, SUBJECT, PREDICATE, OBJECT, END = "clause", "subject", "predicate", "object", "end"
EXPRESSION, GRAPH, DECLARATION, NOTHING = "expression", "graph", "declaration", "nothing"

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<string>\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z)|'{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
      |\"(?:[^"\\\n]|\\.)*(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z))
    | (?P<iri><(?:[A-Za-z][^<>"{}|^`\\\s]*)?(?:>|\Z)|<[^<>"{}|^`\\\s]*>)
    | (?P<variable>[?$]\w+|[?$]\Z)
    | (?P<name>(?:[^\W\d_][\w.\-]*)?:(?:[\w\-:%.]*[\w\-:%])?)
    | (?P<blank>_:\w*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<tag>@[A-Za-z-]*)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>\^\^|[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_TERMS = ("iri", "variable", "name", "blank", "number", "string")
_IN_PATTERNS = frozenset(
    ("OPTIONAL", "UNION", "MINUS", "FILTER", "BIND", "VALUES", "SERVICE", "EXISTS", "NOT")
)
RDF_TYPE_WORD = "a"


@data_class
class Token:
    """A piece of the text: its kind, its text, and where it begins."""

    kind: str
    text: str
    start: int


@data_class(frozen=False)
class PlaceInQuery:
    """A place of a query.

    role       what is expected there, such as `PREDICATE`
    typed      the text of the name that is being typed, "" for none
    start, end the part of the text that a completion replaces
    subject, predicate  the terms before it in its triple
    classes    the terms that the text gives as classes of each subject
    prefixes   those that the text declares
    variables  those of the text, in their order
    """

    role: str = CLAUSE
    typed: str = ""
    start: int = 0
    end: int = 0
    subject: str = ""
    predicate: str = ""
    classes: dict[str, list[str]] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)


def place_in_query(text: str, offset: int) -> PlaceInQuery:
    """The place before the character `offset`.

    >>> place = place_in_query("SELECT * { ?x a :Cat ; :na", 26)
    >>> place.role, place.typed, place.subject, place.classes
    ('predicate', ':na', '?x', {'?x': [':Cat']})
    >>> place_in_query("SELECT * { ?x a ", 16).predicate
    'a'
    """
    offset = max(0, min(offset, len(text)))
    first = max(0, offset - LONGEST)
    tokens = list(_tokens(text[first:offset], first))
    place = PlaceInQuery(start=offset, end=offset, prefixes=declared_prefixes(text[:LONGEST]))
    if tokens and _is_open(tokens[-1], offset):
        last = tokens[-1]
        if last.kind in ("string", "comment", "number", "tag"):
            place.role = NOTHING
            return place
        if last.kind != "sign":
            tokens.pop()
            place.typed, place.start = last.text, last.start
            place.end = _end_of_name(text, offset, last.kind)
    reading = _Reading()
    for token in tokens:
        reading.take(token)
    reading.describe(place, tokens)
    whole = tokens + list(_tokens(text[place.end : place.end + LONGEST], place.end))
    names = (token.text for token in whole if token.kind == "variable")
    place.variables = [name for name in dict.fromkeys(names) if len(name) > 1]
    place.classes = _classes(whole)
    return place


def declared_prefixes(text: str) -> dict[str, str]:
    """The prefixes that a query declares.

    >>> declared_prefixes("PREFIX e: <http://e/> SELECT * {}")
    {'e': 'http://e/'}
    """
    found = re.finditer(r"(?i)\bPREFIX\s+([\w.\-]*):\s*<([^<>\s]*)>", text)
    return {match[1]: match[2] for match in found}


def _tokens(text: str, first: int) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        yield Token(str(match.lastgroup), match[0], first + match.start())


def _is_open(token: Token, offset: int) -> bool:
    """Whether a token is continued at the place."""
    if token.start + len(token.text) != offset:
        return False
    if token.kind == "comment":
        return True
    if token.kind == "string":
        mark = token.text[:3] if token.text[:3] in ('"""', "'''") else token.text[:1]
        return len(token.text) < 2 * len(mark) or not token.text.endswith(mark)
    return not (token.kind == "iri" and token.text.endswith(">"))


def _end_of_name(text: str, offset: int, kind: str) -> int:
    """The end of the name that the place is in."""
    pattern = r"[^<>\"{}|^`\\\s]*>?" if kind == "iri" else r"[\w\-]*(?::[\w\-]*)?"
    match = re.compile(pattern).match(text, offset)
    return match.end() if match else offset


class _Reading:
    """What is open at a place: braces, and the terms of the current triple in each."""

    def __init__(self) -> None:
        self.open: list[tuple[str, list[str]]] = []
        self.word = ""

    @property
    def terms(self) -> list[str]:
        return self.open[-1][1] if self.open else []

    def take(self, token: Token) -> None:
        """Go on by one token."""
        text = token.text
        if token.kind == "comment":
            return
        if token.kind == "word" and text != RDF_TYPE_WORD:
            self.word = text.upper()
            if self.word in _IN_PATTERNS or self.word == "GRAPH":
                self._begin()
            elif self.word in ("TRUE", "FALSE"):
                self._term(text)
            return
        if token.kind in _TERMS or text == RDF_TYPE_WORD:
            if self.word == "GRAPH":
                self.word = ""
            else:
                self._term(text)
        elif token.kind == "sign":
            self._sign(text)

    def _begin(self, kept: int = 0) -> None:
        if self.open:
            del self.terms[kept:]

    def _term(self, text: str) -> None:
        self.word = "" if self.word not in ("FROM", "NAMED") else self.word
        if self.open and self.open[-1][0] != "(":
            if len(self.terms) == 3:
                self._begin()
            self.terms.append(text)

    def _sign(self, text: str) -> None:
        if text == "{":
            self._begin()
            self.open.append((text, []))
        elif text == "[":
            self.open.append((text, ["[]"]))
        elif text == "(":
            is_list = self.open and self.open[-1][0] != "(" and not self.word
            self.open.append(("(" if not is_list else "((", []))
        elif text in "}])":
            self._close(text)
        elif text == ".":
            self._begin()
        elif text == ";":
            self._begin(1)
        elif text == ",":
            self._begin(2)
        elif text in ("/", "|") and len(self.terms) == 2:
            self._begin(1)
        if text in "{};.":
            self.word = ""

    def _close(self, text: str) -> None:
        ends = {"}": "{", "]": "[", ")": "("}[text]
        while self.open:
            kind, _ = self.open.pop()
            if kind.startswith(ends):
                if text == "}":
                    self._begin()
                elif kind in ("[", "(("):
                    self._term(text)
                break
        self.word = ""

    def describe(self, place: PlaceInQuery, tokens: list[Token]) -> None:
        """Note what is expected next."""
        before = tokens[-1].text.upper() if tokens else ""
        if before in ("PREFIX", "@PREFIX"):
            place.role = DECLARATION
        elif self.word == "GRAPH" or before in ("FROM", "NAMED", "INTO", "WITH", "USING"):
            place.role = GRAPH
        elif not self.open:
            place.role = CLAUSE
        elif self.open[-1][0] == "(":
            place.role = EXPRESSION
        elif self.open[-1][0] == "((":
            place.role = OBJECT
        else:
            place.role = (SUBJECT, PREDICATE, OBJECT, END)[len(self.terms)]
            place.subject = self.terms[0] if self.terms else ""
            place.predicate = self.terms[1] if len(self.terms) > 1 else ""


def _classes(tokens: list[Token]) -> dict[str, list[str]]:
    """Subject -> the terms that stand after `a` or rdf:type."""
    found: dict[str, list[str]] = {}
    reading = _Reading()
    for token in tokens:
        reading.take(token)
        terms = reading.terms
        if len(terms) == 3 and terms[1] in (RDF_TYPE_WORD, "rdf:type") and token.text == terms[2]:
            known = found.setdefault(terms[0], [])
            if terms[2] not in known:
                known.append(terms[2])
    return found
