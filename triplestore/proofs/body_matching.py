"""Match the body of a family item by item; each atom may see other facts.

Start reading at `Matching`. Each item is matched by the engine's evaluation, one step at a time.
Only the order is its own, in three ways that proofs need: all variables are kept to the end, each
atom may see other facts (all, or the asserted ones only), and the next item is chosen by how many
rows it has for the frame at hand, not by statistics, because a frame has few rows here and counting
distinct ids would read whole relations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from triplestore.evaluate.binding_frames import Bindings
from triplestore.proofs.closed_facts import Closed
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import U32, Keys
from triplestore.rules.body_plans import AtomStep, BodyPlan, BodyStep, ComputeStep, TableStep
from triplestore.rules.families import CompiledAtom, Computation, Family

Sees: TypeAlias = Callable[[int], Setting]
"""What the atom of a number is matched with."""


class Matching:
    """A frame of matches of some items of a body, and the items that are left.

    rows, n  the frame: a column for each variable that has values, then the number of the goal
    """

    def __init__(self, closed: Closed, family: Family, rows: Bindings, n: int, sees: Sees) -> None:
        self.closed = closed
        self.family = family
        self.rows, self.n = rows, n
        self.sees = sees
        self.atoms = list(range(len(family.body)))
        self.nots = list(range(len(family.nots)))
        self.computations = list(family.computations)
        self.table = family.table is not None
        self._keep = tuple(range(family.width + 1))

    @classmethod
    def of_goals(
        cls, closed: Closed, family: Family, relation: RelationKey, goals: Keys, sees: Sees
    ) -> Matching:
        """Nothing matched yet but the head, with those goals that it may conclude."""
        rows, n = closed.run.goals(family, relation, goals)
        return cls(closed, family, rows, n, sees)

    def finish(self) -> tuple[Bindings, int]:
        """Match everything that is left."""
        while self.n and self.step():
            pass
        return self.rows, self.n

    def bound(self, variable: int) -> bool:
        """Whether a variable has values."""
        return self.rows[variable] is not None

    # -- one item after the other ----------------------------------------------------------------

    def step(self) -> bool:
        """Match the item that should be next; False if none is left."""
        return self._compute() or self._negate() or self._match()

    def _compute(self) -> bool:
        for computation in self.computations:
            if self.ready(computation):
                self.compute(computation)
                return True
        return False

    def _negate(self) -> bool:
        for i in self.nots:
            if all(map(self.bound, self.family.nots[i].variables)):
                self.negate(i)
                return True
        return False

    def _match(self) -> bool:
        best = min(((self.cost(i), i) for i in self.atoms), default=None)
        if self.table and self.family.table is not None:
            linked = any(map(self.bound, self.family.table.variables))
            cost = (1, self.n) if linked else (1, self.n * len(self.family.rules))
            if best is None or cost <= best[0]:
                self.join_table()
                return True
        if best is None:
            assert not self.nots, "a negation whose variables nothing binds"
            return False
        self.match(best[1])
        return True

    def ready(self, computation: Computation) -> bool:
        """Whether all that a FILTER or BIND needs has values."""
        return all(map(self.bound, computation.needs))

    def cost(self, i: int) -> tuple[int, float]:
        """(0 for a test, 1 if something is bound, 2 if nothing is; rows to be looked at)."""
        atom = self.family.body[i]
        places = [p for p, term in enumerate(atom.terms) if term < 0 or self.bound(term)]
        if len(places) == len(atom.terms):
            return 0, self.n
        linked = [p for p in places if atom.terms[p] >= 0]
        view = self.sees(i).view(atom.relation)
        if not places or not isinstance(view, PairView) or view.stored is None or view.parts:
            return (1 if linked else 2), self.n * view.estimate(places)
        (place,) = places
        relation, column = view.stored.relation, place ^ int(view.stored.flipped)
        if not linked:
            rows = relation.fanout((column,), (_constant(-atom.terms[place]),))
            return 2, self.n * float(rows[0])
        values = self.rows[atom.terms[place]]
        assert values is not None
        sample = values[: PROOFS.sampled_rows]
        return 1, float(relation.fanout((column,), (sample,)).sum()) * self.n / len(sample)

    def match(self, i: int) -> None:
        """Match an atom."""
        self.atoms.remove(i)
        self._take(i, self.family.body[i], negated=False, setting=self.sees(i))

    def negate(self, i: int) -> None:
        """Leave out the rows with a match of a negated atom."""
        self.nots.remove(i)
        item = len(self.family.body) + i
        self._take(item, self.family.nots[i], negated=True, setting=self.closed.all)

    def compute(self, computation: Computation) -> None:
        """Apply a filter, or bind a variable."""
        self.computations.remove(computation)
        self._follow(ComputeStep(computation, self._keep), self.closed.all)

    def join_table(self) -> None:
        """Join with the constants of the family."""
        assert self.family.table is not None
        self.table = False
        variables = self.family.table.variables
        bound = tuple(v for v in variables if self.bound(v))
        free = tuple(v for v in variables if not self.bound(v))
        self._follow(TableStep(bound, free, self._keep), self.closed.all)

    def _take(self, item: int, atom: CompiledAtom, *, negated: bool, setting: Setting) -> None:
        self._follow(AtomStep.of(item, atom, negated, self.bound, self._keep), setting)

    def _follow(self, step: BodyStep, setting: Setting) -> None:
        plan = BodyPlan((), (step,), ())
        self.rows, self.n = self.closed.run.follow(
            self.family, plan, self.rows, self.n, setting, ""
        )


def _constant(i: int) -> U32:
    return np.array([i], dtype=np.uint32)
