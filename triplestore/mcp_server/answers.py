"""Answers of tools: text for a model, the same as data, and what was left out.

Start at `Answer`. A text is never longer than the settings allow (but for its last line, which says
how to get more); errors are answers too, so that a model can mend what it asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from mcp.types import CallToolResult, TextContent

from triplestore.data_classes import data_class


@data_class(frozen=False)
class Answer:
    """What a tool says.

    text  for the model
    data  the same for programs
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False

    def result(self) -> CallToolResult:
        """The answer in the form of the protocol."""
        return CallToolResult(
            content=[TextContent(type="text", text=self.text)],
            structured_content=self.data,
            is_error=self.is_error,
        )


def fitting(lines: Iterable[str], most: int) -> tuple[list[str], bool]:
    """The first lines that have at most `most` characters together, and whether these are all.

    The first line is always among them.

    >>> fitting(["one", "two", "three"], 8)
    (['one', 'two'], False)
    """
    shown: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if shown and size > most:
            return shown, False
        shown.append(line)
    return shown, True


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table with a line for each row; `|` within a value is left as it is in strings.

    >>> table_lines(["?x", "?y"], [["ex:a", "1"]])
    ['?x | ?y', 'ex:a | 1']
    """
    return [" | ".join(row).rstrip() for row in (columns, *rows)]


def one_line(text: str, most: int = 120) -> str:
    """A label in one line, cut after `most` characters.

    >>> one_line("two\\n lines"), one_line("abcdef", 4)
    ('two lines', 'abc…')
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def joined(*parts: str | None) -> str:
    """The parts that are not empty, one after the other."""
    return "\n".join(part for part in parts if part)
