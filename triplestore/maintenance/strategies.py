"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triplestore.errors import UsageError
from triplestore.maintenance.auto import Auto
from triplestore.maintenance.counting import Counting
from triplestore.maintenance.dred import DRed
from triplestore.maintenance.dred_c import DRedC
from triplestore.maintenance.fbf import BF, FBF
from triplestore.maintenance.fbf_c import BFC, FBFC
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.steps.stratum import Strategy

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "auto": Auto,
    "dred": DRed,
    "bf": BF,
    "fbf": FBF,
    "dred_c": DRedC,
    "rematerialise": Rematerialise,
    "counting": Counting,
    "bf_c": BFC,
    "fbf_c": FBFC,
}
"""Name -> class of the strategy."""


ALIASES = {"dredc": "dred_c", "bfc": "bf_c", "fbfc": "fbf_c"}
"""Names of earlier versions, which stores may have kept."""


def known_name(name: str) -> str:
    """The current name of a strategy; other names are returned unchanged.

    >>> known_name("dredc"), known_name("dred_c"), known_name("else")
    ('dred_c', 'dred_c', 'else')
    """
    return ALIASES.get(name, name)


def strategy(name: str, **options: Any) -> Strategy:
    """The strategy with a name.

    >>> strategy("dred_c").name, strategy("dredc").name
    ('dred_c', 'dred_c')
    """
    name = known_name(name)
    if name not in STRATEGIES:
        raise UsageError(f"unknown strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return STRATEGIES[name](**options)
