"""Backward evaluation: which facts some rule still derives.

Start reading at `remaining` and `derivable`. One instance of each fact is enough, so few are asked
for at first.
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

FactTest: TypeAlias = Callable[[RelationKey, Keys], Bools]
"""Tests which facts have some property."""

_FIRST, _MOST = 4, 1 << 40
"""Number of instances of each fact that are looked for at first, and at most."""


def derivable(
    work: Work,
    kept: CompiledStratum,
    goals: Batch,
    phase: str,
    wanted: Callable[[Family], bool] | None = None,
) -> Batch:
    """The goals that some instance over the surviving facts concludes.

    One instance for each is counted, as in the papers; the fetched rows show how many were read.

    wanted  which families to try, if not all
    """
    found = {
        name: keys[derivable_keys(work, kept, name, keys, phase, wanted)]
        for name, keys in goals.items()
    }
    return {name: keys for name, keys in found.items() if len(keys)}


def remaining(work: Work, kept: CompiledStratum, dropped: Batch) -> Batch:
    """Deleted facts that still hold: they are asserted, or an aggregate or an instance over the
    surviving facts derives them.

    Groups were computed already, so the counter shows whether an aggregate derives a fact. It also
    counts other nonrecursive rules, which does no harm.
    """
    summarised = {family.head.relation for family in kept.aggregating}

    def known(name: RelationKey, keys: Keys) -> Bools:
        return work.supported(name, keys) if name in summarised else work.asserted(name, keys)

    rest = work.filter(dropped, lambda name, keys: ~known(name, keys))
    return united(work.filter(dropped, known), derivable(work, kept, rest, "rederivation"))


def has_proof(work: Work, kept: CompiledStratum) -> FactTest:
    """Tests which facts hold without a recursive rule: asserted ones, and those that nonrecursive
    rules derive (evaluated backward)."""
    summarised = {family.head.relation for family in kept.aggregating}

    def follows(name: RelationKey, keys: Keys) -> Bools:
        if name in summarised:  # groups were computed already; see `remaining`
            return work.supported(name, keys)
        found = work.asserted(name, keys)
        rest = np.flatnonzero(~found)
        if len(rest):
            found[rest] = derivable_keys(
                work, kept, name, keys[rest], "saturation", lambda family: not family.recursive
            )
        return found

    return follows


def concluding(work: Work, kept: CompiledStratum, name: RelationKey, keys: Keys) -> list[Family]:
    """The families that may conclude some facts of a relation; for types, those of their
    classes."""
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

    setting  the facts for bodies and negations, if not the surviving ones
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
        # the rows that still wait belong to this family, and to facts that are decided
        facts.waiting[:] = 0
    proved_now = facts.has(numbers, PROVED)
    work.run.instances[phase] += int(np.count_nonzero(proved_now))
    return proved_now


def _possible(family: Family, name: RelationKey, keys: Keys, setting: Setting) -> Bools:
    """Which goals have only terms that the small atoms of the family's body allow. If few facts can
    be concluded, this costs much less than following every goal into the body."""
    found = np.ones(len(keys), dtype=np.bool_)
    if family.head.relation != name:
        return found  # its property is a variable
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
