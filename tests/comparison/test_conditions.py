"""Conditions of `--fail-on`: what they mean, and that mistakes are told."""

from __future__ import annotations

import pytest

from triplestore.comparison.fail_conditions import fails
from triplestore.errors import UsageError

NUMBERS = {"violations": 2, "inferred": 640, "removed-classes": 0}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("violations>0", True),
        ("violations > 2", False),
        ("violations>0 and inferred<500", False),
        ("violations>5 or inferred>500 and removed-classes=0", True),
        ("not (violations>0 or inferred>500)", False),
        ("not not violations>=2", True),
        ("removed_classes != 0", False),
        ("inferred > 1,000", False),
        ("VIOLATIONS>0 OR inferred>1_000", True),
        ("0 < violations", True),
        ("inferred > violations", True),
    ],
)
def test_fails__means_what_is_written(condition: str, expected: bool) -> None:
    assert fails(condition, NUMBERS) is expected


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("violation>0", "did you mean 'violations'"),
        ("xyz>0", "Known: inferred, removed-classes, violations"),
        ("violations", "comparison"),
        ("violations>", "missing at the end"),
        ("violations>0 inferred>0", "not expected"),
        ("(violations>0", "missing at the end"),
        ("violations>0)", "not expected"),
        ("", "missing at the end"),
        ("violations > 0; import os", "';'"),
        ("__import__('os')", "'_'"),
        ("(" * 100 + "violations>0" + ")" * 100, "too many brackets"),
        ("violations > and", "not expected"),
    ],
)
def test_fails__tells_mistakes(condition: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("(", "\\(").replace(")", "\\)")):
        fails(condition, NUMBERS)
