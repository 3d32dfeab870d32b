"""The rounds of one phase, until nothing is new, and the counters at the end.

Start reading at `Rounds.close`. In the first round of a phase every rule reads all facts. Later
rounds evaluate only rules about facts of the last round, once for each atom that may match them
(atoms before that one match only older facts, so no instance comes twice). All rules of a round are
one job: the union of their tracks, without duplicates and known facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from triplestore.errors import BudgetError
from triplestore.loaders.spark.closure.copy_rules import with_longer_steps
from triplestore.loaders.spark.closure.facts import Facts, Frame, Statistics, union
from triplestore.loaders.spark.closure.joins import Joiner, triggered, weigh
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.plans import Step, steps_of, tracks_of
from triplestore.loaders.spark.closure.shapes import FlatAtom, Shape

Progress = Callable[[str, dict[str, Any]], None]


class Rounds:
    """Evaluates shapes on facts.

    count  the number of rounds
    """

    def __init__(
        self, facts: Facts, joiner: Joiner, options: Options, progress: Progress | None = None
    ) -> None:
        self.facts, self.joiner, self.options = facts, joiner, options
        self.progress = progress
        self.count = 0

    def close(self, shapes: Sequence[Shape], first: Sequence[Shape] | None = None) -> None:
        """Add the conclusions of some shapes, until nothing is new.

        first  the shapes of the first round, if fewer are enough for the facts known so far
        """
        aggregating = [shape for shape in shapes if shape.form.summary is not None]
        plain = self._plain(shapes)
        begun = plain if first is None else self._plain(first)
        candidates = [*self._tracks(self._whole(begun), False), *map(self._summarise, aggregating)]
        for _ in range(self.options.most_rounds):
            if not candidates or not self._round(candidates):
                return
            candidates = self._tracks(self._changed(plain), True)
        raise BudgetError(
            f"the closure is not complete after {self.options.most_rounds:,} rounds; if that is "
            "intended, increase `most_rounds`"
        )

    def _plain(self, shapes: Sequence[Shape]) -> list[Shape]:
        """The shapes without aggregates; those that copy have longer steps."""
        plain = [shape for shape in shapes if shape.form.summary is None]
        return with_longer_steps(plain, self.facts.type_id, self.options.most_constants)

    def _round(self, candidates: Sequence[Frame]) -> int:
        self.count += 1
        new = self.facts.add(union(candidates))
        if self.progress is not None:
            figures = {"round": self.count, "rows": new, "facts": self.facts.known.total}
            self.progress("closure", figures)
        return new

    def _whole(self, shapes: Iterable[Shape]) -> list[tuple[Shape, list[Step]]]:
        known = self.facts.known
        planned = []
        for shape in shapes:
            some = np.ones(len(shape), np.bool_)
            for atom in shape.form.body:
                some &= triggered(shape, atom, known, self.facts.type_id)
            if some.any():
                part = shape.only(some)
                planned.append((part, steps_of(part.form, None, self._weigh(part, known))))
        return planned

    def _changed(self, shapes: Iterable[Shape]) -> list[tuple[Shape, list[Step]]]:
        known, fresh = self.facts.known, self.facts.fresh
        planned = []
        for shape in shapes:
            body = shape.form.body
            held = [triggered(shape, atom, known, self.facts.type_id) for atom in body]
            for pivot, atom in enumerate(body):
                some = triggered(shape, atom, fresh, self.facts.type_id)
                for other in held:
                    some = some & other
                if some.any():
                    part = shape.only(some)
                    planned.append((part, steps_of(part.form, pivot, self._weigh(part, known))))
        return planned

    def _weigh(self, shape: Shape, known: Statistics) -> Callable[[FlatAtom], float]:
        return lambda atom: weigh(shape, atom, known, self.facts.type_id)

    def _tracks(self, planned: list[tuple[Shape, list[Step]]], delta: bool) -> list[Frame]:
        return [self.joiner.heads(track, delta) for track in tracks_of(planned)]

    def _summarise(self, shape: Shape) -> Frame:
        planned = self._whole([shape])
        if not planned:
            return self.facts.flat_rows([])
        (track,) = tracks_of(planned)
        matches = self.joiner.follow(track, False)
        return self.joiner.expressions.summarise(planned[0][0], matches, self.facts.width)

    def instances(self, shapes: Sequence[Shape], asserted: Iterable[Sequence[int]]) -> Frame:
        """The conclusions of some shapes with `count`, their number of instances.

        asserted  the conclusions of rules without a body
        """
        plain = [shape for shape in shapes if shape.form.summary is None]
        aggregating = [shape for shape in shapes if shape.form.summary is not None]
        heads = [*self._tracks(self._whole(plain), False), *map(self._summarise, aggregating)]
        heads.append(self.facts.flat_rows(asserted))
        return union(heads).groupBy(*self.facts.columns).count()
