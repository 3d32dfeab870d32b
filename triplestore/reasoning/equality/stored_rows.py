"""Rows under equality by rewriting: the input of the engine, and what is stored of its result.

Start reading at `AssertedRepresentatives.change` and `stored_changes`, which are two ends of one
update. The tables of representatives have asserted facts in representatives; the stored rows have
them in their own terms, and beside them what is inferred in representatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.reasoning.asserted_changes import touched_facts
from triplestore.reasoning.outcome import WriteStep
from triplestore.reasoning.thresholds import REASONING
from triplestore.relations import EXPLICIT, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.changes import NO_FACTS
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U8,
    U32,
    U64,
    Bools,
    Keys,
    columns_of,
    distinct,
    high,
    in_sorted,
    key_of,
    low,
    pack,
)
from triplestore.relations.views.equality import (
    MEMBERS,
    MEMBERS_KEY,
    Classes,
    KeysByName,
    touched_rows,
)
from triplestore.relations.views.plain import PlainRelation

if TYPE_CHECKING:
    from triplestore.terms import Dictionary

NO_TUPLES = ChangedRows.of(([], [], []))

_EXPLICIT = np.uint8(EXPLICIT)


class RepresentativeChanges(NamedTuple):
    """Facts of representatives that are newly asserted or no longer, and the rows that say so."""

    plus: KeysByName
    minus: KeysByName
    layer: Layer


class AssertedRepresentatives:
    """The asserted facts of representatives when classes or asserted facts change.

    stored    rows as they are asserted now
    old, new  classes before and after
    """

    def __init__(self, stored: Tables, old: Classes, new: Classes, same_as: int) -> None:
        self._stored = stored
        self._old = old
        self._new = new
        self._same_as = same_as

    def change(self, closed: Tables, plus: KeysByName, minus: KeysByName) -> RepresentativeChanges:
        """What changes in the tables of representatives, if these facts were asserted, and these
        removed, each in its own terms."""
        come, gone = self._candidates(plus, minus)
        added: KeysByName = {}
        removed: KeysByName = {}
        rows: list[ChangedRows] = []
        for name in sorted(come.keys() | gone.keys()):
            relation = closed.stored_relation(name)
            images = come.get(name, NO_KEYS)
            status, count = relation.look_up_keys(images)
            fresh = (status & _EXPLICIT) == 0
            lost = self._unfounded(name, gone.get(name, NO_KEYS), images)
            was, kept = relation.look_up_keys(lost)
            stated = (was & _EXPLICIT) != 0
            added[name], removed[name] = images[fresh], lost[stated]
            rows.append(_rows(name, images[fresh], EXPLICIT, status[fresh], count[fresh]))
            rows.append(_rows(name, lost[stated], 0, was[stated], kept[stated]))
        facts = _joined(rows)
        return RepresentativeChanges(added, removed, Layer.build(Changes(facts=facts)))

    def _candidates(self, plus: KeysByName, minus: KeysByName) -> tuple[KeysByName, KeysByName]:
        """The images, new and old, of all facts that changed or have other images now."""
        old, new = self._old, self._new
        rows: KeysByName = {}
        if old != new:
            ids = np.union1d(old.members, new.members)
            moved = ids[old.representatives(ids) != new.representatives(ids)]
            rows = touched_rows(self._stored, moved, EXPLICIT)
        come: KeysByName = {}
        gone: KeysByName = {}
        for name in rows.keys() | plus.keys() | minus.keys():
            here, p = rows.get(name, NO_KEYS), plus.get(name, NO_KEYS)
            before = here[~in_sorted(here, p)]
            come[name] = _images(new, (here, p))
            gone[name] = _images(old, (before, minus.get(name, NO_KEYS)))
        for facts, one, other in ((come, new, old), (gone, old, new)):
            reps = NO_IDS if old == new else np.setdiff1d(one.reps, other.reps)
            if len(reps):
                known = facts.get(self._same_as, NO_KEYS)
                facts[self._same_as] = np.union1d(known, pack(reps, reps))
        return come, gone

    def _unfounded(self, name: int, keys: U64, come: U64) -> U64:
        """Those of some facts of representatives that are the image of no asserted fact."""
        keys = keys[~in_sorted(keys, come)]
        if not len(keys):
            return keys
        if name == self._same_as:  # of a class it is always asserted
            keep = ~((high(keys) == low(keys)) & in_sorted(high(keys), self._new.reps))
            keys = keys[keep]
        current = self._new.images(keys) == keys
        founded = np.zeros(len(keys), dtype=np.bool_)
        founded[current] = self._are_founded(name, keys[current])
        return keys[~founded]

    def _are_founded(self, name: int, keys: U64) -> Bools:
        """Which facts of representatives are the image of a fact that is asserted now."""
        relation, classes = self._stored.relation(name), self._new
        one, other = high(keys), low(keys)
        founded: Bools = (relation.status_of_keys(keys) & _EXPLICIT) != 0
        (many,) = ((classes.sizes(one) > 1) | (classes.sizes(other) > 1)).nonzero()
        (open_,) = (~founded[many]).nonzero()
        places = many[open_]
        if not len(places):
            return founded
        ends = (one[places], other[places])
        costs = [self._cost(relation, place, ends[place]) for place in (0, 1)]
        for place, chosen in ((0, costs[0] <= costs[1]), (1, costs[0] > costs[1])):
            at = places[chosen]
            index, members = classes.expand(ends[place][chosen])
            found, (free,) = relation.probe((place,), (members,), EXPLICIT)
            wanted = ends[1 - place][chosen][index[found]]
            founded[at[index[found[classes.representatives(free) == wanted]]]] = True
        return founded

    def _cost(self, relation: PlainRelation, place: int, ends: U32) -> I64:
        """About how many rows are looked at to find the facts of all for which these stand."""
        sizes = self._new.sizes(ends)
        return np.where(sizes > 1, 2 * sizes, relation.fanout((place,), (ends,)))


def _images(classes: Classes, parts: Iterable[U64]) -> U64:
    keys = np.concatenate([*parts])
    images = classes.images(keys)
    images.sort()
    return distinct(images)


# -- what is stored -------------------------------------------------------------------------------


class StoredChange(NamedTuple):
    """The rows that a commit writes beside asserted facts; as changes, if they are few."""

    step: WriteStep
    layer: Layer


def stored_changes(
    stored: Tables,
    closed: Tables,
    steps: Sequence[WriteStep],
    told: Iterable[KeysByName],
    before: Classes,
    after: Classes,
    same_as: int,
    dictionary: Dictionary,
) -> StoredChange:
    """The changes of the stored rows.

    stored  as what was asserted left them
    closed  the new tables of representatives, to which the steps led
    told    the facts that were asserted and removed, in their own terms
    """
    touched = touched_facts(steps)
    for facts in told:
        for name, keys in facts.items():
            touched[name] = np.union1d(touched.get(name, NO_KEYS), keys)
    rows: list[ChangedRows] = []
    for name, keys in touched.items():
        previous, counted = stored.stored_relation(name).look_up_keys(keys)
        held, count = closed.stored_relation(name).look_up_keys(keys)
        if name == same_as:  # what classes say is not stored
            held[(high(keys) == low(keys)) & in_sorted(high(keys), after.reps)] = 0
        status: U8 = np.where(
            (previous & _EXPLICIT) != 0, EXPLICIT, np.where(held != 0, INFERRED, 0)
        )
        status = status.astype(np.uint8)
        count = np.where(held != 0, count, 0).astype(np.uint32)
        moved = (status != previous) | ((count != counted) & (status != 0))
        rows.append(_rows(name, keys[moved], status[moved], previous[moved], count[moved]))
    tuples = _tuples(stored, closed, steps)
    members = _members(before, after)
    if len(members):
        (name,) = dictionary.encode_keys([MEMBERS_KEY]).tolist()
        tuples[name, MEMBERS] = members
    changes = Changes(facts=_joined(rows), tuples=tuples)
    layer = Layer.build(changes)
    return StoredChange(changes if len(changes) < REASONING.equality_layer_rows else layer, layer)


def _tuples(
    stored: Tables, closed: Tables, steps: Sequence[WriteStep]
) -> dict[tuple[int, int], ChangedRows]:
    """The rows of other relations, which must be the same in both tables."""
    parts: dict[tuple[int, int], list[Keys]] = {}
    for step in steps:
        for name, rows in step.tuples.items():
            columns = rows.columns if isinstance(rows, ChangedRows) else rows.columns()
            parts.setdefault(name, []).append(key_of(columns))
    found = {}
    for name, keys in parts.items():
        columns = columns_of(np.unique(np.concatenate(keys)), name[1])
        before, after = stored.tuples(*name), closed.tuples(*name)
        status, count = after.status_of(columns), after.count_of(columns)
        found[name] = ChangedRows.of(columns, status, before.status_of(columns), count)
    return found


def _members(before: Classes, after: Classes) -> ChangedRows:
    """The changed members of classes: rows (member, representative, representative)."""
    if before == after:
        return NO_TUPLES
    old, new = (pack(classes.members, classes.heads) for classes in (before, after))
    come, gone = np.setdiff1d(new, old), np.setdiff1d(old, new)
    keys = np.concatenate((come, gone))
    now = np.repeat(np.array([INFERRED, 0], dtype=np.uint8), [len(come), len(gone)])
    was = np.repeat(np.array([0, INFERRED], dtype=np.uint8), [len(come), len(gone)])
    return ChangedRows.of((high(keys), low(keys), low(keys)), now, was)


def _rows(name: int, keys: U64, status: object, previous: object, count: object) -> ChangedRows:
    columns = (np.full(len(keys), name, dtype=np.uint32), high(keys), low(keys))
    return ChangedRows.of(columns, status, previous, count)


def _joined(parts: Sequence[ChangedRows]) -> ChangedRows:
    filled = [part for part in parts if len(part)]
    return ChangedRows.concat(filled) if filled else NO_FACTS
