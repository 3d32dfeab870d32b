"""The place of a part of a rule in its file, computed from the rule's text when needed.

Start at `locate`. The parser only keeps the beginning of a rule and its text, so correct programs
cost nothing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from triplestore.datalog.program import Source
from triplestore.expressions.text.tokens import END, OPERATOR, STRING, VARIABLE, WORD, Tokens

Section: TypeAlias = Literal["head", "body"]


class Place(NamedTuple):
    """A line and a column of a file."""

    line: int
    column: int


def locate(source: Source, section: Section, index: int, name: str = "") -> Place:
    """The place of head or body item `index`, or of the first variable of that name in it.

    >>> locate(Source("a", 7, 3, "A[?x] :- B[?x],\\n  NOT C[?x, ?y] ."), "body", 1, "y")
    Place(line=8, column=13)
    """
    tokens = Tokens(source.text, slash_comments=True)
    parts = _parts(tokens, section)
    if index >= len(parts):
        return Place(source.line, source.column)
    found = parts[index][0]
    for at in parts[index]:
        if tokens.kinds[at] == VARIABLE and tokens.texts[at] == name:
            found = at
            break
    line, column = tokens.place(tokens.start(found))
    if line == 1:
        column += source.column - 1
    return Place(source.line + line - 1, column)


def _parts(tokens: Tokens, section: Section) -> list[list[int]]:
    """The numbers of the tokens of each head, or of each body item."""
    named = tokens.kinds[0] == WORD and tokens.kinds[1] == STRING  # rule "name", constraint "id"
    start = 2 if named else 0
    arrow = next((i for i, t in enumerate(tokens.texts) if t == ":-"), len(tokens.texts) - 1)
    range_ = range(start, arrow) if section == "head" else range(arrow + 1, len(tokens.texts))
    parts: list[list[int]] = [[]]
    depth = 0
    for at in range_:
        text, kind = tokens.texts[at], tokens.kinds[at]
        if kind == END:
            break
        if kind == OPERATOR:
            depth += (text in "([") - (text in ")]")
            if depth == 0 and text == ",":
                parts.append([])
                continue
        parts[-1].append(at)
    return [part for part in parts if part]
