"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triplestore.errors import UsageError
from triplestore.maintenance.auto import Auto
from triplestore.maintenance.counting import Counting
from triplestore.maintenance.dred import DRed, DRedCounting
from triplestore.maintenance.fbf import bf, bfc, fbf, fbfc
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.steps.stratum import Strategy

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "auto": Auto,
    "dred": DRed,
    "bf": bf,
    "fbf": fbf,
    "dredc": DRedCounting,
    "rematerialise": Rematerialise,
    "counting": Counting,
    "bfc": bfc,
    "fbfc": fbfc,
}
"""Name -> what makes a strategy of it."""


def strategy(name: str, **options: Any) -> Strategy:
    """The strategy of a name.

    >>> strategy("dredc").name
    'dredc'
    """
    if name not in STRATEGIES:
        raise UsageError(f"unknown strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return STRATEGIES[name](**options)
