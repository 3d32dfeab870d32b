"""Equality by rewriting beside a scope of named graphs.

Start reading at `change_of_scope`. The rows of what these graphs assert (see `graph_scope.py`) are
stored in their own terms, like asserted facts. The tables of representatives have their images,
from which the rules of the scope conclude facts of representatives. So a merge or a split of
classes changes such rows as it changes asserted facts. `AssertedInScope` has all asserted facts, of
the default graph and of the scope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from triplestore.datalog.program import TYPE
from triplestore.reasoning.program.graph_scope import ARITY, batch_name, facts_of_rows
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables
from triplestore.relations.packed_keys import (
    NO_IDS,
    NO_KEYS,
    Bools,
    Keys,
    columns_of,
    in_sorted,
    key_of,
)
from triplestore.relations.views.equality import (
    TOLD_KEY,
    Classes,
    KeysByName,
    images_of_rows,
    rows_of_ids,
)
from triplestore.relations.views.plain import PlainRelation

if TYPE_CHECKING:
    from triplestore.terms import Dictionary

NO_ROWS = key_of((NO_IDS,) * ARITY)

_EXPLICIT = np.uint8(EXPLICIT)


class AssertedRelations(Protocol):
    """Gives the asserted facts, relation by relation."""

    def relation(self, name: int) -> PlainRelation:
        """The facts of one property; those of them that are asserted are explicit."""


class AssertedInScope:
    """The asserted facts of the default graph and of the graphs of the scope.

    stored  rows as they are stored
    """

    def __init__(self, stored: Tables, dictionary: Dictionary) -> None:
        self._stored = stored
        self._scope, self._type_id = dictionary.lookup_keys([TOLD_KEY, TYPE.key]).tolist()
        self._known: dict[int, PlainRelation] = {}

    def relation(self, name: int) -> PlainRelation:
        """The facts of one property: where graphs of the scope state some, the asserted ones."""
        if name not in self._known:
            self._known[name] = self._relation(name)
        return self._known[name]

    def in_scope(self, s: int, p: int, o: int) -> bool:
        """Whether a graph of the scope asserts a fact."""
        if not self._scope:
            return False
        row = (p, o, s) if p == self._type_id else (p, s, o)
        columns = tuple(np.array([one], dtype=np.uint32) for one in row)
        return bool(self._stored.tuples(self._scope, ARITY).status_of(columns)[0])

    def _relation(self, name: int) -> PlainRelation:
        plain: PlainRelation = self._stored.relation(name)
        if not self._scope:
            return plain
        rows = self._stored.tuples(self._scope, ARITY)
        _, (first, second) = rows.probe((0,), (np.array([name], dtype=np.uint32),))
        if not len(first):
            return plain
        s, o = (second, first) if name == self._type_id else (first, second)
        own = plain.keys(where=EXPLICIT)
        keys = np.union1d(own, key_of((s, o)))
        columns = (np.full(len(keys), name, dtype=np.uint32), *columns_of(keys, 2))
        layer = Layer.build(Changes(facts=ChangedRows.of(columns)))
        found: PlainRelation = Tables([layer]).relation(name)
        return found


def scope_name(dictionary: Dictionary) -> int:
    """The name of the relation, 0 if no scope was ever asked for."""
    return batch_name(dictionary)[0]


class ScopeChange(NamedTuple):
    """Rows that come and go in the tables of representatives, and what says so there."""

    name: tuple[int, int]
    plus: Keys
    minus: Keys
    rows: ChangedRows

    @property
    def layer(self) -> Layer:
        """The layer that says so."""
        return Layer.build(Changes(tuples={self.name: self.rows}))


def change_of_scope(
    name: int,
    same_as: int,
    stored: Tables,
    closed: Tables,
    classes: tuple[Classes, Classes],
    plus: Keys,
    minus: Keys,
) -> ScopeChange:
    """What changes in the tables of representatives when classes change, or what graphs state.

    stored       rows in their own terms, as graphs state them now
    closed       the tables of representatives
    classes      before and after
    plus, minus  rows that came and went, in their own terms
    """
    old, new = classes
    here = NO_ROWS
    if old != new:
        ids = np.union1d(old.members, new.members)
        moved = ids[old.representatives(ids) != new.representatives(ids)]
        here = rows_of_ids(stored, name, np.union1d(moved, np.setxor1d(old.reps, new.reps)))
    come = images_of_rows(new, np.concatenate((here, plus)), same_as)
    gone = images_of_rows(old, np.concatenate((here[~in_sorted(here, plus)], minus)), same_as)
    relation = closed.tuples(name, ARITY)
    come = come[(relation.status_of(columns_of(come, ARITY)) & _EXPLICIT) == 0]
    lost = gone[(relation.status_of(columns_of(gone, ARITY)) & _EXPLICIT) != 0]
    lost = lost[~_are_founded(name, same_as, stored, new, lost)]
    rows = [_rows(come, EXPLICIT, 0), _rows(lost, 0, EXPLICIT)]
    return ScopeChange((name, ARITY), come, lost, ChangedRows.concat(rows))


def _are_founded(name: int, same_as: int, stored: Tables, classes: Classes, rows: Keys) -> Bools:
    """Which rows of representatives are the image of a row that is there now."""
    founded = np.zeros(len(rows), dtype=np.bool_)
    names, first, second = columns_of(rows, ARITY)
    current = classes.representatives(first) == first
    current &= ~((names == same_as) & (first == second) & in_sorted(first, classes.reps))
    (places,) = (current & (classes.representatives(second) == second)).nonzero()
    relation = stored.tuples(name, ARITY)
    ends = first[places], second[places]
    fewer = classes.sizes(ends[0]) <= classes.sizes(ends[1])
    for place, chosen in ((1, fewer), (2, ~fewer)):
        at = places[chosen]
        index, members = classes.expand(ends[place - 1][chosen])
        found, (free,) = relation.probe((0, place), (names[at][index], members))
        wanted = ends[2 - place][chosen][index[found]]
        founded[at[index[found[classes.representatives(free) == wanted]]]] = True
    return founded


def _rows(rows: Keys, status: int, previous: int) -> ChangedRows:
    return ChangedRows.of(columns_of(rows, ARITY), status, previous)


def with_scope_facts(facts: KeysByName, rows: Keys, type_id: int) -> KeysByName:
    """Facts together with those of rows of the scope; each set sorted and distinct."""
    if not len(rows):
        return facts
    found = dict(facts)
    for name, keys in facts_of_rows(rows, type_id).items():
        found[name] = np.union1d(found.get(name, NO_KEYS), keys)
    return found
