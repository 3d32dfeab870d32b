"""Equality by rewriting: tables in which one individual stands for all individuals equal to it.

Start reading at `Equality`. Stored rows are the asserted facts in their own terms, and inferred
facts of representatives only (without `r owl:sameAs r`, which the classes imply).
`representatives` makes the tables that rules see: each asserted fact is replaced by its image, in
which representatives stand for their members. `ExpandedRelation` is what users see of a relation:
each fact of representatives once for each choice of members.

Always true: classes are disjoint and have at least two members; the tables of representatives
contain no member that is not a representative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from triplestore.relations.changes import NO_FACTS, ChangedRows, Changes, TupleName
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.sorted_order import bounded_groups
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Columns,
    Keys,
    columns_of,
    distinct,
    frozen,
    high,
    in_sorted,
    key_of,
    low,
    pack,
    start_of_runs,
)
from triplestore.relations.pair_relation import PairRelation
from triplestore.relations.relation import BLOCK
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.tables import Tables
from triplestore.relations.views.plain import PlainRelation

EQUALITY = 0
"""Where tables have their equality among their schemes: no relation has this name."""

MEMBERS_KEY, MEMBERS = b"\x01x-triplestore:equality/member", 3
"""The name and the number of columns of the stored relation of members: (member, representative,
the same)."""

TOLD_KEY, TOLD = b"\x01x-triplestore:scope/stated", 3
"""The name and the number of columns of the stored relation of the facts that named graphs in scope
assert: (property, subject, object); for types (rdf:type, class, member). Its rows are stored in
their own terms, like asserted facts.
"""

SUBJECT, OBJECT = 0, 1

KeysByName = dict[int, U64]
"""Rows by predicate, as packed keys (subject, object), sorted and distinct."""


class Classes:
    """Which individuals are the same: for each member of a class, its representative.

    >>> classes = Classes.of([5, 7, 9, 20, 21], [5, 5, 5, 21, 21])
    >>> classes.representatives(np.array([9, 4, 20], dtype=np.uint32)).tolist()
    [5, 4, 21]
    >>> classes.expand(np.array([4, 21], dtype=np.uint32))[1].tolist()
    [4, 20, 21]
    """

    __slots__ = ("_grouped", "_starts", "heads", "members", "reps")

    def __init__(self, members: U32, heads: U32) -> None:
        self.members = frozen(members)
        self.heads = frozen(heads)
        order = np.lexsort((members, heads))
        grouped = heads[order]
        self._starts = start_of_runs(grouped)
        self._grouped = frozen(members[order])
        self.reps = frozen(grouped[self._starts[:-1]])

    @classmethod
    def of(cls, members: Sequence[int] | U32, heads: Sequence[int] | U32) -> Classes:
        """Classes from members in any order, each with its representative."""
        ids = np.asarray(members, dtype=np.uint32)
        order = np.argsort(ids)
        return cls(ids[order], np.asarray(heads, dtype=np.uint32)[order])

    def __len__(self) -> int:
        return len(self.reps)

    def __repr__(self) -> str:
        return f"<{len(self.reps)} classes of {len(self.members)} members>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Classes):
            return NotImplemented
        if self is other:
            return True
        same = np.array_equal(self.members, other.members)
        return same and np.array_equal(self.heads, other.heads)

    def __hash__(self) -> int:
        return hash((self.members.tobytes(), self.heads.tobytes()))

    @property
    def replaced(self) -> U32:
        """The members that are not representatives, increasing."""
        found: U32 = self.members[self.members != self.heads]
        return found

    def is_member(self, ids: U32) -> Bools:
        """Which of these are in a class."""
        return in_sorted(ids, self.members)

    def representatives(self, ids: U32) -> U32:
        """The representative of each of these; the id itself if it is in no class."""
        if len(self.members) == 0 or len(ids) == 0:
            return ids
        places = np.searchsorted(self.members, ids)
        places[places == len(self.members)] = 0
        found: U32 = np.where(self.members[places] == ids, self.heads[places], ids)
        return found

    def images(self, keys: U64) -> U64:
        """Packed pairs with representatives in both places."""
        return pack(self.representatives(high(keys)), self.representatives(low(keys)))

    def sizes(self, reps: U32) -> I64:
        """The size of the class of each representative; 1 for other ids."""
        found = np.ones(len(reps), dtype=np.int64)
        if len(self.reps) and len(reps):
            places = np.searchsorted(self.reps, reps)
            places[places == len(self.reps)] = 0
            known = self.reps[places] == reps
            found[known] = np.diff(self._starts)[places[known]]
        return found

    def expand(self, reps: U32) -> tuple[I64, U32]:
        """The members of classes: (position in `reps`, member), members increasing by position."""
        sizes = self.sizes(reps)
        index = np.repeat(np.arange(len(reps)), sizes)
        found = reps[index]
        (places,) = (sizes > 1).nonzero()
        if len(places):
            at = np.searchsorted(self.reps, reps[places])
            begins = np.cumsum(sizes) - sizes
            within = np.arange(len(index)) - begins[index]
            many = sizes[index] > 1
            first = np.zeros(len(reps), dtype=np.int64)
            first[places] = self._starts[at]
            found = np.where(many, self._grouped[np.where(many, first[index] + within, 0)], found)
        return index, found.astype(np.uint32, copy=False)

    def of_same(self, rep: int) -> U32:
        """The members of one class, increasing; only the id itself if it is in no class."""
        return self.expand(np.array([rep], dtype=np.uint32))[1]

    def expand_rows(self, columns: Columns) -> Columns:
        """Rows of representatives, each once for each choice of members."""
        for place in range(len(columns)):
            index, members = self.expand(columns[place])
            columns = tuple(
                members if at == place else column[index] for at, column in enumerate(columns)
            )
        return columns


def kept_classes(stored: Tables, name: int) -> Classes:
    """The classes that are stored as rows, in a relation of this name."""
    parts = [*stored.tuples(name, MEMBERS).scan()] if name else []
    if not parts:
        return NO_CLASSES
    members, heads, _ = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Classes.of(members, heads)


NO_CLASSES = Classes(NO_IDS, NO_IDS)
"""No individual is equal to another one."""


class ExpandedRelation(PairRelation):
    """A relation of representatives, expanded to all members of their classes.

    relation   facts of representatives
    reflexive  for owl:sameAs, the members asserted to be the same as themselves: no other member
               is listed as such; None for any other relation
    """

    def __init__(
        self, relation: PlainRelation, classes: Classes, reflexive: U32 | None = None
    ) -> None:
        self.relation = relation
        self.classes = classes
        self._reflexive = reflexive
        self._count: int | None = None
        self._known: dict[int, U32] = {}

    def count(self) -> int:
        """The number of facts: only those with a representative are read."""
        if self._count is None:
            classes, reps = self.classes, self.classes.reps
            index, found = self.relation.probe((SUBJECT,), (reps,))
            more = int((classes.sizes(reps)[index] * classes.sizes(found[0]) - 1).sum())
            index, found = self.relation.probe((OBJECT,), (reps,))
            other = ~in_sorted(found[0], reps)
            more += int((classes.sizes(reps[index[other]]) - 1).sum())
            if self._reflexive is not None:
                more -= len(classes.members) - len(self._reflexive)
            self._count = len(self.relation) + more
        return self._count

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these facts there are."""
        held: Bools = self.relation.status_of_keys(self.classes.images(keys)) != 0
        if self._reflexive is not None:
            held &= ~self._unlisted(high(keys), low(keys))
        return held

    def _unlisted(self, one: U32, other: U32) -> Bools:
        """Which pairs have the same member twice and are not asserted."""
        assert self._reflexive is not None
        same = (one == other) & self.classes.is_member(one)
        unlisted: Bools = same & ~in_sorted(one, self._reflexive)
        return unlisted

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The facts with these ids in one place: (position in `values`, id in the other place)."""
        index, (found,) = self.relation.probe((place,), (self.classes.representatives(values),))
        if not in_sorted(found, self.classes.reps).any():
            return index, found
        at, members = self.classes.expand(found)
        index = index[at]
        if self._reflexive is not None:
            listed = ~self._unlisted(values[index], members)
            index, members = index[listed], members[listed]
        order = np.lexsort((members, index))
        return index[order], members[order]

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of facts with each of these ids in one place."""
        reps = self.classes.representatives(values)
        index, (found,) = self.relation.probe((place,), (reps,))
        sizes = np.bincount(index, self.classes.sizes(found), len(values)).astype(np.int64)
        if self._reflexive is not None:
            sizes -= self._unlisted(values, values)
        return sizes

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing."""
        found = self._known.get(column)
        if found is None:
            found = self.relation.distinct(column)
            if in_sorted(self.classes.reps, found).any():
                found = np.sort(self.classes.expand(found)[1])
            self._known[column] = found = frozen(found)
        return found

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All facts as sorted packed keys, in pieces; `swapped` with the object in front."""
        place = OBJECT if swapped else SUBJECT
        ends = self.distinct(place)
        for start, stop in bounded_groups(self.match_counts(place, ends), size):
            part = ends[start:stop]
            index, found = self.match(place, part)
            if len(index):
                yield pack(part[index], found)


class Equality:
    """The equality of some tables: classes, and the tables of representatives.

    tables   facts of representatives, closed
    stored   the rows that are stored, of which these are made
    same_as  the id of owl:sameAs
    names    predicates with which members may occur, if they are known
    told     the name of the relation of facts that named graphs assert, if there is one
    hidden   how many more facts that are not triples of RDF members have than representatives; None
             until they are counted, as after opening a store
    """

    compressed = False  # it is not described with the schemes of the tables

    def __init__(
        self,
        classes: Classes,
        tables: Tables,
        stored: Tables,
        same_as: int,
        names: Iterable[int] | None = None,
        told: int = 0,
    ) -> None:
        self._names = None if names is None else [*names]
        self._told = told
        self.classes = classes
        self.tables = tables
        self.same_as = same_as
        self.hidden: int | None = None
        self._stored = stored
        self._closures: list[tuple[int, Any, bool]] | None = None
        self._reflexive: U32 | None = None

    def __repr__(self) -> str:
        return f"<equality: {self.classes}>"

    def closures(self) -> list[tuple[int, Any, bool]]:
        """The relations that have more rows than are stored, in the form that tables expect."""
        if self._closures is None:
            self._closures = [(name, self.expanded(name), False) for name in self.names]
        return self._closures

    @property
    def names(self) -> list[int]:
        """The predicates with which a representative may occur."""
        if self._names is None:
            self._names = touched_names(self.tables, self.classes.reps).tolist()
        return self._names

    def expanded(self, name: int) -> ExpandedRelation:
        """All facts with this predicate."""
        reflexive = self.reflexive if name == self.same_as else None
        return ExpandedRelation(self.tables.relation(name), self.classes, reflexive)

    @property
    def reflexive(self) -> U32:
        """The members that are asserted to be the same as themselves, increasing."""
        if self._reflexive is None:
            members = self.classes.members
            names = np.full(len(members), self.same_as, dtype=np.uint32)
            status = self._stored.relation(self.same_as).status_of_keys(pack(members, members))
            said = (status & np.uint8(EXPLICIT)) != 0
            if self._told:
                rows = self._stored.tuples(self._told, TOLD)
                said |= rows.status_of((names, members, members)) != 0
            self._reflexive = frozen(members[said])
        return self._reflexive


def touched_names(tables: Tables, ids: U32) -> U32:
    """The predicates with which one of these may occur."""
    found = [tables.predicates_of(ids, role)[1] for role in (SUBJECT, OBJECT)]
    return np.unique(np.concatenate(found)) if len(ids) else NO_IDS


def touched_rows(tables: Tables, ids: U32, where: int = HOLDS) -> KeysByName:
    """The facts in which one of these is subject or object."""
    found: KeysByName = {}
    for name in touched_names(tables, ids).tolist():
        relation = tables.relation(name)
        index, (objects,) = relation.probe((SUBJECT,), (ids,), where)
        here = pack(ids[index], objects)
        index, (subjects,) = relation.probe((OBJECT,), (ids,), where)
        keys = distinct(np.sort(np.concatenate((here, pack(subjects, ids[index])))))
        if len(keys):
            found[name] = keys
    return found


def rows_of_ids(tables: Tables, told: int, ids: U32) -> Keys:
    """The facts of named graphs in which one of these is subject or object, sorted.

    told  the name of the relation of these facts
    """
    relation = tables.tuples(told, TOLD)
    parts = []
    for place in (1, 2):
        index, (names, others) = relation.probe((place,), (ids,))
        ends = (ids[index], others) if place == 1 else (others, ids[index])
        parts.append(key_of((names, *ends)))
    rows: Keys = np.concatenate(parts)
    rows.sort()
    return distinct(rows)


def images_of_rows(classes: Classes, rows: Keys, same_as: int) -> Keys:
    """Facts of named graphs, with representatives as subjects and objects; sorted.

    Each class implies that its representative is the same as itself, so no row says it.
    """
    names, first, second = columns_of(rows, TOLD)
    ends = classes.representatives(first), classes.representatives(second)
    said = (names == same_as) & (ends[0] == ends[1]) & in_sorted(ends[0], classes.reps)
    images = key_of((names, *ends))[~said]
    images.sort()
    return distinct(images)


def _images_of_told(
    stored: Tables, classes: Classes, same_as: int, told: int
) -> dict[TupleName, ChangedRows]:
    """The changes that replace facts of named graphs by their images."""
    if not (told and len(classes)):
        return {}
    rows = rows_of_ids(stored, told, classes.members)
    images = images_of_rows(classes, rows, same_as)
    gone, come = rows[~in_sorted(rows, images)], images[~in_sorted(images, rows)]
    if not (len(gone) or len(come)):
        return {}
    changes = [
        ChangedRows.of(columns_of(gone, TOLD), 0, EXPLICIT),
        ChangedRows.of(columns_of(come, TOLD), EXPLICIT),
    ]
    return {(told, TOLD): ChangedRows.concat(changes)}


def representatives(stored: Tables, classes: Classes, same_as: int, told: int = 0) -> Tables:
    """The tables of representatives of stored rows, without schemes.

    Asserted facts with members that are not representatives are replaced by their images; so are
    the facts of named graphs.

    told  the name of the relation of facts that named graphs assert, if there is one
    """
    parts: list[ChangedRows] = []
    reps = pack(classes.reps, classes.reps)
    rows = touched_rows(stored, classes.replaced, EXPLICIT)
    for name in sorted(rows.keys() | ({same_as} if len(reps) else set())):
        keys = rows.get(name, NO_KEYS)
        images = distinct(np.sort(classes.images(keys)))
        if name == same_as:
            images = np.union1d(images, reps)
        status, count = stored.relation(name).look_up_keys(images)
        fresh = (status & np.uint8(EXPLICIT)) == 0
        for found, now, before, counts in (
            (keys, 0, EXPLICIT, np.zeros(len(keys), dtype=np.uint32)),
            (images[fresh], EXPLICIT, status[fresh], count[fresh]),
        ):
            columns = (np.full(len(found), name, dtype=np.uint32), high(found), low(found))
            parts.append(ChangedRows.of(columns, now, before, counts))
    changes = [part for part in parts if len(part)]
    tuples = _images_of_told(stored, classes, same_as, told)
    if not (changes or tuples):
        return stored
    facts = ChangedRows.concat(changes) if changes else NO_FACTS
    layer = Layer.build(Changes(facts=facts, tuples=tuples))
    return type(stored)((*stored.layers, layer))


def without_members(tables: Tables, name: int) -> Tables:
    """The same tables without the relation of members."""
    rows = [*tables.tuples(name, MEMBERS).scan()] if name else []
    gone = [ChangedRows.of(columns, 0, INFERRED) for columns in rows]
    if not gone:
        return tables
    changes = Changes(tuples={(name, MEMBERS): ChangedRows.concat(gone)})
    return tables.push(Layer.build(changes))


def with_equality(
    stored: Tables,
    reasoned: Tables,
    classes: Classes,
    same_as: int,
    names: Iterable[int] | None = None,
    told: int = 0,
) -> Tables:
    """Stored rows as users see them: the facts of representatives, expanded to all members.

    reasoned  the tables of representatives of these rows, with their schemes
    names     predicates with which members may occur, if they are known
    told      the name of the relation of facts that named graphs assert, if there is one
    """
    bare = stored.with_schemes({})
    if not len(classes):
        return bare.with_schemes(reasoned.schemes)
    equality = Equality(classes, reasoned, bare, same_as, names, told)
    schemes: Mapping[int, Any] = {**reasoned.schemes, EQUALITY: equality}
    return bare.with_schemes(schemes)


def equality_of(tables: Tables) -> Equality | None:
    """The equality that is attached to tables, if there is any."""
    return tables.schemes.get(EQUALITY)


def reasoned(tables: Tables) -> Tables:
    """The tables that rules see: those of representatives, if there are any."""
    found = equality_of(tables)
    return tables if found is None else found.tables
