"""Rules that read one side of a closure only, evaluated without its pairs.

Start reading at `kept_place`. `C(x) :- R(x, y), ...` has an instance for each y, but does not
depend on y otherwise. So it is evaluated once for each x, and each conclusion is counted once for
each pair of x. A scheme knows the number of pairs for all x without listing them. If nothing
depends on x either (`C(:w) :- R(x, y)`), one evaluation stands for all pairs.
"""

from __future__ import annotations

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, column
from triplestore.evaluate.conclusions import heads_of
from triplestore.evaluate.evaluation import Evaluation
from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import ANY, Batch
from triplestore.relations.packed_keys import I64, U32, U64, high, low, start_of_runs
from triplestore.rules.families import Family


def kept_place(family: Family, item: int) -> int | None:
    """The place of an atom whose variable is in the conclusion, if nothing uses the other variable;
    either place if nothing uses any (`is_unused`)."""
    if item >= len(family.body) or family.summary is not None or family.head.relation == ANY:
        return None
    atom = family.body[item]
    if atom.relation == ANY or len(atom.terms) != 2 or len(atom.variables) != 2:
        return None
    others = [one for number, one in enumerate(family.body) if number != item]
    used = {term for one in (family.head, *others, *family.nots) for term in one.terms}
    for computation in family.computations:
        used.update((computation.target, *computation.needs))
    if family.table is not None:
        used.update(family.table.variables)
    if used.isdisjoint(atom.terms):
        return 0
    for place in (0, 1):
        kept, free = atom.terms[place], atom.terms[1 - place]
        if free not in used and kept in family.head.terms:
            return place
    return None


def is_unused(family: Family, item: int) -> bool:
    """Whether nothing uses either variable of an atom for which `kept_place` has a place."""
    place = kept_place(family, item)
    return place is not None and family.body[item].terms[place] not in family.head.terms


def sizes(keys: U64, place: int) -> tuple[U32, I64]:
    """The ids in one place of sorted keys, increasing, and how many keys have each."""
    if place == 0:
        starts = start_of_runs(high(keys))
        return high(keys[starts[:-1]]), np.diff(starts)
    values, counts = np.unique(low(keys), return_counts=True)
    return values, counts.astype(np.int64)


def as_keys(values: U32, place: int) -> U64:
    """A key for each id, with nothing in the other place."""
    keys = values.astype(np.uint64)
    return keys << np.uint64(32) if place == 0 else keys


def count_weighted(
    run: Evaluation,
    counts: CountChanges,
    family: Family,
    item: int,
    rows: Bindings,
    n: int,
    values: U32,
    weights: I64,
) -> Batch:
    """Count the conclusions of instances, each by the weight of its id in the kept place."""
    if n == 0:
        return {}
    place = kept_place(family, item)
    assert place is not None
    if is_unused(family, item):
        times = np.full(n, weights[0])
    else:
        kept = column(rows, family.body[item].terms[place], n)
        times = weights[values.searchsorted(kept)]
    run.instances["projected"] += int(np.abs(times).sum())
    touched: Batch = {}
    for name, keys in heads_of(family, rows, n):
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = start_of_runs(ordered)[:-1]
        facts = ordered[starts]
        counts.change(name, facts, np.add.reduceat(times[order], starts))
        touched[name] = facts
    return touched
