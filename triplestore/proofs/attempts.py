"""Why a fact does not hold: how far each rule gets that could conclude it.

Start reading at `attempts`. For a rule whose head the fact fits, the most items of its body are
looked for that can be true together: a join has the same rows in whatever order its items come, so
the search goes through sets of items, adding one at a time to those that have a match. The first
item of the body that is not among them is what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Filter,
    Item,
    Not,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
)
from triplestore.datalog.slices import slice_of
from triplestore.errors import CorruptError
from triplestore.evaluate.conclusions import Heads
from triplestore.expressions.tree import variables_of
from triplestore.maintenance.steps.regrouping import summarise
from triplestore.proofs.body_matching import Matching
from triplestore.proofs.builder import frame_of, least_rows, values_in
from triplestore.proofs.closed_facts import Closed, ground, unify
from triplestore.proofs.origins import helper_rule, is_helper_atom, origin_of, renaming
from triplestore.proofs.steps import Attempt, Values
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations.packed_keys import key_of
from triplestore.rules.subclass_rules import copied_class
from triplestore.thread_limits import look


def attempts(closed: Closed, fact: Atom, most: int) -> tuple[list[Attempt], int]:
    """What the rules lack that could conclude an absent fact, the nearest first.

    most  maximum number of rules that are looked at

    The second value is how many there are.
    """
    found, count = [], 0
    for number in closed.written.concluding(slice_of(fact)):
        values: dict[Variable, Constant] = {}
        if unify(closed.written.rules[number].heads[0], fact, values):
            count += 1
            if count <= most and closed.written.rules[number].body:
                found.append(_attempt(closed, number, values))
    found.sort(key=lambda attempt: attempt.nearness)
    return found, count


def _attempt(closed: Closed, number: int, given: dict[Variable, Constant]) -> Attempt:
    rule, values = closed.written.rules[number], dict(given)
    origin = origin_of(closed, number)
    search = _Search(closed, number, given)
    if not copied_class(rule) and not isinstance(rule.body[0], Aggregate):
        search.go()
    if search.matching.n and search.items:
        frame = search.matching.rows
        (row,) = values_in(closed, search.family, frame, least_rows(frame)[:1])
        values |= row
    items = list(origin.items)
    open_ = [place for place in range(len(items)) if place not in search.items]
    if not open_:
        raise CorruptError(
            f"the body of {rule} is true, but what follows is not in the store; verify the closure"
        )
    first = next((place for place in open_ if search.ready(place, values)), open_[0])
    item, simple = items[first]
    facts, results = _instead(closed, number, item, simple, values)
    return Attempt(
        origin.rule,
        values,
        given,
        tuple(items[place][0] for place in search.items),
        search.matching.n,
        item,
        first in search.never,
        facts,
        results,
        tuple(items[place][0] for place in open_ if place != first),
        search.exact,
    )


# -- sets of items that are true together ---------------------------------------------------------


class _Search:
    """The sets of items of one body that have a match.

    items, matching  the largest set, of several the first, by places in the body; its matches
    never            items that have no match even alone
    exact            whether every set was looked at
    """

    def __init__(self, closed: Closed, number: int, values: Values) -> None:
        self.closed = closed
        self.family = closed.family(number)
        self.body = closed.written.rules[number].body
        rows = frame_of(closed, self.family, values)
        self.items: tuple[int, ...] = ()
        self.matching = Matching(closed, self.family, rows, 1, lambda item: closed.all)
        self.never: set[int] = set()
        self.exact = True
        self._written = origin_of(closed, number).rule.body
        self._numbers = list(_numbers(self.body))
        self._tried = 0

    def go(self) -> None:
        """Add item after item, to all sets at once."""
        level: dict[tuple[int, ...], Matching] = {(): self.matching}
        while level:
            self.items = min(level)
            self.matching = level[self.items]
            larger: dict[tuple[int, ...], Matching] = {}
            for items, matching in level.items():
                for place in range(len(self.body)):
                    grown = tuple(sorted((*items, place)))
                    if place not in items and grown not in larger:
                        with_it = self._with(matching, place)
                        if with_it is not None and with_it.n:
                            larger[grown] = with_it
                        elif with_it is not None and len(grown) == 1:
                            self.never.add(place)
            level = larger

    def _with(self, matching: Matching, place: int) -> Matching | None:
        """A set of items and one more; None if that cannot be looked at."""
        look("looking for what a rule lacks")
        if self._tried >= PROOFS.attempt_sets or matching.n > PROOFS.attempt_rows:
            self.exact = False
            return None
        made = copy(matching)
        made.atoms, made.nots = list(matching.atoms), list(matching.nots)
        made.computations = list(matching.computations)
        number, item = self._numbers[place], self.body[place]
        if isinstance(item, TripleAtom | TupleAtom):
            if made.cost(number)[1] > PROOFS.attempt_rows:
                self.exact = False
                return None
            made.match(number)
        elif isinstance(item, Not):
            if not all(map(made.bound, self.family.nots[number].variables)):
                return None
            if made.atoms and self._guarded(place):
                return None
            made.negate(number)
        else:
            computation = self.family.computations[number]
            if not made.ready(computation):
                return None
            made.compute(computation)
        self._tried += 1
        return made

    def ready(self, place: int, values: Values) -> bool:
        """Whether an item says something beside the largest set, with these values."""
        item = self.body[place]
        if isinstance(item, Not):
            if self.matching.atoms and self._guarded(place):
                return False
            return all(variable in values for variable in bound_by(item.body))
        if isinstance(item, Filter | Bind):
            return all(variable in values for variable in variables_of(item.expression))
        return True

    def _guarded(self, place: int) -> bool:
        """Whether a helper stands for a negation only where other items of the body are true."""
        simple, item = self.body[place], self._written[place]
        assert isinstance(simple, Not) and isinstance(item, Not)
        atom = simple.body[0]
        if not is_helper_atom(atom):
            return False
        rule = helper_rule(self.closed, atom)
        return len(self.closed.written.rules[rule].body) > len(item.body)


def _numbers(body: tuple[Item, ...]) -> Iterator[int]:
    """The place of each item among those of its kind."""
    counts = dict.fromkeys(("atom", "not", "computation"), 0)
    for item in body:
        kind = "computation"
        if isinstance(item, TripleAtom | TupleAtom):
            kind = "atom"
        elif isinstance(item, Not):
            kind = "not"
        yield counts[kind]
        counts[kind] += 1


# -- what there is instead ------------------------------------------------------------------------


def _instead(
    closed: Closed, number: int, item: Item, simple: Item, values: Values
) -> tuple[tuple[Atom, ...], tuple[Constant, ...]]:
    """The facts in the way of a negation; what a BIND or an aggregate gives."""
    if isinstance(item, Not):
        assert isinstance(simple, Not)
        return _in_the_way(closed, item, simple, values), ()
    if isinstance(item, Bind):
        return (), _value(closed, number, item, values)
    if isinstance(item, Aggregate):
        if not isinstance(simple, Aggregate):
            assert isinstance(simple, TupleAtom)
            number = helper_rule(closed, simple)
        return (), _results(closed, number, item, values)
    return (), ()


def _in_the_way(closed: Closed, item: Not, simple: Not, values: Values) -> tuple[Atom, ...]:
    (atom,) = simple.body
    assert isinstance(atom, TripleAtom | TupleAtom)
    if not all(term in values for term in atom.terms if isinstance(term, Variable)):
        return ()
    there = ground(atom, values)
    if not is_helper_atom(atom):
        return (there,)
    number = helper_rule(closed, atom)
    rule = closed.written.rules[number]
    inner: dict[Variable, Constant] = {}
    unify(rule.heads[0], there, inner)
    family = closed.family(number)
    rows = frame_of(closed, family, inner)
    matching = Matching(closed, family, rows, 1, lambda item: closed.all)
    rows, n = matching.finish()
    assert n, "a helper's fact without a match of its rule"
    (first,) = values_in(closed, family, rows, least_rows(rows)[:1])
    here = renaming(item.body, rule.body)
    named = {here[v]: value for v, value in first.items() if v in here} | dict(values)
    return tuple(
        ground(part, named) for part in item.body if isinstance(part, TripleAtom | TupleAtom)
    )


def _value(closed: Closed, number: int, item: Bind, values: Values) -> tuple[Constant, ...]:
    """What a BIND gives, if anything."""
    family = closed.family(number)
    computation = next(
        one
        for one in family.computations
        if one.expression == item.expression and family.variables[one.target] == item.variable.name
    )
    rows = frame_of(closed, family, {v: c for v, c in values.items() if v != item.variable})
    matching = Matching(closed, family, rows, 1, lambda item: closed.all)
    if not matching.ready(computation):
        return ()
    matching.compute(computation)
    column = matching.rows[computation.target] if matching.n else None
    if column is None:
        return ()
    return (Constant(closed.terms.key(int(column[0]))),)


def _results(closed: Closed, number: int, item: Aggregate, values: Values) -> tuple[Constant, ...]:
    """What the results of an aggregate are in the group at hand, if it has a member."""
    rule, family = closed.written.rules[number], closed.family(number)
    (inner,) = rule.body
    assert isinstance(inner, Aggregate) and family.summary is not None
    if not all(group in values for group in item.groups):
        return ()
    ids = [closed.terms.encode_keys([values[group].key]) for group in item.groups]
    groups = key_of(ids) if ids else np.zeros(1, dtype=np.uint32)
    heads = Heads()
    work = closed.work()
    summarise(work, family, groups, work.old(), heads)
    for relation, keys in heads.taken().items():
        found: dict[Variable, Constant] = {}
        unify(rule.heads[0], closed.fact((relation, keys.tolist()[0])), found)
        return tuple(found[result.variable] for result in inner.results)
    return ()
