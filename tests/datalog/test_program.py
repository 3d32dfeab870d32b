"""Rules and programs as data: equality, canonical forms, local variables, sets."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datalog.random_programs import programs, rules
from triplestore.datalog.program import (
    TYPE,
    Constant,
    Program,
    Rule,
    Source,
    TripleAtom,
    TupleAtom,
    Variable,
    atoms_in,
)
from triplestore.datalog.rules import signature
from triplestore.datalog.text import read
from triplestore.errors import UsageError

X, Y, Z = map(Variable, "xyz")
A = Constant.iri("http://e/A")


def one(text: str) -> Rule:
    (rule,) = read("PREFIX : <http://e/> " + text).rules
    return rule


def test_equality__does_not_look_at_where_a_rule_came_from() -> None:
    rule = Rule((TripleAtom(X, TYPE, A),), name="a", source=Source("f", 1, 1))
    assert rule == Rule((TripleAtom(X, TYPE, A),), name="b", axioms=(TripleAtom(A, TYPE, A),))
    assert hash(rule) == hash(Rule((TripleAtom(X, TYPE, A),)))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (":A[?x] :- :B[?x] .", ":A[?y] :- :B[?y] .", True),
        (":p[?x, ?y] :- :p[?y, ?x] .", ":p[?y, ?x] :- :p[?x, ?y] .", True),
        (":p[?x, ?y] :- :p[?y, ?x] .", ":p[?y, ?x] :- :p[?y, ?x] .", False),
        (":p[?x, ?y] :- :q[?x, ?y] .", ":p[?x, ?x] :- :q[?x, ?x] .", False),
        (":A[?x] :- :B[?x], :C[?x] .", ":A[?x] :- :C[?x], :B[?x] .", False),
        (":A[?x] :- :B[?x], NOT :p[?x, ?y] .", ":A[?x] :- :B[?x], NOT :p[?x, ?z] .", True),
        (
            ":A[?x] :- :B[?x], NOT EXISTS ?y IN (:p[?x, ?y]) .",
            ":A[?x] :- :B[?x], NOT :p[?x, ?y] .",
            True,
        ),
        (  # the ?y of two negations are two variables
            ":A[?x] :- :B[?x], NOT :p[?x, ?y], NOT :q[?x, ?y] .",
            ":A[?x] :- :B[?x], NOT :p[?x, ?y], NOT :q[?x, ?z] .",
            True,
        ),
        (
            ":A[?x] :- :r[?x, ?y], NOT :p[?x, ?y] .",
            ":A[?x] :- :r[?x, ?y], NOT :p[?x, ?z] .",
            False,
        ),
        (
            ":n[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .",
            ":n[?a, ?b] :- AGGREGATE(:p[?a, ?c] ON ?a BIND count(?c) AS ?b) .",
            True,
        ),
        (
            ":n[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .",
            ":n[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(DISTINCT ?y) AS ?n) .",
            False,
        ),
        (":A[?x] :- :B[?x], FILTER(?x > 1) .", ":A[?y] :- :B[?y], FILTER(?y > 1) .", True),
        (":A[?x] :- :B[?x], FILTER(?x > 1) .", ":A[?y] :- :B[?y], FILTER(?y > 1.0) .", False),
        (":r[?x, ?y, ?y] .", ":r[?y, ?x, ?x] .", True),
        (":r[?x, ?y, ?y] .", ":r[?x, ?x, ?y] .", False),
        ("[?x, :r, ?y] .", ":r[?x, :r, ?y] .", False),
    ],
)
def test_signatures__are_equal_if_only_names_of_variables_differ(
    left: str, right: str, same: bool
) -> None:
    assert (signature(one(left)) == signature(one(right))) is same
    assert (one(left).canonical() == one(right).canonical()) is same


@given(rules)
def test_canonical__is_stable_and_has_the_same_signature(rule: Rule) -> None:
    canonical = rule.canonical()
    assert canonical.canonical() == canonical
    assert signature(canonical) == signature(rule)


@given(rules, rules)
def test_canonical__agrees_with_signature(left: Rule, right: Rule) -> None:
    assert (signature(left) == signature(right)) is (left.canonical() == right.canonical())


@given(programs, programs)
def test_programs__are_sets(one: Program, other: Program) -> None:
    both = one + other
    assert both == other + one
    assert both - other == one - other
    assert (both - one) + one == both
    assert len(one + one) == len(one)
    assert all(rule in both for rule in one) and all(c in both for c in other.constraints)
    assert (one - one) == Program() == Program(prefixes={"a": "http://a/"})
    assert hash(both) == hash(other + one)
    assert dict(both.prefixes) == {**other.prefixes, **one.prefixes}


@given(programs, st.randoms(use_true_random=False))
def test_programs__keep_order_and_forget_repetitions(program: Program, random: object) -> None:
    rules = list(program.rules)
    assert Program(rules + rules[::-1]).rules == program.rules
    assert Program(rules[::-1]) == Program(rules)
    assert list(program) == rules


def test_constants__are_made_of_terms() -> None:
    assert Constant.of(ox.NamedNode("http://e/A")) == A == Constant.iri("http://e/A")
    assert repr(Constant.of(ox.Literal("a", language="EN"))) == 'Constant("a"@en)'
    assert A.term == ox.NamedNode("http://e/A")


def test_tuples__have_three_columns_or_more() -> None:
    with pytest.raises(UsageError, match="three columns"):
        TupleAtom(A, (X, Y))


def test_atoms_in__tells_positive_atoms_from_others() -> None:
    rule = one(
        ":A[?x] :- :B[?x], NOT (:C[?x], :D[?x]), AGGREGATE(:E[?y], NOT :F[?y] BIND count(*) AS ?n)."
    )
    found = [(str(atom)[10:11], positive) for atom, positive in atoms_in(rule.body)]
    assert found == [("B", True), ("C", False), ("D", False), ("E", False), ("F", False)]
