"""Generated mixes: both stores give the same answers, and claims have the measured values."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from bench.harness import Case, MeasurementError, Result
from bench.queries import lubm, measuring, mixes, publications, relations, shop, triples
from bench.queries.measuring import OURS, PEER, bag, generate, opened
from bench.queries.mixes import LUBM, PUBLICATIONS, SHOP, lines, mix
from bench.report import BenchReport
from bench.runs import modular
from bench.runs.modular import COMPRESSED, MODULE
from bench.workloads import queries

# A query that has no answers over the smallest data measures nothing there.
MAY_BE_EMPTY = {"b1", "b3", "b10"}


def test_examples_in_docstrings() -> None:
    for module in (lubm, measuring, mixes, publications, relations, shop, triples, queries):
        assert not doctest.testmod(module).failed


@pytest.mark.parametrize("name", [PUBLICATIONS, SHOP])
def test_lines__are_the_same_each_time_and_each_once(name: str) -> None:
    made = list(lines(name, 1))
    assert made == list(lines(name, 1)) and len(set(made)) == len(made)
    assert mix(name, 1) == mix(name, 1)
    with pytest.raises(MeasurementError, match="other is not a mix"):
        mix("other")


@pytest.mark.parametrize("name", [PUBLICATIONS, SHOP])
def test_mixes__both_give_the_same_bags(name: str, tmp_path: Path) -> None:
    made = generate(name, 1, str(tmp_path))
    ours, peer = (opened(each, tmp_path) for each in (OURS, PEER))
    assert made["triples"] == len(ours) == len(peer) == len(list(lines(name, 1)))
    for query, texts in mix(name, 1).queries.items():
        bags = [bag(ours.query(text)) for text in texts]
        assert bags == [bag(peer.query(text)) for text in texts], query
        assert sum(rows for rows, _ in bags) or query.split()[0] in MAY_BE_EMPTY, query


def test_measure__every_face_counts_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate(SHOP, 1, str(tmp_path))
    few = {name: mix(SHOP).queries[name] for name in list(mix(SHOP).queries)[-3:]}
    monkeypatch.setattr(measuring, "mix", lambda name, size: mixes.Mix(name, few))
    results = []
    for peer in (OURS, PEER):
        result = Result(Case("", {}, peer), "main")
        result.runs.append(measuring.measure(peer, SHOP, 1, str(tmp_path), 0.0))
        results.append(result)
    report = BenchReport("x", "")
    queries.claim_answers("shop", results, report)
    assert [claim.holds for claim in report.claims] == [True, True]
    results[1].runs[0]["queries"][next(iter(few))]["bags"] = ["1:0"]
    queries.claim_answers("shop", results, report)
    assert [claim.holds for claim in report.claims[2:]] == [True, False]
    text, store = few[next(iter(few))][0], opened(OURS, tmp_path)
    counted = {face(store, text) for face in (measuring.rows, measuring.terms, measuring.arrow)}
    assert len(counted | {measuring.Unseen()(store, text), measuring.Alike()(store, text)}) == 1


def test_bag__depends_on_rows_and_on_how_often() -> None:
    one, other = ("a", None), ("b", 1)
    assert bag([one, other]) == bag([other, one]) != bag([one, one])
    assert bag([one]) != bag([other])
    assert bag(True) != bag(False)


def found(seconds: float, arrow: float | None = None) -> dict[str, Any]:
    times = dict.fromkeys(("rows", "terms", "alike", "unseen"), seconds)
    return {**times, "arrow": arrow or seconds, "found": 1, "bags": ["1:1"], "peak bytes": 0}


def test_claim_speed__notices_each_slow_kind() -> None:
    other = {"long": found(0.1), "short": found(0.0001)}

    def held(ours: queries.Queries) -> list[bool]:
        report = BenchReport("x", "")
        queries.claim_speed("x", ours, other, report)
        return [claim.holds for claim in report.claims]

    assert all(held({"long": found(0.005), "short": found(0.0004)}))
    late = held({"long": found(0.005), "short": found(0.0006)})
    assert late[-3:] == [False] * 3 and all(late[:-3])
    slow = held({"long": found(0.2, 0.03), "short": found(0.0001)})
    assert slow == [False] * 5 + [True] * 3


def test_least__takes_every_number_from_its_best_run() -> None:
    result = Result(Case("", {}, ""), "main")
    result.runs += [{"queries": {"q": found(2.0, 1.0)}}, {"queries": {"q": found(1.0, 3.0)}}]
    assert queries.least(result)["q"] == found(1.0, 1.0)


def test_measure__what_comes_too_late_is_asked_once() -> None:
    asked: list[int] = []

    def act() -> None:
        asked.append(1)

    measuring.best(act, 0.001, until=0.0)
    assert len(asked) == 1
    measuring.best(act, 0.001)
    assert len(asked) >= 1 + 2


def test_measure__within_a_bound_counts_and_compares_the_same(tmp_path: Path) -> None:
    generate(PUBLICATIONS, 1, str(tmp_path))
    bounded = measuring.measure(OURS, PUBLICATIONS, 1, str(tmp_path), 0.0, within=1e-9)
    assert all(float(one["rows"]) > 0 for one in bounded["queries"].values())
    peer = opened(PEER, tmp_path)
    for query, (text,) in mix(PUBLICATIONS).queries.items():
        number, digest = bag(peer.query(text))
        assert bounded["queries"][query]["bags"] == [f"{number}:{digest:016x}"]


def test_relations__counts_are_the_same_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "start", lambda: None)
    ways = [relations.measure("skos-3100", way, 0.0) for way in (MODULE, COMPRESSED)]
    one, other = ({q: v["found"] for q, v in way["queries"].items()} for way in ways)
    assert one == other and len(one) == 22 and ways[0]["facts"] == ways[1]["facts"]
    assert one["TC Q0"] == one["TC Q1"] == one["TC Q6"] > one["TC Q2"]
    assert modular.WAYS[COMPRESSED]["schemes"] == "compressed"


def test_lubm__has_all_fourteen_over_its_namespace() -> None:
    texts = [text for (text,) in mix(LUBM).queries.values()]
    assert len(set(texts)) == 14 and all(lubm.UNIV_BENCH in text for text in texts)
