"""The oracle of everything about the engine: a program's closure, computed as its definition reads.

A fact is a tuple of term keys (`triplestore.terms.term_keys`) after a letter for its kind:

    ("t", s, p, o)           a triple
    ("r", name, *arguments)  a row of a relation of three columns or more

Start at `naive`. Every rule of a stratum is matched against everything that holds, again and again
until nothing is new; then comes the next stratum. There are no deltas, no plans and no ids here;
expressions are computed by `evaluate_scalar`, aggregates by `aggregates`, both of which have
oracles of their own. Some thousands of facts take seconds.

Meaning, where rules leave something open: an error in a BIND or in a result of an aggregate is no
match; the rows of an aggregate are the distinct matches of its body; an explicit fact that also
follows is held once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.rules import signature
from triplestore.datalog.stratify import Stratification, stratify
from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.compare_terms import truth
from triplestore.expressions.evaluate_scalar import Scalar, compile_scalar
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Expression, variables_of
from triplestore.expressions.vectors import Coded, coded
from triplestore.terms.dictionary import Dictionary

Fact: TypeAlias = tuple
"""("t", s, p, o) or ("r", name, *arguments), of term keys."""

Values: TypeAlias = Mapping[Variable, bytes]
"""What variables stand for: a substitution."""

Rules: TypeAlias = Program | Iterable[Rule]
"""A program, or only its rules."""


class Violation(NamedTuple):
    """One match of a constraint; `values` are (name of a variable, key) by name."""

    id: str
    message: str
    values: tuple[tuple[str, bytes], ...]


class Closure(NamedTuple):
    """Everything that holds, and how the constraints are violated."""

    facts: frozenset[Fact]
    violations: frozenset[Violation]


class Counts(NamedTuple):
    """How many rule instances derive each fact that has any, by the kind of the rule.

    A counter of the papers' algorithms C_nr is `nonrecursive`, and one more for explicit facts.
    """

    nonrecursive: Counter[Fact]
    recursive: Counter[Fact]


class TooLargeError(Exception):
    """A closure has more facts than it was allowed to have."""


# --- the closure ---------------------------------------------------------------------------------


def naive(
    program: Rules,
    explicit: Iterable[Fact],
    strata: Stratification | None = None,
    most: int = 100_000,
) -> Closure:
    """What follows from explicit facts, with those; and the matches of the constraints.

    strata  those of `stratify(program)`, unless given
    most    maximum number of facts; beyond it TooLargeError is raised
    """
    facts = Facts(explicit)
    for stratum in strata if strata is not None else stratify(program):
        rules = distinct(stratum.rules)
        while True:
            new = {fact for rule in rules for fact in conclusions(rule, facts)} - facts.all
            if not new:
                break
            facts.update(new)
            if len(facts.all) > most:
                raise TooLargeError
    constraints = program.constraints if isinstance(program, Program) else ()
    found = {one for constraint in constraints for one in violations(constraint, facts)}
    return Closure(frozenset(facts.all), frozenset(found))


def counts(
    program: Rules, explicit: Iterable[Fact], strata: Stratification | None = None
) -> Counts:
    """For each fact of the closure how many instances of rules derive it.

    An instance of a rule is a substitution of all variables that its body binds: those of its
    atoms, its BINDs, and the groups and results of its aggregates. A rule with several heads is one
    rule for each of them; a rule that occurs twice then counts once. Which rules are recursive is
    as `strata` say.
    """
    strata = strata if strata is not None else stratify(program)
    facts = Facts(naive(program, explicit, strata).facts)
    found = Counts(Counter(), Counter())
    for stratum in strata:
        counted = set()
        for rule, recursive in zip(stratum.rules, stratum.recursive, strict=True):
            if signature(rule) not in counted:
                counted.add(signature(rule))
                (found.recursive if recursive else found.nonrecursive).update(
                    conclusions(rule, facts)
                )
    return found


def violations(constraint: Constraint, facts: Facts) -> Iterator[Violation]:
    """The matches of a constraint."""
    for values in matches(constraint.body, facts, {}):
        named = sorted((variable.name, key) for variable, key in values.items())
        yield Violation(constraint.id, constraint.message, tuple(named))


def conclusions(rule: Rule, facts: Facts) -> Iterator[Fact]:
    """The heads of a rule's instances, each as often as there are instances that derive it."""
    for values in matches(rule.body, facts, {}):
        for head in rule.heads:
            yield ground(head, values)


def distinct(rules: Iterable[Rule]) -> list[Rule]:
    """Rules without repetitions: rules with several heads may share one."""
    return list({signature(rule): rule for rule in rules}.values())


# --- facts and atoms -----------------------------------------------------------------------------


class Facts:
    """A set of facts, which can be looked up by any one of their terms."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.all: set[Fact] = set()
        self._by_kind: dict[tuple, list[Fact]] = {}
        self._by_term: dict[tuple, list[Fact]] = {}
        self.update(facts)

    def update(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if fact not in self.all:
                self.all.add(fact)
                kind = (fact[0], len(fact))
                self._by_kind.setdefault(kind, []).append(fact)
                for place, key in enumerate(fact[1:], 1):
                    self._by_term.setdefault((kind, place, key), []).append(fact)

    def like(self, pattern: tuple[str | bytes | None, ...]) -> list[Fact]:
        """Facts with these terms in these places (None: any), and others: a rough choice."""
        kind = (pattern[0], len(pattern))
        best = self._by_kind.get(kind, [])
        for place, key in enumerate(pattern[1:], 1):
            if key is not None:
                found = self._by_term.get((kind, place, key), [])
                if len(found) < len(best):
                    best = found
        return best


def terms_of(atom: Atom) -> tuple[str | Variable | Constant, ...]:
    """An atom in the form of a fact."""
    if isinstance(atom, TripleAtom):
        return ("t", *atom.terms)
    return ("r", atom.name, *atom.args)


def value_of(term: str | Variable | Constant, values: Values) -> str | bytes | None:
    """What a term of an atom stands for, None if that is open."""
    if isinstance(term, Constant):
        return term.key
    return values.get(term) if isinstance(term, Variable) else term


def ground(atom: Atom, values: Values) -> Fact:
    """The fact that an atom is under a substitution."""
    return tuple(value_of(term, values) for term in terms_of(atom))


def unify(atom: Atom, fact: Fact, values: Values) -> Values | None:
    """The substitution with what an atom needs to be this fact, or None."""
    terms = terms_of(atom)
    if len(terms) != len(fact):
        return None
    made = dict(values)
    for term, key in zip(terms, fact, strict=True):
        if isinstance(term, Variable):
            if made.setdefault(term, key) != key:
                return None
        elif value_of(term, made) != key:
            return None
    return made


# --- bodies --------------------------------------------------------------------------------------


def matches(body: Iterable[Item], facts: Facts, values: Values) -> Iterator[Values]:
    """Every substitution that extends `values` and makes a body true, once.

    A variable of a negation or an aggregate that the body itself does not bind is local: it has no
    value in `values`, so its own body is free to give it one.
    """
    body = tuple(body)
    found = [values]
    for item in body:
        if isinstance(item, TripleAtom | TupleAtom):
            found = [made for one in found for made in atom_matches(item, facts, one)]
    for item in body:
        if isinstance(item, Aggregate):
            rows = list(aggregate_rows(item, facts))
            found = [made for one in found for row in rows if (made := join(one, row)) is not None]
    binds = [item for item in body if isinstance(item, Bind)]
    for one in found:
        made = with_binds(binds, one)
        if made is not None and all(holds(item, facts, made) for item in body):
            yield made


def atom_matches(atom: Atom, facts: Facts, values: Values) -> Iterator[Values]:
    pattern = tuple(value_of(term, values) for term in terms_of(atom))
    for fact in facts.like(pattern):
        made = unify(atom, fact, values)
        if made is not None:
            yield made


def join(one: Values, other: Values) -> Values | None:
    """Two substitutions as one, if they agree."""
    if any(one.get(variable, key) != key for variable, key in other.items()):
        return None
    return {**one, **other}


def with_binds(binds: list[Bind], values: Values) -> Values | None:
    """The values with those of BINDs, in any order in which they can be computed."""
    made = dict(values)
    waiting = list(binds)
    while waiting:
        ready = [bind for bind in waiting if made.keys() >= set(variables_of(bind.expression))]
        if not ready:
            raise AssertionError("a variable of a BIND is not bound")
        for bind in ready:
            key = compute(bind.expression, made)
            if key is None:
                return None
            made[bind.variable] = key
        waiting = [bind for bind in waiting if bind not in ready]
    return made


def holds(item: Item, facts: Facts, values: Values) -> bool:
    """Whether a filter or a negation is true (other items are, once there are values)."""
    if isinstance(item, Filter):
        key = compute(item.expression, values)
        try:
            return key is not None and truth(key)
        except ExpressionError:
            return False
    if isinstance(item, Not):
        return next(matches(item.body, facts, values), None) is None
    return True


# --- expressions and aggregates ------------------------------------------------------------------


@cache
def compiled(expression: Expression) -> tuple[tuple[Variable, ...], Scalar]:
    variables = tuple(dict.fromkeys(variables_of(expression)))
    places = {variable.name: place for place, variable in enumerate(variables)}
    return variables, compile_scalar(expression, places)


def compute(expression: Expression, values: Values) -> bytes | None:
    """The value of an expression, None for an error."""
    variables, function = compiled(expression)
    try:
        return function([values.get(variable) for variable in variables])
    except ExpressionError:
        return None


def aggregate_rows(item: Aggregate, facts: Facts) -> Iterator[Values]:
    """One substitution, of the groups and the results, for each group."""
    groups: dict[tuple[bytes, ...], list[Values]] = {}
    for values in matches(item.body, facts, {}):
        groups.setdefault(tuple(values[one] for one in item.groups), []).append(values)
    terms = QueryTerms(Dictionary())
    for group, members in groups.items():
        row = dict(zip(item.groups, group, strict=True))
        for result in item.results:
            vector = None
            if result.argument is not None:
                vector = column([compute(result.argument, values) for values in members])
            made = aggregate(
                result.function,
                vector,
                np.zeros(len(members), np.int64),
                1,
                terms,
                distinct=result.distinct,
                separator=result.separator,
            )
            made = coded(made, terms)
            key = made.keys[made.codes[0]]
            if key is None:
                break
            row[result.variable] = key
        else:
            yield row


def column(keys: list[bytes | None]) -> Coded:
    """Keys as a vector: its list of keys has each different one once."""
    different = list(dict.fromkeys(keys))
    return Coded(different, np.array([different.index(key) for key in keys]))
