"""Aggregates: the groups of the matches of a body, and their results.

Start at `regroup`. It finds the results that an aggregate rule had for the groups that a change
touches, and has now. Other groups are not computed. The body of an aggregate is in lower strata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from triplestore.data_classes import data_class
from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.evaluation import Around
from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.evaluate_columns import Scope, evaluate
from triplestore.expressions.vectors import ids_of
from triplestore.maintenance.update_state import Work, distinct_batch
from triplestore.operators.frame import Frame
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import without
from triplestore.relations.packed_keys import U32, Keys, columns_of, key_of
from triplestore.rules.body_plans import GROUPS, plan_for
from triplestore.rules.families import Family
from triplestore.rules.strata import CompiledStratum
from triplestore.thread_limits import needs

_NUMBERING = 48  # bytes of a row while its group is numbered
_RESULT = 48  # of a result while it is made a term


@data_class(frozen=False)
class Regrouped:
    """Facts that aggregate rules concluded before but not now, and now but not before."""

    lost: dict[RelationKey, Keys] = field(default_factory=dict)
    gained: dict[RelationKey, Keys] = field(default_factory=dict)


def regroup(
    work: Work, stratum: CompiledStratum, gone: Sequence[Batch], added: Sequence[Batch]
) -> Regrouped:
    """The changes of the aggregates of a stratum by changes below it, given in pieces."""
    touched: dict[int, tuple[Family, list[Keys]]] = {}
    old, new = work.old(), work.new()
    # A negated atom is triggered by the opposite changes.
    for setting, positive, negative in ((old, gone, added), (new, added, gone)):
        for family, item, batch in _triggered(work, stratum, positive, negative):
            around = Around.all_of(setting)
            rows, n = work.run.changed(family, item, batch, around, "aggregates")
            if n:
                groups = _group_keys(family, rows, n)
                touched.setdefault(family.number, (family, []))[1].append(groups)
    found = Regrouped()
    for family, pieces in touched.values():
        keys = np.unique(np.concatenate(pieces))
        before, after = Heads(), Heads()
        summarise(work, family, keys, old, before)
        summarise(work, family, keys, new, after)
        _difference(before, after, found)
    return found


def _triggered(
    work: Work, stratum: CompiledStratum, positive: Sequence[Batch], negative: Sequence[Batch]
) -> list[tuple[Family, int, Batch]]:
    found = []
    for batches, wanted in ((positive, False), (negative, True)):
        for batch in batches:
            for family, item in stratum.summed.of(batch, work.type_id):
                if (item >= len(family.body)) == wanted:
                    found.append((family, item, batch))
    return found


def _difference(before: Heads, after: Heads, found: Regrouped) -> None:
    """A rule concludes a fact once, so sets can be compared."""
    was, now = distinct_batch(before.taken()), distinct_batch(after.taken())
    for target, one, other in ((found.lost, was, now), (found.gained, now, was)):
        for name, keys in one.items():
            left = without(keys, other[name]) if name in other else keys
            if len(left):
                target[name] = np.concatenate([target[name], left]) if name in target else left


def _group_keys(family: Family, rows: Bindings, n: int) -> Keys:
    assert family.summary is not None
    columns = [rows[v] for v in family.summary.groups]
    if not columns:
        return np.zeros(1, dtype=np.uint32)
    return np.unique(key_of([c for c in columns if c is not None]))


def summarise_whole(work: Work, family: Family, setting: Setting, heads: Heads, phase: str) -> None:
    """All conclusions of an aggregate rule."""
    rows, n = work.run.whole(family, setting, phase)
    _conclude(work, family, rows, n, heads)


def summarise(work: Work, family: Family, groups: Keys, setting: Setting, heads: Heads) -> None:
    """The conclusions of an aggregate rule for some groups."""
    assert family.summary is not None
    wanted = family.summary.groups
    if not wanted:
        summarise_whole(work, family, setting, heads, "aggregates")
        return
    rows: Bindings = [None] * (family.width + 1)
    for variable, column in zip(wanted, columns_of(groups, len(wanted)), strict=True):
        rows[variable] = column
    plan = plan_for(family, GROUPS, setting)
    found, n = work.run.follow(family, plan, rows, len(groups), setting, "aggregates")
    _conclude(work, family, found, n, heads)


def _conclude(work: Work, family: Family, rows: Bindings, n: int, heads: Heads) -> None:
    """One instance for each group of the rows of a frame."""
    summary, terms = family.summary, work.terms
    assert summary is not None and terms is not None
    if n == 0:
        return
    work.run.at = family
    needs(_NUMBERING * n)
    groups, first = _numbered(rows, summary.groups, n)
    count = len(first)
    named = [
        (name, column)
        for name, column in zip(family.variables, rows, strict=False)
        if column is not None
    ]
    frame = Frame(tuple(name for name, _ in named), [column for _, column in named], n)
    scope = Scope(terms)
    made: Bindings = [None] * len(rows)
    for variable in summary.groups:
        column = rows[variable]
        assert column is not None
        made[variable] = column[first]
    known = np.ones(count, dtype=np.bool_)
    for variable, result in zip(summary.targets, summary.results, strict=True):
        function, argument, distinct, separator = result
        vector = None if argument is None else evaluate(argument, frame, scope)
        value = aggregate(
            function, vector, groups, count, terms, distinct=distinct, separator=separator
        )
        needs(_RESULT * count)
        ids: U32 = terms.settle(ids_of(value, terms))
        made[variable] = ids
        known &= ids != 0
    if not known.all():
        made = [None if column is None else column[known] for column in made]
    conclude(family, made, int(np.count_nonzero(known)), work.type_id, heads)


def _numbered(rows: Bindings, groups: tuple[int, ...], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The group of each row, and the first row of each group."""
    columns = [column for v in groups if (column := rows[v]) is not None]
    if not columns:
        return np.zeros(n, dtype=np.int64), np.zeros(1, dtype=np.int64)
    _, first, index = np.unique(key_of(columns), return_index=True, return_inverse=True)
    return index.astype(np.int64), first
