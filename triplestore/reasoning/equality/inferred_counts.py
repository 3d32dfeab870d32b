"""What changed under equality by rewriting, counted as users see it.

Start reading at `inferred_change`. The engine counts facts of representatives; each stands for as
many as its members can be chosen in ways. Where no class changed, that is a product for each row;
where classes changed, the rows that they touch are written out before and after, if they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.reasoning.asserted_changes import touched_facts
from triplestore.reasoning.outcome import InferredCounts, WriteStep
from triplestore.reasoning.thresholds import REASONING
from triplestore.reasoning.visible import is_triple
from triplestore.relations import INFERRED, Tables
from triplestore.relations.packed_keys import NO_KEYS, U64, high, in_sorted, low, pack
from triplestore.relations.views.equality import (
    NO_CLASSES,
    Classes,
    Equality,
    KeysByName,
    equality_of,
    touched_rows,
)
from triplestore.relations.views.plain import PlainRelation

if TYPE_CHECKING:
    from triplestore.terms import Dictionary


def hidden_beyond(equality: Equality | None, dictionary: Dictionary) -> int:
    """How many more facts that are not triples of RDF members have than their representatives;
    counted once for each state."""
    if equality is None:
        return 0
    if equality.hidden is None:
        equality.hidden = _hidden_beyond(equality.tables, equality.classes, dictionary)
    return equality.hidden


def _hidden_beyond(tables: Tables, classes: Classes, dictionary: Dictionary) -> int:
    more = 0
    for name, keys in touched_rows(tables, classes.reps).items():
        odd = ~is_triple(dictionary, high(keys), np.full(len(keys), name, dtype=np.uint32))
        sizes = classes.sizes(high(keys[odd])) * classes.sizes(low(keys[odd]))
        more += int((sizes - 1).sum())
    return more


def inferred_change(
    before: Tables,
    after: Tables,
    steps: Sequence[WriteStep],
    told: tuple[KeysByName, KeysByName],
    check: Callable[[], None],
) -> InferredCounts:
    """What changed, as users see it: exactly, but in large relations of changed classes.

    steps  of the tables of representatives
    told   what was asserted, and removed, in its own terms
    check  raises if it is time to stop
    """
    plus, minus = told
    was, now = _equality(before), _equality(after)
    touched = touched_facts(steps)
    old, new = _changed_rows(was, now[0]), _changed_rows(now, was[0])
    come = gone = still = 0
    names = touched.keys() | plus.keys() | minus.keys() | old.keys() | new.keys()
    for name in names | was[1].closed.keys() | now[1].closed.keys():
        check()
        here = touched.get(name, NO_KEYS)
        if name in was[1].closed or name in now[1].closed:
            added, removed = _compared(before.relation(name), after.relation(name))
        elif old or new:
            rows = [np.union1d(here, some.get(name, NO_KEYS)) for some in (old, new)]
            added, removed = _expanded(name, rows, (was, now), (before, after))
        else:
            own = plus.get(name, NO_KEYS), minus.get(name, NO_KEYS)
            added, removed = _multiplied(name, here, was[0], (was[1], now[1]), own)
        come, gone = come + added, gone + removed
        if name in minus:
            status = after.relation(name).status_of_keys(minus[name])
            still += int(np.count_nonzero(status == INFERRED))
    return InferredCounts(come, gone, still)


def _changed_rows(state: tuple[Classes, Tables], other: Classes) -> KeysByName:
    """The facts of representatives that stand for others than with other classes."""
    classes, tables = state
    if classes == other:
        return {}
    one, two = (pack(some.members, some.heads) for some in (classes, other))
    changed = high(np.setxor1d(one, two))
    return touched_rows(tables, np.unique(classes.representatives(changed)))


def _expanded(
    name: int,
    rows: list[U64],
    states: tuple[tuple[Classes, Tables], tuple[Classes, Tables]],
    seen: tuple[Tables, Tables],
) -> tuple[int, int]:
    """How many facts are inferred now and did not hold, and the other way round, of those that
    these rows, before and after, stand for."""
    found = []
    size = 0
    for keys, (classes, tables) in zip(rows, states, strict=True):
        held = keys[tables.relation(name).status_of_keys(keys) != 0]
        size += int((classes.sizes(high(held)) * classes.sizes(low(held))).sum())
        found.append(held)
    if size > REASONING.equality_compared:
        more = seen[1].relation(name).inferred - seen[0].relation(name).inferred
        return max(more, 0), max(-more, 0)
    old, new = (
        np.sort(pack(*classes.expand_rows((high(keys), low(keys)))))
        for keys, (classes, _) in zip(found, states, strict=True)
    )
    come, gone = new[~in_sorted(new, old)], old[~in_sorted(old, new)]
    before, after = (tables.relation(name) for tables in seen)
    added = (after.status_of_keys(come) == INFERRED) & (before.status_of_keys(come) == 0)
    removed = (before.status_of_keys(gone) == INFERRED) & (after.status_of_keys(gone) == 0)
    return int(np.count_nonzero(added)), int(np.count_nonzero(removed))


def _equality(tables: Tables) -> tuple[Classes, Tables]:
    found = equality_of(tables)
    return (NO_CLASSES, tables) if found is None else (found.classes, found.tables)


def _compared(old: PlainRelation, new: PlainRelation) -> tuple[int, int]:
    """How many facts are inferred now and did not hold, and the other way round."""
    if len(old) + len(new) > REASONING.equality_compared:
        more = new.inferred - old.inferred
        return max(more, 0), max(-more, 0)
    come = ~in_sorted(new.keys(where=INFERRED), old.keys())
    gone = ~in_sorted(old.keys(where=INFERRED), new.keys())
    return int(np.count_nonzero(come)), int(np.count_nonzero(gone))


def _multiplied(
    name: int, keys: U64, classes: Classes, tables: tuple[Tables, Tables], told: tuple[U64, U64]
) -> tuple[int, int]:
    """The same by the facts of representatives that came and went, each for its members."""
    held, holds = (one.relation(name).status_of_keys(keys) != 0 for one in tables)
    sizes = classes.sizes(high(keys)) * classes.sizes(low(keys))
    found = []
    for moved, own in ((holds & ~held, told[0]), (held & ~holds, told[1])):
        of_moved = np.count_nonzero(in_sorted(classes.images(own), keys[moved]))
        found.append(int(sizes[moved].sum()) - int(of_moved))
    return found[0], found[1]
