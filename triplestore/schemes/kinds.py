"""The scheme for each kind of closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.schemes.attached import SYMMETRIC, TRANSITIVE
from triplestore.schemes.packed import U64
from triplestore.schemes.scheme import Budget, Estimate, Scheme

Build: TypeAlias = Callable[[U64, Budget | None], Scheme]


def _transitive(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.schemes.transitive import TransitiveClosure

    return TransitiveClosure.build(edges, budget)


def _symmetric(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.schemes.components import SymmetricClosure

    return SymmetricClosure.build(edges, budget)


def guess(kind: str, edges: U64) -> Estimate:
    """What the closure of edges would take, without making it."""
    if kind == SYMMETRIC:
        from triplestore.schemes.components import SymmetricClosure

        return SymmetricClosure.estimate(edges)
    from triplestore.schemes.transitive import TransitiveClosure

    return TransitiveClosure.estimate(edges)


SCHEMES: dict[str, Build] = {TRANSITIVE: _transitive, SYMMETRIC: _symmetric}
"""Kind -> what builds the closure of edges, given in any order."""
