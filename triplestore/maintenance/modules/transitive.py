"""Module tc(R): the transitive closure of a relation.

*Modular*, algorithms 4 to 6; thesis, algorithms 8 to 10 (Add, Del and Red of tc). The functions are
those of the scheme, `closures/transitive/transitive_closure`:

    X_R                 `TransitiveClosure.edges`: the external facts
    Add, at first       `TransitiveClosure.build`
    Del, Red, then Add  `TransitiveClosure.changed(removed, added)`

Ours deviates as follows. The closure is kept by the condensation of X_R (storage paper), so Del is
exact: pairs that remain reachable are never deleted, Red has nothing to do, and Y_R does not exist.
"""

from __future__ import annotations

from triplestore.closures.attached import TRANSITIVE
from triplestore.maintenance.modules.one_closure import OneClosure


class Transitive(OneClosure):
    """tc(R), and the closure of a relation with its inverse."""

    kind = TRANSITIVE
