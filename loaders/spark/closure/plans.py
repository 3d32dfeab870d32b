"""The order in which a body is matched, and the rules that share joins.

Start reading at `steps_of`, then `tracks_of`. A *track* is a sequence of joins, each described by
the places of the fact that are bound and those that are new. The slots that bind a place may differ
between the shapes of a track; they are data (small tables of numbers beside the join). So the
number of plans of a round is bounded by the ways in which atoms can be bound, for any number of
rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Expression, Variable, substitute
from triplestore.loaders.spark.closure.shapes import Computation, FlatAtom, Form, Shape

Weigh = Callable[[FlatAtom], float]
"""Estimates the number of facts that an atom matches."""


class Match(NamedTuple):
    """A join with facts, or (negated) the removal of rows with a match.

    bound  (place, slot): equal
    same   (place, place) of the fact: equal
    gets   (place, slot): the slot gets the value of the place
    old    facts of the last round are omitted
    """

    atom: FlatAtom
    bound: tuple[tuple[int, int], ...]
    same: tuple[tuple[int, int], ...]
    gets: tuple[tuple[int, int], ...]
    negated: bool = False
    old: bool = False


class Compute(NamedTuple):
    """A FILTER or BIND; `test` if the target is bound."""

    computation: Computation
    test: bool


Step = Match | Compute


def steps_of(form: Form, pivot: int | None, weigh: Weigh) -> list[Step]:
    """The steps in which a body is matched.

    pivot  the first atom, which matches new facts; atoms before it in the body match only old
           ones. None: begin with the atom with the fewest facts
    """
    bound = set(range(form.width))
    atoms = list(range(len(form.body)))
    late: list[FlatAtom | Computation] = [*form.computations, *form.nots]
    steps: list[Step] = []
    following = pivot
    while True:
        late = _settle(late, bound, steps)
        if not atoms:
            assert not late, "a rule whose variables are not all bound"
            return steps
        if following is None:
            following = min(atoms, key=lambda i: _rank(form, form.body[i], bound, weigh))
        atoms.remove(following)
        old = pivot is not None and following < pivot
        steps.append(_match(form.body[following], bound)._replace(old=old))
        bound.update(form.body[following].slots)
        following = None


def _settle(
    late: list[FlatAtom | Computation], bound: set[int], steps: list[Step]
) -> list[FlatAtom | Computation]:
    """Take the computations and negations whose variables are bound."""
    again = True
    while again:
        again, waiting = False, list[FlatAtom | Computation]()
        for item in late:
            needs = item.needs if isinstance(item, Computation) else item.slots
            if not bound.issuperset(needs):
                waiting.append(item)
                continue
            if isinstance(item, FlatAtom):
                steps.append(_match(item, bound)._replace(negated=True))
            else:
                steps.append(Compute(item, item.target in bound))
                if item.target >= 0 and item.target not in bound:
                    bound.add(item.target)
                    again = True
        late = waiting
    return late


def _rank(form: Form, atom: FlatAtom, bound: set[int], weigh: Weigh) -> tuple[bool, int, float]:
    """Connected atoms before others, well bound ones before others, then small ones."""
    variables = {slot for slot in atom.slots if slot >= form.width}
    begun = any(slot >= form.width for slot in bound)
    apart = begun and bool(variables) and not (variables & bound)
    return apart, -len(variables & bound), weigh(atom)


def _match(atom: FlatAtom, bound: set[int]) -> Match:
    places: dict[int, int] = {}
    tied, same, gets = [], [], []
    for place, slot in enumerate(atom.slots):
        if slot in bound:
            tied.append((place, slot))
        elif slot in places:
            same.append((places[slot], place))
        else:
            places[slot] = place
            gets.append((place, slot))
    return Match(atom, tuple(tied), tuple(same), tuple(gets))


# -- tracks ---------------------------------------------------------------------------------------


class JoinStep(NamedTuple):
    """A `Match` as a track has it: by places only."""

    arity: int
    bound: tuple[int, ...]
    same: tuple[tuple[int, int], ...]
    gets: tuple[int, ...]
    negated: bool
    old: bool


class Evaluate(NamedTuple):
    """A `Compute` as a track has it: variables are called `v` and their column."""

    expression: Expression
    needs: tuple[int, ...]
    binds: bool
    test: int
    """The column that must be equal to the result; -1 if there is none."""


class Layout(NamedTuple):
    """How one shape goes through a step: columns of the state before, or of state and fact.

    bound  for each bound place, the column that it is equal to
    kept   for each column of the state afterwards, where it comes from: a column of the state, or
           (from the width of the state on) a place of the fact, or the value computed
    """

    bound: tuple[int, ...]
    kept: tuple[int, ...]


class Way(NamedTuple):
    """One shape in a track: its first columns (constant slots), its layouts, and its result."""

    shape: Shape
    first: tuple[int, ...]
    layouts: tuple[Layout, ...]
    result: tuple[int, ...]


@data_class(frozen=False)
class Track:
    """Shapes that share joins.

    steps   the steps, in order
    arity   arity of the concluded facts
    widths  number of columns of the state: at first, and after each step
    """

    steps: tuple[JoinStep | Evaluate, ...]
    arity: int
    ways: list[Way] = field(default_factory=list)

    @property
    def widths(self) -> list[int]:
        """The greatest number of columns that a shape needs at each point."""
        found = [max(len(way.first) for way in self.ways)]
        steps = range(len(self.steps))
        return found + [max(len(way.layouts[i].kept) for way in self.ways) for i in steps]


def tracks_of(planned: Sequence[tuple[Shape, Sequence[Step]]]) -> list[Track]:
    """Shapes with their steps, by track.

    >>> from triplestore.datalog.text import read
    >>> from triplestore.loaders.spark.closure.shapes import constants_of, shapes_of
    >>> rules = read('''@prefix : <http://e/> . :b[?x] :- :a[?x] .
    ...     :q[?x, ?y] :- :p[?x, ?y] . :r[?y, ?x] :- :p[?x, ?y] .''').rules
    >>> ids = {key: number for number, key in enumerate(constants_of(rules), 1)}
    >>> shapes = shapes_of(enumerate(rules), ids)
    >>> tracks = tracks_of([(one, steps_of(one.form, 0, lambda atom: 1)) for one in shapes])
    >>> [len(track.ways) for track in tracks]
    [1, 2]
    """
    found: dict[object, Track] = {}
    for shape, steps in planned:
        signature, way = _way(shape, steps)
        arity = len(way.result) - 1 if shape.form.summary is None else -len(found) - 1
        key = (signature, arity)
        found.setdefault(key, Track(signature, arity)).ways.append(way)
    return list(found.values())


def _way(shape: Shape, steps: Sequence[Step]) -> tuple[tuple[JoinStep | Evaluate, ...], Way]:
    form = shape.form
    wanted = _wanted(form)
    needed = [set(wanted)]
    for step in reversed(steps):
        needed.append(needed[-1] | _reads(step))
    needed.reverse()
    columns = sorted(slot for slot in needed[0] if slot < form.width)
    first = tuple(columns)
    made: list[JoinStep | Evaluate] = []
    layouts = []
    for i, step in enumerate(steps):
        at = {slot: column for column, slot in enumerate(columns)}
        if isinstance(step, Match):
            new = {slot: len(columns) + place for place, slot in step.gets}
            made.append(_join(step))
            bound = tuple(at[slot] for _, slot in step.bound)
        else:
            computation = step.computation
            new = {} if step.test or computation.target < 0 else {computation.target: len(columns)}
            made.append(_evaluate(step, at))
            bound = ()
        sources = {**at, **new}
        columns = sorted(slot for slot in sources if slot in needed[i + 1])
        layouts.append(Layout(bound, tuple(sources[slot] for slot in columns)))
    at = {slot: column for column, slot in enumerate(columns)}
    return tuple(made), Way(shape, first, tuple(layouts), tuple(at[slot] for slot in wanted))


def _wanted(form: Form) -> tuple[int, ...]:
    """The slots needed at the end: those of the head, or of an aggregate."""
    if form.summary is None:
        return form.head.slots
    made = {slot for slot, *_ in form.summary.results}
    bound = {slot for atom in form.body for slot in atom.slots if slot >= form.width}
    bound |= {one.target for one in form.computations if one.target >= 0}
    constants = [slot for slot in form.head.slots if slot < form.width]
    return (*constants, *sorted((bound | set(form.summary.groups)) - made))


def _reads(step: Step) -> set[int]:
    if isinstance(step, Match):
        return {slot for _, slot in step.bound}
    test = {step.computation.target} if step.test else set()
    return {*step.computation.needs, *test}


def _join(step: Match) -> JoinStep:
    places = tuple(place for place, _ in step.bound)
    gets = tuple(place for place, _ in step.gets)
    return JoinStep(step.atom.arity, places, step.same, gets, step.negated, step.old)


def _evaluate(step: Compute, at: dict[int, int]) -> Evaluate:
    expression, target, needs = step.computation
    by: dict[Variable, Expression] = {Variable(f"v{s}"): Variable(f"v{at[s]}") for s in needs}
    columns = tuple(at[slot] for slot in needs)
    test = at[target] if step.test else -1
    return Evaluate(substitute(expression, by), columns, target >= 0 and not step.test, test)
