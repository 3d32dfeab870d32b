"""Conditions on the numbers of a comparison: start at `fails`.

The language has names, whole numbers, comparisons, `and`, `or`, `not` and brackets; nothing is
evaluated as code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from triplestore.errors import UsageError

_TOKEN = re.compile(r"\s*(?:([0-9][0-9,_]*)|([A-Za-z][A-Za-z0-9_-]*)|(>=|<=|==|!=|=|>|<|[()]))")

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}

MAX_DEPTH = 50
"""Maximum depth of brackets and negations."""


def fails(condition: str, metrics: Mapping[str, int]) -> bool:
    """Whether a condition holds for these numbers.

    >>> numbers = {"violations": 0, "inferred": 640, "removed-classes": 0}
    >>> fails("violations>0 or inferred>500 or removed-classes>0", numbers)
    True
    >>> fails("violation > 0", numbers)
    Traceback (most recent call last):
    triplestore.errors.UsageError: 'violation' in the condition is not a known number; did you ...
    """
    return _Parser(condition, metrics).whole()


class _Parser:
    """Reads a condition and evaluates it at once."""

    def __init__(self, text: str, metrics: Mapping[str, int]) -> None:
        self._text, self._metrics = text, metrics
        self._tokens = self._split(text)
        self._at = self._depth = 0

    def _split(self, text: str) -> list[str]:
        found, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error(f"{text[at:].strip()[0]!r} is not understood")
            found.append(match.group().strip())
            at = match.end()
        return found

    def _error(self, problem: str) -> UsageError:
        return UsageError(
            f"{problem} in the condition {self._text!r}; write for example "
            "'violations>0 or inferred>500'"
        )

    def whole(self) -> bool:
        """The value of the whole text."""
        found = self._any()
        if self._at < len(self._tokens):
            raise self._error(f"{self._tokens[self._at]!r} is not expected")
        return found

    def _next(self) -> str:
        return self._tokens[self._at].lower() if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        found = self._next()
        if not found:
            raise self._error("something is missing at the end")
        self._at += 1
        return found

    def _any(self) -> bool:
        found = self._all()
        while self._next() == "or":
            self._at += 1
            found = self._all() or found
        return found

    def _all(self) -> bool:
        found = self._one()
        while self._next() == "and":
            self._at += 1
            found = self._one() and found
        return found

    def _one(self) -> bool:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error("there are too many brackets")
        try:
            if self._next() == "not":
                self._at += 1
                return not self._one()
            if self._next() == "(":
                self._at += 1
                found = self._any()
                if self._take() != ")":
                    raise self._error("a bracket is not closed")
                return found
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> bool:
        left = self._number()
        compare = _COMPARE.get(self._next())
        if compare is None:
            raise self._error("a comparison such as >0 is missing")
        self._at += 1
        return compare(left, self._number())

    def _number(self) -> int:
        word = self._take()
        if word[0].isdigit():
            return int(word.replace(",", "").replace("_", ""))
        name = word.replace("_", "-")
        if name in self._metrics:
            return self._metrics[name]
        if not word[0].isalpha() or word in ("and", "or", "not"):
            raise self._error(f"{word!r} is not expected")
        near = get_close_matches(name, self._metrics, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"{word!r} in the condition is not a known number; {hint}Known: "
            f"{', '.join(sorted(self._metrics))}"
        )
