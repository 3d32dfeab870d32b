"""A plain evaluator of whole programs, one match after the other: what rules mean, by definition.

It evaluates negations and aggregates where they stand, with their local variables, so that it says
what a program means before it is brought into simple form. Facts are ground atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Clause,
    Constant,
    Filter,
    Item,
    Not,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.stratify import stratify
from triplestore.expr.aggregate import aggregate
from triplestore.expr.compare import truth
from triplestore.expr.numbers import ExpressionError
from triplestore.expr.query_terms import QueryTerms
from triplestore.expr.scalar import compile_scalar
from triplestore.expr.tree import Expression, variables_of
from triplestore.expr.vectors import Ids, ids_of
from triplestore.terms.dictionary import Dictionary

Match = dict[Variable, bytes]
Facts = set[Atom]


def closure(rules: Iterable[Rule], facts: Iterable[Atom]) -> Facts:
    """All that follows, stratum by stratum."""
    known = set(facts)
    for stratum in stratify(rules):
        while True:
            made = {
                filled(rule.heads[0], match)
                for rule in stratum.rules
                for match in matches(rule.body, {}, known)
            }
            if made <= known:
                break
            known |= made
    return known


def rows(clause: Clause, columns: Sequence[Variable], facts: Facts) -> set[tuple[bytes, ...]]:
    """The different values that matches of a body give to some variables."""
    return {tuple(match[v] for v in columns) for match in matches(clause.body, {}, facts)}


def filled(atom: Atom, match: Match) -> Atom:
    return atom.map(lambda t: Constant(match[t]) if isinstance(t, Variable) else t)


def matches(items: Sequence[Item], match: Match, facts: Facts) -> Iterator[Match]:
    """All extensions of a match by which a body holds."""
    ways: list[Match] = [match]
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            ways = [
                w for way in ways for fact in facts if (w := unified(item, fact, way)) is not None
            ]
        elif isinstance(item, Aggregate):
            groups = list(grouped(item, facts))
            ways = [{**way, **row} for way in ways for row in groups if agree(way, row)]
    for way in ways:
        whole = bound(way, [item for item in items if isinstance(item, Bind)])
        if whole is not None and all(holds(item, whole, facts) for item in items):
            yield whole


def unified(atom: Atom, fact: Atom, match: Match) -> Match | None:
    if type(atom) is not type(fact) or len(atom.terms) != len(fact.terms):
        return None
    if isinstance(atom, TupleAtom) and isinstance(fact, TupleAtom) and atom.name != fact.name:
        return None
    found = dict(match)
    for term, value in zip(atom.terms, fact.terms, strict=True):
        assert isinstance(value, Constant)
        if isinstance(term, Constant):
            if term != value:
                return None
        elif found.setdefault(term, value.key) != value.key:
            return None
    return found


def agree(one: Match, other: Match) -> bool:
    return all(one.get(variable, value) == value for variable, value in other.items())


def bound(match: Match, binds: list[Bind]) -> Match | None:
    """The match with the values of all BINDs; None if one has none."""
    found, waiting = dict(match), binds
    while waiting:
        ready = [b for b in waiting if all(v in found for v in variables_of(b.expression))]
        assert ready, "a BIND whose variables nothing binds"
        for bind in ready:
            value = evaluated(bind.expression, found)
            if value is None:
                return None
            found[bind.variable] = value
        waiting = [bind for bind in waiting if bind not in ready]
    return found


def holds(item: Item, match: Match, facts: Facts) -> bool:
    if isinstance(item, Filter):
        value = evaluated(item.expression, match)
        try:
            return value is not None and truth(value)
        except ExpressionError:
            return False
    if isinstance(item, Not):
        return next(matches(item.body, match, facts), None) is None
    return True


def grouped(item: Aggregate, facts: Facts) -> Iterator[Match]:
    """One row for each group, without those where a result has no value."""
    groups: dict[tuple[bytes, ...], list[Match]] = {}
    for match in matches(item.body, {}, facts):
        groups.setdefault(tuple(match[v] for v in item.groups), []).append(match)
    for key, members in groups.items():
        row = dict(zip(item.groups, key, strict=True))
        terms = QueryTerms(Dictionary())
        for one in item.results:
            vector = None
            if one.argument is not None:
                vector = Ids(terms.encode_keys([evaluated(one.argument, m) for m in members]))
            found = aggregate(
                one.function,
                vector,
                np.zeros(len(members), np.int64),
                1,
                terms,
                distinct=one.distinct,
                separator=one.separator,
            )
            (value,) = terms.keys(ids_of(found, terms))
            if value is None:
                break
            row[one.variable] = value
        else:
            yield row


def evaluated(expression: Expression, match: Match) -> bytes | None:
    places = {variable.name: i for i, variable in enumerate(match)}
    try:
        return compile_scalar(expression, places)(list(match.values()))
    except ExpressionError:
        return None
