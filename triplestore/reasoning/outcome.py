"""The `Change` that a writing call returns, counted from its steps.

Start reading at `Change`, `counts_of` and `change_of`. Steps are changes (of single writes) and
layers (of loads), in order; each says what was before it, so together they say what they do to the
committed state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations import (
    EXPLICIT,
    GRAPHS,
    INFERRED,
    ChangedRows,
    Changes,
    Layer,
    Tables,
    merge_layers,
)
from triplestore.relations.packed_keys import U8
from triplestore.rules.simplify import is_helper

if TYPE_CHECKING:
    from triplestore.loaders import BadStatement
    from triplestore.terms import Dictionary

WriteStep = Changes | Layer


@data_class(repr=False)
class Change:
    """Counts of what a commit did to the quads of a store; prints as one line.

    Explicit quads were asserted; inferred ones hold without having been asserted. Rows of relations
    with three or more columns, which only rules make, count like quads.

    >>> print(Change(added=2, already_there=1))
    added 2, already there 1
    >>> print(Change(not_stated=3, only_inferred=1))
    not stated 3 (1 of them inferred)
    >>> print(Change())
    nothing changed
    >>> bool(Change(already_there=3)), Change(added=1, commit=2)
    (False, Change(added=1, commit=2))
    """

    added: int = 0
    """Quads that are asserted now and were not before."""
    removed: int = 0
    """Quads that were asserted before and are not now."""
    already_there: int = 0
    """Quads to be added that were asserted already."""
    not_stated: int = 0
    """Quads to be removed that were not asserted."""
    only_inferred: int = 0
    """Those of them that still hold because they are inferred."""
    still_entailed: int = 0
    """Removed quads that still hold because they are inferred."""
    inferred_added: int = 0
    """Quads that are inferred now and did not hold before."""
    inferred_removed: int = 0
    """Quads that were inferred before and do not hold now."""
    new_violations: int = 0
    """Violations of constraints that were not there before."""
    results_added: int = 0
    """Results of watched shapes that were not there before."""
    results_removed: int = 0
    """Results of watched shapes that are not there any more."""
    graphs_added: int = 0
    """Named graphs that exist now and did not before."""
    graphs_removed: int = 0
    """Named graphs that existed before and do not now."""
    skipped: int = 0
    """Malformed statements that a lenient load skipped."""
    problems: tuple[BadStatement, ...] = field(default=(), compare=False)
    """The first of the malformed statements that a lenient load skipped."""
    commit: int = field(default=0, compare=False)
    """The number of the commit that published the change; 0 if there was nothing to commit."""

    def __bool__(self) -> bool:
        return any(
            (
                self.added,
                self.removed,
                self.inferred_added,
                self.inferred_removed,
                self.graphs_added,
                self.graphs_removed,
            )
        )

    def __str__(self) -> str:
        parts = [
            f"{item.name.replace('_', ' ')} {value:,}"
            for item in fields(self)
            if item.name not in _NO_PARTS and (value := getattr(self, item.name))
        ]
        if self.only_inferred:
            place = next(i for i, part in enumerate(parts) if part.startswith("not stated"))
            parts[place] += f" ({self.only_inferred:,} of them inferred)"
        return ", ".join(parts) or "nothing changed"

    def __repr__(self) -> str:
        values = ((item.name, getattr(self, item.name)) for item in fields(self))
        return f"Change({', '.join(f'{name}={value!r}' for name, value in values if value)})"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.reasoning.reports.changes_html import change_html

        return change_html(self)


_NO_PARTS = ("problems", "commit", "only_inferred")


IsHelper = Callable[[int], bool]
"""Whether the relation of a name is an internal one of the engine."""


def counts_of(base: Tables, steps: Sequence[WriteStep], cleared: bool) -> Change:
    """The changes that asserted steps make to `base`; if `cleared`, all of it is removed first."""
    if cleared:
        return _counts_of_clearing(base, steps)
    small = [step for step in steps if isinstance(step, Changes)]
    if len(small) == len(steps):
        return change_of(Changes.concat(small)) if small else Change()
    layers = [layer_of(step) for step in steps]
    if len(layers) == 1:
        return _counts_of_load(layers[0])
    return _counts_of_mixture(base, merge_layers(layers, bottom=False))


class InferredCounts(NamedTuple):
    """How many facts follow now and did not hold, held and do not, or were asserted before."""

    inferred_added: int
    inferred_removed: int
    still_entailed: int


def change_of(
    net: Changes, is_helper: IsHelper = lambda name: False, new_violations: int = 0
) -> Change:
    """The counts of a net change, including inferences, without helper relations."""
    kinds = [net.facts, net.quads]
    kinds += [rows for (name, _), rows in net.tuples.items() if not is_helper(name)]
    counted = [_counts_of_rows(rows) for rows in kinds if len(rows)]
    if len(counted) == 1:
        ((added, removed, still, inferred, gone),) = counted
    else:
        together = zip(*counted, [0] * 5, strict=False)
        added, removed, still, inferred, gone = (sum(c) for c in together)
    graphs_added = graphs_removed = 0
    if len(net.graphs):
        graphs_added, graphs_removed = _come_and_gone(net.graphs.previous, net.graphs.status)
    return Change(
        added=added,
        removed=removed,
        still_entailed=still,
        inferred_added=inferred,
        inferred_removed=gone,
        new_violations=new_violations,
        graphs_added=graphs_added,
        graphs_removed=graphs_removed,
    )


def is_helper_in(dictionary: Dictionary) -> IsHelper:
    """A test for the engine's internal relations by their names."""
    return lambda name: is_helper(dictionary.key(name))


def rows_of_relations(tables: Tables, is_helper: IsHelper) -> int:
    """The number of rows in relations of users' rules with three columns or more."""
    names = tables.tuple_names()
    return sum(len(tables.tuples(*name)) for name in names if not is_helper(name[0]))


def changes_relations(step: WriteStep) -> bool:
    """Whether rows of relations of rules change: violations are such rows, not facts."""
    rows = step.tuples.values() if isinstance(step, Changes) else ()
    return any((each.status != each.previous).any() for each in rows)


def join_changes(steps: Sequence[WriteStep]) -> list[WriteStep]:
    """The same steps, with consecutive changes joined."""
    result: list[WriteStep] = []
    for step in steps:
        if isinstance(step, Changes) and result and isinstance(result[-1], Changes):
            result[-1] = Changes.concat([result[-1], step])
        else:
            result.append(step)
    return result


def layer_of(step: WriteStep) -> Layer:
    """A step as a layer."""
    return Layer.build(step) if isinstance(step, Changes) else step


def _counts_of_rows(rows: ChangedRows) -> tuple[int, int, int, int, int]:
    """Added, removed, still entailed, newly inferred, no longer inferred."""
    before, now = rows.previous, rows.status
    added, removed = _come_and_gone(before, now)
    follows, followed = now == INFERRED, before == INFERRED
    if not (follows.any() or followed.any()):
        return added, removed, 0, 0, 0
    still = int(np.count_nonzero(follows & (before == EXPLICIT)))
    come, gone = follows & (before == 0), followed & (now == 0)
    return added, removed, still, int(np.count_nonzero(come)), int(np.count_nonzero(gone))


def _counts_of_load(layer: Layer) -> Change:
    """A load only adds: its nets are what it added."""
    graphs = layer.tuples.get(GRAPHS)
    return Change(
        added=layer.facts.nets.total()[0] + layer.quads.nets.total()[0],
        graphs_added=0 if graphs is None else graphs.explicit,
    )


def _counts_of_clearing(base: Tables, steps: Sequence[WriteStep]) -> Change:
    now = Tables()
    for step in steps:
        now = now.push(layer_of(step))
    return Change(
        added=now.total(EXPLICIT) + now.quad_total(EXPLICIT),
        removed=base.total(EXPLICIT) + base.quad_total(EXPLICIT),
        graphs_added=len(now.graphs()),
        graphs_removed=len(base.graphs()),
    )


def _counts_of_mixture(base: Tables, layer: Layer) -> Change:
    """Loads and single writes together: ask the committed tables what was before."""
    added = removed = 0
    for before, now in _statuses(base, layer):
        come, gone = _come_and_gone(before, now)
        added, removed = added + come, removed + gone
    graphs = layer.tuples.get(GRAPHS)
    graphs_added = graphs_removed = 0
    if graphs is not None:
        before = base.tuples(*GRAPHS).status_of(graphs.columns())
        graphs_added, graphs_removed = _come_and_gone(before, graphs.statuses())
    return Change(
        added=added,
        removed=removed,
        graphs_added=graphs_added,
        graphs_removed=graphs_removed,
    )


def _statuses(base: Tables, layer: Layer) -> Iterator[tuple[U8, U8]]:
    """For the rows of each relation of a layer: their statuses before, and in the layer."""
    for place, name in enumerate(layer.facts.forward.names.tolist()):
        run = layer.facts.forward.run(place)
        keys = run.keys[run.lo : run.hi]
        yield base.relation(name).status_of_keys(keys), run.statuses(run.lo, run.hi)
    graphs = layer.quads.by_graph
    if graphs is None:
        return
    for place, name in enumerate(graphs.names.tolist()):
        run = graphs.run(place)
        keys = run.keys[run.lo : run.hi]
        relation = base.graph(name >> 32).relation(name & 0xFFFFFFFF)
        yield relation.status_of_keys(keys), run.statuses(run.lo, run.hi)


def _come_and_gone(before: U8, now: U8) -> tuple[int, int]:
    was, is_now = (before & np.uint8(EXPLICIT)) != 0, (now & np.uint8(EXPLICIT)) != 0
    return int(np.count_nonzero(is_now & ~was)), int(np.count_nonzero(was & ~is_now))
