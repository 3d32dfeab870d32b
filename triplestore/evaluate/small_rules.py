"""Small rules on few facts: one call of a kernel where a plan would need ten of numpy.

Start reading at `fire_small`. It serves families of one or two atoms over relations of two columns,
without negation, filters or binds, whose two atoms share a variable or a constant; and views that
are nothing but sorted arrays. Whatever it refuses is done by a plan; results do not depend on it.
Kernels are used here only once others have loaded them, so a small update never waits for that.

Bench: `maintenance` on `recursive-200-1000`: its closure takes half the time with it (0.12 s, 0.23
s without) and batches of 50 facts likewise; LUBM's single-fact commits take the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import loaded_kernels
from triplestore.relations.packed_keys import I64, NO_KEYS, U64
from triplestore.rules.families import Family
from triplestore.rules.kernel_shapes import WIDTH, KernelStage, kernel_shape

Kernel: TypeAlias = Callable[..., int]


class Scratch:
    """Where conclusions are written before it is known how many they are."""

    __slots__ = ("out", "seen")

    def __init__(self) -> None:
        self.out: U64 = np.empty(1 << 12, dtype=np.uint64)
        self.seen: I64 = np.zeros(1, dtype=np.int64)


class Done(NamedTuple):
    """How many changed facts were looked at, how many were matched with the other atom, and how
    many instances there are."""

    looked: int
    fetched: int
    instances: int


NOTHING = Done(0, 0, 0)


def fire_small(
    family: Family,
    pivot: int,
    batch: Batch,
    settings: tuple[Setting, Setting],
    scratch: Scratch,
    heads: Heads,
) -> Done | None:
    """Add what a family concludes from the facts that one of its atoms (the pivot) matches; None
    if it has to be done another way. `settings` are those of atoms before and after the pivot."""
    kernels = loaded_kernels()
    if kernels is None:
        return None
    shape = kernel_shape(family, pivot, settings[1])
    if shape is None:
        return None
    delta = batch.get(shape.relation)
    if delta is None:
        return NOTHING
    if not shape.sliced and len(delta) * shape.rules > EVALUATION.small_facts:
        return None
    looked_up = []
    for stage in shape.stages:
        if stage.item < 0:
            looked_up.append(_ALONE)
            continue
        view = settings[stage.item > pivot].view(stage.relation)
        arrays = view.arrays(stage.place, len(delta)) if isinstance(view, PairView) else None
        if arrays is None:
            return None
        looked_up.append(arrays)
    fire = kernels.fire_rules.entry
    if not shape.apart:
        found = _follow(fire, shape.stages, delta, looked_up, scratch)
        return None if found is None else _put(heads, shape.head, [found])
    every = []
    for rule in range(shape.rules):
        stages = [_of_rule(stage, rule) for stage in shape.stages]
        found = _follow(fire, stages, delta, looked_up, scratch)
        if found is None:
            return None
        every.append(found)
    return _put(heads, shape.head, every)


Arrays: TypeAlias = tuple[list[U64], tuple[U64, U64]]
"""The facts of an atom, and those left out of them; see `PairView.arrays`."""

_ALONE: Arrays = [NO_KEYS], (NO_KEYS, NO_KEYS)

Found: TypeAlias = tuple[list[U64], int, int]
"""Conclusions in pieces, how many changed facts were looked at, and how many were fetched."""


def _follow(
    fire: Kernel,
    stages: Sequence[KernelStage],
    delta: U64,
    looked_up: Sequence[Arrays],
    scratch: Scratch,
) -> Found | None:
    """What is concluded from some facts by all stages; None if that is too much."""
    seen = scratch.seen
    first = fetched = 0
    for stage, (runs, (minus, less)) in zip(stages, looked_up, strict=True):
        _, _, _, tests, spec, constants = stage
        pieces, total, seen[0] = [], 0, 0
        most = EVALUATION.small_facts
        for run in runs:
            n = fire(delta, run, minus, less, spec, constants, most, scratch.out, seen)
            if n > len(scratch.out):
                scratch.out = np.empty(2 * n, dtype=np.uint64)
                fire(
                    delta,
                    run,
                    minus,
                    less,
                    spec,
                    constants,
                    EVALUATION.small_facts,
                    scratch.out,
                    seen,
                )
            if n < 0:
                return None
            if n:
                pieces.append(scratch.out[:n].copy())
                total += n
        looked = int(seen[0])
        first = first or looked
        fetched += looked if tests else total
        if not pieces:
            return pieces, first, fetched
        if stage is not stages[-1]:
            delta = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return pieces, first, fetched


def _of_rule(stage: KernelStage, rule: int) -> KernelStage:
    """A stage for one of the rules."""
    width = int(stage.spec[WIDTH])
    return stage._replace(constants=stage.constants[rule * width : (rule + 1) * width])


def _put(heads: Heads, head: int, every: Sequence[Found]) -> Done:
    """Add conclusions, once it is sure that no rule has too many."""
    looked = fetched = total = 0
    for pieces, first, more in every:
        looked += first
        fetched += more
        for piece in pieces:
            heads.put(head, piece)
            total += len(piece)
    return Done(looked, fetched, total)
