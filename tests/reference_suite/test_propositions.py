"""The propositions of the papers: families of inputs on which algorithms differ, and bounds.

Where the exact number is not the one printed, the comment has both.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.maintenance.naive import Fact
from tests.maintenance.notation import fact, facts, program, show
from tests.reference import Materialisation, bf, by_predicate, counting, dred, dred_c
from tests.reference_suite.papers import by_name, run, shown_trace

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."
EDGES_THEN_B = by_name(T=1, B=2)


def chain(n: int) -> str:
    return "B(a1) " + " ".join(f"T(a{i},a{i + 1})" for i in range(1, n))


# --- propositions 28 to 30 -----------------------------------------------------------------------


def test_proposition_28__dred_and_fbf_look_at_one_instance_that_stays() -> None:
    rules = ":S[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] ."
    found = run(rules, "R(a,b) R(b,d) R(a,c) R(c,d)", "R(a,b)", "", by_name(R=1, S=2))
    changed = found.old ^ found.new
    assert sum(found.counting()) == len(changed) == 1
    assert sum(found.dred_c()) == 1
    assert sum(found.dred()) == sum(found.bf()) == 2


@pytest.mark.parametrize("i", [2, 5, 8])
def test_proposition_29__counting_moves_facts_between_rounds(i: int) -> None:
    n = 9
    found = run(REACH, chain(n), "", f"B(a{i})", EDGES_THEN_B)
    assert found.counting() == (n - i, n - i)
    assert found.dred() == (0, 0, 0)
    assert found.bf() == (0, 0, 0, 0, 0)
    assert found.dred_c() == (0, 0)


@pytest.mark.parametrize("i", [2, 5, 8, 9])
def test_proposition_29__deletion_of_a_redundant_fact(i: int) -> None:
    n = 9
    found = run(REACH, f"{chain(n)} B(a{i})", f"B(a{i})", "", EDGES_THEN_B)
    assert (found.lost, found.gained) == ("", "")
    assert found.counting() == (n - i, n - i)
    assert found.dred() == (n - i, 1, n - i)  # in all 2(n - i) + 1; printed as 2(n - i + 1)
    deleted, searched, _, proved, inserted = found.bf()
    assert (deleted, inserted) == (0, 0)
    # printed as 2i: the last instance leads out of what was checked, and i = n has none
    assert (searched, proved) == ((i - 1, i) if i < n else (n - 1, n - 1))
    assert found.dred_c() == (n - i, n - i)


def test_proposition_29__traces() -> None:
    n, i = 9, 5
    made = Materialisation(program(REACH), facts(chain(n)), EDGES_THEN_B)
    before = shown_trace(made)
    assert [before[2, j] for j in range(1, n + 1)] == [f"B(a{j})" for j in range(1, n + 1)]
    counting(made, (), facts(f"B(a{i})"))
    after = shown_trace(made)
    assert after[2, 1] == f"B(a1) B(a{i})"
    assert fact(f"B(a{i})") in made.trace[2, i]
    for j in range(i + 1, n + 1):
        assert fact(f"B(a{j})") in made.trace[2, j - i + 1]


def last_first(some: Iterable[Fact]) -> list[Fact]:
    return by_predicate(some)[::-1]


@pytest.mark.parametrize(("order", "searched"), [(last_first, 8), (by_predicate, 7)])
def test_proposition_30__the_order_of_facts_matters(order: object, searched: int) -> None:
    found = run(REACH, chain(9) + " B(a9)", "B(a1) B(a9)", "", EDGES_THEN_B, order)
    assert found.bf() == (8, searched, 0, 0, 0)


# --- propositions 34 to 36: what strata do -------------------------------------------------------

N = 7
LADDER = "".join(f":B{i + 1}[?x] :- :B{i}[?x] ." for i in range(1, N))
ONE = by_name()
EACH = by_name(**{f"B{i}": i for i in range(1, N + 1)})


@pytest.mark.parametrize(("strata", "expected"), [(ONE, (4, 4)), (EACH, (0, 0))])
def test_proposition_34__counting(strata: object, expected: tuple[int, int]) -> None:
    assert run(LADDER, "B1(a)", "", "B3(a)", strata).counting() == expected  # 2(n - i), 0


@pytest.mark.parametrize(
    ("strata", "expected"),
    [(ONE, (6, 0, 5)), (EACH, (1, 0, 0))],  # 2n - 3 and 1; printed as 2n - 2 and 2
)
def test_proposition_34__dred(strata: object, expected: tuple[int, int, int]) -> None:
    assert run(LADDER, "B1(a) B2(a)", "B1(a)", "", strata).dred() == expected


@pytest.mark.parametrize(
    ("strata", "expected"),
    [(ONE, (0, 6, 0, 6, 0)), (EACH, (0, 0, 1, 0, 0))],  # the second printed as two
)
def test_proposition_34__fbf(strata: object, expected: tuple[int, ...]) -> None:
    assert run(LADDER, f"B1(a) B{N}(a)", f"B{N}(a)", "", strata).bf() == expected


SEEDED = ":B[?x] :- :A[?x] . " + REACH


def test_proposition_35__more_strata_may_be_worse_for_counting() -> None:
    n = 8
    given = chain(n) + " A(a2)"
    one = run(SEEDED, given, "A(a2)", "", ONE)
    assert one.counting() == (1, 0)
    two = run(SEEDED, given, "A(a2)", "", by_name(A=1, T=2, B=2))
    assert two.counting() == (7, 6)  # 2n - 3 in all; printed as 2n - 5


def test_proposition_35__traces() -> None:
    n = 8
    edges = " ".join(f"T(a{i}, a{i + 1})" for i in range(1, n))
    given = facts(chain(n) + " A(a2)")
    one = Materialisation(program(SEEDED), given, ONE)
    assert shown_trace(one)[1, 2] == "B(a2) x2"
    counting(one, facts("A(a2)"))
    assert shown_trace(one)[1, 2] == "B(a2)"
    two = Materialisation(program(SEEDED), given, by_name(A=1, T=2, B=2))
    before = shown_trace(two)
    assert before[2, 1] == f"B(a1) B(a2) {edges}"
    assert before[2, 2] == "B(a2) B(a3)"
    assert [before[2, i] for i in range(3, n)] == [f"B(a{i + 1})" for i in range(3, n)]
    counting(two, facts("A(a2)"))
    assert [shown_trace(two)[2, i] for i in range(2, n + 1)] == [
        f"B(a{i})" for i in range(2, n + 1)
    ]


@pytest.mark.parametrize(
    ("strata", "expected"),
    [(ONE, (0, 1, 0, 2, 0)), (by_name(R=1, A=2, B=2), (0, 1, 0, 6, 0))],  # printed as 1 + 1, 1 + n
)
def test_proposition_36__more_strata_may_be_worse_for_fbf(
    strata: object, expected: tuple[int, ...]
) -> None:
    rules = ":B[?x] :- :A[?x], :R[?x, ?y] . :A[?x] :- :B[?x] ."
    given = "A(a) B(a) " + " ".join(f"R(a,b{i})" for i in range(1, 6))
    found = run(rules, given, "B(a)", "", strata)
    assert (found.lost, found.gained) == ("", "")
    assert found.bf() == expected


# --- the cost of matching: revisited, examples 37 and 38; thesis, examples 1 and 2 ---------------


def test_example_37__a_pivot_may_spoil_a_written_order() -> None:
    rules = program(":A[?x] :- :R[?x, ?y], :S[?y, ?z], :T[?z, ?u] .")
    n = 20
    given = facts("R(a,b1) T(c,d) " + " ".join(f"S(b{i},c)" for i in range(1, n + 1)))
    strata = by_name(A=2)

    made = Materialisation(rules, given, strata, plan="written")
    assert made.report.fetched["derive lower"] == 3  # one row each

    def fetched(text: str) -> int:
        made = Materialisation(program(text), given, strata, plan="written")
        return dred(made, facts("T(c,d)")).fetched["overdelete lower"]

    # T first, as the pivot; then as written. Here R and S are written the other way round.
    assert fetched(":A[?x] :- :S[?y, ?z], :R[?x, ?y], :T[?z, ?u] .") == 1 + n + 1
    assert fetched(":A[?x] :- :R[?x, ?y], :S[?y, ?z], :T[?z, ?u] .") == 1 + 1 + 1
    made = Materialisation(rules, given, strata, plan="smallest")
    assert dred(made, facts("T(c,d)")).fetched["overdelete lower"] == 3


def pairs_of(n: int) -> tuple[str, str]:
    """The explicit facts of thesis, example 1, and those that are deleted."""
    gone = " ".join(f"R(a{i},c{i})" for i in range(1, n + 1))
    return " ".join(f"R(a{i},b)" for i in range(1, n + 1)) + " " + gone, gone


SQUARE = ":S[?y, ?z] :- :R[?x, ?y], :R[?x, ?z] ."


def test_thesis_example_1__what_is_lost() -> None:
    n = 4
    given, gone = pairs_of(n)
    found = run(SQUARE, given, gone, "", by_name(R=1, S=2))
    made = Materialisation(program(SQUARE), facts(given))
    assert len(made.facts) == 2 * n + 3 * n + 1
    assert (len(found.old), len(found.new)) == (16, 4)
    lost = [f"S(b,c{i}) S(c{i},b) S(c{i},c{i})" for i in range(1, n + 1)]
    assert found.lost == show(facts(gone + " ".join(lost)))  # S(b,b) stays, printed otherwise
    assert found.counting() == (12, 0)
    assert found.dred() == (12, 0, 0)
    assert found.dred_c() == (12, 0)


@pytest.mark.parametrize("n", [6, 12])
def test_thesis_example_1__evaluating_backwards_is_a_degree_worse(n: int) -> None:
    rules, (given, gone) = program(SQUARE), map(facts, pairs_of(n))
    report = dred(Materialisation(rules, given, plan="written"), gone)
    assert report.fetched["overdelete lower"] == 2 * n + 4 * n
    assert report.matched["rederive"] == n * n
    assert report.count("rederive") == 0  # counting instances hides it
    counted = dred_c(Materialisation(rules, given, plan="written"), gone)
    assert sum(counted.fetched.values()) == 2 * n + 4 * n


def test_thesis_example_2__no_order_of_atoms_helps() -> None:
    rules = """:D[?y, ?z] :- :B[:a, ?y, ?z] .
        :D[?y, ?z] :- :D[?x, ?u], :B[?x, ?y, ?v], :C[?u, ?v, ?z] ."""
    strata = by_name(B=1, C=1, D=2)

    def given(n: int) -> str:
        ones = range(1, n + 1)
        return "B(a,b1,e1) " + " ".join(
            [f"B(a,c{i},e{i}) C(e1,e{i},e1)" for i in ones]
            + [f"B(b{i},d{j},e{i})" for i in ones for j in ones]
        )

    n = 4
    found = run(rules, given(n), "B(a,b1,e1)", "", strata)
    made = Materialisation(program(rules), facts(given(n)))
    assert len(made.facts) == 34
    assert found.lost == show(
        facts("B(a,b1,e1) D(b1,e1)" + "".join(f" D(d{j},e1)" for j in range(1, n + 1)))
    )
    assert found.counting() == (5, 0)
    assert found.dred() == (5, 0, 0)
    assert found.dred_c() == (5, 0)
    looked_at = {}
    for m in (6, 12):
        made = Materialisation(program(rules), facts(given(m)), strata)
        looked_at[m] = dred(made, facts("B(a,b1,e1)")).fetched["rederive"]
        made = Materialisation(program(rules), facts(given(m)), strata)
        assert sum(dred_c(made, facts("B(a,b1,e1)")).fetched.values()) < 8 * m
    assert looked_at[6] > 6 * 6
    assert looked_at[12] > 3 * looked_at[6]


def test_search__needs_no_stack_for_long_proofs() -> None:
    made = Materialisation(program(REACH), facts(chain(3000) + " B(a3000)"), EDGES_THEN_B)
    report = bf(made, facts("B(a3000)"), ())
    assert report.count("check") == 2999
    assert not report.deleted
