"""The scheme for each kind of closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.closures.attached import SYMMETRIC, TRANSITIVE
from triplestore.closures.packed_pairs import U64
from triplestore.closures.scheme import Budget, Scheme

Build: TypeAlias = Callable[[U64, Budget | None], Scheme]


def _transitive(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.closures.transitive.transitive_closure import TransitiveClosure

    return TransitiveClosure.build(edges, budget)


def _symmetric(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure

    return SymmetricClosure.build(edges, budget)


SCHEMES: dict[str, Build] = {TRANSITIVE: _transitive, SYMMETRIC: _symmetric}
"""Kind -> what builds the closure of edges, given in any order."""
