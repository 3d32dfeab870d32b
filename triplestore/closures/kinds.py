"""The constructor of each kind of closure; opening a store does not load this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.closures.attached import SYMMETRIC, TRANSITIVE
from triplestore.closures.scheme import Scheme, WorkLimit
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.packed_keys import U64

Build: TypeAlias = Callable[[U64, WorkLimit | None], Scheme]

SCHEMES: dict[str, Build] = {
    TRANSITIVE: TransitiveClosure.build,
    SYMMETRIC: SymmetricClosure.build,
}
"""Kind -> what builds the closure of edges, given in any order."""
