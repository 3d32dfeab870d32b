"""Recursive counting, set at a time: the papers' numbers and traces, and exact after every step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.maintenance.checking import check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import Case, random_case
from tests.maintenance.tracing import expected_trace, shown, trace_of
from tests.reference_suite.papers import by_name
from triplestore.datalog.program import Program
from triplestore.datalog.stratify import Method
from triplestore.errors import BudgetError
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.counting import Counting, make_trace
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.steps.traces import Derivations, Trace, Traces
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.maintenance.update import count_recursive
from triplestore.maintenance.update_state import Work
from triplestore.rules.simplify import is_helper


def traced(strata: Method = "levels") -> Driver:
    """A driver that keeps traces, and has no blocks of subclass rules."""
    driver = Driver(strata, hierarchies=False)
    driver.traces = Traces()
    return driver


# --- against the oracle --------------------------------------------------------------------------


def check_traces(driver: Driver, explicit: frozenset, where: str) -> int:
    """Assert that each trace that is kept is the one by definition; returns how many there are."""
    compiled, traces = driver.compiled, driver.traces
    assert compiled is not None and traces is not None
    kept = {number for number in compiled.strata if traces.of(number) is not None}
    want = expected_trace(compiled, explicit)
    got = trace_of(driver)
    for number in kept:
        mine = {at: counts for at, counts in got.items() if at[0] == number}
        due = {at: counts for at, counts in want.items() if at[0] == number}
        for fact in [f for f in due.get((number, 1), ()) if f[0] == "r" and is_helper(f[1])]:
            del due[number, 1][fact]  # a driver does not show them
        assert mine == {at: counts for at, counts in due.items() if counts}, where
    return len(kept)


def run_case(case: Case, next_strategy: Callable[[], Strategy], strata: Method = "levels") -> int:
    """Go through a schedule with traces kept; returns how many traces were compared."""
    driver, before, compared = traced(strata), None, 0
    driver.hierarchies = True
    for number, (rules, explicit) in enumerate(case.states()):
        changed = rules if before is None or rules != before else None
        before = rules
        if number == 0:
            driver.step(explicit, (), changed, next_strategy())
        else:
            step = case.steps[number - 1]
            driver.step(step.additions, step.deletions, changed, next_strategy())
        where = f"seed {case.seed} after step {number}"
        check_state(driver, rules, explicit, where)
        compared += check_traces(driver, explicit, where)
    return compared


def cases(seeds: range, fixed: bool) -> list[Case]:
    """Random cases, with or without changes of rules; those that are refused are left out."""
    found = []
    for seed in seeds:
        case = random_case(seed)
        if fixed:
            steps = (s._replace(added=Program(), removed=Program()) for s in case.steps)
            case = case._replace(steps=tuple(steps))
        if not engine_takes(case):
            continue
        found.append(case)
    return found


@pytest.mark.parametrize("strata", ["levels", "one"])
@pytest.mark.parametrize("part", range(2))
def test_counting__random_schedules__keep_the_trace(strata: Method, part: int) -> None:
    compared = sum(
        run_case(case, Counting, strata) for case in cases(range(15 * part, 15 * part + 15), True)
    )
    assert compared > 25


def test_counting__other_strategies_and_rule_changes_between__keeps_the_trace() -> None:
    names = [*STRATEGIES, *["counting"] * len(STRATEGIES)]
    compared = 0
    for case in cases(range(300, 340), False):
        rng = random.Random(case.seed)
        compared += run_case(case, lambda rng=rng: strategy(rng.choice(names)))
    assert compared > 10


@pytest.mark.long
@pytest.mark.parametrize("strata", ["levels", "one"])
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("part", range(10))
def test_counting__many_random_schedules__keep_the_trace(
    strata: Method, fixed: bool, part: int
) -> None:
    names = ["counting"] if fixed else [*STRATEGIES, *["counting"] * len(STRATEGIES)]
    for case in cases(range(5_000 + 300 * part, 5_300 + 300 * part), fixed):
        rng = random.Random(case.seed)
        run_case(case, lambda rng=rng: strategy(rng.choice(names)), strata)


# --- the papers' numbers -------------------------------------------------------------------------


def considered(
    rules: str, given: str, deleted: str = "", added: str = "", strata: Method = "levels"
) -> tuple[int, int]:
    """Instances removed and added by one update; facts, counters and trace are checked."""
    driver, made = traced(strata), program(rules)
    driver.step(facts(given), (), made, Counting())
    driver.step((), (), None, Counting())
    closure = driver.step(facts(added), facts(deleted), None, Counting())
    after = frozenset((facts(given) - facts(deleted)) | facts(added))
    check_state(driver, made, after, "after the update")
    check_traces(driver, after, "after the update")
    return closure.instances.get("deletion", 0), closure.instances.get("insertion", 0)


RUNNING = """
:T[?x, ?y] :- :R[?x, ?y], NOT :A[?x] .
:T[?x, ?y] :- :S[?x, ?y], :A[?x] .
:B[?y] :- :T[?x, ?y], :B[?x] .
"""
RUNNING_FACTS = "R(b,e) S(b,f) T(a,b) T(b,c) T(c,d) T(d,c) T(e,c) T(f,g) T(g,c) B(a)"
THREE = by_name(A=1, R=1, S=1, T=2, B=3)
JOIN = ":S[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] ."
STATED = """
:T[?x, ?y] :- :R[?x, ?y], :An[?x] .
:T[?x, ?y] :- :S[?x, ?y], :A[?x] .
:B[?y] :- :T[?x, ?y], :B[?x] .
:T[?x, ?y] :- :Te[?x, ?y] .
:B[?x] :- :Be[?x] .
"""
STATED_FACTS = "R(b,e) S(b,f) Te(a,b) Te(b,c) Te(c,d) Te(d,c) Te(e,c) Te(f,g) Te(g,c) Be(a) An(b)"
FANS = "".join(f"Te(a{i},b) Be(a{i}) " for i in range(1, 7)) + "Te(b,c)"
CHAIN = "".join(f"Te(a{i},a{i + 1}) " for i in range(1, 6)) + "Be(a1) R(a1,a2) An(a1)"
REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."
EDGES_THEN_B = by_name(T=1, B=2, E=3)
ONE = by_name()
SEEDED = ":B[?x] :- :A[?x] . " + REACH
LADDER = "".join(f":B{i + 1}[?x] :- :B{i}[?x] ." for i in range(1, 7))
EACH = by_name(**{f"B{i}": i for i in range(1, 8)})


def chain(n: int) -> str:
    return "B(a1) " + " ".join(f"T(a{i},a{i + 1})" for i in range(1, n))


@pytest.mark.parametrize(
    ("rules", "given", "deleted", "added", "strata", "expected"),
    [
        pytest.param(RUNNING, RUNNING_FACTS, "", "A(b)", THREE, (3, 4), id="examples 2, 8"),
        pytest.param(RUNNING, RUNNING_FACTS + "A(b)", "A(b)", "", THREE, (4, 3), id="reverse"),
        pytest.param(
            JOIN, "R(a,b) R(b,d) R(a,c) R(c,d)", "R(a,b)", "", by_name(R=1, S=2), (1, 0),
            id="example 3",
        ),
        pytest.param(JOIN, "R(b,c)", "R(b,c)", "R(a,b)", by_name(R=1, S=2), (0, 0), id="example 4"),
        pytest.param(
            ":R[?y, ?x] :- :R[?x, ?y] .", "R(a,b)", "R(a,b)", "", ONE, (2, 0), id="examples 5, 6, 9"
        ),
        pytest.param(STATED, STATED_FACTS, "An(b)", "A(b)", ONE, (3, 4), id="example 13, one"),
        pytest.param(
            STATED, STATED_FACTS, "An(b)", "A(b)", by_name(T=2, B=3), (3, 4), id="example 13, three"
        ),
        pytest.param(STATED, FANS, "Be(a1)", "", ONE, (2, 0), id="example 16"),
        pytest.param(STATED, CHAIN, "An(a1)", "", ONE, (1, 0), id="example 17, one"),
        pytest.param(STATED, CHAIN, "An(a1)", "", by_name(B=2), (1, 0), id="example 17, two"),
        pytest.param(
            REACH, "B(a) B(b) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)", "B(b)", "", EDGES_THEN_B, (4, 4),
            id="example 22",
        ),
        *[
            pytest.param(
                REACH, chain(9), "", f"B(a{i})", EDGES_THEN_B, (9 - i, 9 - i),
                id=f"proposition 29, add {i}",
            )
            for i in (2, 5, 8)
        ],
        *[
            pytest.param(
                REACH, f"{chain(9)} B(a{i})", f"B(a{i})", "", EDGES_THEN_B, (9 - i, 9 - i),
                id=f"proposition 29, delete {i}",
            )
            for i in (2, 5, 8)
        ],
        pytest.param(LADDER, "B1(a)", "", "B3(a)", ONE, (4, 4), id="proposition 34, one"),
        pytest.param(LADDER, "B1(a)", "", "B3(a)", EACH, (0, 0), id="proposition 34, each"),
        pytest.param(
            SEEDED, chain(8) + "A(a2)", "A(a2)", "", ONE, (1, 0), id="proposition 35, one"
        ),
        pytest.param(
            SEEDED, chain(8) + "A(a2)", "A(a2)", "", by_name(A=1, T=2, B=2), (7, 6),
            id="proposition 35, two",
        ),
    ],
)  # fmt: skip
def test_counting__considers_what_the_papers_say(
    rules: str, given: str, deleted: str, added: str, strata: Method, expected: tuple[int, int]
) -> None:
    assert considered(rules, given, deleted, added, strata) == expected


def test_counting__nonrecursive_program__considers_exactly_what_changes() -> None:
    """Proposition 27, and thesis, example 1."""
    square = ":S[?y, ?z] :- :R[?x, ?y], :R[?x, ?z] ."
    gone = " ".join(f"R(a{i},c{i})" for i in range(1, 5))
    given = " ".join(f"R(a{i},b)" for i in range(1, 5)) + " " + gone
    assert considered(square, given, gone, "", by_name(R=1, S=2)) == (12, 0)


def ladder(name: str, n: int) -> str:
    """A fact `name1(a)` is in round 1, and `name` itself in round n."""
    steps = [f":{name}{i + 1}[?x] :- :{name}{i}[?x] ." for i in range(1, n - 1)]
    return " ".join([*steps, f":{name}[?x] :- :{name}{n - 1}[?x] . "])


TOGETHER = by_name(2, T=1, N=1, U=1)


def test_counting__fact_expected_later_is_moved__instance_is_met_once_for_all() -> None:
    """A comes in round 3 instead of 12; then B is still expected in 5, but comes in 7; C in 10."""
    rules = (
        ladder("A", 12) + ladder("B", 7) + ladder("C", 10) + ":H[?x] :- :A[?x], :B[?x], :C[?x] ."
    )
    given = "A1(a) B1(a) B3(a) C1(a)"
    changed = considered(rules, given, "B3(a)", "A10(a)", TOGETHER)
    assert changed == (2 + 4 + 1, 2 + 4 + 1)


@pytest.mark.parametrize(
    ("item", "given", "deleted", "added"),
    [(":T[?x, :b]", "", "", "T(a,b)"), ("NOT :N[?x]", "N(a)", "N(a)", "")],
)
def test_counting__moved_fact_and_a_change_below__instance_is_new(
    item: str, given: str, deleted: str, added: str
) -> None:
    """A comes in round 3 instead of 5; C comes in 10, so that only the change below matters."""
    rules = ladder("A", 5) + ladder("C", 10) + f":H[?x] :- :A[?x], :C[?x], {item} ."
    changed = considered(rules, "A1(a) C1(a) " + given, deleted, "A3(a) " + added, TOGETHER)
    assert changed == (2, 2 + 1)


@pytest.mark.parametrize(("deleted", "added"), [("", "A4(a) U(a,b)"), ("U(a,b)", "A4(a)")])
def test_counting__variable_property__facts_below_are_of_no_round(deleted: str, added: str) -> None:
    """An atom matches facts of the stratum (q), and of the one below it (U)."""
    rules = (
        ladder("A", 6)
        + ladder("C", 9)
        + (
            ":H[?x] :- :A[?x], :C[?x], [?x, ?p, :b] . :q[?x, :b] :- :H[?x] . "
            ":C1[?y] :- :q[?x, ?y] . :A1[?x] :- :q[?x, ?x] ."
        )
    )
    given = "A1(a) C1(a)" + (" U(a,b)" if deleted else "")
    considered(rules, given, deleted, added, by_name(2, U=1))
    considered(rules, given, deleted, added, "levels")


@pytest.mark.parametrize(("deleted", "added"), [("", "V(a)"), ("V(a)", "")])
def test_counting__variable_property__sees_what_nonrecursive_rules_derive(
    deleted: str, added: str
) -> None:
    rules = """:r[?x, :b] :- :V[?x] . :H[?x] :- :A[?x], [?x, ?p, :b] . :q[?x, :b] :- :H[?x] .
        :A[?x] :- :q[?x, ?x] . :s[?x, ?y] :- [?x, ?p, ?y], :W[?p] ."""
    considered(rules, f"A(a) W(r) V(b) A(b) {deleted}", deleted, added, by_name(2, V=1, W=1))


@pytest.mark.parametrize(("deleted", "added"), [("", "N(b) M(b)"), ("N(b) M(b)", "")])
def test_counting__two_negations_change__instance_is_met_once(deleted: str, added: str) -> None:
    rules = ":B[?y] :- :B[?x], :T[?x, ?y], NOT :N[?y], NOT :M[?y] ."
    changed = considered(
        rules, f"B(a) T(a,b) T(b,c) {deleted}", deleted, added, by_name(T=1, N=1, M=1, B=2)
    )
    assert changed == ((2, 0) if added else (0, 2))


def test_counting__one_fact_goes_and_another_comes__they_do_not_meet() -> None:
    driver, both = traced(by_name(2, T=1)), ":H[?x] :- :A[?x], :B[?x] . :A[?x] :- :H[?x] ."
    driver.step(facts("B(a) A(b)"), (), program(both), Counting())
    driver.step(facts("B(b)"), (), None, Counting())
    closure = driver.step(facts("A(a)"), facts("B(a)"), None, Counting())
    assert closure.instances == {}


def test_counting__facts_that_do_not_come_again__are_not_looked_at() -> None:
    driver = ready()
    closure = driver.step((), facts("T(a2,a3)"), None, Counting())
    assert closure.rounds == 8  # one for T, and 3 to 9 for a3 to a9


OLD_TRACE = {
    (1, 1): "R(b, e) S(b, f)",
    (2, 1): "T(a, b) T(b, c) T(b, e) T(c, d) T(d, c) T(e, c) T(f, g) T(g, c)",
    (3, 1): "B(a)",
    (3, 2): "B(b)",
    (3, 3): "B(c) B(e)",
    (3, 4): "B(c) B(d)",
    (3, 5): "B(c)",
}
NEW_TRACE = {
    (1, 1): "A(b) R(b, e) S(b, f)",
    (2, 1): "T(a, b) T(b, c) T(b, f) T(c, d) T(d, c) T(e, c) T(f, g) T(g, c)",
    (3, 1): "B(a)",
    (3, 2): "B(b)",
    (3, 3): "B(c) B(f)",
    (3, 4): "B(d) B(g)",
    (3, 5): "B(c) x2",
}


def test_counting__running_example__has_the_printed_traces() -> None:
    driver = traced(THREE)
    driver.step(facts(RUNNING_FACTS), (), program(RUNNING), Counting())
    for added, deleted, expected in (
        ("A(b)", "", NEW_TRACE),
        ("", "A(b)", OLD_TRACE),
        ("A(b)", "", NEW_TRACE),
    ):
        driver.step(facts(added), facts(deleted), None, Counting())
        assert shown(trace_of(driver)) == expected


def test_counting__proposition_29__facts_move_between_rounds() -> None:
    driver = traced(EDGES_THEN_B)
    driver.step(facts(chain(9)), (), program(REACH), Counting())
    driver.step(facts("B(a5)"), (), None, Counting())
    after = trace_of(driver)
    assert shown(after)[2, 1] == "B(a1) B(a5)"
    assert after[2, 5] == Counter(facts("B(a5) B(a9)"))
    driver.step((), facts("B(a5)"), None, Counting())
    before = shown(trace_of(driver))
    assert [before[2, i] for i in range(1, 10)] == [f"B(a{i})" for i in range(1, 10)]


# --- traces as an index --------------------------------------------------------------------------


def ready(given: str = chain(9), rules: str = REACH) -> Driver:
    """A driver with a trace."""
    driver = traced(EDGES_THEN_B)
    driver.step(facts(given), (), program(rules), Counting())
    driver.step(facts("B(x)"), (), None, Counting())
    assert driver.traces is not None and driver.traces.of(2) is not None
    return driver


def test_counting__trace_is_there__is_not_made_again() -> None:
    driver = ready()
    closure = driver.step((), facts("B(x)"), None, Counting())
    assert "trace" not in closure.instances
    assert [report.why for report in closure.strata] == [""]


def test_counting__trace_is_missing__is_made_by_one_evaluation() -> None:
    driver = traced(EDGES_THEN_B)
    driver.step(facts(chain(9)), (), program(REACH), Counting())
    closure = driver.step(facts("B(x)"), (), None, Counting())
    assert closure.instances["trace"] == 8
    assert [report.why for report in closure.strata] == ["there was no trace"]


def test_traces__another_strategy_ran__are_dropped_where_it_did() -> None:
    two = REACH + " :D[?y] :- :D[?x], :U[?x, ?y] ."
    driver = traced(by_name(T=1, U=1, B=2, D=3))
    driver.step(facts(chain(4) + " D(a) U(a,b)"), (), program(two), Counting())
    driver.step(facts("B(x) D(x)"), (), None, Counting())
    assert driver.traces is not None
    driver.step((), facts("B(x)"), None, strategy("dred_c"))
    assert driver.traces.of(2) is None
    assert driver.traces.of(3) is not None


def test_traces__rules_change__are_dropped() -> None:
    driver = ready()
    driver.step((), (), program(REACH + " :E[?x] :- :B[?x] ."), Counting())
    assert driver.traces is not None
    assert driver.traces.of(2) is None


def test_traces__transaction_undone__are_restored() -> None:
    driver = ready()
    assert driver.traces is not None
    before = driver.traces.mark(), driver.tables, driver.compiled
    driver.step((), facts("T(a3,a4)"), None, Counting())
    driver.step((), (), program(REACH + " :T[?x, ?x] :- :C[?x] ."), Counting())
    driver.step((), facts("T(a4,a5)"), None, Counting())
    mark, driver.tables, driver.compiled = before
    driver.traces.restore(mark)
    check_traces(driver, frozenset(facts(chain(9) + " B(x)")), "after restoring")
    closure = driver.step((), facts("T(a8,a9)"), None, Counting())
    assert "trace" not in closure.instances
    after = frozenset(facts(chain(8) + " B(x)"))
    check_state(driver, program(REACH), after, "after going on")
    assert check_traces(driver, after, "after going on") == 1


def test_traces__update_that_fails__leaves_them() -> None:
    driver = ready(chain(9) + " T(y,z) T(z,u)")
    assert driver.traces is not None
    kept = driver.traces.of(2)

    class Poor(Counting):
        def run(self, update: object) -> tuple[str, str]:
            update.work.budget = ReasoningBudget(facts=1).start()
            return super().run(update)

    with pytest.raises(BudgetError):
        driver.step(facts("B(y)"), (), None, Poor())
    assert driver.traces.of(2) is kept


def test_counting__recursive_counters_are_kept() -> None:
    driver = ready("B(a) T(a,b) T(b,c) T(c,b) T(c,d) T(a,d) T(d,e) T(e,f)")
    assert driver.compiled is not None
    driver.recursive = count_recursive(driver.compiled, driver.tables, driver.terms)
    for added, deleted in (("", "T(a,d)"), ("T(d,a) B(c)", ""), ("", "B(a) T(c,b)"), ("B(e)", "")):
        driver.step(facts(added), facts(deleted), None, Counting())
        assert driver.recursive is not None
        fresh = count_recursive(driver.compiled, driver.tables, driver.terms)
        want, got = ({n: (k.tolist(), c.tolist()) for n, k, c in table.items()}
                     for table in (fresh, driver.recursive))  # fmt: skip
        assert got == want


def test_counting__far_from_the_change__looks_at_nothing() -> None:
    """The paper's algorithm goes through all facts of both evaluations."""
    far = " ".join(f"T(b{i},b{i + 1})" for i in range(2000)) + " B(b0)"
    driver = ready(chain(5) + " " + far)
    closure = driver.step(facts("B(a3)"), (), None, Counting())
    assert closure.instances == {"deletion": 2, "insertion": 2}
    assert closure.fetched < 40


def test_counting__many_facts_at_once__keep_the_trace() -> None:
    """Enough facts for the kernels, of every kind of relation; compared with a new trace."""
    rules = """
        :T[?x, ?z] :- :T[?x, ?y], :E[?y, ?z] .  :T[?x, ?y] :- :E[?x, ?y], NOT :N[?x] .
        :V[?x, ?y, ?z] :- :T[?x, ?y], :V[?y, ?z, ?z] .  :V[?x, ?y, ?y] :- :T[?x, ?y], :F[?x, ?y] .
        :C[?y] :- :C[?x], :E[?x, ?y], :D[?y] .  :D[?y] :- :C[?x], :T[?x, ?y] .
        :E[?y, ?x] :- :E[?x, ?y], :D[?x], :D[?y] .
    """
    rng = random.Random(4)
    every = {f"E(n{rng.randrange(60)}, n{rng.randrange(60)})" for _ in range(130)}
    every |= {f"F(n{rng.randrange(60)}, n{rng.randrange(60)})" for _ in range(200)}
    every |= {f"{rng.choice('CDN')}(n{rng.randrange(60)})" for _ in range(20)}
    listed = sorted(every)
    for strata in ("levels", "one"):
        driver = traced(strata)
        held = set(rng.sample(listed, 300))
        driver.step(facts(" ".join(held)), (), program(rules), Counting())
        for size in (1, 5, 100, 20, 1):
            gone = set(rng.sample(sorted(held), size))
            come = set(rng.sample(listed, size))
            held = (held - gone) | come
            driver.step(facts(" ".join(come)), facts(" ".join(gone)), None, Counting())
            compiled, traces = driver.compiled, driver.traces
            assert compiled is not None and traces is not None
            for number, stratum in compiled.strata.items():
                kept = traces.of(number)
                if kept is not None:
                    fresh = make_trace(Work(compiled, driver.tables, driver.terms), stratum)
                    assert rows(kept) == rows(fresh)
                    assert len(fresh) > 100 or strata == "levels"


def rows(trace: Trace) -> dict:
    return {name: [column.tolist() for column in d] for name, d in trace.relations()}


# --- the arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wide", [False, True])
def test_trace__random_changes__sum_up(wide: bool) -> None:
    rng = np.random.default_rng(3)
    name = (9, 3) if wide else 9
    trace, want = Trace(), Counter[tuple[int, int]]()
    for size in (300, 3, 40, 1, 1, 200, 5, 0, 1):
        ids = rng.integers(1, 40, size)
        rounds, times = rng.integers(2, 5, size), rng.integers(-2, 4, size)
        for one in zip(ids.tolist(), rounds.tolist(), times.tolist(), strict=True):
            want[one[0], one[1]] += one[2]
        trace = trace.changed({name: Derivations.of(keys_of(ids, wide), rounds, times)})
        want = Counter({at: count for at, count in want.items() if count})
        asked = rng.permutation(45)
        index, found, counts = trace.look_up(name, keys_of(asked, wide))
        columns = (asked[index].tolist(), found.tolist(), counts.tolist())
        got = {(one, number): count for one, number, count in zip(*columns, strict=True)}
        assert got == want
        assert (np.diff(index * 10 + found) > 0).all()
        first = trace.first(name, keys_of(asked, wide))
        for i, one in enumerate(asked.tolist()):
            due = [r for (fact, r) in want if fact == one]
            assert first[i] == (min(due) if due else 1 << 40)
    assert trace.nbytes > 0


def test_derivations__totals__each_fact_once() -> None:
    keys = keys_of(np.array([1, 1, 2, 2, 3]), False)
    rounds, times = np.array([2, 4, 2, 3, 5]), np.array([1, 2, 1, -1, 4])
    facts_, total = Derivations(keys, rounds, times).totals()
    assert facts_.tolist() == keys[[0, 4]].tolist()
    assert total.tolist() == [3, 4]


def test_trace__many_small_changes__are_kept_in_few_runs() -> None:
    trace, one = Trace(), np.array([1])
    for number in range(100):
        trace = trace.changed({9: Derivations(keys_of(np.array([number]), False), one * 2, one)})
    assert len(trace) == 100
    assert len(trace._runs[9]) < 7


def keys_of(ids: np.ndarray, wide: bool) -> np.ndarray:
    if not wide:
        return ids.astype(np.uint64) << np.uint64(32) | np.uint64(7)
    spelt = np.zeros((len(ids), 3), dtype=">u4")
    spelt[:, 1] = ids
    return spelt.reshape(-1).view("S12")
