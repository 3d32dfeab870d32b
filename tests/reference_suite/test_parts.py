"""The parts the algorithms are made of, and what the papers' rules do not have."""

from __future__ import annotations

import pytest

from tests.maintenance.naive import Fact
from tests.maintenance.notation import fact, facts, program, show
from tests.reference import (
    INSERTION,
    OVERDELETION,
    Materialisation,
    after,
    by_predicate,
    counting,
    deeper_than,
    dred,
    dred_c,
    fbf,
    fbf_c,
    trace,
)
from tests.reference.facts import Table
from tests.reference.matching import Changes, Instance, Matcher
from tests.reference.rules import Ruleset
from tests.reference_suite.papers import run
from triplestore.errors import UsageError

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."


# --- tables and matching -------------------------------------------------------------------------


def test_table__finds_what_it_has() -> None:
    table = Table(facts("T(a,b) T(a,c) T(b,c) A(a) W(a,b,c)"))
    table.discard(fact("T(a,c)"))
    table.discard(fact("T(a,c)"))
    table.add(fact("T(c,c)"))
    table.add(fact("T(c,c)"))
    pattern = Ruleset(program(":A[?x] :- :T[:a, ?x] .")).rules[0].body.positive[0]
    assert show(table.like(pattern, {})) == "A(a) T(a, b)"  # a rough choice: by one place
    assert len(table) == 5
    assert show(table) == "A(a) T(a, b) T(b, c) T(c, c) W(a, b, c)"


def test_by_predicate__sorts_by_property_or_class_first() -> None:
    given = facts("T(b,a) T(a,c) A(b) B(a) U(a,a) A(a)")
    assert [show([one]) for one in by_predicate(given)] == [
        "A(a)",
        "A(b)",
        "B(a)",
        "T(a, c)",
        "T(b, a)",
        "U(a, a)",
    ]


def matched(rules: str, positive: str, negative: str, changes: tuple[str, str]) -> list[Instance]:
    ruleset = Ruleset(program(rules))
    held, denied = facts(positive), facts(negative)
    pair: Changes = (facts(changes[0]), facts(changes[1]))
    found = Matcher(Table(held)).instances(
        ruleset.rules, held.__contains__, denied.__contains__, pair
    )
    return list(found)


def test_instances__with_several_changed_premises_come_once() -> None:
    rules = ":A[?x] :- :T[?x, ?y], :T[?y, ?z], :T[?z, ?x] ."
    assert len(matched(rules, "T(a,a)", "", ("T(a,a)", ""))) == 1
    triangle = "T(a,b) T(b,c) T(c,a)"
    assert len(matched(rules, triangle, "", (triangle, ""))) == 3


def test_instances__with_several_changed_negations_come_once() -> None:
    rules = ":D[?x] :- :A[?x], NOT :B[?x], NOT :C[?x] ."
    assert len(matched(rules, "A(a) A(b)", "", ("", "B(a) C(a)"))) == 1
    assert len(matched(rules, "A(a) A(b)", "", ("", "B(a) C(b)"))) == 2
    assert len(matched(rules, "A(a)", "", ("A(a)", "B(a) C(a)"))) == 1
    assert len(matched(rules, "A(a) A(b)", "B(b)", ("A(a)", "C(b)"))) == 1
    found = run(rules, "A(a) A(b) B(a) C(a) C(b)", "B(a) C(a)", "", "levels")
    assert found.dred_c() == (0, 1)
    found = run(rules, "A(a)", "", "B(a) C(a)", "levels")
    assert found.dred_c() == (1, 0)


def test_instances__without_premises_change_by_negations_only() -> None:
    found = run(":A[:a] :- NOT :B[:b] . :C[:c] .", "", "", "B(b)", "levels")
    assert (found.lost, found.gained) == ("A(a)", "B(b)")
    assert found.counting() == (1, 0)
    assert found.dred_c() == (1, 0)
    found = run(":A[:a] :- NOT :B[:b] . :C[:c] .", "B(b) C(c)", "B(b) C(c)", "", "levels")
    assert (found.lost, found.gained) == ("B(b)", "A(a)")


def test_binds__are_checked_where_a_head_or_a_negation_gives_the_value() -> None:
    rules = ":U[?x, ?m] :- :T[?x, ?n], BIND(?n + 1 AS ?m), NOT :V[?x, ?m] ."
    found = run(rules, "T(a,1) T(a,2) U(a,3) U(b,3)", "U(a,3) U(b,3)", "", "levels")
    assert found.lost == "U(b, 3)"  # T(a,2) derives the other one
    found = run(rules, "T(a,1) T(a,2)", "", "V(a,3) V(a,5)", "levels")
    assert found.lost == "U(a, 3)"
    assert found.dred() == (1, 0, 0)


def test_rules__say_when_they_need_the_simple_form() -> None:
    rules = ":C[?x] :- :B[?x, ?n], NOT (:B[?y, ?m], FILTER(?m > ?n)) ."
    with pytest.raises(UsageError, match=r"do not bind \?n.*simple form"):
        Materialisation(program(rules), facts("B(a,1)"))


def test_copies__do_not_share_what_changes() -> None:
    made = Materialisation(program(REACH), chain(4))
    made.count()
    trace(made)
    for algorithm in (counting, dred_c, dred):
        other = made.copy()
        algorithm(other, facts("B(a1)"), facts("T(a4,a1)"))
        assert len(other.facts) == 4
    fresh = Materialisation(program(REACH), chain(4))
    assert (made.facts, made.explicit) == (fresh.facts, fresh.explicit)
    assert made.table.facts == made.held
    assert show(made.table.like(("t", None, None, fact("T(a,a1)")[3]), {})) == ""
    assert made.counters == fresh.count()
    assert made.trace == trace(fresh)


# --- beyond the papers' rules --------------------------------------------------------------------


def test_aggregates__only_groups_that_change_are_touched() -> None:
    rules = """:N[?x, ?n] :- AGGREGATE(:T[?x, ?y] ON ?x BIND count(?y) AS ?n) .
        :Big[?x] :- :N[?x, ?n], FILTER(?n > 1) ."""
    given = "T(a,b) T(a,c) T(b,c) T(b,d) T(c,d)"
    found = run(rules, given, "T(a,b) T(c,d)", "T(d,a)", "levels")
    assert found.lost == "Big(a) N(a, 2) N(c, 1) T(a, b) T(c, d)"
    assert found.gained == "N(a, 1) N(d, 1) T(d, a)"
    assert found.dred_c() == (3, 2)  # two rows and Big(a); two rows
    assert found.counting() == (3, 2)


def test_aggregates__distinct_values_count_once() -> None:
    rules = ":N[?x, ?n] :- AGGREGATE(:T[?x, ?y], :U[?y, ?z] ON ?x BIND count(distinct ?y) AS ?n) ."
    found = run(rules, "T(a,b) T(a,c) U(b,d) U(b,e) U(c,d)", "U(b,d) U(c,d)", "", "levels")
    assert (found.lost, found.gained) == ("N(a, 2) U(b, d) U(c, d)", "N(a, 1)")


def test_rules__that_share_a_head_and_a_body_are_one() -> None:
    shared = program(":A[?x], :C[?x] :- :B[?x] . :A[?x] :- :B[?x] .")
    made = Materialisation(shared, facts("B(a)"))
    assert len(made.rules.rules) == 2
    assert made.count().nonrecursive[fact("A(a)")] == 1


def test_negated_bodies__only_what_they_share_is_touched() -> None:
    rules = ":B[?x] :- :A[?x], NOT EXISTS ?y IN (:T[?x, ?y], :C[?y]) ."
    given = "A(a) A(b) A(c) T(a,u) T(a,v) T(b,v) C(u)"
    found = run(rules, given, "C(u)", "C(v)", "levels")
    assert (found.lost, found.gained) == ("B(b) C(u)", "C(v)")
    assert found.counting() == (1, 0)
    assert found.dred_c() == (1, 0)


ANY = """[?y, ?p, ?x] :- [?x, ?p, ?y], :Symmetric[?p] .
    :Q[?x] :- [?x, ?p, ?y], NOT :Hidden[?p] ."""


def test_variable_properties__a_recursive_rule_may_use_lower_strata_only() -> None:
    """T is of stratum 0, but the rule's first atom is of the stratum of all that rules derive.

    So its instances over T have no premise of their own stratum. They must be found when the
    stratum begins, be proofs by themselves for a search, and count as recursive.
    """
    rules = program(ANY.splitlines()[0])
    given = "T(a,b) U(b,a) Symmetric(T) Symmetric(U)"
    made = Materialisation(rules, facts(given))
    assert [rule.recursive for rule in made.rules.rules] == [True]
    assert show(made.facts - made.explicit) == "T(b, a) U(a, b)"
    found = run(rules, given + " T(b,a)", "T(b,a)", "", "levels")
    assert found.lost == ""
    assert found.reports["B/F"].deleted == set()
    assert made.count().recursive[fact("T(b,a)")] == 1
    found = run(rules, given, "T(a,b)", "V(a,c) Symmetric(V)", "levels")
    assert found.lost == "T(a, b) T(b, a)"
    assert found.gained == "Symmetric(V) V(a, c) V(c, a)"


# --- abort strategies, reports -------------------------------------------------------------------


def chain(n: int) -> set[Fact]:
    return facts("B(a1) " + " ".join(f"T(a{i},a{i + 1})" for i in range(1, n)))


@pytest.mark.parametrize("algorithm", [fbf, fbf_c])
@pytest.mark.parametrize("bound", [0, 1, 3, 8, 20])
def test_deeper_than__bounds_the_depth_of_checks(algorithm: object, bound: int) -> None:
    made = Materialisation(program(REACH), chain(10) | facts("B(a10)"))
    report = algorithm(made, facts("B(a10)"), abort=deeper_than(bound))
    assert len(report.checked) == min(bound + 1, 10)
    assert show(report.deleted) == ("" if bound >= 9 else "B(a10)")
    assert fact("B(a10)") in made.facts


@pytest.mark.parametrize("bound", [0, 1, 3, 8, 20])
def test_after__bounds_the_work_of_checks(bound: int) -> None:
    made = Materialisation(program(REACH), chain(10) | facts("B(a10)"))
    report = fbf(made, facts("B(a10)"), abort=after(bound))
    assert report.count("check") == min(bound, 9)
    assert fact("B(a10)") in made.facts


def test_report__has_counts_by_phase() -> None:
    made = Materialisation(program(REACH), chain(3))
    report = dred(made, facts("B(a1)"))
    assert report.summary() == "overdelete 2"
    assert report.count() == report.count(*OVERDELETION) == 2
    assert report.count(*INSERTION) == 0
    assert dred(made).summary() == "no instances"
