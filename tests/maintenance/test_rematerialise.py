"""Rematerialisation is exact, and writes only what differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.notation import TYPE_KEY, facts, program
from tests.maintenance.programs import random_case
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.steps.without_stratum import WithoutStratum, stored_counts, stored_keys
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update import Closure
from triplestore.relations import EXPLICIT, HOLDS, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import pack, swap


@pytest.mark.parametrize("part", range(2))
def test_rematerialise__one_stratum_for_all__equals_the_oracle(part: int) -> None:
    for seed in range(100 + 20 * part, 120 + 20 * part):
        case = random_case(seed)
        if not engine_takes(case):
            continue
        check_case(case, Rematerialise, "one")


@pytest.mark.parametrize(("few", "dear"), [(0, 8), (32, 0)])
def test_rematerialise__either_way_to_what_was__equals_the_oracle(
    tune: Callable[..., None], few: int, dear: int
) -> None:
    """Classes and counters are read whole, or looked up."""
    tune(MAINTENANCE, few_classes=few, count_rows=dear)
    for seed in range(200, 225):
        case = random_case(seed)
        check_case(case, Rematerialise)


RULES = """
    :B[?x] :- :A[?x], NOT :N[?x] .  :C[?x] :- :B[?x] .  :C[?y] :- :C[?x], :T[?x, ?y] .
    :T[?x, ?y] :- :R[?x, ?y], :A[?x] .
"""
FACTS = "A(a) A(b) R(a, c) R(b, c) C(c) T(c, d)"


@pytest.mark.parametrize("delete", ["A(a)", "C(c)", "T(c, d)", "A(a) A(b) C(c)"])
def test_rematerialise__deletion__writes_what_other_strategies_write(
    delete: str,
) -> None:
    made = []
    for name in ("dred_c", "rematerialise"):
        driver = Driver()
        driver.step(facts(FACTS), (), program(RULES), strategy("dred_c"))
        made.append(driver.step((), facts(delete), None, strategy(name)))
    one, other = made
    rows = [
        sorted(
            zip(
                *(c.tolist() for c in changes.columns),
                changes.status.tolist(),
                changes.previous.tolist(),
                np.broadcast_to(changes.count, changes.status.shape).tolist(),
                strict=True,
            )
        )
        for changes in (one.changes.facts, other.changes.facts)
    ]
    assert rows[0] == rows[1]
    assert one.inferred_removed == other.inferred_removed
    assert one.still_entailed == other.still_entailed


def test_rematerialise__rule_taken_out__its_conclusions_are_subtracted_once() -> None:
    driver = Driver()
    two = program(":B[?x] :- :A[?x] .  :B[?x] :- :D[?x] .")
    driver.step(facts("A(a) D(a) D(b)"), (), two, strategy("rematerialise"))
    left = program(":B[?x] :- :A[?x] .")
    driver.step((), (), left, strategy("rematerialise"))
    check_state(driver, left, frozenset(facts("A(a) D(a) D(b)")), "after the rule went")


def run_steps(text: str, *steps: tuple[str, str, str | None]) -> list[Closure]:
    """Rematerialise after each of some steps (added, deleted, new rules); what each came to."""
    driver, held, rules = Driver(), set[Any](), program(text)
    closures = []
    for number, (added, deleted, changed) in enumerate(steps):
        rules = rules if changed is None else program(changed)
        held = (held - facts(deleted)) | facts(added)
        again = rules if number == 0 or changed is not None else None
        made = driver.step(facts(added), facts(deleted), again, strategy("rematerialise"))
        check_state(driver, rules, frozenset(held), f"after step {number}")
        closures.append(made)
    return closures


def test_rematerialise__classes_of_a_family__are_all_compared() -> None:
    two = ":B[?x] :- :A[?x] .  :D[?x] :- :C[?x] ."
    run_steps(two, ("A(a) C(a) C(b)", "", None), ("", "A(a) C(b)", None))


def test_rematerialise__classes_from_a_variable_property__are_all_compared() -> None:
    rule = "[?x, ?p, ?y] :- :w[?x, ?p, ?y, ?p], :A[?p] .  :A[?x] :- :q[?x, ?x] ."
    kind = TYPE_KEY.removeprefix(b"\x01").decode()
    rule += (
        f" :q[<{kind}>, <{kind}>] :- :s[:a, :a] .  :w[?x, <{kind}>, ?y, <{kind}>] :- :t[?x, ?y] ."
    )
    run_steps(rule, ("s(a, a) t(a, C) t(b, C)", "", None), ("", "t(a, C)", None))


def test_rematerialise__new_rule_for_what_is_stated__is_counted() -> None:
    one = ":B[?x] :- :A[?x] ."
    more = one + " :r[?x, ?x] :- :A[?x] ."
    run_steps(one, ("A(a) r(a, a)", "", None), ("", "", more))


def test_rematerialise__additions_in_two_strata__are_reported_by_stratum() -> None:
    rules = ":B[?x] :- :A[?x] .  :C[?x] :- :B[?x], NOT :N[?x] ."
    *_, last = run_steps(rules, ("N(b)", "", None), ("A(a) A(b)", "", None))
    assert [(report.number, report.added) for report in last.strata] == [(0, 2), (1, 2), (2, 1)]


def test_rematerialise__reports__what_was_derived_again() -> None:
    driver = Driver()
    driver.step(facts(FACTS), (), program(RULES), strategy("rematerialise"))
    closure = driver.step((), facts("A(a)"), None, strategy("rematerialise"))
    assert {report.strategy for report in closure.strata} == {"rematerialise"}
    assert closure.instances == {"insertion": 5}
    # T(b, c); B(b); C(b) from B(b), C(d) from C(c), C(c) from C(b)


def layered(rng: np.random.Generator, name: int, size: int) -> Tables:
    """A relation in several layers: rows of all statuses, some with counts, overwritten."""
    tables = Tables()
    for _ in range(4):
        keys = np.unique(rng.integers(0, 60, size * 2).reshape(2, -1) * [[1 << 32], [1]], axis=1)
        keys = np.unique(keys.sum(axis=0)).astype(np.uint64)
        first, second = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
        previous = tables.relation(name).status_of_keys(keys)
        status = rng.choice([EXPLICIT, INFERRED, 0], len(keys)).astype(np.uint8)
        if rng.random() < 0.5:
            status[:] = rng.choice([EXPLICIT, INFERRED])
        counts = rng.integers(0, 3, len(keys)).astype(np.uint32)
        moved = (status != 0) | (previous != 0)
        columns = (np.full(len(keys), name, np.uint32)[moved], first[moved], second[moved])
        rows = ChangedRows.of(columns, status[moved], previous[moved], counts[moved])
        if rng.random() < 0.4:
            rows = ChangedRows.of(columns, status[moved], previous[moved])
        tables = tables.push(Layer.build(Changes(facts=rows)))
    return tables


@pytest.mark.parametrize("size", [0, 5, 100, 1500])
@pytest.mark.parametrize("type_id", [9, 8])
def test_stored_keys__layers_of_changes__as_the_relation_says(size: int, type_id: int) -> None:
    for seed in range(5):
        tables = layered(np.random.default_rng(seed), 9, size) if size else Tables()
        relation = tables.relation(9)
        stored = Stored(tables, type_id)
        for where in (EXPLICIT, INFERRED, HOLDS):
            want = relation.keys(1 if type_id == 9 else 0, where)
            assert stored_keys(stored, 9, where).tolist() == want.tolist()
        keys, counts = stored_counts(stored, 9)
        every = stored_keys(stored, 9, HOLDS)
        forward = swap(every) if type_id == 9 else every
        first, second = (forward >> np.uint64(32)).astype(np.uint32), forward.astype(np.uint32)
        every_count = relation.count_of((first, second))
        assert keys.tolist() == every[every_count > 0].tolist()
        assert counts.tolist() == every_count[every_count > 0].tolist()


class Halves:
    """Levels: classes below 30 are of stratum 1, others of 2; all else is of stratum 0."""

    type_id = 9

    def relation(self, name: Any) -> int:
        return 0

    def classes(self, ids: np.ndarray) -> np.ndarray:
        return np.where(ids < 30, 1, 2)


def test_restated__classes_of_two_strata__own_ones_are_seen_if_stated() -> None:
    tables = layered(np.random.default_rng(5), 9, 1500)
    stored = Stored(tables, 9)
    seen = WithoutStratum(stored, Halves(), 2).pairs(9)  # type: ignore[arg-type]
    every, asserted = stored_keys(stored, 9, HOLDS), stored_keys(stored, 9, EXPLICIT)
    lower = every[every >> np.uint64(32) < 30]
    want = np.sort(np.concatenate((lower, asserted[asserted >> np.uint64(32) >= 30])))
    assert seen.array(0).tolist() == want.tolist()
    assert seen.array(1).tolist() == np.sort(swap(want)).tolist()
    asked = np.arange(60, dtype=np.uint32)[::-1].copy()
    for values in (asked, asked[:20], asked[40:], asked[7:8], asked[50:51]):
        index, members = seen.match(0, values)
        classes = values[index]
        inside = want[np.isin((want >> np.uint64(32)).astype(np.uint32), values)]
        assert np.sort(pack(classes, members)).tolist() == inside.tolist()
        index, classes = seen.match(1, values)
        inside = want[np.isin(want.astype(np.uint32), values)]
        assert np.sort(pack(classes, values[index])).tolist() == inside.tolist()
    mixed = np.random.default_rng(1).permutation(every)
    assert seen.contains_keys(mixed).tolist() == np.isin(mixed, want).tolist()
    assert seen.contains_keys(mixed[mixed >> np.uint64(32) < 30]).all()
    for class_ in (3, 40):
        beside = pack(np.full(60, class_, np.uint32), asked)
        assert seen.contains_beside(class_, asked).tolist() == np.isin(beside, want).tolist()
