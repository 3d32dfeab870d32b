"""Tables of text that fit a terminal, and texts shortened so that they still differ.

Start at `fitted_table`; `shortened` is for one column. Widths are those of a terminal: a letter of
Chinese takes two columns, a combining mark none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MIN_WIDTH = 8
"""Minimum width that a column is narrowed to; where that is not enough, columns are left out."""

_NUMBER = re.compile(r"[+-]?[0-9.,]+([eE][+-]?[0-9]+)?|")
_WORTH_ELIDING = 6  # letters of a prefix that all cells have


def fitted_table(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, plain: bool = False
) -> str:
    """A table in a box at most `width` wide; `plain` draws it in ASCII.

    >>> print(fitted_table(["x", "n"], [["<http://example.org/long/path>", "5"], ["b", "17"]], 30))
    ┌───────────────────────┬────┐
    │ x                     │ n  │
    ├───────────────────────┼────┤
    │ <http://…g/long/path> │  5 │
    │ b                     │ 17 │
    └───────────────────────┴────┘
    """
    ellipsis = "..." if plain else "…"
    columns = [list(column) for column in zip(names, *rows, strict=True)]
    if not columns:
        return ""
    columns, widths = _fit(columns, width - 1, ellipsis)
    lines = []
    for column, most in zip(columns, widths, strict=True):
        (head,), cells = (shortened(part, most, ellipsis) for part in (column[:1], column[1:]))
        number = all(map(_NUMBER.fullmatch, cells))
        lines.append([padded(head, most), *(padded(cell, most, number) for cell in cells)])
    return "\n".join(_drawn(lines, widths, plain))


def shortened(cells: Sequence[str], width: int, ellipsis: str = "…") -> list[str]:
    """The cells of a column, none wider than `width`; different ones stay different if possible.

    Strings lose their end, and IRIs their middle, or the beginning that all of them have.

    >>> shortened(["<http://a.org/Faculty0/Student7>", "<http://a.org/Faculty1/Student7>"], 16)
    ['…ulty0/Student7>', '…ulty1/Student7>']
    """
    long = [cell for cell in cells if text_width(cell) > width]
    if not long:
        return list(cells)
    cut = {cell: _cut(cell, width, ellipsis) for cell in set(long)}
    others = set(cells) - set(long)
    iris = [cell for cell in cut if not cell.startswith('"')]
    if len({*cut.values(), *others}) < len(cut) + len(others) and len(iris) > 1:
        common = _common(min(iris), max(iris))
        if common >= _WORTH_ELIDING:
            drop = min(common, max(map(text_width, iris)) - width + len(ellipsis))
            rest = {cell: _cut(ellipsis + cell[drop:], width, ellipsis) for cell in iris}
            other = {**cut, **rest}
            if len({*other.values()}) > len({*cut.values()}):
                cut = other
    return [cut.get(cell, cell) for cell in cells]


def _common(one: str, other: str) -> int:
    """How many letters at the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def text_width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> text_width("abc"), text_width("日本"), text_width("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _cut(text: str, width: int, ellipsis: str) -> str:
    """A text that is too long without its end, or, if it is not a string, without its middle."""
    if text_width(text) <= width:
        return text
    room = width - len(ellipsis)
    if room <= 0:
        return ellipsis[:width]
    if text.startswith('"'):
        return _head(text, room) + ellipsis
    head = room * 2 // 5
    return _head(text, head) + ellipsis + _head(text[::-1], room - head)[::-1]


def _head(text: str, width: int) -> str:
    """As much of a text's beginning as fits."""
    if text.isascii():
        return text[:width]
    used = 0
    for place, letter in enumerate(text):
        used += _letter_width(letter)
        if used > width:
            return text[:place]
    return text


def padded(text: str, width: int, right: bool = False) -> str:
    """A text with spaces up to a width, to the right of it or to the left."""
    room = " " * (width - text_width(text))
    return room + text if right else text + room


def _fit(columns: list[list[str]], width: int, ellipsis: str) -> tuple[list[list[str]], list[int]]:
    """The columns that are shown, and their widths; each takes three more for lines and spaces."""
    most = max(1, width // (MIN_WIDTH + 3))
    if len(columns) > most and sum(max(map(text_width, c)) + 3 for c in columns) > width:
        left, right = (most + 1) // 2, most // 2
        dots = [ellipsis] * len(columns[0])
        columns = [*columns[:left], dots, *columns[len(columns) - right :]]
        width -= 3 + len(ellipsis)
    widths = [max(1, *map(text_width, column)) for column in columns]
    room = width - 3 * len(columns)
    cap = max(widths)
    while sum(min(cap, one) for one in widths) > room and cap > 1:
        cap -= 1
    narrowed = [min(cap, one) for one in widths]
    spare = room - sum(narrowed)
    for place, one in enumerate(widths):
        if one > narrowed[place] and spare > 0:
            narrowed[place] += 1
            spare -= 1
    return columns, narrowed


def _drawn(columns: list[list[str]], widths: list[int], plain: bool) -> list[str]:
    rule, bar = ("-", "|") if plain else ("─", "│")
    corners = ("+++", "+++", "+++") if plain else ("┌┬┐", "├┼┤", "└┴┘")
    top, middle, bottom = (
        f"{three[0]}{three[1].join(rule * (width + 2) for width in widths)}{three[2]}"
        for three in corners
    )
    rows = [f"{bar} {f' {bar} '.join(row)} {bar}" for row in zip(*columns, strict=True)]
    return [top, rows[0], middle, *rows[1:], bottom]
