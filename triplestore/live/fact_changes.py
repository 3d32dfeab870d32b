"""The facts that a commit changed, as users see them: asserted and inferred, exactly.

Start at `FactChanges`. The rows of a commit say it where facts are stored as rows. Closures that
are kept as labels, and facts of individuals that are represented by others, are compared in both
states, for the pairs that may have changed. Always true: a fact is listed at most once, with its
status before and now, and these differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from triplestore.live.closure_changes import moved_pairs
from triplestore.live.published import Published
from triplestore.reasoning.difference import net_between, net_changes
from triplestore.relations import ChangedRows, Changes, Tables
from triplestore.relations.changes import NO_FACTS
from triplestore.relations.packed_keys import I64, U32, Columns, high, key_of, low, pack
from triplestore.relations.views.equality import NO_CLASSES, Classes, equality_of, touched_rows

ANY = 0
"""Stands for every predicate."""


class FactChanges:
    """The changed facts of one commit, by predicate.

    facts   of the default graph: (predicate, subject, object)
    quads   of named graphs: (predicate, subject, object, graph)
    graphs  whether named graphs came or went
    """

    def __init__(self, published: Published) -> None:
        before, after = published.before.tables, published.after.tables
        if published.steps is None:
            net = net_between(before, after)
        else:
            net = net_changes(
                before.with_schemes({}),
                after.with_schemes({}),
                published.steps,
                published.cleared,
            )
        facts = _changed(net.facts)
        if before.closed or after.closed:
            facts = _as_seen(before, after, net)
        self.facts = facts
        self.quads = _changed(net.quads)
        self.graphs = bool((net.graphs.status != net.graphs.previous).any())

    def __bool__(self) -> bool:
        return bool(len(self.facts) or len(self.quads) or self.graphs)

    def __len__(self) -> int:
        return len(self.facts) + len(self.quads)

    def predicates(self, named: bool) -> list[int]:
        """The predicates of changed facts of the default graph, or of named graphs."""
        return list(self._quads_by_name if named else self._facts_by_name)

    def of(self, predicate: int, named: bool) -> ChangedRows | None:
        """The changed facts with a predicate, or with any; None if there are none."""
        if predicate == ANY:
            rows = self.quads if named else self.facts
            return rows if len(rows) else None
        found = (self._quads_by_name if named else self._facts_by_name).get(predicate)
        if found is None:
            return None
        rows = self.quads if named else self.facts
        return rows if len(found) == len(rows) else rows.take(found)

    @cached_property
    def _facts_by_name(self) -> dict[int, I64]:
        return dict(_by_name(self.facts.columns[0]))

    @cached_property
    def _quads_by_name(self) -> dict[int, I64]:
        return dict(_by_name(self.quads.columns[0]))


def _by_name(names: U32) -> Iterator[tuple[int, I64]]:
    """The places of each name."""
    if len(names) < 2:
        yield from ((name, np.zeros(1, np.int64)) for name in names.tolist())
        return
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    yield from zip(ordered[starts].tolist(), np.split(order, starts[1:]), strict=True)


def _changed(rows: ChangedRows) -> ChangedRows:
    """The rows whose status is another than before."""
    moved = rows.status != rows.previous
    return rows if moved.all() else rows.take(moved)


def _as_seen(before: Tables, after: Tables, net: Changes) -> ChangedRows:
    """The changed facts where tables show more than their rows."""
    p, s, o = net.facts.columns
    parts: list[Columns] = [(p, s, o)]
    for name, keys in moved_pairs(before, after, set(np.unique(p).tolist())).items():
        parts.append((np.full(len(keys), name, np.uint32), high(keys), low(keys)))
    classes = [_classes(before), _classes(after)]
    for own in classes:
        if len(own):
            parts += [_images(own, rows) for rows in list(parts)]
    members = _moved_members(*classes)
    for tables in (before, after) if len(members) else ():
        for name, keys in touched_rows(tables, members).items():
            parts.append((np.full(len(keys), name, np.uint32), high(keys), low(keys)))
    p, s, o = (np.concatenate(column) for column in zip(*parts, strict=True))
    if len(p) == 0:
        return NO_FACTS
    _, first = np.unique(key_of((p, s, o)), return_index=True)
    p, s, o = p[first], s[first], o[first]
    now, was = (tables.status_of_facts(p, s, o) for tables in (after, before))
    return _changed(ChangedRows.of((p, s, o), now, was))


def _classes(tables: Tables) -> Classes:
    found = equality_of(tables)
    return NO_CLASSES if found is None else found.classes


def _images(classes: Classes, rows: Columns) -> Columns:
    """Facts with all equals of their subjects and objects."""
    p, s, o = rows
    ends = (classes.representatives(s), classes.representatives(o))
    index, s = classes.expand(ends[0])
    p, o = p[index], ends[1][index]
    index, o = classes.expand(o)
    return p[index], s[index], o


def _moved_members(one: Classes, other: Classes) -> U32:
    """The members of the classes that are not the same in both."""
    if one == other:
        return np.zeros(0, np.uint32)
    moved = np.setxor1d(pack(one.heads, one.members), pack(other.heads, other.members))
    heads = np.unique(high(moved))
    parts = [each.members[np.isin(each.heads, heads)] for each in (one, other)]
    return np.unique(np.concatenate([low(moved), *parts]))
