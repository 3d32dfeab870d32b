"""The strategies that maintain, with all ways to give up on proofs, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from triplestore.maintenance.fbf import FBF
from triplestore.maintenance.fbf_c import FBFC
from triplestore.maintenance.search.give_up import ALWAYS, Abort
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.strategies import strategy

GIVING_UP = {
    "never": Abort(),
    "always": ALWAYS,
    "beyond the facts": Abort(depth=1),
    "beyond two steps": Abort(depth=2),
    "at once": Abort(work=1),
    "soon": Abort(work=1500),
    "by share": Abort(share=1.0),
}
MAKERS: dict[str, Callable[[], Strategy]] = {
    **{name: partial(strategy, name) for name in ("dred", "dred_c", "bf", "bf_c")},
    **{f"fbf {how}": partial(FBF, abort) for how, abort in GIVING_UP.items()},
    **{f"fbf_c {how}": partial(FBFC, abort) for how, abort in GIVING_UP.items()},
}
"""All strategies of this package that maintain, with all ways to give up."""
