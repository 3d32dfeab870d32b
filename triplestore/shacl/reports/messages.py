"""What a result says if its shape has no message of its own: start at `default_message`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triplestore.shacl import model
from triplestore.shacl.vocabulary import Key, local_name

Show = Callable[[Key], str]
"""A term as text."""


def default_message(constraint: model.Constraint, value: Key | None, show: Show) -> str:
    """What is wrong, as a sentence without its subject.

    >>> default_message(model.CountTest(b"", 1, True), None, str)
    'has fewer than 1 value'
    """
    text: str = _MESSAGES[type(constraint)](constraint, value, show)
    return text


def _values(number: int) -> str:
    return f"{number:,} value{'' if number == 1 else 's'}"


def _count(test: model.CountTest, value: Key | None, show: Show) -> str:
    return f"has {'fewer' if test.at_least else 'more'} than {_values(test.number)}"


def _pair(test: model.PairTest, value: Key | None, show: Show) -> str:
    other = show(test.predicate)
    return {
        "equals": f"is not a value of both the path and {other}",
        "disjoint": f"is also a value of {other}",
        "lessThan": f"is not less than all values of {other}",
        "lessThanOrEquals": f"is greater than, or not comparable with, a value of {other}",
    }[test.kind]


def _logical(test: model.Logical, value: Key | None, show: Show) -> str:
    shapes = ", ".join(map(show, test.shapes))
    return {
        "not": f"conforms to {shapes}, which it must not",
        "and": f"does not conform to all of: {shapes}",
        "or": f"conforms to none of: {shapes}",
        "xone": f"does not conform to exactly one of: {shapes}",
        "node": f"does not conform to {shapes}",
    }[test.kind]


def _qualified(test: model.Qualified, value: Key | None, show: Show) -> str:
    words = "fewer" if test.at_least else "more"
    return f"has {words} than {_values(test.number)} that conform to {show(test.shape)}"


def _query(test: model.QueryTest, value: Key | None, show: Show) -> str:
    if test.constraint is not None:
        return f"does not meet the query {show(test.constraint)}"
    return f"does not meet {local_name(test.component)}"


def _in(test: model.InTest, value: Key | None, show: Show) -> str:
    shown = ", ".join(map(show, test.members[:5]))
    return f"is not one of: {shown}{', ...' if len(test.members) > 5 else ''}"


_MESSAGES: dict[type, Callable[[Any, Key | None, Show], str]] = {
    model.ValueTest: lambda test, value, show: test.text,
    model.DatatypeTest: lambda test, value, show: (
        f"is not a well-formed literal of {show(test.datatype)}"
    ),
    model.ClassTest: lambda test, value, show: f"is not an instance of {show(test.of)}",
    model.InTest: _in,
    model.ClosedTest: lambda test, value, show: (
        "is the value of a property that is not allowed here"
    ),
    model.HasValueTest: lambda test, value, show: f"lacks the value {show(test.value)}",
    model.CountTest: _count,
    model.UniqueLang: lambda test, value, show: "has several values in one language",
    model.PairTest: _pair,
    model.Logical: _logical,
    model.PropertyOf: lambda test, value, show: f"does not conform to {show(test.shape)}",
    model.Qualified: _qualified,
    model.QueryTest: _query,
}
