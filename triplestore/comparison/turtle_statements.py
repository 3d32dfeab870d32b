"""Where the statements of a Turtle or TriG text begin, and the parts of each.

Start reading at `statements_of`. This is a scanner, not a parser: it knows strings, IRIs, comments
and brackets, and so where a statement ends, and where predicates and objects are in it. Malformed
text gives fewer statements and no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triplestore.data_classes import data_class

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+|\#[^\r\n]*)
    | (?P<string>\"\"\"(?:[^"\\]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*'''
        |"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*(?:\\[uU][0-9A-Fa-f]+[^<>"{}|^`\x00-\x20]*)*>)
    | (?P<mark><<\(?|\)?>>|\{\||\|\}|\^\^|[\[\](){};,])
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?
        |[0-9]+\.[eE][+-]?[0-9]+)(?![\w:%-]))
    | (?P<name>(?:[^\s<>"'{}|^`\\\[\](){};,.\#]|\\.|\.(?=[^\s<>"'{}|^`\[\](){};,\#]))+)
    | (?P<dot>\.)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_OPEN, _CLOSE = frozenset(["[", "(", "<<", "<<(", "{|"]), frozenset(["]", ")", ">>", ")>>", "|}"])


@data_class
class Part:
    """One object of a statement with its subject and predicate, and where it begins."""

    subject: str
    predicate: str
    object: str
    line: int


@data_class
class Statement:
    """One statement: its text, its first line, and its parts.

    graph    the name of its graph as written; empty in the default graph
    heading  whether it declares a prefix or a base
    """

    text: str
    line: int
    graph: str
    heading: bool
    parts: tuple[Part, ...]


@data_class
class _Token:
    text: str
    kind: str
    start: int
    line: int


def statements_of(text: str) -> Iterator[Statement]:
    """The statements of a text in their order.

    >>> text = "@prefix : <http://e/> .\\n:a :p 1.5 ;\\n  :q ( :x ), 'y. z' .\\n"
    >>> for one in statements_of(text):
    ...     print(one.line, one.heading, [(p.predicate, p.object, p.line) for p in one.parts])
    1 True []
    2 False [(':p', '1.5', 2), (':q', '( :x )', 3), (':q', "'y. z'", 3)]
    """
    waiting: list[_Token] = []
    depth, graph = 0, ""
    for token in _tokens(text):
        opens, closes = token.text in _OPEN, token.text in _CLOSE
        if token.kind == "mark":
            depth += opens - closes
        if token.kind == "dot" and depth <= 0:
            if waiting:
                yield _statement(text, waiting, token.start, graph)
            waiting, depth = [], 0
        elif token.text == "{" and token.kind == "mark":
            words = [one.text for one in waiting if one.text.upper() != "GRAPH"]
            graph, waiting = " ".join(words), []
        elif token.text == "}" and token.kind == "mark":
            if waiting:
                yield _statement(text, waiting, token.start, graph)
            graph, waiting, depth = "", [], 0
        else:
            waiting.append(token)
            if _is_sparql_heading(waiting):
                yield _statement(text, waiting, token.start + len(token.text), graph)
                waiting = []


def _tokens(text: str) -> Iterator[_Token]:
    line, seen = 1, 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "other"
        if kind == "space":
            continue
        line += text.count("\n", seen, found.start())
        seen = found.start()
        yield _Token(found.group(), kind, found.start(), line)


def _is_sparql_heading(tokens: list[_Token]) -> bool:
    word = tokens[0].text.upper()
    return (word == "PREFIX" and len(tokens) == 3) or (word == "BASE" and len(tokens) == 2)


def _statement(text: str, tokens: list[_Token], end: int, graph: str) -> Statement:
    first = tokens[0]
    heading = first.text.lower() in ("@prefix", "@base", "prefix", "base", "@version", "version")
    parts = () if heading else tuple(_parts(text, tokens, end))
    return Statement(text[first.start : end], first.line, graph, heading, parts)


def _parts(text: str, tokens: list[_Token], end: int) -> Iterator[Part]:
    """The objects at the outer level, each with its predicate."""
    ends = [*(token.start for token in tokens[1:]), end]
    at = _term(tokens, 0)
    subject = text[tokens[0].start : ends[at - 1]].strip()
    if tokens[0].text == "[" and at >= len(tokens):
        yield Part(subject, "", "", tokens[0].line)
        return
    while at < len(tokens):
        if tokens[at].text == ";":
            at += 1
            continue
        predicate, line = tokens[at].text, tokens[at].line
        at += 1
        while at < len(tokens) and tokens[at].text != ";":
            start = at
            while at < len(tokens) and tokens[at].text not in (";", ","):
                at = _term(tokens, at)
            if at > start:
                yield Part(
                    subject, predicate, text[tokens[start].start : ends[at - 1]].strip(), line
                )
            if at < len(tokens) and tokens[at].text == ",":
                at += 1
            if at < len(tokens):
                line = tokens[at].line


def _term(tokens: list[_Token], at: int) -> int:
    """The place after a term, which may be in brackets."""
    depth = 0
    while at < len(tokens):
        if tokens[at].kind == "mark":
            depth += (tokens[at].text in _OPEN) - (tokens[at].text in _CLOSE)
        at += 1
        if depth <= 0:
            return at
    return at
