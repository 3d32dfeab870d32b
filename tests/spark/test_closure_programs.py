"""Programs evaluated on Spark: closures, counters and violations are those of the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.checking import engine_takes
from tests.maintenance.features import ALL
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from tests.spark.random_programs_on_spark import (
    all_shuffled,
    assert_equal,
    closed_on_spark,
    small_jobs,
    together,
    wanted_of,
)
from triplestore.loaders.spark.closure.options import Options


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with small_jobs(spark):
        yield spark


SMALL = Options(partitions=2)
SHUFFLED = Options(
    partitions=2, held_rows=0, broadcast_rows=0, driver_edges=0, most_runs=3, small_rows=0
)
"""Nothing is held or broadcast, no graph is closed by the driver, and rounds stay as they come."""


TABLES = Options(partitions=2, held_rows=0)
"""Rounds are tables, however small, and joins as Spark and the planner choose them."""


APART = ALL.without("variable_property", "variable_class")
"""Programs that do not see each other's facts."""


def cases(seeds: range) -> list[Any]:
    found = [random_case(seed, APART, steps=0) for seed in seeds]
    return [(case.program, case.facts) for case in found if engine_takes(case)]


def test_closure__of_random_programs_is_the_oracles(
    quick: Any, tmp_path: Path, options: Options = SMALL
) -> None:
    rules, stated, wanted = together(cases(range(3)))
    assert_equal(closed_on_spark(quick, rules, stated, tmp_path, options), wanted)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 525, 25))
def test_closure__of_500_random_programs_is_the_oracles(
    quick: Any, tmp_path: Path, first: int
) -> None:
    rules, stated, wanted = together(cases(range(first, first + 25)))
    options = {0: SHUFFLED, 50: TABLES}.get(first % 100, SMALL)
    with all_shuffled(quick) if options is SHUFFLED else nullcontext():
        found = closed_on_spark(quick, rules, stated, tmp_path, options)
    assert_equal(found, wanted)


CHAINS = (
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .",
    ":p[?x, ?z] :- :q[?x, ?y], :p[?y, ?z] .",
    ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] . :p[?x, ?u] :- :p[?x, ?y], :r[?y, ?z], :q[?u, ?z] .",
    """:p[?x, ?z] :- :p[?x, ?y], :s[?y, ?z] . :s[?x, ?z] :- :s[?x, ?y], :q[?y, ?z] .
    :t[?z, ?x] :- :p[?x, ?z] .""",
    """:p[?x, ?z] :- :q[?x, ?y], :s[?y, ?z] . :s[?x, ?z] :- :r[?x, ?y], :p[?y, ?z] .
    :p[?x, ?z] :- :q[?x, ?z] . :d[?x] :- :p[?x, ?x], NOT :s[?x, ?x] .""",
)


def chained(seed: int) -> tuple[Any, Any]:
    """Chains over random edges, of which some lead around."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(rng.randint(2, 9))]
    edges = [
        f"{rng.choice('ppqqqrrs')}({rng.choice(names)}, {rng.choice(names)})"
        for _ in range(rng.randint(2, 16))
    ]
    return program(CHAINS[seed % len(CHAINS)]), facts(" ".join(edges))


@pytest.mark.parametrize(
    ("options", "seeds"),
    [
        pytest.param(SHUFFLED, 2, id="on Spark"),
        pytest.param(SHUFFLED, 20, id="many on Spark", marks=pytest.mark.long),
        pytest.param(SMALL, 20, id="by the driver", marks=pytest.mark.long),
    ],
)
def test_closure__regular_chains_are_reachability(
    quick: Any, tmp_path: Path, options: Options, seeds: int
) -> None:
    rules, stated, wanted = together([chained(seed) for seed in range(seeds)])
    assert_equal(closed_on_spark(quick, rules, stated, tmp_path, options), wanted)


def test_closure__graphs_are_closed_while_their_guards_hold(quick: Any, tmp_path: Path) -> None:
    rules = program(
        """:p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z], :on[:k, :l] .
        :s[?y, ?x] :- :s[?x, ?y], :on[:k, :m] . :s[?x, ?z] :- :s[?x, ?y], :s[?y, ?z] .
        :t[?x, ?z] :- :t[?x, ?y], :t[?y, ?z], :on[:m, :l] ."""
    )
    edges = "{0}(a, b) {0}(b, c) {0}(c, a) {0}(c, d)"
    stated = facts("on(k, l) " + " ".join(edges.format(name) for name in "pst"))
    found = closed_on_spark(quick, rules, stated, tmp_path, SMALL)
    assert_equal(found, wanted_of(rules, stated))


@pytest.mark.long
def test_closure__negation_waits_for_closures_and_aggregates(quick: Any, tmp_path: Path) -> None:
    rules = program(
        """:p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :d[?x] :- :c[?x], NOT :p[?x, ?x] .
        :c[?x] :- :b[?x] . :b[?x] :- :a[?x] .
        :s[?y, ?x] :- :s[?x, ?y] . :s[?x, ?z] :- :s[?x, ?y], :s[?y, ?z] .
        :q[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND COUNT(?y) AS ?n) .
        :m[?x, ?k] :- :q[?x, ?n], BIND(?n + 1 AS ?k), FILTER(?n > 1), NOT :s[?x, ?x] .
        :r[?x, ?y, ?z] :- :p[?x, ?y], :p[?y, ?z] ."""
    )
    stated = facts("a(k) a(l) p(k, l) p(l, m) p(m, l) s(k, n) s(n, o) s(i, i)")
    found = closed_on_spark(quick, rules, stated, tmp_path, SMALL)
    assert_equal(found, wanted_of(rules, stated))


def test_closure__any_property_may_be_a_variable(quick: Any, tmp_path: Path) -> None:
    rules = program(
        """[?x, ?q, ?y] :- [?x, ?p, ?y], :sub[?p, ?q] . :thing[?x] :- [?x, ?p, ?y] .
        [?y, rdf:type, ?d] :- [?x, rdf:type, ?c], :sub[?c, ?d], :p[?x, ?y] ."""
    )
    stated = facts("sub(p, q) sub(q, r) sub(A, B) A(a) p(a, b) p(b, c)")
    found = closed_on_spark(quick, rules, stated, tmp_path, SMALL)
    assert_equal(found, wanted_of(rules, stated))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_closure__of_random_programs_with_variable_properties_is_the_oracles(
    quick: Any, tmp_path: Path, seed: int
) -> None:
    likely = ALL.only("variable_property", "variable_class", "recursion", "negation", "classes")
    case = random_case(seed, likely, steps=0)
    rules, stated, wanted = together([(case.program, case.facts)])
    assert_equal(closed_on_spark(quick, rules, stated, tmp_path, SMALL), wanted)
