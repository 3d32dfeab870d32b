"""REGEX and REPLACE: regular expressions of XPath, by way of Python's.

Start at `compiled`. The languages are nearly one; translated are `$` (the very end of the text,
unless by lines), the flags x and q, the escapes `\\i \\c` of names and `\\p{..}` of Unicode
categories. A pattern that has no translation, or that Python does not take, is an error.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

from triplestore.expr.compare import key_of_boolean
from triplestore.expr.numbers import ExpressionError
from triplestore.expr.strings import plain, split_string, string

_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE, "x": 0, "q": 0}
_NAME_START = r"A-Za-z_:\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
_NAME_START += r"\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd"
_NAME = _NAME_START + r"\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"


def matches(key: bytes, pattern: bytes, flags: bytes = b"\x03") -> bytes:
    """REGEX: whether the pattern matches somewhere in the text."""
    text, _ = split_string(key)
    return key_of_boolean(compiled(plain(pattern), plain(flags)).search(text) is not None)


def replace(key: bytes, pattern: bytes, by: bytes, flags: bytes = b"\x03") -> bytes:
    """REPLACE: every match replaced; `$1` in `by` is what the first group matched."""
    text, tag = split_string(key)
    regex = compiled(plain(pattern), plain(flags))
    if regex.search("") is not None:
        raise ExpressionError  # XPath: a pattern that matches nothing would match everywhere
    template = plain(by)
    if "q" in plain(flags):
        return string(regex.sub(lambda _: template, text), tag)
    parts = _template(template, regex.groups)
    return string(regex.sub(lambda match: _filled(parts, match), text), tag)


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """The pattern of Python that matches the same."""
    options = 0
    for flag in flags:
        if flag not in _FLAGS:
            raise ExpressionError
        options |= _FLAGS[flag]
    try:
        if "q" in flags:
            return re.compile(re.escape(pattern), options)
        return re.compile(_translated(pattern, flags), options)
    except (re.error, OverflowError, RecursionError):
        raise ExpressionError from None


def _translated(pattern: str, flags: str) -> str:
    made: list[str] = []
    in_class = False
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "\\" and at < len(pattern):
            at = _escape(pattern, at, in_class, made)
        elif in_class:
            if sign == "[":
                raise ExpressionError  # the difference of two classes: Python has none
            in_class = sign != "]"
            made.append(sign)
        elif sign == "[":
            in_class = True
            made.append(sign)
            if pattern[at : at + 1] == "^":
                made.append("^")
                at += 1
            if pattern[at : at + 1] == "]":
                raise ExpressionError  # Python would take it as a member of the class
        elif sign == "$" and "m" not in flags:
            made.append(r"\Z")
        elif not ("x" in flags and sign in " \t\r\n"):
            made.append(sign)
    return "".join(made)


def _escape(pattern: str, at: int, in_class: bool, made: list[str]) -> int:
    """Translate the escape whose letter is at `at`; the position behind it."""
    letter = pattern[at]
    if letter in "ic":
        inner = _NAME_START if letter == "i" else _NAME
        made.append(inner if in_class else f"[{inner}]")
    elif letter in "IC" and not in_class:
        made.append(f"[^{_NAME_START if letter == 'I' else _NAME}]")
    elif letter in "pP":
        end = pattern.find("}", at)
        if pattern[at + 1 : at + 2] != "{" or end < 0 or (letter == "P" and in_class):
            raise ExpressionError
        inner = _category(pattern[at + 2 : end])
        made.append(inner if in_class else f"[{'^' if letter == 'P' else ''}{inner}]")
        return end + 1
    elif letter in "nrtdDsSwWbB0123456789\\|.?*+(){}-[]^$/":
        made.append("\\" + letter)
    else:
        raise ExpressionError
    return at + 1


@lru_cache(maxsize=64)
def _category(name: str) -> str:
    """The characters of a Unicode category, as ranges of a class."""
    ranges: list[str] = []
    start = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(name)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    if not ranges or not name:
        raise ExpressionError
    return "".join(ranges)


def _template(text: str, groups: int) -> list[str | int]:
    """The parts of a replacement: texts, and numbers of groups."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            if text[at + 1 : at + 2] not in ("\\", "$") or at + 1 == len(text):
                raise ExpressionError
            parts.append(text[at + 1])
            at += 2
        elif sign == "$":
            end = at + 1
            while text[end : end + 1].isdigit() and text[end].isascii():
                end += 1
            if end == at + 1:
                raise ExpressionError
            while end > at + 2 and int(text[at + 1 : end]) > groups:
                end -= 1
            number = int(text[at + 1 : end])
            parts.append(number if number <= groups else "")
            at = end
        else:
            parts.append(sign)
            at += 1
    return parts


def _filled(parts: list[str | int], match: re.Match[str]) -> str:
    return "".join(part if isinstance(part, str) else match[part] or "" for part in parts)
