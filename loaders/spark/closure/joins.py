"""Tracks as joins of DataFrames.

Start reading at `Joiner.follow`. A state is a frame of columns `v0`, `v1`, ... and, if several
shapes share the track, `w`, the number of the row's shape. The columns that bind a place, or are
kept, are then looked up by `w` in small arrays (`_pick`); if all shapes agree, it is one column.

The side of a join that is broadcast is chosen here, by the number of facts of the names in the
rules. If both sides are too large, they are shuffled by the bound places, as adaptive execution
decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triplestore.loaders.spark.closure.driver_rows import I64
from triplestore.loaders.spark.closure.expressions import Expressions
from triplestore.loaders.spark.closure.facts import Facts, Frame, Statistics, local_frame
from triplestore.loaders.spark.closure.plans import Evaluate, JoinStep, Track, Way
from triplestore.loaders.spark.closure.shapes import TRIPLE, FlatAtom, Shape
from triplestore.loaders.spark.thresholds import SPARK


class Joiner:
    """Evaluates tracks by joins.

    most  maximum number of rows that are broadcast
    """

    def __init__(self, facts: Facts, expressions: Expressions, most: int) -> None:
        self.facts, self.expressions, self.most = facts, expressions, most

    def follow(self, track: Track, delta: bool) -> Frame:
        """The state at the end of a track: a column `h0`, `h1`, ... for each of the result.

        delta  whether the first join is with the facts of the last round instead of all
        """
        constants = self._constants(track)
        rows: float = len(constants)
        first = True
        # Rules that begin with a join are combined with the facts by it.
        begin = track.steps[0] if track.steps else None
        beside = (
            isinstance(begin, JoinStep) and not begin.negated and self._beside(track, begin, rows)
        )
        state = None if beside else self._begin(track, constants)
        for i, step in enumerate(track.steps):
            if isinstance(step, Evaluate):
                state = self._evaluate(track, i, step, state, rows <= self.most)
                continue
            sides = _names(track, i)
            if first and not step.negated:
                if beside:
                    state = self._joined_beside(track, step, constants, delta, sides)
                else:
                    state = self._join(track, i, step, state, delta, "left", sides)
                known = self.facts.fresh if delta else self.facts.known
                rows, first = _matched(track, i, known), False
                continue
            there = _size(sides, step.arity, self.facts)
            state = self._join(track, i, step, state, False, self._side(step, rows, there), sides)
            rows = rows if step.negated else min(rows * SPARK.matches, rows * there)
        return self._end(track, state)

    def _side(self, step: JoinStep, here: float, there: float) -> str:
        """Which side of a join is broadcast, if any."""
        if there <= self.most and (step.negated or there <= here):
            return "right"
        if here <= self.most and not step.negated:
            return "left"
        return "right" if there <= self.most else ""

    def _constants(self, track: Track) -> I64:
        """The first state: a row for each rule; the last column is the number of its shape."""
        width = track.widths[0]
        parts = []
        for number, way in enumerate(track.ways):
            part = np.zeros((len(way.shape), width + 1), np.int64)
            part[:, : len(way.first)] = way.shape.constants[:, way.first]
            part[:, width] = number
            parts.append(part)
        return np.concatenate(parts)

    def _begin(self, track: Track, constants: I64) -> Frame:
        """The first state as a frame."""
        width, several = track.widths[0], len(track.ways) > 1
        names = [f"v{i}" for i in range(width)]
        frame = local_frame(self.facts.spark, [*names, "w"], constants, ints=("w",))
        frame = frame if several or not width else frame.drop("w")
        return frame.coalesce(1) if self.facts.single else frame

    def _beside(self, track: Track, step: JoinStep, rules: float) -> bool:
        """Whether there are few enough rules to write them beside each fact of the first join.

        That saves a job, which sends them to all executors, and makes a row for each rule and fact.
        """
        most = rules * _size(_names(track, 0), step.arity, self.facts)
        return rules == 1 or (rules <= SPARK.beside_rules and most <= SPARK.beside_rows)

    def _joined_beside(
        self, track: Track, step: JoinStep, constants: I64, delta: bool, names: RelationNames
    ) -> Frame:
        facts = self._read(step, delta, names)
        width, own = track.widths[0], facts.columns
        columns = [f"v{i}" for i in range(width)] + ["w"] * (len(track.ways) > 1)
        texts = [
            ", ".join(f"{value}{'' if i == width else 'L'}" for i, value in enumerate(row))
            for row in constants[:, : len(columns)].tolist()
        ]
        if len(texts) == 1:
            parts = texts[0].split(", ") if columns else []
            made = [f"{one} AS {name}" for one, name in zip(parts, columns, strict=True)]
            state = facts.selectExpr(*own, *made)
        else:
            rows = ", ".join(f"struct({text})" for text in texts)
            state = facts.selectExpr(*own, f"inline(array({rows})) AS ({', '.join(columns)})")
        ties = self._ties(track, 0, step)
        state = state.where(" AND ".join(ties)) if ties else state
        return self._kept(track, 0, state, [f"c{place}" for place in range(step.arity + 1)])

    def _ties(self, track: Track, i: int, step: JoinStep) -> list[str]:
        """The equations between columns of the state and of the fact."""
        width = track.widths[i]
        return [
            f"{_pick([way.layouts[i].bound[j] for way in track.ways], width, ())} = c{place}"
            for j, place in enumerate(step.bound)
        ]

    def _join(
        self,
        track: Track,
        i: int,
        step: JoinStep,
        state: Frame,
        delta: bool,
        side: str,
        names: RelationNames,
    ) -> Frame:
        from pyspark.sql import functions

        facts = self._read(step, delta, names)
        single, ties = self.facts.single, self._ties(track, i, step)
        if single:
            facts = facts.hint("shuffle_hash" if ties else "shuffle_replicate_nl")
        elif side == "left":
            state = functions.broadcast(state)
        elif side == "right":
            facts = functions.broadcast(facts)
        if step.negated:
            if not ties:
                raise AssertionError("a negated atom has a name")
            state = state.join(facts, functions.expr(" AND ".join(ties)), "left_anti")
        elif ties:
            state = state.join(facts, functions.expr(" AND ".join(ties)), "inner")
        else:
            state = state.crossJoin(facts)
        # Spark does not know that a join of single parts is one part.
        state = state.coalesce(1) if single else state
        return self._kept(track, i, state, [f"c{place}" for place in range(step.arity + 1)])

    def _read(self, step: JoinStep, delta: bool, names: RelationNames) -> Frame:
        facts = self.facts.last() if delta else self.facts.every()
        tests = [f"k = {step.arity}"]
        tests += [f"c{one} = c{other}" for one, other in step.same]
        if names is not None and len(names) <= SPARK.listed_names:
            tests.append(f"c0 IN ({', '.join(map(str, sorted(names)))})")
        if step.old:
            tests.append(f"r < {self.facts.now}")
        columns = sorted({*step.bound, *step.gets})
        return facts.where(" AND ".join(tests)).select(*[f"c{place}" for place in columns])

    def _evaluate(self, track: Track, i: int, step: Evaluate, state: Frame, few: bool) -> Frame:
        if not step.binds and step.test < 0:
            state = self.expressions.where(state, step.expression, step.needs, few)
            return self._kept(track, i, state, [])
        state = self.expressions.bind(state, step.expression, step.needs, "b", few)
        if step.test >= 0:
            state = state.where(f"b = v{step.test}")
        return self._kept(track, i, state, ["b"] if step.binds else [])

    def _kept(self, track: Track, i: int, state: Frame, new: Sequence[str]) -> Frame:
        """The columns of the state after a step.

        new  the joined or computed columns, which follow those of the state
        """
        width = track.widths[i]
        made = []
        for column in range(track.widths[i + 1]):
            sources = [_source(way, i, column, width) for way in track.ways]
            made.append(f"{_pick(sources, width, new)} AS v{column}")
        if len(track.ways) > 1:
            made.append("w")
        if not made:
            made.append("1 AS nothing")
        return state.selectExpr(*made)

    def _end(self, track: Track, state: Frame) -> Frame:
        width = track.widths[-1]
        size = max(len(way.result) for way in track.ways)
        made = []
        for place in range(size):
            columns = [way.result[place] for way in track.ways]
            made.append(f"{_pick(columns, width, ())} AS h{place}")
        return state.selectExpr(*made) if made else state

    def heads(self, track: Track, delta: bool) -> Frame:
        """The conclusions of a track, as facts."""
        state = self.follow(track, delta)
        columns = [f"{track.arity} AS k"]
        columns += [
            f"h{place} AS c{place}" if place <= track.arity else f"0L AS c{place}"
            for place in range(self.facts.width + 1)
        ]
        return state.selectExpr(*columns)


def _source(way: Way, i: int, column: int, width: int) -> int | None:
    """The source of a column after a step, for a state of this width."""
    layout, own = way.layouts[i].kept, len(_before(way, i))
    if column >= len(layout):
        return None
    source = layout[column]
    return source if source < own else width + source - own


def _before(way: Way, i: int) -> Sequence[int]:
    """The columns of a shape's state before a step."""
    return way.first if i == 0 else way.layouts[i - 1].kept


def _pick(columns: Sequence[int | None], width: int, new: Sequence[str]) -> str:
    """The expression of a column, which may differ between shapes; None: any value."""
    asked = sorted({column for column in columns if column is not None})
    names = {c: f"v{c}" if c < width else new[c - width] for c in asked}
    if len(asked) == 1:
        return names[asked[0]]
    at = {column: str(place) for place, column in enumerate(asked)}
    places = ", ".join("0" if column is None else at[column] for column in columns)
    return f"array({', '.join(names[c] for c in asked)})[array({places})[w]]"


# -- how many facts -------------------------------------------------------------------------------

RelationNames = set[int] | None
"""The names of the relations of a join; None for any."""


def _names(track: Track, i: int) -> RelationNames:
    found: set[int] = set()
    for way in track.ways:
        slot = _slot_of_name(track, way, i)
        if slot is None:
            return None
        found.update(np.unique(way.shape.names(slot)).tolist())
    return found


def _slot_of_name(track: Track, way: Way, i: int) -> int | None:
    """The constant slot that binds the name of a fact at a step, if any."""
    step = track.steps[i]
    assert isinstance(step, JoinStep)
    if 0 not in step.bound:
        return None
    column = way.layouts[i].bound[step.bound.index(0)]
    for j in range(i - 1, -1, -1):  # back to the source of the column
        column = way.layouts[j].kept[column]
        if column >= len(_before(way, j)):
            return None
    slot = way.first[column]
    return slot if slot < way.shape.form.width else None


def _size(names: RelationNames, arity: int, facts: Facts) -> int:
    if names is None:
        return sum(n for (k, _), n in facts.known.relations.items() if k == arity)
    return sum(facts.known.relations.get((arity, name), 0) for name in names)


def _matched(track: Track, i: int, known: Statistics) -> float:
    """Number of facts that the first join of a track matches."""
    step = track.steps[i]
    assert isinstance(step, JoinStep)
    total = 0
    for way in track.ways:
        slot = _slot_of_name(track, way, i)
        if slot is None:
            total += known.total * len(way.shape)
            continue
        names, numbers = np.unique(way.shape.names(slot), return_counts=True)
        for name, count in zip(names.tolist(), numbers.tolist(), strict=True):
            there = known.relations.get((step.arity, name), 0)
            total += there * (1 if 2 in step.bound and step.arity == TRIPLE else count)
    return total


def weigh(shape: Shape, atom: FlatAtom, known: Statistics, type_id: int) -> float:
    """Number of facts that an atom of a shape matches, for all its rules together."""
    width = shape.form.width
    name = atom.slots[0]
    if name >= width:
        return float(known.total)
    names = shape.names(name)
    if atom.arity == TRIPLE and atom.slots[2] < width:
        classes = shape.names(atom.slots[2])
        return float(
            sum(
                known.classes.get(class_, 0) if one == type_id else _share(known, one)
                for one, class_ in zip(names.tolist(), classes.tolist(), strict=True)
            )
        )
    distinct = np.unique(names).tolist()
    return sum(float(known.relations.get((atom.arity, one), 0)) for one in distinct)


def _share(known: Statistics, name: int) -> float:
    return float(known.relations.get((TRIPLE, name), 0) ** 0.5)


def triggered(shape: Shape, atom: FlatAtom, fresh: Statistics, type_id: int) -> Any:
    """The rules of a shape whose atom may match a new fact."""
    width = shape.form.width
    name = atom.slots[0]
    if not fresh.whole:
        return np.ones(len(shape), np.bool_)
    if name >= width:
        any_ = any(arity == atom.arity for arity, _ in fresh.relations)
        return np.full(len(shape), any_)
    relations = np.array([n for k, n in fresh.relations if k == atom.arity], np.int64)
    names = shape.names(name)
    found = np.isin(names, relations)
    if atom.arity == TRIPLE and atom.slots[2] < width and found.any():
        classes = np.fromiter(fresh.classes, np.int64, len(fresh.classes))
        found &= (names != type_id) | np.isin(shape.names(atom.slots[2]), classes)
    return found
