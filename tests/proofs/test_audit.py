"""Closures that are right pass, and whatever is broken in one is found and named."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact
from tests.maintenance.notation import fact, facts, program
from tests.proofs.proving import atom_of
from tests.proofs.test_why import states
from triplestore.datalog.program import Program
from triplestore.maintenance.strategies import strategy
from triplestore.proofs.audit import Audit, audit
from triplestore.relations import EXPLICIT, INFERRED, ChangedRows, Changes, Layer
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import Keys, columns_of

BOTH = pytest.mark.parametrize("thorough", [False, True])


def write(
    driver: Driver, name: RelationKey, keys: Keys, status: int, count: int | None = None
) -> None:
    """Give rows another status and count, behind the engine's back."""
    if isinstance(name, tuple):
        relation = driver.tables.tuples(*name)
        columns = columns_of(keys, name[1])
    else:
        relation = driver.tables.relation(name)  # type: ignore[assignment]
        first, second = columns_of(keys, 2)
        columns = (second, first) if name == driver.type_id else (first, second)
    counts = relation.count_of(columns) if count is None else np.full(len(keys), count, np.uint32)
    previous = relation.status_of(columns)
    if isinstance(name, tuple):
        rows = ChangedRows.of(columns, status, previous, counts)
        changes = Changes(tuples={name: rows})
    else:
        p = np.full(len(keys), name, dtype=np.uint32)
        changes = Changes(facts=ChangedRows.of((p, *columns), status, previous, counts))
    driver.tables = driver.tables.push(Layer.build(changes))


def break_facts(
    driver: Driver, broken: set[Fact] | str, status: int, count: int | None = None
) -> None:
    """`write` for facts of the oracle, or in the short notation."""
    listed = facts(broken) if isinstance(broken, str) else broken
    for name, keys in driver.batch(listed).items():
        write(driver, name, keys, status, count)


def audited(driver: Driver, thorough: bool, **options: object) -> Audit:
    assert driver.compiled is not None
    return audit(
        driver.compiled,
        driver.tables,
        driver.dictionary,
        thorough=thorough,
        prefixes={"": "http://e/"},
        **options,  # type: ignore[arg-type]
    )


def closed(rules: str, stated: str) -> Driver:
    driver = Driver()
    driver.step(facts(stated), (), program(rules), strategy("dred_c"))
    return driver


RULES = """:B[?x] :- :A[?x] . :B[?x] :- :p[?x, ?y] . :C[?x] :- :B[?x], NOT (:q[?x, ?y], :A[?y]) .
:r[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .
:p[?y, ?x] :- :p[?x, ?y] . :v[?x, ?y, ?x] :- :p[?x, ?y] . constraint "c" "no" :- :p[?x, ?x] ."""
STATED = "A(a) A(b) p(a, b) p(b, b) q(a, c) q(b, a) B(b)"


@BOTH
def test_audit__closures_that_are_right__pass(thorough: bool) -> None:
    found = audited(closed(RULES, STATED), thorough)
    assert found.ok and found.problems() == []
    assert found.explicit == 7
    assert "closure is exact" in str(found)


@BOTH
@pytest.mark.parametrize("part", range(3))
def test_audit__random_closures__pass(part: int, thorough: bool) -> None:
    for seed in range(part * 5, part * 5 + 5):
        for driver, _, _ in states(seed):
            assert audited(driver, thorough).ok


@BOTH
@pytest.mark.parametrize(
    ("broken", "status", "count", "kind", "named"),
    [
        ("C(a)", 0, None, "missing", ":C[:a]"),
        ("p(b, a)", 0, None, "missing", ":p[:b, :a]"),
        ("v(a, b, a)", 0, None, "missing", ":v[:a, :b, :a]"),
        ("r(a, 1)", 0, None, "missing", ":r[:a, 1]"),
        ("C(b)", INFERRED, 1, "unfounded", ":C[:b]"),
        ("r(a, 2)", INFERRED, 1, "unfounded", ":r[:a, 2]"),
        ("v(a, a, a)", INFERRED, 0, "unfounded", ":v[:a, :a, :a]"),
        ("p(c, d) p(d, c)", INFERRED, 0, "unfounded", ":p[:c, :d]"),
        ("q(a, c)", INFERRED, None, "unfounded", ":q[:a, :c]"),
        ("B(a)", INFERRED, 1, "count", ":B[:a] (counter 1, not 2)"),
        ("B(b)", EXPLICIT, 2, "count", ":B[:b] (counter 2, not 3)"),
        ("v(a, b, a)", INFERRED, 2, "count", ":v[:a, :b, :a] (counter 2, not 1)"),
        ("p(b, a)", INFERRED, 1, "count", ":p[:b, :a] (counter 1, not 0)"),
        ("B(a)", 3, None, "status", ":B[:a]"),
    ],
)
def test_audit__one_thing_wrong__is_found_and_named(
    broken: str, status: int, count: int | None, kind: str, named: str, thorough: bool
) -> None:
    driver = closed(RULES, STATED)
    break_facts(driver, broken, status, count)
    found = audited(driver, thorough)
    assert not found.ok
    by_kind = {difference.kind: difference for difference in found.differences}
    assert kind in by_kind
    assert named in by_kind[kind].examples
    if not thorough:
        assert by_kind.keys() <= {kind}, "nothing else is said"
        assert by_kind[kind].facts == len(facts(broken))


@BOTH
def test_audit__helper_relations__are_looked_at_too(thorough: bool) -> None:
    driver = closed(RULES, STATED)
    compiled = driver.compiled
    assert compiled is not None
    for name in compiled.helpers:
        keys = driver.tables.tuples(*name).keys()
        tables = driver.tables
        write(driver, name, keys[:1], 0)
        (missing,) = [d for d in audited(driver, thorough).differences if d.kind == "missing"]
        assert any("helper relation for" in example for example in missing.examples)
        driver.tables = tables


@BOTH
def test_audit__many_differences__are_counted_and_some_are_shown(thorough: bool) -> None:
    driver = closed(":B[?x] :- :A[?x] .", " ".join(f"A(a{i})" for i in range(20)))
    break_facts(driver, {f for f in driver.facts() if "B" in str(f[3])}, 0)
    found = audited(driver, thorough, examples=3)
    (difference,) = found.differences
    assert (difference.kind, difference.facts, len(difference.examples)) == ("missing", 20, 3)
    assert str(difference).endswith("; and 17 more")
    assert found.problems()[0].startswith("closure: 20 facts that follow are not in the store: :B[")


def test_audit__progress__is_reported() -> None:
    said: list[str] = []
    audited(closed(RULES, STATED), False, progress=said.append)
    assert said[0] == "statuses" and any(text.startswith("stratum") for text in said)


def test_audit__values_that_nobody_has_seen__are_named_and_not_kept() -> None:
    driver = closed(":n[?x, ?m] :- :p[?x, ?y], BIND(?y + 1 AS ?m) .", "p(a, 2)")
    break_facts(driver, "n(a, 3)", 0)
    break_facts(driver, "p(a, 2)", 0)
    break_facts(driver, "p(a, 70)", EXPLICIT)
    size = driver.dictionary.size
    for thorough in (False, True):
        (problem,) = audited(driver, thorough).problems()
        assert problem == "closure: 1 fact that follows is not in the store: :n[:a, 71]"
    assert driver.dictionary.size == size


# --- mistakes in random closures -----------------------------------------------------------------


def drop(driver: Driver, rng: random.Random) -> tuple[str, Fact] | None:
    inferred = [one for one, (status, _) in sorted(driver.facts().items()) if status == INFERRED]
    if not inferred:
        return None
    one = rng.choice(inferred)
    break_facts(driver, {one}, 0)
    return "missing", one


def invent(driver: Driver, rng: random.Random) -> tuple[str, Fact] | None:
    held = sorted(driver.facts())
    made = list(rng.choice(held))
    made[rng.randrange(1, len(made))] = rng.choice(rng.choice(held)[1:])
    if tuple(made) in held:
        return None
    break_facts(driver, {tuple(made)}, INFERRED, rng.choice((0, 1)))
    return "unfounded", tuple(made)


def miscount(driver: Driver, rng: random.Random) -> tuple[str, Fact] | None:
    one, (status, count) = rng.choice(sorted(driver.facts().items()))
    break_facts(driver, {one}, status, count + 1 if count == 0 or rng.random() < 0.5 else count - 1)
    return "count", one


def unstate(driver: Driver, rng: random.Random) -> tuple[str, Fact] | None:
    """Call a stated fact inferred that does not follow from the others."""
    stated = [one for one, (status, _) in sorted(driver.facts().items()) if status == EXPLICIT]
    if not stated:
        return None
    one = rng.choice(stated)
    assert driver.compiled is not None
    other = Driver()
    other.step(set(stated) - {one}, (), driver.compiled.program, strategy("dred_c"))
    if one in other.facts():
        return None
    break_facts(driver, {one}, INFERRED)
    return "unfounded", one


@BOTH
@pytest.mark.parametrize("mistake", [drop, invent, miscount, unstate])
def test_audit__random_mistakes__are_found_and_named(
    mistake: Callable[[Driver, random.Random], tuple[str, Fact] | None], thorough: bool
) -> None:
    tried = 0
    for seed in range(500, 524):
        for driver, _, _ in list(states(seed))[-1:]:
            if not driver.facts():
                continue
            made = mistake(driver, random.Random(seed))
            if made is None:
                continue
            kind, one = made
            found = audited(driver, thorough, examples=10**6)
            (difference,) = [one for one in found.differences if one.kind == kind]
            shown = audit_name(driver, one)
            assert any(example.startswith(shown) for example in difference.examples), seed
            tried += 1
    assert tried > 5


def audit_name(driver: Driver, one: Fact) -> str:
    from triplestore.datalog.text import show

    return show(atom_of(one), {"": "http://e/"})


def test_audit__without_rules__nothing_may_be_inferred() -> None:
    driver = Driver()
    driver.step(facts("p(a, b)"), (), Program(), strategy("dred_c"))
    assert audited(driver, False).ok
    break_facts(driver, {fact("p(b, a)")}, INFERRED)
    for thorough in (False, True):
        assert [d.kind for d in audited(driver, thorough).differences] == ["unfounded"]


@pytest.mark.long
@BOTH
@pytest.mark.parametrize("part", range(10))
def test_audit__many_random_closures__pass_until_they_are_broken(part: int, thorough: bool) -> None:
    for seed in range(10_000 + part * 100, 10_100 + part * 100):
        for driver, _, _ in states(seed):
            assert audited(driver, thorough).ok
            tables = driver.tables
            for mistake in (drop, invent, miscount, unstate) if driver.facts() else ():
                if mistake(driver, random.Random(seed)) is not None:
                    assert not audited(driver, thorough).ok, (seed, mistake)
                driver.tables = tables
