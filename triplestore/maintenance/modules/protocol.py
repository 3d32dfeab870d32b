"""What a module is: rules that are evaluated in a way of their own, and not instance by instance.

Start reading at `Module`, which is all that the drivers know. In the papers (thesis, section 5;
*modular*) a module has the functions Diff, Del, Red and Add, which are called round by round with
what the others did, because several modules share a stratum. Here a module that owns a stratum is
called once, for the four of them together: nothing else derives facts of the stratum, so its Del is
exact, its Red finds nothing, and the first call is the last. `ClosureKind` has what it consists of
for a closure. Transitive rules that share a stratum with others are not owned: their module is
`leaping`, and its driver, which does go round by round, is `dred_c_mod`. Why a fact of a closure
holds is said by `proofs/closure_paths`, from the scheme alone.
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
"""Facts by relation, like a `Batch`, but for those that are too many to be written out."""

StratumOutcome: TypeAlias = tuple[str, str, tuple[FactsByRelation, FactsByRelation]]
"""How a stratum was done, why so, and what is gone and new."""


class Module(ABC):
    """The rules of one stratum, which a module owns.

    at  what is at work, as errors of budgets name it
    """

    at: Owned | str

    @abstractmethod
    def update(self, work: Work, task: Task) -> StratumOutcome:
        """Bring the stratum up to date: Diff, Del, Red and Add."""

    def is_kept_otherwise(self, work: Work) -> bool:
        """Whether facts are written out and should not be, or the other way round, by what the
        caller said. Sizes are looked at when the stratum changes."""
        return False


class ClosureKind(ABC):
    """How the closure of one kind of structure is found: by a scheme of `closures`.

    kind        the kind
    compresses  whether such a closure may be kept by its scheme alone
    """

    kind: str
    compresses = True

    @abstractmethod
    def built(
        self, owned: Owned, work: Work, structure: Structure, external: Batch
    ) -> tuple[Attached, list[PairRelation]]:
        """Add where nothing was: the scheme of all that comes from outside, and the closure of each
        relation."""

    @abstractmethod
    def changed(
        self, owned: Owned, work: Work, known: Attached, touched: Batch
    ) -> tuple[Attached, FactsByRelation, FactsByRelation]:
        """Del, Red and Add: the scheme after some facts were touched, and what is gone and new."""
