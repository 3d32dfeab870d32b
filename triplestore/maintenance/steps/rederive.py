"""Backward evaluation: which facts some rule still derives.

Start reading at `remaining` and `derivable`. Few instances of each fact are asked for first, since
one is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from triplestore.maintenance.search.checked_facts import PROVED, CheckedFacts
from triplestore.maintenance.search.instance_pieces import Pieces
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.packed_keys import Bools, Keys, columns_of, high, in_sorted
from triplestore.rules.families import Family
from triplestore.rules.strata import CompiledStratum

Test: TypeAlias = Callable[[RelationKey, Keys], Bools]
"""Which facts pass."""

_FIRST, _MOST = 4, 1 << 40
"""Number of instances of each fact that are looked for at first, and at most."""


def derivable(
    work: Work,
    kept: CompiledStratum,
    goals: Batch,
    phase: str,
    wanted: Callable[[Family], bool] | None = None,
) -> Batch:
    """The goals that some instance over what survives concludes.

    One instance for each is counted, as the papers do; the rows fetched tell what was looked at.
    wanted  which families to try, if not all
    """
    found = {
        name: keys[derivable_keys(work, kept, name, keys, phase, wanted)]
        for name, keys in goals.items()
    }
    return {name: keys for name, keys in found.items() if len(keys)}


def remaining(work: Work, kept: CompiledStratum, dropped: Batch) -> Batch:
    """Facts that were taken away and still follow: they are stated, an aggregate derives them, or
    some instance over what survives.

    Groups were computed already, so the counter tells what aggregates derive. That it also counts
    other nonrecursive rules does no harm.
    """
    summarised = {family.head.relation for family in kept.aggregating}

    def known(name: RelationKey, keys: Keys) -> Bools:
        return work.supported(name, keys) if name in summarised else work.stated(name, keys)

    rest = work.filter(dropped, lambda name, keys: ~known(name, keys))
    return united(work.filter(dropped, known), derivable(work, kept, rest, "rederivation"))


def has_proof(work: Work, kept: CompiledStratum) -> Test:
    """Which facts follow without a recursive rule: stated ones, and what rules derive backwards."""
    summarised = {family.head.relation for family in kept.aggregating}

    def follows(name: RelationKey, keys: Keys) -> Bools:
        if name in summarised:  # groups were computed already; see `remaining`
            return work.supported(name, keys)
        found = work.stated(name, keys)
        rest = np.flatnonzero(~found)
        if len(rest):
            found[rest] = derivable_keys(
                work, kept, name, keys[rest], "saturation", lambda family: not family.recursive
            )
        return found

    return follows


def concluding(work: Work, kept: CompiledStratum, name: RelationKey, keys: Keys) -> list[Family]:
    """The families that may conclude some facts of a relation: types those of their classes."""
    type_id = work.type_id
    if name != type_id or len(keys) > MAINTENANCE.many_goals:
        return kept.concluded(name)
    return kept.concluded_types(type_id, dict.fromkeys(high(keys).tolist()))


def derivable_keys(
    work: Work,
    kept: CompiledStratum,
    name: RelationKey,
    keys: Keys,
    phase: str,
    wanted: Callable[[Family], bool] | None = None,
    setting: Setting | None = None,
) -> Bools:
    """`derivable` for sorted, distinct facts of one relation.

    setting  the facts that bodies and negations look at, if not those that survive
    """
    facts = CheckedFacts()
    nots = setting or work.union()
    setting = setting or work.survivors()
    numbers = facts.add(name, keys)
    for family in concluding(work, kept, name, keys):
        open_ = np.flatnonzero(~facts.has(numbers, PROVED))
        if len(open_) == 0:
            break
        if wanted is not None and not wanted(family):
            continue
        if len(open_) > MAINTENANCE.many_goals:
            open_ = open_[_possible(family, name, keys[open_], setting)]
            if len(open_) == 0:
                continue
        pieces = Pieces(work.run, facts, family, name, setting, body=False)
        pieces.open(keys[open_], open_)
        many = _FIRST
        while len(open_ := open_[facts.waiting[open_] > 0]):
            need = np.zeros(facts.count, dtype=np.int64)
            need[open_] = many
            rows, n = pieces.pull(open_, need, setting, nots)
            if n:
                proved = rows[family.width]
                assert proved is not None
                facts.mark(proved.astype(np.int64), PROVED)
                open_ = open_[~facts.has(open_, PROVED)]
            many = min(2 * many, _MOST)
        # rows of decided facts that still wait are of this family only
        facts.waiting[:] = 0
    proved_now = facts.has(numbers, PROVED)
    work.run.instances[phase] += int(np.count_nonzero(proved_now))
    return proved_now


def _possible(family: Family, name: RelationKey, keys: Keys, setting: Setting) -> Bools:
    """Which of many goals have only such terms as small atoms of the family's body allow. Where
    little can be concluded, this is much less than following every goal into the body."""
    found = np.ones(len(keys), dtype=np.bool_)
    if family.head.relation != name:
        return found  # of a variable property
    columns = dict(zip(family.head.terms, columns_of(keys, len(family.head.terms)), strict=True))
    for atom in family.body:
        given = [place for place, term in enumerate(atom.terms) if term < 0]
        free = [term for term in atom.terms if term >= 0]
        if atom.relation == ANY or columns.keys().isdisjoint(free):
            continue
        view = setting.view(atom.relation)
        if 4 * view.estimate(given) > len(keys):
            continue
        rows = view.scan(given, [-atom.terms[place] for place in given])
        for term, values in zip(free, rows, strict=True):
            if term in columns:
                found &= in_sorted(columns[term], np.unique(values))
    return found
