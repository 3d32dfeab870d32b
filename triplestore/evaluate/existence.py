"""Ways to avoid very many rows of a join: atoms that must only exist, and equal rows.

A join makes one row for each instance. Counters need the number of instances, but not the rows. If
nothing is needed of an atom, it only multiplies the number of instances of a row (`exists`). Rows
that agree in everything that is needed become one row (`merged`). The number of instances of a row
is its weight, in the column behind those of the variables; without it each row is one instance.

Bench: `programs` on `star`, which has 2.3 billion instances: 21 ms with both, 47 without `exists`,
45 without `merged`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, column, take, weights_of
from triplestore.evaluate.conclusions import Heads, heads_of
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.relations.facts.body_views import PairView
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.facts.sorted_arrays import counted
from triplestore.relations.packed_keys import I64, Keys, columns_of, pack, start_of_runs
from triplestore.rules.body_plans import AtomStep, BodyStep
from triplestore.rules.families import Family

_MOST = float(1 << 62)


def conclude_weighted(family: Family, rows: Bindings, n: int, weights: I64, heads: Heads) -> None:
    """Add the conclusions of rows, each with its weight."""
    for relation, keys in heads_of(family, rows, n):
        piece = Heads()
        piece.summed = {relation: _summed(keys, weights)}
        heads.extend(piece)


def _summed(keys: Keys, weights: I64) -> tuple[Keys, I64]:
    """The keys, sorted, each once, with the sum of its weights."""
    if len(keys) > 1 and not bool((keys[1:] > keys[:-1]).all()):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
        starts = start_of_runs(keys)[:-1]
        keys, weights = keys[starts], np.add.reduceat(weights, starts)
    return keys, weights


def exists(
    family: Family, step: AtomStep, rows: Bindings, n: int, view: object
) -> tuple[Bindings, int] | None:
    """Match an atom of which nothing is needed later; None if only a join can do that."""
    free = {variable for _, variable in step.free}
    if len(step.bound) != 1 or step.bound[0][1] < 0 or not isinstance(view, PairView):
        return None
    if not free or step.same or not free.isdisjoint(step.keep):
        return None
    place, term = step.bound[0]
    sizes = view.fanout(place, column(rows, term, n))
    if sizes is None:
        return None
    return multiplied(family, rows, n, sizes, step.keep)


def multiplied(
    family: Family, rows: Bindings, n: int, sizes: I64, keep: tuple[int, ...]
) -> tuple[Bindings, int] | None:
    """Rows with their weights multiplied by `sizes`; None if a counter cannot hold the result."""
    alive = sizes.nonzero()[0]
    if len(alive) == 0:
        return rows, 0
    total = float(sizes.sum())
    weights = weights_of(family, rows)
    if weights is None and total <= 2 * len(alive):
        index = alive if total == len(alive) else np.repeat(np.arange(n), sizes)
        return take(rows, index, keep), len(index)
    if weights is not None and float(weights.sum()) * float(sizes.max()) > _MOST:
        return None
    made = take(rows, alive, keep)
    more = sizes[alive]
    made[family.width] = more if weights is None else weights[alive] * more
    return made, len(alive)


def merged(
    family: Family, step: BodyStep, later: Sequence[BodyStep], rows: Bindings, n: int
) -> tuple[Bindings, int]:
    """Merge rows that agree in everything that is needed after a step, if more joins follow."""
    if not isinstance(step, AtomStep) or family.head.relation == ANY:
        return rows, n
    if all(term < 0 or term in step.keep for term in step.atom.terms):
        return rows, n
    if not any(isinstance(one, AtomStep) and one.free for one in later):
        return rows, n
    tried = (step.item, step.keep, len(later))
    live = [v for v in step.keep if v != family.width and rows[v] is not None]
    if not 1 <= len(live) <= 2 or tried in family.known.not_merged:
        return rows, n
    columns = [column(rows, variable, n) for variable in live]
    keys = columns[0] if len(live) == 1 else pack(columns[0], columns[1])
    weights = weights_of(family, rows)
    if weights is None:
        different, times = counted(keys)
        sums = times.astype(np.int64)
    else:
        different, sums = _summed(keys, weights)
    if len(different) * EVALUATION.merging_pays > n:
        family.known.not_merged.add(tried)
        return rows, n
    made: Bindings = [None] * len(rows)
    for variable, values in zip(live, columns_of(different, len(live)), strict=True):
        made[variable] = values
    made[family.width] = sums
    return made, len(different)
