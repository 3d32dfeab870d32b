"""The steps of a transaction, and what they do to the store.

Start reading at `counts_of`. Steps are changes (of single writes) and layers (of loads), in order;
each says what was before it, so together they say what they do to the committed state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.store.change import Change
from triplestore.tables import (
    EXPLICIT,
    GRAPHS,
    ChangedRows,
    Changes,
    Layer,
    Tables,
    merge_layers,
)
from triplestore.tables.rows import U8

Step = Changes | Layer


def counts_of(base: Tables, steps: Sequence[Step], cleared: bool) -> Change:
    """What the steps do to the quads and graphs of `base`; if `cleared`, all those go first."""
    if cleared:
        return _counts_of_clearing(base, steps)
    small = [step for step in steps if isinstance(step, Changes)]
    if len(small) == len(steps):
        return _counts_of_changes(Changes.concat(small)) if small else Change()
    layers = [Layer.build(step) if isinstance(step, Changes) else step for step in steps]
    if len(layers) == 1:
        return _counts_of_load(layers[0])
    return _counts_of_mixture(base, merge_layers(layers, bottom=False))


def joined(steps: Sequence[Step]) -> list[Step]:
    """The same steps, with changes that follow each other made one."""
    result: list[Step] = []
    for step in steps:
        if isinstance(step, Changes) and result and isinstance(result[-1], Changes):
            result[-1] = Changes.concat([result[-1], step])
        else:
            result.append(step)
    return result


def _counts_of_changes(changes: Changes) -> Change:
    parts = [_come_and_gone(r.previous, r.status) for r in (changes.facts, changes.quads)]
    graphs_added, graphs_removed = _graphs_of(changes.graphs)
    return Change(
        added=sum(come for come, _ in parts),
        removed=sum(gone for _, gone in parts),
        graphs_added=graphs_added,
        graphs_removed=graphs_removed,
    )


def _graphs_of(rows: ChangedRows) -> tuple[int, int]:
    return _come_and_gone(rows.previous, rows.status)


def _counts_of_load(layer: Layer) -> Change:
    """A load only adds: its nets are what it added."""
    graphs = layer.tuples.get(GRAPHS)
    return Change(
        added=layer.facts.nets.total()[0] + layer.quads.nets.total()[0],
        graphs_added=0 if graphs is None else graphs.explicit,
    )


def _counts_of_clearing(base: Tables, steps: Sequence[Step]) -> Change:
    now = Tables()
    for step in steps:
        now = now.push(Layer.build(step) if isinstance(step, Changes) else step)
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
