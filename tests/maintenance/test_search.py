"""The search for proofs: how far it goes, when it gives up, and the pieces it gets."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests import reference
from tests.maintenance.checking import check_state
from tests.maintenance.driver import Driver
from tests.maintenance.graphs import random_graph_case
from tests.maintenance.naive import Fact
from tests.maintenance.notation import fact, facts, program
from tests.maintenance.programs import random_case
from tests.maintenance.recording import Recording, recorded
from tests.reference import OVERDELETION, PROVING, Materialisation
from triplestore.errors import ProgramError
from triplestore.maintenance.fbf import BF, FBF
from triplestore.maintenance.fbf_c import BFC, FBFC
from triplestore.maintenance.search.checked_facts import CheckedFacts
from triplestore.maintenance.search.give_up import Abort
from triplestore.maintenance.search.instance_pieces import Pieces
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.rules.simplify import simplify

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."


def reach(edges: str, rest: str = "") -> tuple[Driver, set[Fact]]:
    driver = Driver()
    given = facts(f"{edges} {rest}")
    driver.step(given, (), program(REACH), strategy("dred"))
    return driver, given


@pytest.mark.parametrize("make", [BF, BFC])
def test_search__goal_with_many_instances__looks_at_few(make: Callable[[], Strategy]) -> None:
    """One of 3,000 derivations is lost, and any other one is a proof."""
    edges = " ".join(f"T(x{i}, hub) B(x{i})" for i in range(3000))
    driver, _ = reach(edges)
    closure = driver.step((), facts("B(x7)"), None, make())
    assert closure.fetched < 50
    assert closure.instances["backward"] < 5


@pytest.mark.parametrize("make", [BF, BFC])
def test_search__goal_with_many_useless_rows__goes_through_them_by_doubling(
    make: Callable[[], Strategy],
) -> None:
    """2,000 edges come from where nothing holds; rounds are few, and no row is looked at twice."""
    edges = " ".join(f"T(x{i}, hub)" for i in range(2000))
    driver, _ = reach(edges, "T(a, hub) B(a)")
    driver.step(facts("T(z, hub) B(z)"), (), None, strategy("dred"))  # the last row
    closure = driver.step((), facts("B(a)"), None, make())
    assert closure.inferred_removed == 0
    assert closure.fetched > 2000
    assert closure.fetched < 3 * 2002
    assert closure.rounds < 20


def test_search__many_rules_for_a_class__looks_at_few() -> None:
    rules = " ".join(f":D[?y] :- :T[?x, ?y], :C{i}[?x] ." for i in range(500))
    driver = Driver("one")
    given = facts("T(a, b) T(c, b) " + " ".join(f"C{i}(a)" for i in range(500)))
    text = f"{rules} :C0[?x] :- :D[?x] . :C1[?x] :- :C0[?x] ."
    text += "".join(f" :C{i}[?x] :- :E[?x] ." for i in range(500))
    driver.step(given | facts("C3(c)"), (), program(text), strategy("dred"))
    closure = driver.step((), facts("C3(c)"), None, BFC())
    assert closure.instances["backward"] < 20
    assert closure.fetched < 200


def test_search__what_serves_proved_goals_only__is_dropped() -> None:
    """The chain that would be another proof of the goal is not followed to its end."""
    chain = " ".join(f"T(n{i + 1}, n{i})" for i in range(300))
    driver, _ = reach(chain, "T(n0, g) T(p, q) T(q, g) B(p) B(n300) T(z, g) B(z)")
    closure = driver.step((), facts("B(z)"), None, BFC())
    assert closure.instances["backward"] < 20


def test_search__of_two_goals__what_serves_the_proved_one_only_is_dropped() -> None:
    """B(g) has a proof at hand, and a chain that leads away from it; B(h) has none, which takes as
    many rounds as its own chain is long."""
    chain = " ".join(f"T(n{i + 1}, n{i})" for i in range(300)) + " T(n0, g) B(n300)"
    other = " ".join(f"T(m{i + 1}, m{i})" for i in range(60)) + " T(m0, m60) T(m0, h)"
    driver, _ = reach(f"{chain} {other} T(p, q) T(q, g) T(z, g) T(z, h) T(z, m60)", "B(p) B(z)")
    closure = driver.step((), facts("B(z)"), None, BFC())
    assert closure.inferred_removed == 62
    assert closure.instances["backward"] < 62 + 20


def test_search__instance_with_a_dead_premise__asks_for_no_other() -> None:
    """When D(k) is in doubt, B(f) is known to have no proof, though it is not taken away yet; so
    D(p0), the other premise of an instance, need not be proved by its long chain."""
    rules = f"{REACH} :D[?z] :- :B[?y], :U[?y, ?z], :D[?w], :V[?w, ?z] ."
    chain = " ".join(f"U(s, p{i}) V(p{i + 1}, p{i})" for i in range(50)) + " D(p50)"
    cycle = "B(s) T(s, g) T(g, f) T(f, g) U(g, k) U(f, k) D(w) V(w, k) V(p0, k)"
    given = facts(f"{chain} {cycle}")
    driver = Driver("one")
    driver.step(given, (), program(rules), strategy("dred"))
    assert fact("D(k)") in driver.facts()
    closure = driver.step((), facts("T(s, g)"), None, BFC())
    assert fact("D(k)") not in driver.facts()
    assert closure.instances["backward"] < 10


def test_search__nonrecursive_rules__are_left_to_the_counters() -> None:
    rules = f"{REACH} :B[?x] :- :E[?x, ?y], :F[?y] ."
    given = facts(" ".join(f"E(g, y{i})" for i in range(500)) + " B(s) T(s, g)")
    driver = Driver()
    driver.step(given, (), program(rules), strategy("dred"))
    closure = driver.step((), facts("T(s, g)"), None, BFC())
    assert closure.inferred_removed == 1
    assert closure.fetched < 20


@pytest.mark.parametrize("make", [BF, BFC])
def test_search__premise_that_an_aggregate_made__is_proved_by_its_counter(
    make: Callable[[], Strategy],
) -> None:
    rules = ":B[?x] :- :T[?y, ?x], :B[?y], AGGREGATE(:A[?l] BIND count(?l) AS ?n) ."
    given = facts("A(a) A(b) B(s) B(z) T(s, g) T(z, g)")
    driver = Driver("one")
    driver.step(given, (), program(rules), strategy("dred"))
    driver.step((), facts("T(s, g)"), None, make())
    check_state(driver, program(rules), frozenset(given - facts("T(s, g)")), "aggregate")


def test_search__what_was_taken_away__is_no_premise() -> None:
    driver, _ = reach("T(s, g) " + " ".join(f"T(g, f{i})" for i in range(10)), "B(s)")
    closure = driver.step((), facts("T(s, g)"), None, BFC())
    assert closure.inferred_removed == 11
    assert not closure.instances.get("backward")


def test_search__random_graphs__no_more_than_twice_what_one_fact_at_a_time_takes() -> None:
    """The papers' search is depth first and runs rules forward on what it has proved."""
    ours = alone = 0
    for seed in range(6):
        rng = random.Random(seed)
        nodes, edges = 200, (400, 1000, 2000)[seed % 3]
        given = facts(
            " ".join(f"T(n{rng.randrange(nodes)}, n{rng.randrange(nodes)})" for _ in range(edges))
            + " "
            + " ".join(f"B(n{rng.randrange(nodes)})" for _ in range(10))
        )
        asserted = sorted(one for one in given if fact("B(a)")[3] != one[3])
        deleted = set(rng.sample(asserted, 20))
        driver = Driver()
        driver.step(given, (), program(REACH), strategy("dred"))
        report = reference.bf_c(Materialisation(program(REACH), given), deleted)
        closure = driver.step((), deleted, None, BFC())
        assert closure.instances.get("deletion", 0) == report.count(*OVERDELETION)
        ours += closure.instances.get("backward", 0)
        alone += report.count("check", *PROVING)
    assert ours < 2 * alone
    assert ours > 100


@pytest.mark.parametrize("counted", [False, True])
def test_abort__depth__is_how_far_from_the_goals(counted: bool) -> None:
    """The proof of a5 begins five steps away. With less, everything behind it is deleted."""
    chain = " ".join(f"T(a{i}, a{i + 1})" for i in range(9))
    taken = []
    for depth in range(8):
        driver, _ = reach(chain, "B(a0) T(z, a5) B(z)")
        made = FBFC(Abort(depth=depth)) if counted else FBF(Abort(depth=depth))
        closure = driver.step((), facts("T(z, a5)"), None, made)
        taken.append(closure.instances["deletion"])
        assert closure.inferred_removed == 0
    # The edge is one instance, those behind a5 are four. Counters are looked at anywhere.
    assert taken == ([5] * 5 + [1] * 3 if counted else [5] * 6 + [1] * 2)


@pytest.mark.parametrize("make", [FBF, FBFC])
def test_abort__fact_that_becomes_a_goal__is_checked_after_all(
    make: Callable[..., Strategy],
) -> None:
    """B(x) is too far from B(g), so B(g) is deleted. Then B(x) is in doubt, and has a proof."""
    driver, _ = reach("T(x, y) T(y, g) T(g, x) T(w, x) T(z, g)", "B(w) B(z)")
    closure = driver.step((), facts("T(z, g)"), None, make(Abort(depth=2)))
    assert closure.instances["deletion"] == 2
    assert closure.inferred_removed == 0
    assert not closure.instances.get("insertion")  # what was proved late comes back by itself


def test_abort__work__ends_a_search_that_takes_too_long() -> None:
    """A search of 20,000 instances ends after a few; what was in doubt comes back."""
    edges = " ".join(f"T(n{i}, n{j})" for i in range(40) for j in range(40))
    driver, _ = reach(edges, "B(n0) B(n1)")
    closure = driver.step((), facts("B(n0) B(n1)"), None, BFC())
    assert closure.instances["backward"] > 1500
    driver, given = reach(edges, "B(n0) B(n1)")
    closure = driver.step((), facts("B(n0) B(n1)"), None, FBFC(Abort(work=1200)))
    assert closure.instances["backward"] < 500
    check_state(driver, program(REACH), frozenset(given - facts("B(n0) B(n1)")), "cliques")


def test_abort__facts_that_wait_for_one_another__are_blocked_together() -> None:
    """Whoever waits for a fact whose check was aborted may yet be proved, also in a cycle."""
    rules = ":A[?x] :- :A[?y], :T[?y, ?x] ."
    given = facts("A(g) T(g, f) T(f, e) T(e, f) A(f) T(z, e) A(z)")
    for depth in range(4):
        for make in (FBF, FBFC):
            driver = Driver()
            driver.step(given, (), program(rules), strategy("dred"))
            deleted = facts("A(f) A(z)")
            driver.step((), deleted, None, make(Abort(depth=depth)))
            check_state(driver, program(rules), frozenset(given - deleted), f"depth {depth}")


# -- pieces ---------------------------------------------------------------------------------------


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Recording:
    return recorded(monkeypatch, tune)


@pytest.mark.parametrize("at_once", [1, 1 << 20])
@pytest.mark.parametrize("first", range(0, 75, 25))
def test_pieces__pulled_at_random__are_the_instances_of_backward_evaluation(
    first: int, at_once: int, recording: Recording, tune: Callable[..., None]
) -> None:
    tune(MAINTENANCE, source_rows=at_once)
    compared = 0
    for seed in range(first, first + 25):
        case = random_graph_case(seed) if seed % 2 else random_case(seed)
        try:
            simplify(case.program)
        except ProgramError:
            continue
        rng = random.Random(seed)
        driver = Driver()
        # Several commits, so that relations have several runs, and rows that are gone.
        some = sorted(case.facts)
        driver.step(some, (), case.program, strategy("dred"))
        for _ in range(3):
            gone = rng.sample(some, len(some) // 3)
            driver.tables = driver.tables.sealed()
            driver.step((), gone, None, strategy("dred"))
            driver.tables = driver.tables.sealed()
            driver.step(gone[1:], (), None, strategy("dred"))
        assert driver.compiled is not None
        recording.type_id = driver.type_id
        compared += _compare_pieces(driver, recording, rng)
    assert compared > 200


def test_pieces__several_steps__the_first_pull_goes_through_all_of_them() -> None:
    rules = ":A[?x] :- :T[?x, ?y], :U[?y, ?z], :V[?z, ?w] ."
    driver = Driver()
    pairs = " ".join(f"T(a, b{i}) U(b{i}, c{i}) V(c{i}, d)" for i in range(8))
    driver.step(facts(pairs), (), program(rules), strategy("dred"))
    assert driver.compiled is not None
    work = Work(driver.compiled, driver.tables, driver.terms)
    (family,) = driver.compiled.strata.families
    goals = driver.batch(facts("A(a)"))[driver.type_id]
    known = CheckedFacts()
    pieces = Pieces(work.run, known, family, driver.type_id, work.old())
    pieces.open(goals, known.add(driver.type_id, goals))
    goal, old = np.array([0]), work.old()
    assert pieces.pull(goal, np.array([1]), old, old)[1] == 1
    assert work.run.fetched == 3
    found = [pieces.pull(goal, np.array([wanted]), old, old)[1] for wanted in (1, 4, 4)]
    assert found == [1, 4, 2]
    assert not known.waiting.any()


def _compare_pieces(driver: Driver, recording: Recording, rng: random.Random) -> int:
    assert driver.compiled is not None
    work = Work(driver.compiled, driver.tables, driver.terms)
    names: list[RelationKey] = [*driver.tables.names().tolist(), *driver.tables.tuple_names()]
    for name in names:  # some facts are gone
        keys = work.new().view(name).keys()  # type: ignore[union-attr]
        chosen = np.array(sorted(rng.sample(range(len(keys)), len(keys) // 8)), dtype=np.int64)
        work.gone.add(name, np.sort(keys)[chosen])
    setting, nots = work.survivors(), work.union()
    compared = 0
    for family in driver.compiled.strata.families:
        if family.summary is not None:
            continue
        for name in names:
            if family.head.relation not in (name, 0) or (
                family.head.relation == 0 and isinstance(name, tuple)
            ):
                continue
            keys = np.sort(work.old().view(name).keys())  # type: ignore[union-attr]
            recording.clear()
            recording.note(
                "whole", family, *work.run.backward(family, keys, name, setting, nots, "")
            )
            known = CheckedFacts()
            pieces = Pieces(work.run, known, family, name, setting)
            half = len(keys) // 2
            numbers = known.add(name, keys)
            pieces.open(keys[:half], numbers[:half])
            opened = False
            while (known.waiting > 0).any() or not opened:
                need = np.array([rng.choice((0, 1, 1, 3)) for _ in range(len(keys))])
                before = need.copy()
                rows, n = pieces.pull(np.flatnonzero(need), need, setting, nots)
                recording.note("pieces", family, rows, n)
                if n:
                    goals = np.bincount(rows[family.width], minlength=len(keys))
                    assert (goals <= before).all()
                    assert (need == before - goals).all()
                if not opened:
                    pieces.open(keys[half:], numbers[half:])
                    opened = True
            assert Counter(recording.of("pieces")) == Counter(recording.of("whole"))
            compared += len(recording.of("whole"))
    return compared
