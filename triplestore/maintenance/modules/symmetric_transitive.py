"""Module stc(R): the symmetric and transitive closure of a relation.

*Modular*, algorithms 7 to 9; thesis, algorithms 11 to 13 (Add, Del and Red of stc, with
CLOSEEDGES). The functions are those of the scheme,
`closures/symmetric_transitive/symmetric_closure`:

    C_R                 `SymmetricClosure`: the connected components
    Add, at first       `SymmetricClosure.build`
    Del, Red, then Add  `SymmetricClosure.changed(removed, added)`

Ours deviates as follows. The external edges are kept beside the components. So a component that
lost an edge is found again from its edges, and only pairs that no longer hold are deleted. The
papers delete all pairs of the component and rebuild it from Y_R.
"""

from __future__ import annotations

from triplestore.closures.attached import SYMMETRIC
from triplestore.maintenance.modules.one_closure import OneClosure


class SymmetricTransitive(OneClosure):
    """stc(R)."""

    kind = SYMMETRIC
