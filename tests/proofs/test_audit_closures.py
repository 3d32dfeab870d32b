"""Audits of closures that are not written out: right ones pass, broken ones do not."""

from __future__ import annotations

import pytest

from tests.maintenance.checking import engine_takes
from tests.maintenance.closures import closure_case
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.proofs.test_audit import BOTH, audited, break_facts
from triplestore.closures.kinds import SCHEMES
from triplestore.maintenance.strategies import strategy
from triplestore.proofs import audit as audit_room
from triplestore.relations import EXPLICIT, HOLDS, INFERRED
from triplestore.rules.modules.written_out import Choice

RULES = ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] . :R[?x, ?y] :- :P[?x, ?y] . "


def compressed(rules: str, stated: str) -> Driver:
    driver = Driver(modules=True)
    driver.choice = Choice("compressed")
    driver.step(facts(stated), (), program(rules), strategy("dred_c"))
    return driver


@BOTH
def test_audit__closures_along_random_schedules_are_right(thorough: bool) -> None:
    for seed in range(20):
        case = closure_case(seed)
        if not engine_takes(case):
            continue
        rules, stated = next(iter(case.states()))
        driver = Driver(modules=True)
        driver.choice = Choice("compressed")
        driver.step(stated, (), rules, strategy("dred_c"))
        found = audited(driver, thorough)
        assert found.ok, (seed, found)
        held = driver.facts().values()
        assert found.inferred == sum(status == INFERRED for status, _ in held), seed


def test_audit__a_closure_with_the_right_edges_is_not_written_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = compressed(RULES, "R(a, b) R(b, c) P(c, d)")
    (name,) = driver.tables.closed
    read: list[object] = []
    keys = audit_room._keys
    monkeypatch.setattr(audit_room, "_keys", lambda *a: read.append(a[1:3]) or keys(*a))
    assert audited(driver, False).ok
    assert (name, EXPLICIT) in read
    assert (name, HOLDS) not in read


@BOTH
def test_audit__an_edge_that_is_missing(thorough: bool) -> None:
    driver = compressed(RULES, "R(a, b) R(b, c) P(c, d)")
    schemes = driver.tables.schemes
    break_facts(driver, "R(c, d)", 0)
    driver.tables = driver.tables.with_schemes(schemes)
    assert not audited(driver, thorough).ok


@BOTH
def test_audit__an_edge_too_many(thorough: bool) -> None:
    driver = compressed(RULES, "R(a, b) R(b, c) P(c, d)")
    break_facts(driver, "R(d, a)", INFERRED, 1)
    assert not audited(driver, thorough).ok


def test_audit__a_scheme_of_other_edges() -> None:
    driver = compressed(RULES, "R(a, b) R(b, c) P(c, d)")
    ((anchor, attached),) = driver.tables.schemes.items()
    other = SCHEMES["transitive"](attached.closure.edges[:2], None)
    driver.tables = driver.tables.with_schemes({anchor: attached._replace(scheme=other)})
    assert not audited(driver, False).ok


def test_audit__a_stated_edge_that_says_it_follows() -> None:
    driver = compressed(RULES, "R(a, b) R(b, c) P(c, d)")
    break_facts(driver, "R(c, d)", EXPLICIT, 7)
    found = audited(driver, False)
    assert not found.ok
    assert [one.kind for one in found.differences] == ["count"]
