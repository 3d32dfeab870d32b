"""Severities and their order: start at `rank_of`.

Severities of users are as grave as a violation.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.errors import UsageError
from triplestore.shacl.vocabulary import SEVERITIES, VIOLATION, Key, local_name, sh


def rank_of_key(severity: Key) -> int:
    """The place of a severity among those of the standard; the gravest is last."""
    return SEVERITIES.index(severity if severity in SEVERITIES else VIOLATION)


def rank_of(severity: str) -> int:
    """The place of a severity given by name.

    >>> rank_of("Info"), rank_of("violation")
    (0, 2)
    """
    key = sh(severity.rpartition("#")[2].capitalize())
    if key not in SEVERITIES:
        names = ", ".join(f'"{local_name(each)}"' for each in SEVERITIES)
        raise UsageError(f"the severity is one of {names}, not {severity!r}")
    return SEVERITIES.index(key)


def summary(counts: Mapping[str, int]) -> str:
    """How many results there are, in one line.

    >>> summary({"Violation": 2, "Info": 1})
    'does not conform: 2 Violations, 1 Info'
    """
    if not counts:
        return "conforms"
    counted = [f"{n:,} {name}{'s' if n > 1 else ''}" for name, n in counts.items()]
    return f"does not conform: {', '.join(counted)}"
