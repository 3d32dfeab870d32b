"""What is said of rules before they are applied: estimates, suspects, refusals."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from pyoxigraph import RdfFormat, parse

from triplestore import Store
from triplestore.datalog.text import read
from triplestore.errors import BudgetError
from triplestore.store import forecast
from triplestore.store.forecast import Suspect, suspects
from triplestore.store.forecast_pairs import Pairs
from triplestore.tables import Layer, Tables

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "FEWEST", 100)
    monkeypatch.setattr(forecast, "TIMES", 1)


def path_of(count: int, name: str = ":p") -> str:
    return "".join(f":n{i} {name} :n{i + 1} .\n" for i in range(count))


def star_of(count: int, name: str = ":p") -> str:
    return "".join(f":n{i} {name} :one .\n" for i in range(count))


def store_of(text: str) -> Store:
    store = Store()
    store.load(PREFIXES + text, "turtle")
    return store


def found(text: str, rules: str) -> list[Suspect]:
    """The suspects among rules over data."""
    store = store_of(text)
    state = store._database.state
    program = read(PREFIXES + rules)
    return suspects(program.rules, program.rules, state.tables, state.dictionary)


def made(text: str, rules: str) -> int:
    """How many facts the rules really make."""
    store = store_of(text)
    return store.reason(rules=PREFIXES + rules).inferred


CHAINS = {
    "transitive": ":p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .",
    "to the right": ":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .",
    "to the left": ":p[?x, ?z] :- :q[?x, ?y], :p[?y, ?z] .",
    "against the arrows": ":p[?x, ?z] :- :p[?x, ?y], :r[?z, ?y] .",
}


@pytest.mark.parametrize("rules", CHAINS.values(), ids=CHAINS)
def test_chains__are_estimated_by_following_them(rules: str) -> None:
    text = path_of(60) + path_of(60, ":q") + "".join(f":n{i + 1} :r :n{i} .\n" for i in range(60))
    (one,) = found(text, rules)
    assert one.facts == pytest.approx(made(text, rules), rel=0.1)


def test_chains__of_sub_properties_and_inverses_are_followed() -> None:
    rules = """:p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :p[?x, ?y] :- :q[?x, ?y] .
    :q[?x, ?y] :- :r[?y, ?x] ."""
    text = "".join(f":n{i + 1} :r :n{i} .\n" for i in range(60))
    (one,) = found(text, rules)
    assert one.facts == pytest.approx(60 * 61 / 2 - 60, rel=0.1)


def test_chains__with_few_ends_and_those_that_do_not_go_on_are_no_suspects() -> None:
    assert found(star_of(300), CHAINS["transitive"]) == []
    assert found(path_of(300), ":q[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .") == []


def test_chains__that_are_long_are_left_after_some_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    after = Pairs.after

    def noted(pairs: Pairs, firsts: np.ndarray, most: int) -> tuple[np.ndarray, int]:
        steps.append(len(firsts))
        return after(pairs, firsts, most)

    monkeypatch.setattr(Pairs, "after", noted)
    (one,) = found(path_of(2000), CHAINS["transitive"])
    assert "or more" in one.why and one.facts > 2000 * 20
    assert len(steps) < forecast.MOST_FOLLOWED // forecast.A_STEP + 2 * forecast.SAMPLES


def test_chains__of_many_edges_are_followed_without_a_copy_of_them() -> None:
    rng = np.random.default_rng(1)
    s, o = (rng.integers(10, 20_000, 400_000, dtype=np.uint32) for _ in range(2))
    store = store_of(":p :p :p .")
    rules = read(PREFIXES + CHAINS["transitive"] + ":p[?y, ?x] :- :p[?x, ?y] .").rules
    state = store._database.state
    p = state.dictionary.lookup_keys([b"\x01http://ex.org/p"])[0]
    tables = Tables([Layer.bulk(np.full_like(s, p), s, o)])
    tracemalloc.start()
    try:
        found = suspects(rules, rules, tables, state.dictionary)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.compact for one in found] == [True]
    assert peak < 8 * tables.total() / 2


def test_equals__are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "BLOCK", 3)
    rng = random.Random(5)
    for size in range(40):
        pairs = {(rng.randrange(1 + size // 3), rng.randrange(9)) for _ in range(size)}
        keys = np.array(sorted(one << 32 | other for one, other in pairs), dtype=np.uint64)
        values, sizes = forecast._repeated(keys)
        firsts, counts = np.unique(keys >> np.uint64(32), return_counts=True)
        assert values.tolist() == firsts[counts > 1].tolist()
        assert sizes.tolist() == counts[counts > 1].tolist()


def test_equals__are_suspect_where_many_share_a_value() -> None:
    rules = "owl:sameAs[?x, ?y] :- :p[?x, ?z], :p[?y, ?z], FILTER(!SAMETERM(?x, ?y)) ."
    (one,) = found(star_of(50), rules)
    assert one.facts > 50 * 49
    assert "50 things share <http://ex.org/one>" in one.why
    assert found(path_of(50), rules) == []


def test_equals__by_keys_of_several_properties_share_all_of_them() -> None:
    rules = """owl:sameAs[?x, ?y] :- :p[?x, ?v], :p[?y, ?v], :q[?x, ?w], :q[?y, ?w],
    :C[?x], :C[?y], FILTER(!SAMETERM(?x, ?y)) ."""
    assert found(star_of(50) + path_of(50, ":q"), rules) == []
    (one,) = found(star_of(50) + star_of(50, ":q"), rules)
    assert one.facts > 50 * 49


def test_products__of_parts_that_share_nothing_are_multiplied() -> None:
    rules = ":q[?x, ?y] :- :p[?x, :one], :p[?y, ?z] ."
    (one,) = found(star_of(40), rules)
    assert one.facts == 1600 == made(star_of(40), rules)
    assert found(star_of(40), ":q[?x, ?y] :- :p[?x, ?z], :p[?y, ?z], :p[?y, :one] .") == []


def test_reason__refuses_what_does_not_fit_the_budget_before_it_begins() -> None:
    store = store_of(star_of(50) + ":p a owl:InverseFunctionalProperty .")
    with pytest.raises(BudgetError, match=r"nothing was inferred, for prp-ifp .*max_facts is 500"):
        store.reason("owl-rl", tuning={"max_facts": 500})
    assert store.count("inferred") == 0 and len(store.program) == 0
    report = store.reason("owl-rl", tuning={"max_facts": 500_000})
    (warning,) = [one for one in report.warnings if one.code == "costly"]
    assert "prp-ifp" in str(warning) and "rewrite" in str(warning)


def test_equals__that_are_rewritten_cost_little() -> None:
    store = store_of(star_of(50) + ":p a owl:InverseFunctionalProperty .")
    report = store.reason("owl-rl", equality="rewrite", tuning={"max_facts": 500})
    assert report.warnings == ()


def test_axiom__that_would_cost_too_much_is_refused_and_the_store_goes_on() -> None:
    store = store_of(path_of(200))
    store.reason("owl-rl", tuning={"max_facts": 5000, "modules": "off"})
    with pytest.raises(BudgetError, match="prp-trp"):
        store.load(PREFIXES + ":p a owl:TransitiveProperty .", "turtle")
    assert store.count("inferred") == 0
    store.load(PREFIXES + ":q a owl:TransitiveProperty . :a :q :b . :b :q :c .", "turtle")
    assert store.count("inferred") == 1


def test_closures__that_are_kept_compressed_are_not_refused() -> None:
    store = store_of(path_of(300) + ":p a owl:TransitiveProperty .")
    report = store.reason("owl-rl", tuning={"max_facts": 20_000, "schemes": "compressed"})
    assert [one.code for one in report.warnings] == ["costly"]
    assert len(store) == 300 * 301 / 2 + 1


def test_commit__without_new_rules_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(path_of(5) + ":p a owl:TransitiveProperty .")
    store.reason("owl-rl")

    def fail(*_: object) -> None:
        raise AssertionError("asked for nothing")

    monkeypatch.setattr(forecast, "suspects", fail)
    for quad in parse(PREFIXES + ":a :p :b .", format=RdfFormat.TURTLE):
        store.add(quad)
