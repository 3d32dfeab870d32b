"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triplestore.engine.strategies.auto import Auto
from triplestore.engine.strategies.counting import Counting
from triplestore.engine.strategies.overdelete import DRed, DRedCounting
from triplestore.engine.strategies.prove import bf, bfc, fbf, fbfc
from triplestore.engine.strategies.rematerialise import Rematerialise
from triplestore.engine.stratum import Strategy
from triplestore.errors import UsageError

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
