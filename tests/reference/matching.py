"""Matching of bodies against facts: substitutions, and the papers' sets of rule instances.

Start at `Matcher.instances`, which is the papers' inst_r[I+, I- : P, N] for a list of rules: every
instance whose positive atoms are all in I+ and whose negative ones are all outside I-, and, where
changes are given, with a positive atom in P or a negative one in N. The sets are given as tests of
membership, and all their facts must be in the matcher's table.

What is always true: each instance is given once. With changes, that is by pivots: for each place in
turn, the atom there is in P (or N), those before it are in I+ but not in P, and those behind it in
I+ (*revisited*, 9.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tests.reference.facts import Fact, Order, Pattern, Table, Values, by_predicate, ground, unify
from tests.reference.rules import Body, PlainRule, View
from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.compare_terms import truth
from triplestore.expressions.evaluate_scalar import Scalar, compile_scalar
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Expression, Variable, variables_of
from triplestore.expressions.vectors import Coded, coded
from triplestore.terms.dictionary import Dictionary

Test: TypeAlias = Callable[[Fact], bool]
"""Whether a fact is in a set."""

Plan: TypeAlias = Literal["smallest", "written"]
"""Which atom of a body is matched next: the one with the fewest candidates, or as they stand."""

Changes: TypeAlias = tuple[Collection[Fact], Collection[Fact]]
"""P and N: facts of which a positive, or a negative, atom must be one."""


Atoms: TypeAlias = list[tuple[Pattern, Test]]
"""Patterns, each with the set in which it is matched."""


class Instance(NamedTuple):
    """A rule instance. `positive` has the rows of views, too; it determines all variables."""

    rule: int
    positive: tuple[Fact, ...]
    negative: tuple[Fact, ...]
    head: Fact


class Matcher:
    """Matches bodies against the facts of a table.

    order    in which candidates are tried where that matters
    plan     which atom comes next
    fetched  how many facts were found for atoms: all of the table, and
    matched  those of the set that the atom is matched in
    """

    def __init__(self, table: Table, order: Order = by_predicate, plan: Plan = "smallest") -> None:
        self.table = table
        self.order = order
        self.plan: Plan = plan
        self.fetched = 0
        self.matched = 0

    def instances(
        self,
        rules: Iterable[PlainRule],
        positive: Test,
        negative: Test,
        changes: Changes | None = None,
        head: Fact | None = None,
    ) -> Iterator[Instance]:
        """The instances of rules in I+, I-, once each; with changes, those that have one.

        head  only instances that derive this fact, in the matcher's order
        """
        if changes is not None:
            changed = (Table(changes[0]), Table(changes[1]))
            for rule in rules:
                for values in self._pivots(rule.body, positive, negative, changed):
                    yield instance_of(rule, values)
            return
        for rule in rules:
            start: Values | None = {} if head is None else unify(rule.head, head, {})
            if start is not None:
                atoms = [(pattern, positive) for pattern in rule.body.positive]
                for values in self._completed(rule.body, atoms, start, head is not None):
                    if not _any_in(rule.body.negative, values, negative):
                        yield instance_of(rule, values)

    def _pivots(
        self, body: Body, positive: Test, negative: Test, changed: tuple[Table, Table]
    ) -> Iterator[Values]:
        added, removed = changed

        def unchanged(fact: Fact) -> bool:
            return fact not in added.facts and positive(fact)

        for place, pattern in enumerate(body.positive):
            atoms: Atoms = [(other, unchanged) for other in body.positive[:place]]
            atoms += [(other, positive) for other in body.positive[place + 1 :]]
            for start in self._found(added.like(pattern, {}), pattern, {}):
                for values in self._completed(body, atoms, start, False):
                    if not _any_in(body.negative, values, negative):
                        yield values
        atoms = [(other, unchanged) for other in body.positive]
        for place, pattern in enumerate(body.negative):
            for start in self._found(removed.like(pattern, {}), pattern, {}):
                for values in self._completed(body, atoms, start, False):
                    before, behind = body.negative[:place], body.negative[place + 1 :]
                    if (
                        not _any_in(before, values, removed.__contains__)
                        and not _any_in(before, values, negative)
                        and not _any_in(behind, values, negative)
                    ):
                        yield values

    def _found(
        self, candidates: Collection[Fact], pattern: Pattern, values: Values
    ) -> Iterator[Values]:
        for fact in candidates:
            made = unify(pattern, fact, values)
            if made is not None:
                self.fetched += 1
                self.matched += 1
                yield made

    def _completed(
        self, body: Body, atoms: Atoms, start: Values, ordered: bool
    ) -> Iterator[Values]:
        """The substitutions that match atoms, with BINDs, where the FILTERs are true."""
        for values in self._joined(atoms, start, ordered):
            made = _with_binds(body, values)
            if made is not None and all(_is_true(one.expression, made) for one in body.filters):
                yield made

    def _joined(self, atoms: Atoms, values: Values, ordered: bool) -> Iterator[Values]:
        if not atoms:
            yield values
            return
        place, candidates = 0, self.table.like(atoms[0][0], values)
        if self.plan == "smallest":
            for other in range(1, len(atoms)):
                found = self.table.like(atoms[other][0], values)
                if len(found) < len(candidates):
                    place, candidates = other, found
        pattern, test = atoms[place]
        rest = atoms[:place] + atoms[place + 1 :]
        for fact in self.order(candidates) if ordered else candidates:
            made = unify(pattern, fact, values)
            if made is not None:
                self.fetched += 1
                if test(fact):
                    self.matched += 1
                    yield from self._joined(rest, made, ordered)

    def matches(self, body: Body, holds: Test, values: Values) -> Iterator[Values]:
        """Every way to make a body true (negations included) with these values to begin with."""
        atoms = [(pattern, holds) for pattern in body.positive]
        for made in self._completed(body, atoms, values, False):
            if not any(True for part in body.nots for _ in self.matches(part, holds, made)):
                yield made

    def rows(self, view: View, holds: Test) -> set[Fact]:
        """The rows of a view where these facts hold."""
        found = self.matches(view.body, holds, {})
        if not view.results:
            return {ground(view.pattern, values) for values in found}
        groups: dict[tuple[bytes, ...], list[Values]] = {}
        for values in found:
            groups.setdefault(tuple([values[one] for one in view.groups]), []).append(values)
        rows = (_results(view, members) for members in groups.values())
        return {ground(view.pattern, row) for row in rows if row is not None}


def instance_of(rule: PlainRule, values: Values) -> Instance:
    """A rule under a substitution of its variables."""
    body = rule.body
    return Instance(
        rule.number,
        tuple([ground(pattern, values) for pattern in body.positive]),
        tuple([ground(pattern, values) for pattern in body.negative]),
        ground(rule.head, values),
    )


def is_changed(instance: Instance, changes: Changes) -> bool:
    """Whether a positive atom of an instance is in P or a negative one in N."""
    added, removed = changes
    return any(fact in added for fact in instance.positive) or any(
        fact in removed for fact in instance.negative
    )


def repeated(instances: Iterable[Instance]) -> dict[Instance, int]:
    """The instances that come more than once, and how often."""
    return {one: times for one, times in Counter(instances).items() if times > 1}


def _any_in(patterns: Iterable[Pattern], values: Values, test: Test) -> bool:
    return any(test(ground(pattern, values)) for pattern in patterns)


# --- computations --------------------------------------------------------------------------------


def _with_binds(body: Body, values: Values) -> Values | None:
    """The values with those that BINDs compute; None if one fails or has another value already.

    A variable of a BIND has a value before it where a head or a negative atom gave it one.
    """
    if not body.binds:
        return values
    made = dict(values)
    done: set[int] = set()
    while len(done) < len(body.binds):
        ready = [
            place
            for place, bind in enumerate(body.binds)
            if place not in done and _ready(bind.expression, body, made, done)
        ]
        if not ready:
            raise AssertionError("BINDs that need each other")
        for place in ready:
            bind = body.binds[place]
            key = _compute(bind.expression, made)
            if key is None or made.setdefault(bind.variable, key) != key:
                return None
        done.update(ready)
    return made


def _ready(expression: Expression, body: Body, values: Values, done: set[int]) -> bool:
    waiting = {bind.variable for place, bind in enumerate(body.binds) if place not in done}
    return all(one in values and one not in waiting for one in variables_of(expression))


@cache
def _compiled(expression: Expression) -> tuple[tuple[Variable, ...], Scalar]:
    variables = tuple(dict.fromkeys(variables_of(expression)))
    return variables, compile_scalar(expression, {v.name: i for i, v in enumerate(variables)})


def _compute(expression: Expression, values: Values) -> bytes | None:
    variables, function = _compiled(expression)
    try:
        return function([values.get(variable) for variable in variables])
    except ExpressionError:
        return None


def _is_true(expression: Expression, values: Values) -> bool:
    key = _compute(expression, values)
    try:
        return key is not None and truth(key)
    except ExpressionError:
        return False


def _results(view: View, members: list[Values]) -> Values | None:
    """The row of a group: its variables and the results; None if one has none."""
    row = {variable: members[0][variable] for variable in view.groups}
    terms = QueryTerms(Dictionary())
    for result in view.results:
        vector = None
        if result.argument is not None:
            keys = [_compute(result.argument, values) for values in members]
            codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
            vector = Coded(list(codes), np.array([codes[key] for key in keys]))
        found = coded(
            aggregate(
                result.function,
                vector,
                np.zeros(len(members), np.int64),
                1,
                terms,
                distinct=result.distinct,
                separator=result.separator,
            ),
            terms,
        )
        key = found.keys[int(found.codes[0])]
        if key is None:
            return None
        row[result.variable] = key
    return row
