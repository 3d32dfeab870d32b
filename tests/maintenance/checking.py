"""Compare the engine with the oracle along a random schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from functools import lru_cache

from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact, counts, naive
from tests.maintenance.programs import Case
from triplestore.closures.attached import UNION, Schemes
from triplestore.datalog.program import Program, Rule
from triplestore.datalog.stratify import Method
from triplestore.errors import ProgramError
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.relations import EXPLICIT, INFERRED
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.chain_shapes import shape_of
from triplestore.rules.simplify import simplify


def engine_takes(case: Case) -> bool:
    """Whether the engine evaluates all programs of a case: it refuses negations under a filter that
    need a guard which recurses."""
    try:
        for rules, _ in case.states():
            simplify(rules)
    except ProgramError:
        return False
    return True


def check_case(
    case: Case,
    next_strategy: Callable[[], Strategy],
    strata: Method = "levels",
    driver: Driver | None = None,
) -> None:
    """Assert that after every step closure, statuses and counters are those from scratch."""
    driver = driver or Driver(strata)
    before: Program | None = None
    for number, (program, explicit) in enumerate(case.states()):
        changed = program if before is None or program != before else None
        before = program
        if number == 0:
            driver.step(explicit, (), changed, next_strategy())
        else:
            step = case.steps[number - 1]
            driver.step(step.additions, step.deletions, changed, next_strategy())
        check_state(driver, program, explicit, f"seed {case.seed} after step {number}")


@lru_cache(maxsize=512)  # asked for each strategy, which are tests of their own
def _closure(program: Program, explicit: frozenset[Fact]) -> Set[Fact]:
    return naive(program, explicit).facts


def _derivations(
    compiled: Compiled, program: Program, explicit: frozenset[Fact], strata: Method
) -> Counter[Fact]:
    """How often rules that do not recurse conclude each fact."""
    key = program, explicit, strata
    if key not in _COUNTED:
        if len(_COUNTED) >= 512:
            _COUNTED.clear()
        found = counts(compiled.rules, explicit, compiled.stratification)
        _COUNTED[key] = found.nonrecursive
    return _COUNTED[key].copy()


_COUNTED: dict[tuple[Program, frozenset[Fact], Method], Counter[Fact]] = {}


def in_views(rules: Iterable[Rule], schemes: Schemes, held: Iterable[Fact]) -> Iterator[Fact]:
    """What copying rules conclude in properties that are views, as often as they do: such facts
    are not counted."""
    views = {one.structure.relations for one in schemes.values() if one.structure.kind == UNION}
    for rule in rules:
        shape = shape_of(rule, 0) if len(rule.body) == 1 else None
        if shape is None or (shape.head,) not in views:
            continue
        (step,) = shape.steps
        for kind, *terms in held:
            if kind == "t" and terms[1] == step.relation:
                s, o = (terms[2], terms[0]) if step.turned else (terms[0], terms[2])
                yield ("t", s, shape.head, o)


def check_state(driver: Driver, program: Program, explicit: frozenset[Fact], where: str) -> None:
    """Assert that what the driver holds is what follows."""
    assert driver.compiled is not None
    explicit = frozenset(explicit)  # some tests give a set, which cannot be asked for again
    got = driver.facts()
    want = _closure(program, explicit)
    assert want - got.keys() == set(), f"{where}: facts are missing"
    assert got.keys() - want == set(), f"{where}: facts do not follow"
    apart = driver.beside or driver.pairs
    whole = Compiled(program, driver.ids) if apart else driver.compiled
    by_rule = _derivations(whole, program, explicit, driver.strata)
    for fact in in_views(whole.rules, driver.tables.schemes, want):
        by_rule[fact] -= 1
    for fact, (status, count) in got.items():
        assert status == (EXPLICIT if fact in explicit else INFERRED), (where, fact)
        assert count == by_rule.get(fact, 0), (where, fact)
