"""REGEX and REPLACE: regular expressions of XPath, with RE2, whose time is linear in the text.

Start at `compiled`. The languages are nearly the same (`regex_syntax` translates). An invalid
pattern is an error of the expression, as in the specification; a pattern of XPath that RE2 does not
support because it cannot be matched in linear time (back-references) ends the query with a message,
since a wrong answer would be worse. Always true: texts are matched as UTF-8; the time of
one match is bounded by the size of the program times that of the text, and long matches run in a
separate thread, so that limits and Ctrl-C end the wait for them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import re2
from re2 import _re2

from triplestore.errors import BudgetError, UsageError
from triplestore.expressions.compare_terms import key_of_boolean
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.regex_syntax import (
    Template,
    check_flags,
    template_of,
    translated,
)
from triplestore.expressions.library.strings import plain
from triplestore.operators.context import current
from triplestore.operators.deep_calls import start, under_these_limits
from triplestore.terms.term_keys import LANG, STRING

_ANYWHERE = _re2.RE2.Anchor.UNANCHORED
_LONGEST_PATTERN = 50_000
_LARGEST_PROGRAM = 50_000  # instructions
_MEMORY = 2 << 20  # bytes that RE2 may use for the states of one pattern
_QUICK = 20_000_000  # instructions times bytes that take at most 0.1 s
_MOST = 5_000_000_000  # maximum of these: 20 s, even if the caller was interrupted
_EVERY = 256  # matches between two checks of the limits
BETWEEN = 0xFF
"""A byte that is in no UTF-8 text, and that no pattern matches."""


class Pattern:
    """A compiled pattern.

    groups    the number of groups, if it was compiled to capture them
    is_local  whether what is before and behind a match does not matter, and "" does not match
    """

    __slots__ = ("_match", "_size", "_work", "groups", "is_local")

    def __init__(self, regex: _re2.RE2, is_local: bool) -> None:
        self._match = regex.Match
        self._size = max(regex.ProgramSize(), 1)
        self._work = 0  # since the last check of the limits
        self.groups: int = regex.NumberOfCapturingGroups()
        self.is_local = is_local and not self.occurs_in(b"")

    def occurs_in(self, text: bytes) -> bool:
        """Whether it matches somewhere in a text in UTF-8."""
        size = len(text)
        self._work += self._size * size
        if self._work <= _QUICK or self._is_quick(text):
            return self._match(_ANYWHERE, text, 0, size)[0][0] >= 0  # type: ignore[no-any-return]
        return bool(_watched(lambda: self._match(_ANYWHERE, text, 0, size))[0][0] >= 0)

    def is_quick(self, size: int) -> bool:
        """Whether a search in a text of this size takes at most 0.1 s."""
        return bool(self._size * size <= _QUICK)

    def first_matches(self, joined: bytes) -> list[int]:
        """Where a local pattern occurs first in each text that has it; each text ends with BETWEEN.

        >>> compiled("a.", "").first_matches(bytes([BETWEEN]).join([b"xa", b"aaab", b"ab", b""]))
        [3, 8]
        """
        found = []
        at, size, match = 0, len(joined), self._match
        while at < size:
            at = match(_ANYWHERE, joined, at, size)[0][0]
            if at < 0:
                break
            found.append(at)
            at = joined.index(BETWEEN, at) + 1
        return found

    def replace(self, text: bytes, by: Template) -> bytes:
        """The text with every match replaced."""
        if self._is_quick(text):
            return self._replaced(text, by)
        return _watched(lambda: self._replaced(text, by))

    def _is_quick(self, text: bytes) -> bool:
        work = self._size * len(text)
        if work > _MOST:
            raise BudgetError(
                f"a regular expression of {self._size:,} instructions on a text of {len(text):,} "
                "bytes may take too long; use a simpler pattern, or a part of the text"
            )
        self._work = 0
        current().check()
        return bool(work <= _QUICK)

    def _replaced(self, text: bytes, by: Template) -> bytes:
        made = bytearray()
        limits, size, matches, at, done, charged = current(), len(text), 0, 0, 0, 0
        while at <= size:
            spans = self._match(_ANYWHERE, text, at, size)
            start, end = spans[0]
            if start < 0:
                break
            made += text[done:start]
            for part in by:
                made += part if isinstance(part, bytes) else text[slice(*_span(spans, part))]
            done = at = end
            if end == start:  # continue after the next character
                at += 1
                while at < size and text[at] & 0xC0 == 0x80:
                    at += 1
            matches += 1
            if matches % _EVERY == 0 or len(made) - charged > 1 << 18:
                limits.need(2 * len(made))
                charged = len(made)
        limits.need(2 * (len(made) + size - done))
        made += text[done:]
        return bytes(made)


def _span(spans: list[tuple[int, int]], group: int) -> tuple[int, int]:
    start, end = spans[group]
    return (start, end) if start >= 0 else (0, 0)


_Made = TypeVar("_Made")


def _watched(work: Callable[[], _Made]) -> _Made:
    """The result of a function, while this thread checks the limits and can be interrupted.

    RE2 lets other threads run. If a limit ends the wait, the other thread finishes its match, which
    takes some seconds at most, and its result is dropped.
    """
    limits = current()
    results: list[_Made] = []
    errors: list[BaseException] = []
    limited_work = under_these_limits(work)

    def run() -> None:
        try:
            results.append(limited_work())
        except BaseException as error:  # noqa: BLE001 - it is raised in the other thread
            errors.append(error)

    thread = threading.Thread(target=run, name="regular expression", daemon=True)
    start(thread)
    while thread.is_alive():
        thread.join(0.05)
        limits.check()
    if errors:
        raise errors.pop()  # a list with it would be in a cycle with its traceback
    return results[0]


def matches(key: bytes, pattern: bytes, flags: bytes = b"\x03") -> bytes:
    """REGEX: whether the pattern matches somewhere in the text."""
    text, _ = _text_of(key)
    return key_of_boolean(compiled(plain(pattern), plain(flags)).occurs_in(text))


def replace(key: bytes, pattern: bytes, by: bytes, flags: bytes = b"\x03") -> bytes:
    """REPLACE: every match replaced; `$1` in `by` is the match of the first group."""
    text, tag = _text_of(key)
    options = plain(flags)
    regex = compiled(plain(pattern), options, True)
    if regex.occurs_in(b""):
        raise ExpressionError  # XPath: a pattern that matches nothing would match everywhere
    template: Template = [by[1:]] if "q" in options else template_of(plain(by), regex.groups)
    if not any(isinstance(part, int) and part for part in template):
        regex = compiled(plain(pattern), options)
    made = regex.replace(text, template)
    return b"\x04" + made + b'"@' + tag if tag else b"\x03" + made


def _text_of(key: bytes) -> tuple[bytes, bytes]:
    """The text of a string literal in UTF-8, and its tag."""
    if key[0] == STRING:
        return key[1:], b""
    if key[0] == LANG:
        text, _, tag = key[1:].rpartition(b'"@')
        return text, tag
    raise ExpressionError


def compiled(pattern: str, flags: str, capturing: bool = False) -> Pattern:
    """The compiled pattern; with `capturing` it records the matches of its groups.

    >>> compiled("(a+)+$", "").occurs_in(b"a" * 100_000 + b"b")
    False
    >>> compiled("(?!a)", "")
    Traceback (most recent call last):
    triplestore.errors.UsageError: the regular expression '(?!a)' cannot be matched in linear ...
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise UsageError(
            f"a regular expression of {len(pattern):,} characters is too long: "
            f"at most {_LONGEST_PATTERN:,}"
        )
    return _compiled(pattern, flags, capturing)


@lru_cache(maxsize=64)
def _compiled(pattern: str, flags: str, capturing: bool) -> Pattern:
    check_flags(flags)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.never_capture = not capturing
    options.literal = "q" in flags
    options.case_sensitive = "i" not in flags
    text = pattern if "q" in flags else translated(pattern, flags)
    regex = _re2.RE2(text.encode(), options)
    if not regex.ok():
        reason = regex.error().decode(errors="replace")
        if reason.startswith(_BEYOND):
            raise _refused(
                pattern, f"cannot be matched in linear time, and is not supported ({reason})"
            )
        raise ExpressionError
    made = Pattern(regex, "q" in flags or _AROUND.search(_CLASS.sub("", pattern)) is None)
    if regex.ProgramSize() * (1 + made.groups // 16) > _LARGEST_PROGRAM:
        raise _refused(pattern, "is too large: use smaller counts, or fewer groups")
    return made


_CLASS = re.compile(r"\\[^bB]|\[(?:[^\\\]]|\\.)*\]", re.DOTALL)
_AROUND = re.compile(r"[\^$]|\\[bB]")  # what looks at the text around a match

_BEYOND = (
    "invalid perl operator",  # look-around
    "invalid repetition size",  # more than 1,000
    "pattern too large",
    "expression nests too deeply",
)


def _refused(pattern: str, why: str) -> UsageError:
    shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
    return UsageError(f"the regular expression {shown!r} {why}")
