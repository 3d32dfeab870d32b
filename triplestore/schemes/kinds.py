"""The scheme for each kind of closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.schemes.attached import SYMMETRIC, TRANSITIVE
from triplestore.schemes.packed import U64
from triplestore.schemes.scheme import Budget, Scheme

Build: TypeAlias = Callable[[U64, Budget | None], Scheme]


def _transitive(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.schemes.transitive import TransitiveClosure

    return TransitiveClosure.build(edges, budget)


def _symmetric(edges: U64, budget: Budget | None) -> Scheme:
    from triplestore.schemes.components import SymmetricClosure

    return SymmetricClosure.build(edges, budget)


SCHEMES: dict[str, Build] = {TRANSITIVE: _transitive, SYMMETRIC: _symmetric}
"""Kind -> what builds the closure of edges, given in any order."""
