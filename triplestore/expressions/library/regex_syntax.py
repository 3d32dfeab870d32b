r"""Translates regular expressions of XPath to RE2, and the replacements of REPLACE.

Start at `translated`. The differences are the classes `\d \s \w`, which include all scripts here,
the flag x, and the escapes `\i \c` of names. Letters and numbers of `\w`, and spaces of `\s`, are
those of Unicode. `\b` (not in XPath) only knows ASCII letters.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import TypeAlias

from triplestore.errors import UsageError
from triplestore.expressions.library.numbers import ExpressionError

Template: TypeAlias = list[bytes | int]
"""The parts of a replacement: texts in UTF-8, and numbers of groups."""

_FLAGS = frozenset("smixq")
_NAME_START = "A-Za-z_:\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
_NAME_START += "\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd"
_NAME = _NAME_START + "\\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
_SPACE = r"\x09-\x0d\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}"
_SPACE += r"\x{205f}\x{3000}"
_WORD = r"\p{L}\p{N}_"
_CLASSES = {"d": r"\p{Nd}", "s": _SPACE, "w": _WORD, "i": _NAME_START, "c": _NAME}
_COUNT_FROM_NONE = re.compile(r"\{,[0-9]+\}")
_CATEGORIES = frozenset(
    kind + part
    for kind, parts in (
        *(("L", "ultmo"), ("M", "nce"), ("N", "dlo"), ("P", "cdseifo"), ("S", "mcko")),
        *(("Z", "slp"), ("C", "cfo")),
    )
    for part in ("", *parts)
    if kind + part != "C"
)
_PLAIN = re.compile(r"[^\\$]+")


def check_flags(flags: str) -> None:
    """Raise ExpressionError if a flag is not one of XPath's."""
    if not _FLAGS.issuperset(flags):
        raise ExpressionError


def translated(pattern: str, flags: str) -> str:
    r"""The pattern of RE2 that matches the same; flags i and q are not part of it.

    >>> translated(r"^\d+ $", "xm")
    '(?m)^[\\p{Nd}]+$'
    """
    made = ["(?" + "".join(flag for flag in "sm" if flag in flags) + ")"]
    if made == ["(?)"]:
        made = []
    in_class = False
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "\\" and at < len(pattern):
            at = _escape(pattern, at, in_class, made)
        elif in_class:
            if sign == "[":
                raise ExpressionError  # the difference of two classes, which RE2 does not have
            in_class = sign != "]"
            made.append(sign)
        elif sign == "[":
            in_class = True
            made.append(sign)
            if pattern[at : at + 1] == "^":
                made.append("^")
                at += 1
            if pattern[at : at + 1] == "]":
                raise ExpressionError  # RE2 would take it as a member of the class
        elif sign == "{" and _COUNT_FROM_NONE.match(pattern, at - 1):
            made.append("{0")
        elif not ("x" in flags and sign in " \t\r\n"):
            made.append(sign)
    return "".join(made)


def _escape(pattern: str, at: int, in_class: bool, made: list[str]) -> int:
    """Translate the escape whose letter is at `at`; return the position behind it."""
    letter = pattern[at]
    if letter in _CLASSES:
        made.append(_CLASSES[letter] if in_class else f"[{_CLASSES[letter]}]")
    elif letter.lower() in _CLASSES and letter.isalpha():
        inner = _CLASSES[letter.lower()]
        if not in_class:
            made.append(f"[^{inner}]")
        elif letter == "D":
            made.append(r"\P{Nd}")
        elif letter in "SW":
            made.append(_without(letter))
        else:
            raise ExpressionError
    elif letter in "pP":
        end = pattern.find("}", at)
        if pattern[at + 1 : at + 2] != "{" or end < 0:
            raise ExpressionError
        made.append(_category(pattern[at + 2 : end], letter, in_class))
        return end + 1
    elif letter in "123456789" and not in_class:
        raise UsageError(
            f"the regular expression {pattern[:60]!r} has a back-reference, \\{letter}: "
            "that cannot be matched in linear time, and is not supported"
        )
    elif letter in "nrt\\|.?*+(){}-[]^$/" or (letter in "bB" and not in_class):
        made.append("\\" + letter)
    else:
        raise ExpressionError
    return at + 1


def _category(name: str, letter: str, in_class: bool) -> str:
    """The characters of a Unicode category, or (letter P) all others."""
    if name in _CATEGORIES:
        return f"\\{letter}{{{name}}}"
    inner = _ranges_of_category(name)
    if not in_class:
        return f"[{'^' if letter == 'P' else ''}{inner}]"
    if letter == "P":
        raise ExpressionError
    return inner


@lru_cache(maxsize=4)
def _ranges_of_category(name: str) -> str:
    if name not in (
        "C",
        "Cn",
    ):  # surrogates do not occur in texts; RE2 does not have the unassigned
        raise ExpressionError
    return _ranges([unicodedata.category(chr(code)).startswith(name) for code in _CODES])


@lru_cache(maxsize=2)
def _without(letter: str) -> str:
    r"""The characters of `\S` or `\W`, for use inside of a class."""
    if letter == "S":
        return _ranges([not chr(code).isspace() for code in _CODES])
    return _ranges([not (chr(code).isalnum() or code == ord("_")) for code in _CODES])


_CODES = range(sys.maxunicode + 1)


def _ranges(inside: list[bool]) -> str:
    """Characters as ranges of a class."""
    ranges: list[str] = []
    start = None
    for code, has in enumerate([*inside, False]):
        if has and start is None:
            start = code
        elif not has and start is not None:
            ranges.append(f"\\x{{{start:x}}}-\\x{{{code - 1:x}}}")
            start = None
    return "".join(ranges)


def template_of(text: str, groups: int) -> Template:
    """The parts of a replacement.

    >>> template_of("a$1$$".replace("$$", "\\\\$"), 1)
    [b'a', 1, b'$']
    """
    parts: Template = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            if text[at + 1 : at + 2] not in ("\\", "$") or at + 1 == len(text):
                raise ExpressionError
            parts.append(text[at + 1].encode())
            at += 2
        elif sign == "$":
            end = at + 1
            while end < at + 5 and text[end : end + 1].isdigit() and text[end].isascii():
                end += 1
            if end == at + 1:
                raise ExpressionError
            while end > at + 2 and int(text[at + 1 : end]) > groups:
                end -= 1
            number = int(text[at + 1 : end])
            parts.append(number if number <= groups else b"")
            at = end
        else:
            found = _PLAIN.match(text, at)
            assert found is not None
            parts.append(found[0].encode())
            at = found.end()
    return parts
