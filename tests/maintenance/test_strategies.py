"""The strategies: what they delete and consider, compared with the papers and their algorithms.

`test_update` says that every strategy is exact. Here it is how they get there: the instances each
phase considers are those that the papers' algorithms consider (where no order is involved, the same
ones), none comes twice, and the papers' examples give the papers' numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from tests import reference
from tests.maintenance.checking import check_state
from tests.maintenance.driver import Driver
from tests.maintenance.graphs import RULES, random_graph_case
from tests.maintenance.makers import MAKERS
from tests.maintenance.naive import Fact
from tests.maintenance.notation import facts, program, show
from tests.maintenance.programs import random_case
from tests.maintenance.recording import Ground, Recording, held, in_keys, is_instance_of, recorded
from tests.reference import INSERTION, OVERDELETION, Materialisation, Report
from tests.reference.matching import Instance
from tests.reference_suite.papers import by_name
from triplestore.datalog.stratify import Method
from triplestore.errors import ProgramError
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.strategies import strategy
from triplestore.relations.facts.counts import RecursiveCounts
from triplestore.rules.simplify import simplify

ALONE: dict[str, Callable[..., Report]] = {
    "dred": reference.dred,
    "fbf always": reference.dred,
    "dred_c": reference.dred_c,
    "fbf_c always": reference.dred_c,
    "bf": reference.bf,
    "fbf never": reference.bf,
    "bf_c": reference.bf_c,
    "fbf_c never": reference.bf_c,
}
"""The fact-at-a-time algorithm that takes away and inserts the same."""


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Recording:
    return recorded(monkeypatch, tune)


def check_instances(recording: Recording, driver: Driver, old: set[Fact]) -> None:
    """Theorems 19 and 25: deletion and backward search look at old instances, what comes after at
    new ones, nothing twice."""
    new = held(driver)
    for phases, allowed in (
        (("deletion",), old),
        (("backward",), old),
        (("saturation", "rederivation", "insertion"), new),
    ):
        assert not recording.repeated(*phases), phases
        assert all(is_instance_of(one, allowed) for one in recording.of(*phases)), phases
    assert all(one.recursive for one in recording.of("backward"))
    assert all(is_instance_of(one, old) for one in recording.of("saturation", "rederivation"))


# -- the same instances as one fact at a time -----------------------------------------------------


def ground(driver: Driver, some: Iterable[Ground]) -> Counter[tuple[object, ...]]:
    return Counter(
        (
            tuple(sorted(in_keys(driver, one.positive))),
            tuple(sorted(in_keys(driver, one.negative))),
            next(in_keys(driver, [one.head])),
        )
        for one in some
    )


def ground_alone(some: Iterable[Instance]) -> Counter[tuple[object, ...]]:
    return Counter(
        (tuple(sorted(one.positive)), tuple(sorted(one.negative)), one.head) for one in some
    )


@pytest.mark.parametrize("strata", ["levels", "one"])
@pytest.mark.parametrize("name", ALONE)
def test_instances__recursive_programs__are_those_of_the_algorithm_alone(
    name: str, strata: Method, recording: Recording
) -> None:
    for seed in range(2 * len(RULES)):
        case = random_graph_case(seed, steps=3)
        driver = Driver(strata)
        driver.step(case.facts, (), case.program, MAKERS[name]())
        recording.type_id = driver.type_id
        explicit = set(case.facts)
        for step in case.updates:
            # A fact that is inferred and now asserted is a proof for us, and not for the papers.
            added = {one for one in step.added if one not in driver.facts()}
            alone = Materialisation(case.program, explicit, strata)
            report = ALONE[name](alone, step.deleted - added, added)
            recording.clear()
            closure = driver.step(added, step.deleted, None, MAKERS[name]())
            explicit = (explicit - step.deleted) | added
            assert set(in_keys(driver, recording.dropped)) == report.deleted, seed
            for phase, lines in (("deletion", OVERDELETION), ("insertion", INSERTION)):
                found = ground(driver, recording.of(phase))
                assert found == ground_alone(report.of(*lines)), (seed, phase)
                assert closure.instances.get(phase, 0) == found.total()
            if name in ("dred", "fbf always"):
                assert closure.instances.get("rederivation", 0) == report.count("rederive")


@pytest.mark.parametrize("name", MAKERS)
def test_instances__recursive_programs__none_twice_and_old_before_new(
    name: str, recording: Recording
) -> None:
    for seed in range(len(RULES)):
        case = random_graph_case(seed)
        driver = Driver("one" if seed % 2 else "levels")
        driver.step(case.facts, (), case.program, MAKERS[name]())
        recording.type_id = driver.type_id
        explicit = set(case.facts)
        for step in case.updates:
            old = held(driver)
            recording.clear()
            closure = driver.step(step.added, step.deleted, None, MAKERS[name]())
            explicit = (explicit - step.deleted) | step.added
            check_instances(recording, driver, old)
            check_state(driver, case.program, frozenset(explicit), f"seed {seed}")
            for phase, count in closure.instances.items():
                assert count == len(recording.of(phase)), (seed, phase)


@pytest.mark.parametrize("name", MAKERS)
def test_instances__random_programs__none_twice_and_old_before_new(
    name: str, recording: Recording
) -> None:
    for seed in range(300, 310):
        case = random_case(seed)
        try:
            states = [(simplify(given), given, explicit) for given, explicit in case.states()]
        except ProgramError:
            continue
        driver = Driver("one" if seed % 2 else "levels")
        recording.type_id = driver.type_id
        before = None
        for number, (_, given, explicit) in enumerate(states):
            old = held(driver)
            recording.clear()
            step = case.steps[number - 1] if number else None
            added, deleted = (step.additions, step.deletions) if step else (explicit, ())
            driver.step(added, deleted, given if given != before else None, MAKERS[name]())
            check_state(driver, given, explicit, f"seed {seed} after step {number}")
            if given == before:
                check_instances(recording, driver, old)
            before = given


# -- the papers' numbers --------------------------------------------------------------------------

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."
RUNNING = f":T[?x, ?y] :- :R[?x, ?y], NOT :A[?x] . :T[?x, ?y] :- :S[?x, ?y], :A[?x] . {REACH}"
RUNNING_FACTS = "R(b,e) S(b,f) T(a,b) T(b,c) T(c,d) T(d,c) T(e,c) T(f,g) T(g,c) B(a)"
THREE = by_name(A=1, R=1, S=1, T=2, B=3)
STATED = f""":T[?x, ?y] :- :R[?x, ?y], :An[?x] . :T[?x, ?y] :- :S[?x, ?y], :A[?x] . {REACH}
    :T[?x, ?y] :- :Te[?x, ?y] . :B[?x] :- :Be[?x] ."""
STATED_FACTS = "R(b,e) S(b,f) Te(a,b) Te(b,c) Te(c,d) Te(d,c) Te(e,c) Te(f,g) Te(g,c) Be(a) An(b)"
ONE = by_name()
STATED_THREE = by_name(T=2, B=3)
JOIN = ":S[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] ."
SIX = " ".join(f"Te(a{i},b) Be(a{i})" for i in range(1, 7))
CHAIN_SIX = " ".join(f"Te(a{i},a{i + 1})" for i in range(1, 6)) + " Be(a1) R(a1,a2) An(a1)"
CYCLE = "B(a) B(b) T(a,b) T(b,c) T(c,b) T(c,d) T(d,e)"
CLIQUE = "B(a1) " + " ".join(f"T(a{i},a{j})" for i in range(1, 6) for j in range(1, 6))
CHAIN_NINE = " ".join(f"T(a{i},a{i + 1})" for i in range(1, 9)) + " B(a1)"
COPIES = " ".join(f":B{i + 1}[?x] :- :B{i}[?x] ." for i in range(1, 7))
EACH = by_name(**{f"B{i}": i for i in range(1, 8)})
PAIRS = ":S[?y, ?z] :- :R[?x, ?y], :R[?x, ?z] ."
PAIRS_FACTS = " ".join(f"R(a{i},b) R(a{i},c{i})" for i in range(1, 5))
COUNTED = ":A[?y] :- :A[?x], :T[?x, ?y] ."

EXAMPLES = {
    # name: rules, facts, deleted, added, strata, DRed's instances of overdeletion, one-step
    # rederivation and insertion, DRed^c's of overdeletion and insertion
    "running, add": (RUNNING, RUNNING_FACTS, "", "A(b)", THREE, (5, 1, 6), (5, 6)),
    "running, back": (RUNNING, RUNNING_FACTS + " A(b)", "A(b)", "", THREE, (6, 1, 5), (6, 5)),
    "3": (JOIN, "R(a,b) R(b,d) R(a,c) R(c,d)", "R(a,b)", "", by_name(S=2), (1, 1, 0), (1, 0)),
    "4": (JOIN, "R(b,c)", "R(b,c)", "R(a,b)", by_name(S=2), (0, 0, 0), (0, 0)),
    "5": (":R[?y, ?x] :- :R[?x, ?y] .", "R(a,b)", "R(a,b)", "", ONE, (2, 0, 0), (2, 0)),
    "13": (STATED, STATED_FACTS, "An(b)", "A(b)", ONE, (5, 1, 6), (5, 6)),
    "13, strata": (STATED, STATED_FACTS, "An(b)", "A(b)", STATED_THREE, (5, 1, 6), (5, 6)),
    "14": (STATED, STATED_FACTS, "R(b,e) An(b)", "A(b)", ONE, (5, 1, 6), (5, 6)),
    "15": (STATED, STATED_FACTS, "An(b)", "A(b) S(b,h)", ONE, (5, 1, 8), (5, 8)),
    "16": (STATED, SIX + " Te(b,c)", "Be(a1)", "", ONE, (3, 1, 1), (3, 1)),
    "17": (STATED, CHAIN_SIX, "An(a1)", "", ONE, (6, 1, 5), (6, 5)),
    "17, strata": (STATED, CHAIN_SIX, "An(a1)", "", STATED_THREE, (1, 1, 0), (1, 0)),
    "22": (REACH, CYCLE, "B(b)", "", by_name(B=2), (4, 1, 4), (4, 4)),
    "23": (REACH, CLIQUE, "B(a1)", "", by_name(B=2), (25, 0, 0), (25, 0)),
    "29, i = 2": (REACH, CHAIN_NINE + " B(a2)", "B(a2)", "", by_name(B=2), (7, 1, 7), (7, 7)),
    "29, i = 5": (REACH, CHAIN_NINE + " B(a5)", "B(a5)", "", by_name(B=2), (4, 1, 4), (4, 4)),
    "29, i = 8": (REACH, CHAIN_NINE + " B(a8)", "B(a8)", "", by_name(B=2), (1, 1, 1), (1, 1)),
    "29, added": (REACH, CHAIN_NINE, "", "B(a5)", by_name(B=2), (0, 0, 0), (0, 0)),
    "34": (COPIES, "B1(a) B2(a)", "B1(a)", "", ONE, (6, 0, 5), (1, 0)),
    "34, strata": (COPIES, "B1(a) B2(a)", "B1(a)", "", EACH, (1, 0, 0), (1, 0)),
    "thesis 1": (PAIRS, PAIRS_FACTS, "R(a1,c1) R(a2,c2) R(a3,c3) R(a4,c4)", "", by_name(S=2),
                 (12, 0, 0), (12, 0)),
    "thesis 3": (COUNTED, "A(a) A(b) A(d) T(a,c) T(b,c) T(c,d) T(d,e)", "A(a)", "", by_name(A=2),
                 (3, 1, 2), (2, 1)),
}  # fmt: skip


def run_example(name: str, made: Strategy) -> tuple[Driver, dict[str, int]]:
    rules, given, deleted, added, strata, _, _ = EXAMPLES[name]
    driver = Driver(strata)
    driver.recursive = RecursiveCounts()
    driver.step(facts(given), (), program(rules), strategy("dred"))
    if made.name not in ("dred_c", "fbf_c"):
        driver.recursive = None
    closure = driver.step(facts(added), facts(deleted), None, made)
    after = (facts(given) - facts(deleted)) | facts(added)
    check_state(driver, program(rules), frozenset(after), name)
    return driver, closure.instances


@pytest.fixture
def no_hierarchies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strata of subclass rules are strata like others."""
    monkeypatch.setattr("triplestore.rules.passes.find_blocks", lambda strata: {})


@pytest.mark.usefixtures("no_hierarchies")
@pytest.mark.parametrize("make", ["dred", "fbf always"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_dred__examples_of_the_papers__their_numbers(name: str, make: str) -> None:
    _, found = run_example(name, MAKERS[make]())
    phases = ("deletion", "rederivation", "insertion")
    assert tuple(found.get(phase, 0) for phase in phases) == EXAMPLES[name][5]


@pytest.mark.usefixtures("no_hierarchies")
@pytest.mark.parametrize("make", ["dred_c", "fbf_c always"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_dredc__examples_of_the_papers__their_numbers(name: str, make: str) -> None:
    _, found = run_example(name, MAKERS[make]())
    assert (found.get("deletion", 0), found.get("insertion", 0)) == EXAMPLES[name][6]
    assert not found.get("rederivation")


DELETED_BY_BF = {
    # name: deleted facts, instances of deletion and insertion
    "running, add": ("B(e) T(b, e)", 3, 4),
    "running, back": ("A(b) B(f) B(g) T(b, f)", 4, 3),
    "3": ("R(a, b)", 1, 0),
    "5": ("R(a, b) R(b, a)", 2, 0),
    "13": ("An(b) B(e) T(b, e)", 3, 4),
    "16": ("Be(a1) B(a1)", 2, 0),
    "17": ("An(a1)", 1, 0),
    "22": ("", 0, 0),
    "23": ("B(a1) B(a2) B(a3) B(a4) B(a5)", 25, 0),
    "29, i = 5": ("", 0, 0),
    "thesis 3": ("A(a)", 1, 0),
}


@pytest.mark.parametrize("make", ["bf", "bf_c", "fbf never", "fbf_c never"])
@pytest.mark.parametrize("name", DELETED_BY_BF)
def test_bf__examples_of_the_papers__only_what_is_lost_is_taken_away(
    name: str, make: str, recording: Recording
) -> None:
    driver, found = run_example(name, MAKERS[make]())
    recording.type_id = driver.type_id
    recording.clear()
    driver, found = run_example(name, MAKERS[make]())
    taken, deletion, insertion = DELETED_BY_BF[name]
    assert show(in_keys(driver, recording.dropped)) == show(facts(taken))
    assert (found.get("deletion", 0), found.get("insertion", 0)) == (deletion, insertion)
    assert not found.get("rederivation")
