"""How the tables of a transaction differ from those it began with: `t.diff()`.

Start reading at `Difference`; `net_changes` and `net_between` find the rows. Where everything was
written as single changes, they say themselves what was before; loads are looked up, and after
`clear()` everything is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from triplestore.reasoning.outcome import (
    InferredCounts,
    IsHelper,
    WriteStep,
    change_of,
    is_helper_in,
)
from triplestore.reasoning.violations import (
    Violation,
    ViolationRelations,
    new_violations,
    violations_between,
)
from triplestore.reasoning.visible import is_triple, quads_of
from triplestore.relations import EXPLICIT, GRAPHS, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.changes import NO_FACTS, NO_QUADS
from triplestore.relations.lookup import QuadColumns
from triplestore.relations.packed_keys import Bools, Columns, high, key_of, low
from triplestore.relations.views.equality import equality_of
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from triplestore.relations.views.plain import PlainRelation
    from triplestore.terms import Dictionary, Term

RelationName: TypeAlias = "tuple[str, int, int]"
"""A relation: `facts`, `quads` or `tuples`, its name, and its number of columns."""

RowsOfRelation: TypeAlias = "tuple[int, Columns]"
"""The name of a relation of rules, and some of its rows."""

BLOCK = 1 << 14
"""Number of rows that are decoded at once."""

MAX_SHOWN = 20
"""Maximum number of quads of each kind that are printed."""


class QuadsChanged:
    """Some of the quads that a transaction changed: has a length, and lists quads.

    Facts that are not RDF triples (see the warning `generalised` of rules) are left out.
    """

    def __init__(self, dictionary: Dictionary, parts: Sequence[QuadColumns]) -> None:
        self._dictionary = dictionary
        self._parts = parts

    def __len__(self) -> int:
        return sum(part.size for part in self._parts)

    def __iter__(self) -> Iterator[Quad]:
        return quads_of(self._dictionary, iter(self._parts))

    @property
    def columns(self) -> Sequence[QuadColumns]:
        """The quads as columns of ids."""
        return self._parts

    def __repr__(self) -> str:
        return f"<{len(self):,} quads>"


class RowsChanged:
    """Some of the rows of relations of rules that a transaction changed: has a length, and lists
    them, each a tuple of the relation's name and the terms of the row."""

    def __init__(self, dictionary: Dictionary, parts: Sequence[RowsOfRelation]) -> None:
        self._dictionary = dictionary
        self._parts = parts

    def __len__(self) -> int:
        return sum(len(columns[0]) for _, columns in self._parts)

    def __iter__(self) -> Iterator[tuple[Term, ...]]:
        terms = self._dictionary.terms
        for name, columns in self._parts:
            (relation,) = terms(np.array([name], dtype=np.uint32))
            for at in range(0, len(columns[0]), BLOCK):
                block = [terms(column[at : at + BLOCK]) for column in columns]
                for row in zip(*block, strict=True):
                    yield (relation, *row)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"


class Difference:
    """The changes of a transaction so far, including inferred facts; prints as text.

    added, removed     quads that are asserted now and were not before, and the other way round
    inferred_added     quads that are inferred now and did not hold before
    inferred_removed   quads that were inferred before and do not hold now
    still_entailed     removed quads that still hold because they are inferred
    rows_added, rows_removed  rows of relations with three or more columns, which only rules make
    net                all changed rows with their statuses, also of relations that are not shown
    results_added, results_removed  results of watched shapes that come and go
    results_refused  those of them for which a commit would be refused
    """

    results_added: Sequence[object] = ()
    results_removed: Sequence[object] = ()
    results_refused: Sequence[object] = ()

    def __init__(
        self,
        dictionary: Dictionary,
        net: Changes,
        where: ViolationRelations,
        states: tuple[Tables, Tables],
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self._prefixes = prefixes or {}
        self.net = net
        kinds = [rows for rows in (net.facts, net.quads) if len(rows)]

        def chosen(before: int | None, now: int | None) -> QuadsChanged:
            parts = [_rows(rows, before, now, dictionary) for rows in kinds]
            return QuadsChanged(dictionary, [part for part in parts if part.size])

        self.added = chosen(None, EXPLICIT)
        self.removed = chosen(EXPLICIT, None)
        self.inferred_added = chosen(0, INFERRED)
        self.inferred_removed = chosen(INFERRED, 0)
        self.still_entailed = chosen(EXPLICIT, INFERRED)
        came, went = _relation_rows(net, is_helper_in(dictionary), states)
        self.rows_added = RowsChanged(dictionary, came)
        self.rows_removed = RowsChanged(dictionary, went)
        self._violations_from = dictionary, net, where, states

    @cached_property
    def new_violations(self) -> list[Violation]:
        """Violations of constraints that were not there before; listed when first read."""
        dictionary, net, where, states = self._violations_from
        if any(map(equality_of, states)):  # rows do not say all
            return list(violations_between(*states, where, dictionary))
        return list(new_violations(net, where, dictionary))

    def __bool__(self) -> bool:
        rows = len(self.rows_added) + len(self.rows_removed) + len(self.new_violations)
        rows += len(self.results_added) + len(self.results_removed)
        return rows > 0 or any(len(part) for _, _, part in self._parts())

    def __str__(self) -> str:
        lines = []
        for sign, what, part in self._parts():
            if len(part):
                lines.append(f"{what} {len(part):,}")
                lines += _first(f"{sign} {quad} ." for quad in part)
        for sign, what, rows in (
            ("+", "rows of relations", self.rows_added),
            ("-", "rows removed", self.rows_removed),
        ):
            if len(rows):
                lines.append(f"{what} {len(rows):,}")
                lines += _first(f"{sign} {name}[{', '.join(map(str, r))}]" for name, *r in rows)
        if self.new_violations:
            lines.append(f"new violations {len(self.new_violations):,}")
            lines += _first(f"! {violation}" for violation in self.new_violations)
        for sign, what, results in (
            ("!", "new results of shapes", self.results_added),
            ("-", "results of shapes removed", self.results_removed),
        ):
            if len(results):
                lines.append(f"{what} {len(results):,}")
                lines += _first(f"{sign} {result}" for result in results)
        return "\n".join(lines) or "nothing changed"

    def __repr__(self) -> str:
        counts = [f"{what} {len(part):,}" for _, what, part in self._parts() if len(part)]
        return f"<difference: {', '.join(counts) or 'no quads'}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.reasoning.reports.changes_html import difference_html

        return difference_html(self, self._prefixes)

    def _parts(self) -> list[tuple[str, str, QuadsChanged]]:
        return [
            ("+", "added", self.added),
            ("-", "removed", self.removed),
            ("=", "of these, still follow", self.still_entailed),
            ("+", "inferred", self.inferred_added),
            ("-", "no longer inferred", self.inferred_removed),
        ]


def _first(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        if len(found) == MAX_SHOWN:
            return [*found, "  ..."]
        found.append(f"  {line}")
    return found


def _relation_rows(
    net: Changes, is_helper: IsHelper, states: tuple[Tables, Tables]
) -> tuple[list[RowsOfRelation], list[RowsOfRelation]]:
    """The rows of users' relations that came, and those that went, by relation."""
    if any(map(equality_of, states)):
        return _expanded_apart(is_helper, states)
    changed = [(name, rows) for (name, _), rows in net.tuples.items() if not is_helper(name)]
    came = [(n, _chosen(r, (r.previous == 0) & (r.status != 0))) for n, r in changed]
    went = [(n, _chosen(r, (r.previous != 0) & (r.status == 0))) for n, r in changed]
    return came, went


def _chosen(rows: ChangedRows, which: Bools) -> Columns:
    return tuple(column[which] for column in rows.columns)


def _expanded_apart(
    is_helper: IsHelper, states: tuple[Tables, Tables]
) -> tuple[list[RowsOfRelation], list[RowsOfRelation]]:
    """The same where one of equals stands for all: rows that stay may stand for others now, so
    all rows of both states are compared."""
    before, after = (_expanded(state, is_helper) for state in states)
    apart: tuple[list[RowsOfRelation], list[RowsOfRelation]] = [], []
    for of, one, other in zip(apart, (after, before), (before, after), strict=True):
        for name, rows in one.items():
            left = sorted(rows - other.get(name, set()))
            if left:
                of.append((name[0], tuple(np.array(left, dtype=np.uint32).T)))
    return apart


def _expanded(tables: Tables, is_helper: IsHelper) -> dict[tuple[int, int], set[tuple[int, ...]]]:
    equality = equality_of(tables)
    found = {}
    for name in tables.tuple_names():
        if not is_helper(name[0]):
            rows: set[tuple[int, ...]] = set()
            for columns in tables.tuples(*name).scan():
                whole = columns if equality is None else equality.classes.expand_rows(columns)
                rows.update(zip(*(column.tolist() for column in whole), strict=True))
            found[name] = rows
    return found


def _rows(
    rows: ChangedRows, before: int | None, now: int | None, dictionary: Dictionary
) -> QuadColumns:
    """The rows with these statuses; None for any other than the one that is given."""
    other_before, other_now = rows.previous != now, rows.status != before
    chosen: Bools = other_before if before is None else rows.previous == before
    chosen = chosen & (other_now if now is None else rows.status == now)
    p, s, o, *rest = (column[chosen] for column in rows.columns)
    graph = rest[0] if rest else np.broadcast_to(np.uint32(0), (len(p),))
    found = QuadColumns(s, p, o, graph)
    shown = is_triple(dictionary, s, p)
    return found if shown.all() else QuadColumns(*(column[shown] for column in found))


# -- net changes ----------------------------------------------------------------------------------


def net_changes(
    base: Tables,
    now: Tables,
    steps: Sequence[WriteStep],
    cleared: bool,
    *,
    apart: Collection[int] = (),
) -> Changes:
    """The rows in which two tables differ, if these steps lead from one to the other.

    If `cleared`, all of `base` was removed before the steps. The result may contain rows with equal
    statuses.

    apart  predicates whose facts are left out
    """
    small = [step for step in steps if isinstance(step, Changes)]
    closed = base.closed.keys() | now.closed.keys()
    if len(small) == len(steps) and not cleared and not closed:
        return Changes.concat(small) if small else Changes()
    touched: dict[RelationName, list[Columns]] = {}
    for step in steps:
        for name, columns in _touched(step):
            touched.setdefault(name, []).append(columns)
    for tables in (base, now) if cleared else ():
        for name, columns in _all_rows(tables):
            touched.setdefault(name, []).append(columns)
    for predicate in apart:
        touched.pop(("facts", predicate, 0), None)
    for predicate in closed.difference(apart):  # no step tells what follows there
        for columns in _moved(base, now, predicate):
            touched.setdefault(("facts", predicate, 0), []).append(columns)
    facts, quads = [NO_FACTS], [NO_QUADS]
    tuples: dict[tuple[int, int], ChangedRows] = {}
    for name, parts in touched.items():
        rows = _compared(base, now, name, parts)
        kind, predicate, arity = name
        if kind == "tuples":
            tuples[predicate, arity] = rows
        else:
            p = np.full(len(rows), predicate, dtype=np.uint32)
            whole = ChangedRows.of((p, *rows.columns), rows.status, rows.previous)
            (facts if kind == "facts" else quads).append(whole)
    graphs = tuples.pop(GRAPHS, None)
    made = Changes(ChangedRows.concat(facts), ChangedRows.concat(quads), tuples=tuples)
    return made if graphs is None else Changes(made.facts, made.quads, graphs, tuples)


def inferred_between(
    base: Tables,
    now: Tables,
    steps: Sequence[WriteStep],
    cleared: bool,
    is_helper: IsHelper,
    keep: Callable[[Changes], Changes],
) -> InferredCounts:
    """How many inferences came and went, if these steps lead from one state to the other.

    A closure that is not stored as rows may have millions of pairs: only the smaller of its two
    states is read, and the totals give the rest.

    keep  gives the changes that are counted
    """
    closed = base.closed.keys() | now.closed.keys()
    written = change_of(keep(net_changes(base, now, steps, cleared, apart=closed)), is_helper)
    found = [
        InferredCounts(written.inferred_added, written.inferred_removed, written.still_entailed)
    ]
    found += [_counted(base.relation(name), now.relation(name)) for name in closed]
    return InferredCounts(*map(sum, zip(*found, strict=True)))


def _counted(before: PlainRelation, after: PlainRelation) -> InferredCounts:
    """The same for one relation."""
    smaller = before if len(before) < len(after) else after
    seen = np.zeros((4, 4), dtype=np.int64)  # rows of the smaller one, by status before and now
    for columns in smaller.scan():
        look("counting the changes")
        both = before.status_of(columns).astype(np.intp) * 4 + after.status_of(columns)
        seen += np.bincount(both, minlength=16).reshape(4, 4)
    if smaller is before:  # what else follows now did not hold
        seen[0, INFERRED] = after.inferred - seen[:, INFERRED].sum()
    else:
        seen[INFERRED, 0] = before.inferred - seen[INFERRED].sum()
    return InferredCounts(
        int(seen[0, INFERRED]), int(seen[INFERRED, 0]), int(seen[EXPLICIT, INFERRED])
    )


def _moved(base: Tables, now: Tables, predicate: int) -> Iterator[Columns]:
    """The facts with a predicate that hold in one of two tables only."""
    before, after = base.relation(predicate), now.relation(predicate)
    for one, other in ((before, after), (after, before)):
        for columns in one.scan():
            left = ~other.contains(columns)
            if left.any():
                yield tuple(column[left] for column in columns)


def _compared(
    base: Tables, now: Tables, name: RelationName, parts: Sequence[Columns]
) -> ChangedRows:
    columns = parts[0]
    if len(parts) > 1:
        columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        _, first = np.unique(key_of(columns), return_index=True)
        columns = tuple(column[first] for column in columns)
    before, after = (_statuses(tables, name, columns) for tables in (base, now))
    return ChangedRows.of(columns, after, before)


def _statuses(tables: Tables, name: RelationName, columns: Columns) -> np.ndarray:
    kind, predicate, arity = name
    if kind == "facts":
        return tables.relation(predicate).status_of(columns)
    if kind == "quads":
        return tables.quads(predicate).status_of(columns)
    return tables.tuples(predicate, arity).status_of(columns)


def _touched(step: WriteStep) -> Iterator[tuple[RelationName, Columns]]:
    if isinstance(step, Layer):
        yield from _touched_by_layer(step)
        return
    for kind, rows in (("facts", step.facts), ("quads", step.quads)):
        if len(rows):
            p, *rest = rows.columns
            for name in np.unique(p).tolist():
                of_name = p == name
                yield (kind, name, 0), tuple(column[of_name] for column in rest)
    for (name, arity), rows in {**step.tuples, GRAPHS: step.graphs}.items():
        if len(rows):
            yield ("tuples", name, arity), rows.columns


def _touched_by_layer(layer: Layer) -> Iterator[tuple[RelationName, Columns]]:
    for kind, order in (("facts", layer.facts.forward), ("quads", layer.quads.forward)):
        for place, name in enumerate(order.names.tolist()):
            run = order.run(place)
            keys = run.keys[run.lo : run.hi]
            extra = () if order.extra is None else (order.extra[run.lo : run.hi],)
            yield (kind, name, 0), (high(keys), low(keys), *extra)
    for (name, arity), tuple_run in layer.tuples.items():
        yield ("tuples", name, arity), tuple_run.columns()


def _all_rows(tables: Tables) -> Iterator[tuple[RelationName, Columns]]:
    for name in tables.names().tolist():
        for columns in tables.relation(name).scan():
            yield ("facts", name, 0), columns
    for name in tables.quad_names().tolist():
        for columns in tables.quads(name).scan():
            yield ("quads", name, 0), columns
    for name, arity in (*tables.tuple_names(), GRAPHS):
        for columns in tables.tuples(name, arity).scan():
            yield ("tuples", name, arity), columns


def net_between(base: Tables, now: Tables) -> Changes:
    """The stored rows in which two tables differ, whatever lies between them.

    Only layers that the two do not share are read. The result may contain rows with equal statuses.
    """
    shared = 0
    for one, other in zip(base.layers, now.layers, strict=False):
        if one is not other:
            break
        shared += 1
    steps = [*base.layers[shared:], *now.layers[shared:]]
    return net_changes(base.with_schemes({}), now.with_schemes({}), steps, cleared=False)
