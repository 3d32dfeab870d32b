"""Closures that are not written out: a store shows no difference, whatever is done with it."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.closures import closure_case, union_case
from tests.reasoning.test_reasoning import bounds, random_tuning, run_case
from triplestore import NamedNode, Quad, Store
from triplestore.errors import BudgetError, UsageError
from triplestore.relations.thresholds import RELATIONS

__all__ = ["bounds"]

CASES = 5
WRITTEN_PAIRS = (0, 2, 1 << 21)


def tuning(rng: random.Random) -> dict[str, Any]:
    """Closures as rows, compressed, or by rules alone; in turn, and each differently."""
    schemes = rng.choice(
        ["plain", "compressed", "compressed", {"http://e/p": "plain", "": "compressed"}]
    )
    return {
        **random_tuning(rng),
        "modules": rng.choice(["auto", "on", "on", "off"]),
        "schemes": schemes,
    }


@pytest.mark.parametrize("part", range(3))
def test_store__with_closures_equals_the_oracle(part: int, tune: Callable[..., None]) -> None:
    tune(RELATIONS, written_pairs=WRITTEN_PAIRS[part])
    for seed in range(part * CASES, (part + 1) * CASES):
        run_case(seed, None, closure_case, tuning)


def test_store__with_views_above_closures_equals_the_oracle(
    tmp_path: Path, tune: Callable[..., None]
) -> None:
    tune(RELATIONS, written_pairs=2)
    for seed in range(CASES):
        run_case(seed, tmp_path / str(seed) if seed % 2 else None, union_case, tuning)


def test_durable_store__with_closures_equals_the_oracle(tmp_path: Path) -> None:
    for seed in range(500, 500 + CASES):
        run_case(seed, tmp_path / str(seed), closure_case, tuning)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_store__with_many_closures_equals_the_oracle(
    part: int, tmp_path: Path, tune: Callable[..., None]
) -> None:
    for seed in range(1000 + part * 200, 1200 + part * 200):
        tune(RELATIONS, written_pairs=WRITTEN_PAIRS[seed // 3 % 3])
        make = union_case if seed % 4 == 0 else closure_case
        run_case(seed, tmp_path / str(seed) if seed % 3 == 0 else None, make, tuning)


PREFIX = "@prefix : <http://e/> . "
TRANSITIVE = PREFIX + ":p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . "
INVERSE = TRANSITIVE + ":q[?y, ?x] :- :p[?x, ?y] . :p[?y, ?x] :- :q[?x, ?y] ."


def chain(length: int) -> str:
    return PREFIX + " ".join(f":n{i} :p :n{i + 1} ." for i in range(length))


def test_describe_rules__says_what_a_module_owns_and_how_it_is_kept() -> None:
    store = Store()
    store.load(chain(4), "ttl")
    store.reason(rules=INVERSE, tuning={"schemes": "compressed"})
    first, *rules = store.describe_rules("modules").splitlines()
    assert first.startswith(
        "module of stratum 1: transitive closure of :p, :q turned around, compressed: 10 pairs of "
    )
    assert len(rules) == 3
    store.reason(tuning={"schemes": "plain"})
    assert store.describe_rules("modules").startswith(first.partition(", compr")[0] + ", written")
    store.reason("none")
    store.reason(rules=PREFIX + ":p[?x, ?y] :- :q[?x, ?y] .")
    assert store.describe_rules("modules") == "no rules are owned by modules"


def test_describe_rules__says_which_properties_are_views() -> None:
    store = Store()
    store.load(chain(4), "ttl")
    rules = TRANSITIVE + ":up[?x, ?y] :- :p[?x, ?y] ."
    store.reason(rules=rules, tuning={"schemes": "compressed"})
    assert (
        "module of stratum 2: union of properties in :up, a view: 10 pairs; those of the "
        "properties below are not stored twice\n  :up[?x, ?y] :- :p[?x, ?y] ."
    ) in store.describe_rules("modules")
    store.reason(tuning={"schemes": "plain"})
    assert "union of properties in :up, written out: 10 rows" in store.describe_rules("modules")


def test_reason__tuning_takes_effect_at_once_and_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.load(chain(6), "ttl")
    report = store.reason(rules=INVERSE)
    assert [stratum.strategy for stratum in report.strata] == ["transitive closure"]
    sizes = [store._database.state.tables.rows]
    for schemes in ("compressed", "plain", {"http://e/q": "compressed"}, None):
        store.reason(tuning={"schemes": schemes})
        store.close()
        store = Store(tmp_path)
        assert len(store) == 42
        tables = store._database.state.tables
        sizes.append(6 if tables.closed else 42)
        assert {len(tables.stored_relation(n)) for n in tables.names().tolist()} <= {0, 6, 21}
    assert sizes == [42, 6, 42, 6, 42]
    report = store.reason(tuning={"modules": "off", "schemes": "compressed"})
    with store.transaction() as t:
        t.load(PREFIX + ":n6 :p :n7 .", "ttl")
    assert t.report is not None
    assert all("closure" not in stratum.strategy for stratum in t.report.strata)
    assert (len(store), store._database.state.tables.closed) == (56, {})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"modules": "yes"}, "modules is one of auto, on, off, not 'yes'"),
        ({"schemes": 3}, "schemes is one of auto, plain, compressed, not 3"),
        ({"schemes": {"http://e/p": "small"}}, "schemes is one of .*, not 'small'"),
    ],
)
def test_reason__wrong_tuning_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Store().reason(rules=INVERSE, tuning=wrong)


def test_snapshot__of_a_closure_stays_as_it_was() -> None:
    store = Store()
    store.load(chain(10), "ttl")
    store.reason(rules=TRANSITIVE, tuning={"schemes": "compressed"})
    before = store.snapshot()
    quads = set(before)
    edge = Quad(NamedNode("http://e/n4"), NamedNode("http://e/p"), NamedNode("http://e/n5"))
    change = store.remove(edge)
    assert (change.removed, change.inferred_removed, change.still_entailed) == (1, 29, 0)
    assert len(before) == 55 == len(quads) and set(before) == quads
    assert len(store) == 25
    assert len(store.dump(format="nt", facts="inferred").splitlines()) == 25 - 9


def test_closure__over_the_budget_is_compressed_or_refused_before_it_is_written() -> None:
    store = Store()
    store.load(chain(100), "ttl")
    tight = {"max_bytes": 5000 * 16}
    report = store.reason(rules=TRANSITIVE, tuning={**tight, "modules": "on", "max_facts": None})
    assert report.inferred == 5050 - 100
    assert store._database.state.tables.closed
    with pytest.raises(BudgetError, match="bytes at once"):
        store.reason(tuning={"schemes": "plain"})
    assert len(store) == 5050


def test_read_only_store__follows_a_closure_that_another_changes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.load(chain(10), "ttl")
    store.reason(rules=INVERSE, tuning={"schemes": "compressed"})
    reader = Store.read_only(tmp_path)
    assert len(reader) == 110
    before = reader.snapshot()
    for number in (4, 7, 2):
        edge = (f"n{number}", "p", f"n{number + 1}")
        store.remove(Quad(*(NamedNode(f"http://e/{one}") for one in edge)))
        reader.refresh()
        assert set(reader) == set(store)
    store.optimize()
    reader.refresh()
    assert set(reader) == set(store)
    store.reason(tuning={"schemes": "plain"})
    reader.refresh()
    assert set(reader) == set(store)
    assert len(before) == 110


def test_closure__too_large_to_be_written_is_refused_by_its_exact_size() -> None:
    store = Store()
    store.load(chain(2000), "ttl")
    with pytest.raises(BudgetError, match=r"needs 32,016,000 bytes at once"):
        store.reason(rules=TRANSITIVE, tuning={"max_bytes": 2_000_000, "schemes": "plain"})
    store.reason(rules=TRANSITIVE, tuning={"max_bytes": 2_000_000})
    assert len(store) == 2001 * 1000


def test_store__lets_go_of_what_was_seen_before_a_commit() -> None:
    store = Store()
    store.load(chain(5), "turtle")
    store.reason(rules=TRANSITIVE, tuning={"schemes": "compressed"})
    assert len(store) == 15
    (attached,) = store._database.state.tables.schemes.values()
    before = weakref.ref(attached.scheme.ahead)
    del attached
    quad = Quad(*(NamedNode(f"http://e/{name}") for name in ("n4", "p", "n5")))
    store.remove(quad)
    gc.collect()
    assert before() is None
    assert len(store) == 10


@pytest.mark.parametrize("equality", ["rules", "rewrite"])
def test_commit__counts_what_its_difference_lists(equality: str) -> None:
    """Axioms that follow from others take several turns, after which no step tells all."""
    prefix = "PREFIX : <http://e/> PREFIX owl: <http://www.w3.org/2002/07/owl#>\n"
    writes = [
        ":T rdfs:subClassOf owl:TransitiveProperty , owl:SymmetricProperty",
        ":p a :T",
        ":a :p :b . :b :p :c . :c :p :d",
        ":d :p :e . :x :q :y . :y :q :z",
        ":q rdfs:subPropertyOf :p",
        ":q a :T",
        ":x owl:sameAs :a",
        ":p :p :q",
    ]
    prefix += "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
    compared = 0
    for seed in range(4):
        rng = random.Random(seed)
        store = Store()
        store.reason("owl-rl", equality=equality, tuning={"schemes": "compressed"})
        held: list[str] = []
        for _ in range(6):
            with store.transaction() as t:
                for one in rng.sample(writes, rng.randrange(1, 4)):
                    word = "DELETE" if one in held else "INSERT"
                    (held.remove if one in held else held.append)(one)
                    t.update(f"{prefix}{word} DATA {{ {one} }}")
                    if rng.random() < 0.5:
                        t.count("inferred")  # the closure is computed here, and again at the end
                diff = t.diff()
                listed = len(diff.inferred_added), len(diff.inferred_removed)
            change = t.change
            assert (change.inferred_added, change.inferred_removed) == listed, (seed, held)
            compared += sum(listed)
    assert compared > 50
