"""Modules: rules that are evaluated as a whole, and not instance by instance.

Start reading at `Module`, which is all that the drivers know. In the papers (thesis, section 5;
*modular*) a module has the functions Diff, Del, Red and Add. They are called in each round with the
changes by the others, because several modules share a stratum. Here a module that owns a stratum is
called once, for all four. Nothing else derives facts of the stratum, so its Del is exact, its Red
finds nothing, and the first call is the last. `ClosureKind` is its part that depends on the kind of
closure. Transitive rules that share a stratum with others are not owned: their module is `leaping`,
and its driver, which goes round by round, is `dred_c_mod`. `proofs/closure_paths` explains a fact
of a closure from its scheme.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from triplestore.closures.attached import Attached, Structure
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.pair_relation import PairRelation
from triplestore.rules.modules.module_groups import Owned

FactsByRelation: TypeAlias = dict[RelationKey, Any]
"""Facts by relation, like a `Batch`, but with facts that are too many to be written out."""

StratumOutcome: TypeAlias = tuple[str, str, tuple[FactsByRelation, FactsByRelation]]
"""The algorithm of a stratum, the reason, and what is gone and new."""


class Module(ABC):
    """The rules of one stratum, which a module owns.

    at  what is at work, for errors of budgets
    """

    at: Owned | str

    @abstractmethod
    def update(self, work: Work, task: Task) -> StratumOutcome:
        """Bring the stratum up to date: Diff, Del, Red and Add."""

    def is_kept_otherwise(self, work: Work) -> bool:
        """Whether the caller's choice requires to write out facts that are not written out, or the
        other way round. Sizes are compared only when the stratum changes."""
        return False


class ClosureKind(ABC):
    """The closure of one kind of structure, found by a scheme of `closures`.

    kind        the kind
    compresses  whether such a closure may be kept by its scheme alone
    """

    kind: str
    compresses = True

    @abstractmethod
    def built(
        self, owned: Owned, work: Work, structure: Structure, external: Batch
    ) -> tuple[Attached, list[PairRelation]]:
        """Add where nothing was: the scheme of all external facts, and the closure of each
        relation."""

    @abstractmethod
    def changed(
        self, owned: Owned, work: Work, known: Attached, touched: Batch
    ) -> tuple[Attached, FactsByRelation, FactsByRelation]:
        """Del, Red and Add: the scheme after some facts were touched, and what is gone and new."""
