"""Many changed facts as one more relation: a rule is matched from its smallest atom.

A rule is matched from the facts that changed, which is best if these are few. In a recursion that
adds a million facts a round, another beginning can be better. `var(t, h) :- load(s, base, f, t),
var(base, b), field(b, f, h)` makes from each new fact of `field` a row for each load of its `f`,
and most of these lead to nothing. From a few thousand loads on there is one look-up for each pair
of a load and a `b`. The instances are the same, because the order of a join does not change them.

Bench: `programs` on `fields` (closure 0.27, without it 0.43 s) and `andersen` (0.11 and 0.21 s).

Start reading at `turn`. Both ways are tried on a sample of the rows, because estimates know no
correlations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, set_of
from triplestore.relations.facts.sorted_arrays import TooManyRowsError, at_most
from triplestore.rules.body_plans import AtomStep, BodyPlan, BodyStep, Turned, plan_beside
from triplestore.rules.families import Family
from triplestore.rules.thresholds import RULES

if TYPE_CHECKING:
    from triplestore.evaluate.evaluation import Evaluation

Seen: TypeAlias = Callable[[AtomStep], Setting]


class Begun(NamedTuple):
    """A frame, the steps that are left, and the facts for them."""

    rows: Bindings
    n: int
    steps: tuple[BodyStep, ...]
    seen: Seen


def turn(
    run: Evaluation, family: Family, pivot: int, batch: Batch, begun: Begun, after: Setting
) -> Begun | None:
    """A better beginning than the facts that an item matches; None if there is none."""
    if len(family.body) < 3 or pivot >= len(family.body) or family.body[pivot].relation == ANY:
        return None
    known = family.known.turned.get(pivot)
    if known is None or begun.n > RULES.grown * known.n or known.n > RULES.grown * begun.n:
        known = family.known.turned[pivot] = _best(run, family, pivot, batch, begun, after)
    return None if known.plan is None else _begin(run, family, pivot, batch, begun, known.plan)


def _begin(
    run: Evaluation, family: Family, pivot: int, batch: Batch, begun: Begun, plan: BodyPlan
) -> Begun:
    """The first step of a plan that takes the changed facts for a relation."""
    relation = family.body[pivot].relation
    changed = Setting(None, [set_of({relation: batch[relation]})], type_id=run.type_id)

    def seen(step: AtomStep) -> Setting:
        return changed if step.item == pivot and not step.negated else begun.seen(step)

    first = plan.steps[0]
    assert isinstance(first, AtomStep), "as `_best` has seen"
    rows, n = run.atom(first, [None] * (family.width + 1), 1, seen(first))
    return Begun(rows, n, plan.steps[1:], seen)


def _best(
    run: Evaluation, family: Family, pivot: int, batch: Batch, begun: Begun, after: Setting
) -> Turned:
    """The beginning that makes the fewest rows, by a sample."""
    counted = run.fetched, run.families
    found = Turned(begun.n, None)
    try:
        plain = _cost(run, family, begun)
        if plain > EVALUATION.turning_rows * begun.n:
            plan = plan_beside(family, pivot, after, begun.n)
            first = plan.steps[0]
            if isinstance(first, AtomStep) and first.item != pivot:
                size = after.view(first.atom.relation).estimate([place for place, _ in first.bound])
                if size * EVALUATION.turning_pays < plain:
                    other = _begin(run, family, pivot, batch, begun, plan)
                    if (other.n + _cost(run, family, other)) * EVALUATION.turning_pays < plain:
                        found = Turned(begun.n, plan)
    finally:
        run.fetched, run.families = counted
    return found


def _cost(run: Evaluation, family: Family, begun: Begun) -> float:
    """The approximate number of rows fetched from here on."""
    if begun.n == 0:
        return 0.0
    every = -(-begun.n // EVALUATION.sample_rows)
    some = [None if column is None else column[::every].copy() for column in begun.rows]
    size, before = -(-begun.n // every), run.fetched
    try:
        with at_most(EVALUATION.sample_result):
            run.run_steps(family, begun.steps, some, size, begun.seen, "", Heads())
    except TooManyRowsError as error:
        return float(max(error.rows, EVALUATION.sample_result)) * begun.n / size
    return (run.fetched - before) * begun.n / size
