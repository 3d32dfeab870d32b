"""The examples of the papers, with the sets and the numbers of instances they give."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.maintenance.naive import Fact
from tests.maintenance.notation import fact, facts, program, show
from tests.reference import (
    Materialisation,
    by_predicate,
    counting,
    deeper_than,
    dred_c,
    fbf,
    fbf_c,
    trace,
)
from tests.reference_suite.papers import by_name, run, shown_trace

# --- the running example: revisited, examples 1, 2, 7, 8, 18, 20, 21 -----------------------------

RUNNING = """
:T[?x, ?y] :- :R[?x, ?y], NOT :A[?x] .
:T[?x, ?y] :- :S[?x, ?y], :A[?x] .
:B[?y] :- :T[?x, ?y], :B[?x] .
"""
RUNNING_FACTS = "R(b,e) S(b,f) T(a,b) T(b,c) T(c,d) T(d,c) T(e,c) T(f,g) T(g,c) B(a)"
THREE = by_name(A=1, R=1, S=1, T=2, B=3)
EXPLICIT_T = "T(a, b) T(b, c) T(c, d) T(d, c)"


def test_running_example__materialisation() -> None:
    made = Materialisation(program(RUNNING), facts(RUNNING_FACTS), THREE)
    assert show(made.facts - made.explicit) == "B(b) B(c) B(d) B(e) T(b, e)"
    assert len(made.facts) == 15
    assert len(made.instances()) == 7
    assert made.report.count() == 7
    assert not made.report.repeated()


OLD_TRACE = {
    (1, 1): "R(b, e) S(b, f)",
    (2, 1): f"{EXPLICIT_T} T(e, c) T(f, g) T(g, c)".replace("T(b, c) ", "T(b, c) T(b, e) "),
    (3, 1): "B(a)",
    (3, 2): "B(b)",
    (3, 3): "B(c) B(e)",
    (3, 4): "B(c) B(d)",
    (3, 5): "B(c)",
}
NEW_TRACE = {
    (1, 1): "A(b) R(b, e) S(b, f)",
    (2, 1): f"{EXPLICIT_T} T(e, c) T(f, g) T(g, c)".replace("T(b, c) ", "T(b, c) T(b, f) "),
    (3, 1): "B(a)",
    (3, 2): "B(b)",
    (3, 3): "B(c) B(f)",
    (3, 4): "B(d) B(g)",
    (3, 5): "B(c) x2",
}


def test_running_example__trace() -> None:
    made = Materialisation(program(RUNNING), facts(RUNNING_FACTS), THREE)
    assert shown_trace(made) == OLD_TRACE
    counting(made, (), facts("A(b)"))
    assert shown_trace(made) == NEW_TRACE
    counting(made, facts("A(b)"))
    assert shown_trace(made) == OLD_TRACE


def test_running_example__an_addition_that_deletes() -> None:
    found = run(RUNNING, RUNNING_FACTS, "", "A(b)", THREE)
    assert found.lost == "B(e) T(b, e)"
    assert found.gained == "A(b) B(f) B(g) T(b, f)"
    assert (len(found.old), len(found.new)) == (7, 8)
    assert (len(found.old - found.new), len(found.new - found.old)) == (3, 4)
    assert {show([*one.positive, one.head]) for one in found.new - found.old} == {
        show(facts("S(b,f) A(b) T(b,f)")),
        show(facts("T(b,f) B(b) B(f)")),
        show(facts("T(f,g) B(f) B(g)")),
        show(facts("T(g,c) B(g) B(c)")),
    }
    assert found.counting() == (3, 4)
    assert found.dred() == (5, 1, 6)
    assert found.bf() == (3, 2, 0, 3, 4)
    assert found.dred_c() == (5, 6)
    dred, bf, counted = (found.reports[name] for name in ("DRed", "B/F", "DRed^c"))
    assert show(dred.deleted) == "B(c) B(d) B(e) T(b, e)"
    assert show(dred.added) == "A(b) B(c) B(d) B(f) B(g) T(b, f)"
    assert show(bf.deleted) == "B(e) T(b, e)"
    assert bf.proved >= facts("B(a) B(b) B(c)")
    assert show(bf.delayed) == "B(d)"
    assert show(counted.rederived) == "B(c)"


def test_running_example__a_deletion_that_adds() -> None:
    found = run(RUNNING, RUNNING_FACTS + " A(b)", "A(b)", "", THREE)
    assert found.counting() == (4, 3)
    assert found.dred() == (6, 1, 5)
    assert found.bf() == (4, 2, 0, 3, 3)
    assert found.dred_c() == (6, 5)


# --- counting: revisited, examples 3, 4, 5, 6, 9 -------------------------------------------------

JOIN = ":S[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] ."
TWO = by_name(R=1, S=2)


def test_example_3__a_fact_with_two_derivations_keeps_one() -> None:
    made = Materialisation(program(JOIN), facts("R(a,b) R(b,d) R(a,c) R(c,d)"), TWO)
    assert trace(made)[2, 1] == {fact("S(a,d)"): 2}
    counting(made, facts("R(a,b)"))
    assert trace(made)[2, 1] == {fact("S(a,d)"): 1}
    found = run(JOIN, "R(a,b) R(b,d) R(a,c) R(c,d)", "R(a,b)", "", TWO)
    assert found.lost == "R(a, b)"
    assert found.counting() == (1, 0)
    assert found.dred() == (1, 1, 0)
    assert found.bf() == (1, 0, 1, 0, 0)
    assert found.dred_c() == (1, 0)
    assert show(found.reports["DRed^c"].deleted) == "R(a, b)"


def test_example_4__an_old_and_a_new_fact_are_not_joined() -> None:
    found = run(JOIN, "R(b,c)", "R(b,c)", "R(a,b)", TWO)
    assert [report.count() for report in found.reports.values()] == [0] * len(found.reports)


def test_examples_5_6_9__a_cycle_does_not_support_itself() -> None:
    rules = ":R[?y, ?x] :- :R[?x, ?y] ."
    made = Materialisation(program(rules), facts("R(a,b)"), by_name())
    assert shown_trace(made) == {(1, 1): "R(a, b)", (1, 2): "R(b, a)", (1, 3): "R(a, b)"}
    found = run(rules, "R(a,b)", "R(a,b)", "", by_name())
    assert found.lost == "R(a, b) R(b, a)"
    assert found.counting() == (2, 0)
    assert found.dred() == (2, 0, 0)
    assert found.bf() == (2, 2, 0, 0, 0)
    assert found.dred_c() == (2, 0)


# --- DRed: revisited, examples 13 to 17 ----------------------------------------------------------

STATED = """
:T[?x, ?y] :- :R[?x, ?y], :An[?x] .
:T[?x, ?y] :- :S[?x, ?y], :A[?x] .
:B[?y] :- :T[?x, ?y], :B[?x] .
:T[?x, ?y] :- :Te[?x, ?y] .
:B[?x] :- :Be[?x] .
"""
STATED_FACTS = "R(b,e) S(b,f) Te(a,b) Te(b,c) Te(c,d) Te(d,c) Te(e,c) Te(f,g) Te(g,c) Be(a) An(b)"
ONE = by_name()


@pytest.mark.parametrize(
    ("strata", "searched"),
    # Stated as 5 and 5, and 2 and 3: the order in which facts and instances are tried matters.
    [(ONE, (3, 5, 0, 5, 4)), (by_name(T=2, B=3), (3, 2, 1, 3, 4))],
    ids=["one stratum", "three strata"],
)
def test_example_13__dred(strata: object, searched: tuple[int, ...]) -> None:
    found = run(STATED, STATED_FACTS, "An(b)", "A(b)", strata)
    assert found.lost == "An(b) B(e) T(b, e)"
    assert found.gained == "A(b) B(f) B(g) T(b, f)"
    made = Materialisation(program(STATED), facts(STATED_FACTS), strata)
    assert len(made.facts) == 24
    assert show(found.reports["DRed"].deleted) == "An(b) B(c) B(d) B(e) T(b, e)"
    assert show(found.reports["DRed"].added) == "A(b) B(c) B(d) B(f) B(g) T(b, f)"
    assert found.dred() == (5, 1, 6)
    assert found.counting() == (3, 4)
    assert found.dred_c() == (5, 6)
    assert show(found.reports["DRed^c"].rederived) == "B(c)"
    assert found.bf() == searched


def test_example_14__a_fact_that_loses_two_premises_is_overdeleted_by_one_instance() -> None:
    found = run(STATED, STATED_FACTS, "R(b,e) An(b)", "A(b)", ONE)
    assert found.dred() == (5, 1, 6)
    heads = [one.head for one in found.reports["DRed"].of("overdelete lower", "overdelete")]
    assert heads.count(fact("T(b,e)")) == 1


def test_example_15__a_fact_that_gains_two_premises_is_inserted_by_one_instance() -> None:
    found = run(STATED, STATED_FACTS, "An(b)", "A(b) S(b,h)", ONE)
    assert found.dred() == (5, 1, 8)
    assert found.gained == "A(b) B(f) B(g) B(h) S(b, h) T(b, f) T(b, h)"
    heads = [one.head for one in found.reports["DRed"].of("insert lower", "insert")]
    assert heads.count(fact("T(b,h)")) == 1


@pytest.mark.parametrize("edge", ["Te", "T"])
def test_example_16__one_instance_is_enough_to_rederive_a_fact(edge: str) -> None:
    sources = "".join(f"{edge}(a{i},b) Be(a{i}) " for i in range(1, 7))
    found = run(STATED, f"{sources} {edge}(b,c)", "Be(a1)", "", ONE)
    assert found.dred() == (3, 1, 1)
    assert show(found.reports["DRed"].deleted) == "B(a1) B(b) B(c) Be(a1)"
    assert [show([one.head]) for one in found.reports["DRed"].of("rederive")] == ["B(b)"]
    assert found.counting() == (2, 0)
    deleted, searched, *proved, inserted = found.bf()
    assert (deleted, inserted) == (2, 0)
    assert searched <= 3
    assert sum(proved) <= 3
    assert show(found.reports["B/F"].deleted) == "B(a1) Be(a1)"


@pytest.mark.parametrize(
    ("strata", "expected"), [(ONE, (6, 1, 5)), (by_name(B=2), (1, 1, 0))], ids=["one", "two"]
)
def test_example_17__strata_confine_overdeletion(strata: object, expected: tuple[int, ...]) -> None:
    chain = "".join(f"Te(a{i},a{i + 1}) " for i in range(1, 6))
    found = run(STATED, chain + "Be(a1) R(a1,a2) An(a1)", "An(a1)", "", strata)
    assert (found.lost, found.gained) == ("An(a1)", "")
    assert found.dred() == expected
    assert found.counting() == (1, 0)
    assert found.dred_c() == (expected[0], expected[2])


# --- FBF: revisited, examples 22 to 24 -----------------------------------------------------------

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."
EDGES_THEN_B = by_name(T=1, B=2)


def backwards(some: Iterable[Fact]) -> list[Fact]:
    """The other way round: facts and instances with the greatest terms first."""
    return by_predicate(some)[::-1]


def test_example_22__order_matters_but_only_near_the_deleted_fact() -> None:
    given = "B(a) B(b) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)"
    found = run(REACH, given, "B(b)", "", EDGES_THEN_B)
    assert (found.lost, found.gained) == ("", "")
    assert found.dred() == (4, 1, 4)
    assert found.counting() == (4, 4)
    for order, numbers, proved, delayed in (
        (by_predicate, (0, 1, 0, 2, 0), "B(a) B(b)", "B(c)"),
        (backwards, (0, 3, 0, 4, 0), "B(a) B(b) B(c)", "B(d)"),
    ):
        found = run(REACH, given, "B(b)", "", EDGES_THEN_B, order)
        report = found.reports["B/F"]
        assert found.bf() == numbers
        assert show(report.checked) == show(report.proved) == proved
        assert show(report.delayed) == delayed
        assert not report.deleted


def test_example_23__a_clique_is_searched_once() -> None:
    names = [f"a{i}" for i in range(1, 6)]
    edges = "".join(f"T({one},{other}) " for one in names for other in names)
    found = run(REACH, "B(a1) " + edges, "B(a1)", "", EDGES_THEN_B)
    assert found.lost == "B(a1) B(a2) B(a3) B(a4) B(a5)"
    assert found.dred() == (25, 0, 0)
    assert found.bf() == (25, 25, 0, 0, 0)


def test_example_24__a_fact_is_proved_whose_own_check_had_failed() -> None:
    given = "B(a) B(b) B(c) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)"
    found = run(REACH, given, "B(b) B(c)", "", EDGES_THEN_B, order=from_b)
    report = found.reports["B/F"]
    assert (found.lost, found.gained) == ("", "")
    assert found.bf() == (0, 3, 0, 4, 0)
    assert show(report.checked) == show(report.proved) == "B(a) B(b) B(c)"
    assert show(report.delayed) == "B(d)"


def from_b(some: Iterable[Fact]) -> list[Fact]:
    """B(b) before B(c), but T(c,b) before T(a,b)."""
    ordered = by_predicate(some)
    return ordered[::-1] if any("T(" in show([one]) for one in ordered) else ordered


def test_fbf__facts_that_wait_for_one_another_are_blocked_together() -> None:
    """Where the algorithm as printed loses B(f).

    B(g) is checked first: B(f) waits for it, and the branch to B(h) is given up, which blocks B(g).
    Later B(h) is checked for itself, and proves both, which are deleted by then.
    """
    edges = "T(f,g) T(g,f) T(k,h) T(h,i) T(i,g)"
    names = "gfhik"

    def order(some: Iterable[Fact]) -> list[Fact]:
        return sorted(some, key=lambda one: [names.find(chr(part[-1])) for part in one[1:2]])

    strata = by_name(T=1, B=2)
    gone = facts("B(g) B(f) B(h)")
    for algorithm, how in ((fbf, {}), (fbf_c, {"recursive": False}), (fbf_c, {})):
        given = facts(f"{edges} B(k)") | gone
        made = Materialisation(program(REACH), given, strata)
        report = algorithm(made, gone, abort=deeper_than(1), order=order, **how)
        assert show(report.deleted) == "B(f) B(g)"
        assert report.deleted <= report.proved & report.blocked
        assert show(made.facts) == show(facts(f"{edges} B(f) B(g) B(h) B(i) B(k)"))


# --- counters: thesis, example 3 -----------------------------------------------------------------


def test_thesis_example_3__counters_before_within_and_after() -> None:
    rules = program(":A[?y] :- :A[?x], :B[?x, ?y] .")
    given = facts("A(a) A(b) A(d) B(a,c) B(b,c) B(c,d) B(d,e)")
    made = Materialisation(rules, given, by_name(B=1, A=2))

    def pairs() -> list[tuple[int, int]]:
        return [made.count().pair(fact(f"A({name})")) for name in "abcde"]

    before = pairs()
    assert before == [(1, 0), (1, 0), (0, 2), (1, 1), (0, 1)]
    report = dred_c(made, facts("A(a)"))
    within = [
        report.after_deletion.get(fact(f"A({name})"), pair)
        for name, pair in zip("abcde", before, strict=True)
    ]
    assert within == [(0, 0), (1, 0), (0, 1), (1, 0), (0, 1)]
    assert pairs() == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 1)]
    assert show(report.deleted) == "A(a) A(c)"
    assert show(report.rederived) == "A(c)"

    found = run(rules, given, "A(a)", "", by_name(B=1, A=2))
    assert found.dred_c() == (2, 1)
    assert show(found.reports["DRed"].deleted) == "A(a) A(c) A(d) A(e)"
    assert found.dred() == (3, 1, 2)
    assert found.bf() == (1, 1, 0, 2, 0)
