"""Programs over thousands of facts: every strategy equals whole joins, also statuses and counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.evaluate.plentiful import (
    NUMBER,
    Case,
    Ints,
    Name,
    Plain,
    Relations,
    Rule,
    entity,
    facts_of,
    packed,
    program_of,
    random_case,
)
from tests.maintenance.driver import Driver
from tests.maintenance.naive import Facts, conclusions, naive
from tests.maintenance.notation import key, program
from triplestore.datalog.program import Rule as EngineRule
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations import EXPLICIT
from triplestore.relations.packed_keys import U32

KINDS = ("plain", "modules", "hierarchies off")


class RelationRows:
    """What a driver holds, as relations of the oracle."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def entities(self, ids: U32) -> Ints:
        """The entities of ids."""
        different, places = np.unique(ids, return_inverse=True)
        keys = (self.driver.dictionary.key(int(one)) for one in different)
        return np.array([ENTITIES[one] for one in keys], np.int64)[places]

    def of(self, name: Name) -> tuple[Ints, Ints, Ints]:
        """The rows of a relation, their statuses and their counters."""
        driver = self.driver
        own = int(driver.ids([key(name[0])])[0])
        if name[1] == 3:
            relation = driver.tables.tuples(own, 3)
        else:
            relation = driver.tables.relation(own if name[1] == 2 else driver.type_id)
        found = [np.zeros(0, np.int64)] * 3
        for columns in relation.scan():
            if name[1] == 1:
                columns = tuple(column[columns[1] == own] for column in columns)
            status, count = relation.status_of(columns), relation.count_of(columns)
            values = [self.entities(column) for column in columns[: name[1]]]
            block = (packed(values), status.astype(np.int64), count.astype(np.int64))
            found = [np.concatenate(pair) for pair in zip(found, block, strict=True)]
        order = np.argsort(found[0])
        return found[0][order], found[1][order], found[2][order]


ENTITIES = {entity(n): n for n in (*range(200), *range(NUMBER, NUMBER + 4096))}


def recursive_rules(driver: Driver, levels: list[list[Rule]]) -> set[str]:
    """The rules that the engine takes for recursive: it does not count what they derive."""
    assert driver.compiled is not None
    found: set[EngineRule] = set()
    for stratum in driver.compiled.stratification:
        pairs = zip(stratum.rules, stratum.recursive, strict=True)
        found.update(rule for rule, recursive in pairs if recursive)
    return {str(r) for level in levels for r in level if program(str(r)).rules[0] in found}


def check(driver: Driver, levels: list[list[Rule]], asserted: Relations, where: str) -> None:
    """Facts, statuses and counters are those of the oracle."""
    plain = Plain(levels, asserted)
    recursive = recursive_rules(driver, levels)
    counts: dict[Name, list[tuple[Ints, Ints]]] = {}
    for rule in dict.fromkeys(rule for level in levels for rule in level):
        if str(rule) not in recursive:
            counts.setdefault(rule.head.name, []).append(plain.conclusions(rule))
    rows = RelationRows(driver)
    for name, want in plain.facts.items():
        got, status, count = rows.of(name)
        assert len(np.setdiff1d(want, got)) == 0, f"{where}: {name} lacks facts"
        assert len(np.setdiff1d(got, want)) == 0, f"{where}: facts of {name} do not follow"
        explicit = np.isin(got, asserted.get(name, got[:0]))
        assert ((status == EXPLICIT) == explicit).all(), (where, name, "statuses")
        expected = np.zeros(len(want), np.int64)
        for heads, times in counts.get(name, ()):
            np.add.at(expected, np.searchsorted(want, heads), times)
        assert (count == expected).all(), (where, name, "counters")


def check_case(case: Case, kind: str, following: Callable[[], Strategy]) -> None:
    """Assert that after every step everything is as from scratch."""
    driver = Driver(modules=kind == "modules", hierarchies=kind != "hierarchies off")
    before: list[list[Rule]] | None = None
    for number, (levels, asserted) in enumerate(case.states()):
        changed = program_of(levels) if levels != before else None
        before = levels
        if number == 0:
            driver.step(facts_of(asserted), (), changed, following())
        else:
            step = case.steps[number - 1]
            driver.step(facts_of(step.added), facts_of(step.deleted), changed, following())
        check(driver, levels, asserted, f"seed {case.seed}, {kind}, after step {number}")


def run(first: int, count: int, name: str) -> None:
    """Run some cases, beginning with a seed."""
    for seed in range(first, first + count):
        rng = random.Random(seed)
        names = list(STRATEGIES) if name == "mixed" else [name]

        def following(rng: random.Random = rng, names: list[str] = names) -> Strategy:
            return strategy(rng.choice(names))

        check_case(random_case(seed), KINDS[seed % len(KINDS)], following)


def test_oracle__agrees_with_the_slow_one() -> None:
    for seed in range(12):
        for levels, asserted in random_case(seed, steps=1, sizes=(20, 40)).states():
            plain, rules = Plain(levels, asserted), program_of(levels)
            assert facts_of(plain.facts) == naive(rules, facts_of(asserted)).facts
            for rule in (rule for level in levels for rule in level):
                heads, times = plain.conclusions(rule)
                closed = Facts(facts_of(plain.facts))
                slow = Counter(conclusions(program(str(rule)).rules[0], closed))
                assert sorted(times.tolist()) == sorted(slow.values())
                assert facts_of({rule.head.name: heads}) == slow.keys()


@pytest.mark.parametrize("name", ["auto", "dred_c", "bf_c", "rematerialise", "mixed"])
def test_plentiful__random_schedules__equal_whole_joins(name: str) -> None:
    run(0, 3, name)


@pytest.mark.long
@pytest.mark.parametrize("name", [*STRATEGIES, "mixed"])
@pytest.mark.parametrize("part", range(10))
def test_plentiful__many_random_schedules__equal_whole_joins(name: str, part: int) -> None:
    run(1_000 + part * 50, 50, name)
