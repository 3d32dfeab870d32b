"""The known facts on Spark: distinct, counted by relation and class, and never shuffled again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.spark.random_programs_on_spark import small_jobs
from triplestore.loaders.spark.closure.facts import Facts
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.thresholds import SPARK

TYPE, C, D, P = 1, 2, 3, 4
APART = Options(small_rows=0, held_rows=0, partitions=2)
"""Rounds are kept as they come."""


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with small_jobs(spark):
        yield spark


def facts_of(spark: Any, work: Path, options: Options = APART) -> Facts:
    """Three facts, of which one is a row of a relation."""
    facts = Facts(spark, str(work), 3, TYPE, 2, options)
    facts.start(facts.flat_rows([(2, TYPE, 10, C), (2, P, 10, 11), (3, P, 10, 11, 12)]))
    return facts


def test_facts__a_round_has_what_was_not_known_once(quick: Any, tmp_path: Path) -> None:
    facts = facts_of(quick, tmp_path)
    rows = [(2, P, 10, 11), (2, P, 10, 12), (2, P, 10, 12), (2, TYPE, 10, D), (3, P, 10, 11, 13)]
    assert facts.add(facts.flat_rows(rows)) == 3
    assert facts.fresh.relations == {(2, P): 1, (2, TYPE): 1, (3, P): 1}
    assert facts.known.relations == {(2, P): 2, (2, TYPE): 2, (3, P): 2}
    assert facts.known.classes == {C: 1, D: 1}
    assert facts.add(facts.flat_rows(rows)) == 0, "a round of nothing is none"
    assert facts.now == 1
    assert facts.every().count() == 6
    facts.close()


def test_facts__rounds_are_joined_when_there_are_many(quick: Any, tmp_path: Path) -> None:
    facts = facts_of(quick, tmp_path, replace(APART, most_runs=2))
    for number in range(4):
        assert facts.add(facts.flat_rows([(2, P, 20, number), (2, P, 20, number + 1)])) > 0
        assert facts.last().count() == facts.fresh.total
    found = sorted((row.c2, row.r) for row in facts.every().where("c1 = 20").collect())
    assert found == [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4)]
    facts.close()


def test_facts__small_rounds_are_written_again_as_one(quick: Any, tmp_path: Path) -> None:
    facts = facts_of(quick, tmp_path, replace(APART, small_rows=4))
    files = []
    for number in range(4):
        assert facts.add(facts.flat_rows([(2, P, 20, number), (2, P, 20, number + 1)])) > 0
        assert facts.last().count() == facts.fresh.total
        files.append(len(facts.runs))
    assert facts.add(facts.flat_rows([(2, P, 20, 0)])) == 0
    assert files == [1, 2, 2, 2], "three and two rows are one run; then it grows no more"
    found = sorted((row.c2, row.r) for row in facts.every().collect() if row.c1 == 20)
    assert found == [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4)]
    assert facts.known.total == facts.every().count() == 8
    facts.close()


def test_facts__only_candidates_are_shuffled(
    quick: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = facts_of(quick, tmp_path)
    facts.add(facts.flat_rows([(2, P, 10, 12)]))
    quick.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # as if there were many
    try:
        facts.new_among(facts.flat_rows([(2, P, 10, 13)])).explain()
    finally:
        quick.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    plan = capsys.readouterr().out
    assert plan.count("Bucketed: true") == 2, plan
    assert plan.count("Exchange hashpartitioning") == 1, plan
    facts.close()


def counted(facts: Facts) -> tuple[int, dict[int, int]]:
    """The number of all facts, and of each round."""
    rounds = [row.r for row in facts.every().collect()]
    return len(rounds), {number: rounds.count(number) for number in set(rounds)}


def test_facts__few_are_held_until_they_are_more(quick: Any, tmp_path: Path) -> None:
    facts = facts_of(quick, tmp_path, Options(held_rows=6))
    assert facts.single
    assert facts.add(facts.flat_rows([(2, P, 10, 11), (2, P, 20, 1), (2, P, 20, 1)])) == 1
    assert facts.add(facts.flat_rows([(2, P, 20, 1)])) == 0
    assert facts.single
    assert facts.last().count() == facts.fresh.total == facts.now == 1
    assert not any(tmp_path.iterdir())
    assert facts.add(facts.flat_rows([(2, TYPE, number, C) for number in range(9, 14)])) == 4
    assert not facts.single, "these are eight"
    assert counted(facts) == (8, {0: 3, 1: 1, 2: 4})
    assert facts.known.classes == {C: 5}
    assert facts.last().count() == facts.fresh.total == 4
    facts.close()


def test_facts__what_grows_is_cut_into_more_parts(
    quick: Any, tmp_path: Path, tune: Callable[..., None]
) -> None:
    tune(SPARK, part_rows=1)
    options = Options(held_rows=0, small_rows=0)
    facts = Facts(quick, str(tmp_path), 3, TYPE, 8, options)
    facts.start(facts.flat_rows([(2, P, 1, 1)]))
    assert facts.add(facts.flat_rows([(2, P, 2, number) for number in range(5)])) == 5
    before = [run.name for run in facts.runs]
    assert facts.add(facts.flat_rows([(2, P, 3, number) for number in range(20)])) == 20
    assert len(facts.runs) == 2, "asserted facts, and inferred facts"
    assert not {run.name for run in facts.runs} & set(before)
    assert facts.last().count() == 20
    assert counted(facts) == (26, {0: 1, 1: 5, 2: 20})
    assert facts.add(facts.flat_rows([(2, P, 3, 7), (2, P, 4, 1)])) == 1
    facts.close()
