"""Results of functions are kept up to a total weight, whatever each of them weighs."""

from __future__ import annotations

import random

from triplestore import Store
from triplestore.kept_results import kept
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.ontologies.translate.owl_rl import _of_axiom, _of_expression


def test_kept__equals_the_function_and_stays_below_its_weight() -> None:
    asked: list[tuple[str, int]] = []

    @kept(most=50, weight=len)
    def repeated(text: str, times: int) -> str:
        asked.append((text, times))
        return text * times

    chosen = random.Random(1)
    for _ in range(500):
        text, times = chosen.choice("abc"), chosen.randrange(1, 20)
        assert repeated(text, times) == text * times
        assert repeated.weight <= 50
    assert repeated.misses == len(asked) < 500


def test_kept__computes_once_what_stays() -> None:
    asked = []

    @kept(most=50, weight=len)
    def once(text: str) -> str:
        asked.append(text)
        return text.upper()

    assert [once("a"), once("b"), once("a"), once("b")] == ["A", "B", "A", "B"]
    assert asked == ["a", "b"]
    once("x" * 100)  # more than all that may stay
    once("x" * 100)
    once("a")
    assert asked == ["a", "b", "x" * 100, "a"]


def test_rules_of_axioms__are_kept_by_their_size() -> None:
    """An axiom with a list of n classes has n rules, so a number of axioms bounds nothing."""
    before = _of_axiom.weight + _of_expression.weight
    store = Store()
    members = " ".join(f"<http://e/c{i}>" for i in range(200))
    owl = "http://www.w3.org/2002/07/owl#"
    store.load(f"<http://e/C> <{owl}unionOf> ({members}) . <http://e/x> a <http://e/c1> .", "ttl")
    store.reason("owl-rl")
    grown = _of_axiom.weight + _of_expression.weight - before
    assert 200 < grown < ONTOLOGIES.kept_items
