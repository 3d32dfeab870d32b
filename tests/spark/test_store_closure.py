"""Imports into existing stores, closed on Spark, equal those maintained by this process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from support.spark_stores import files_of

from tests.spark.test_closure_data import rows_said_in, said_in
from triplestore import Store
from triplestore.errors import InconsistencyError, UsageError
from triplestore.loaders.spark import import_dataset, store_closure

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
BEGUN = (
    PREFIXES
    + """:ancestor a owl:TransitiveProperty . :parent rdfs:subPropertyOf :ancestor .
:a :parent :b . :b :parent :c . :c :ancestor :d . :a :ancestor :c . :d :age 4 . :x :age 5 .
"""
)
ONTOLOGY = PREFIXES + ":ancestor rdfs:range :Person . :Person rdfs:subClassOf :Being ."
RULES = """:Lone[?x] :- :age[?x, ?n], NOT :ancestor[?y, ?x] .
:next[?x, ?m] :- :age[?x, ?n], BIND(?n + 1 AS ?m) .
:kin[?x, ?y, ?z] :- :parent[?x, ?y], :parent[?y, ?z] ."""

STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("add", ":d :parent :x . :new :age 7 . :a :ancestor :d .", {}),
    ("delete", ":b :parent :c . :a :ancestor :c . :x :age 5 .", {}),
    ("add", ":s a owl:SymmetricProperty . :s rdfs:domain :T . :a :s :b .", {"reason": "rdfs"}),
    ("replace", ":d :parent :e . :e :parent :d .", {"graph": "http://e/g"}),
    ("add", ":c :parent :y .", {"rules": PREFIXES + ":old[?x] :- :age[?x, ?n], :age[?y, ?n] ."}),
    ("replace", ":z :parent :a . :a :parent :z .", {}),
)


def begun(tmp_path: Path) -> Path:
    """A store with rules of all kinds in force."""
    (tmp_path / "more.ttl").write_text(ONTOLOGY)
    with Store(tmp_path / "begun") as store:
        store.load(BEGUN, "turtle")
        store.reason("owl-rl", rules=RULES, ontology=tmp_path / "more.ttl")
    return tmp_path / "begun"


def assert_same(one: Path, other: Path) -> None:
    """Two stores have equal facts, statuses, counters and reports."""
    with Store(one) as here, Store(other) as there:
        assert said_in(here) == said_in(there)
        assert rows_said_in(here) == rows_said_in(there)
        assert here.digest() == there.digest()
        assert here.verify(closure=True) == []
        kept = [dict(store._database.state.meta) for store in (here, there)]
        for one_kept in kept:
            for name in ("imports", "schemes"):  # jobs have their names, and pairs are rows
                one_kept.pop(name, None)
        assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("driver_facts", "steps"),
    [
        pytest.param(None, STEPS[1:3], id="in the driver"),
        pytest.param(0, STEPS[:1], id="on Spark"),
        pytest.param(None, STEPS, id="in the driver, all", marks=pytest.mark.long),
        pytest.param(0, STEPS, id="on Spark, all", marks=pytest.mark.long),
    ],
)
def test_import__closed_on_spark_is_what_is_maintained(
    spark: Any, tmp_path: Path, driver_facts: int | None, steps: tuple[Any, ...]
) -> None:
    places = {way: tmp_path / way for way in ("local", "spark")}
    first = begun(tmp_path)
    for place in places.values():
        shutil.copytree(first, place)
    for number, (mode, text, told) in enumerate(steps):
        source = tmp_path / f"{number}.ttl"
        source.write_text(PREFIXES + text)
        changes = {}
        for way, place in places.items():
            done = import_dataset(
                spark, str(source), place, mode=mode, closure=way, driver_facts=driver_facts, **told
            )
            changes[way] = done.change
        assert str(changes["spark"]) == str(changes["local"]), number
        assert_same(places["spark"], places["local"])
    # Both continue in the same way.
    for place in places.values():
        with Store(place) as store:
            parent, a, b = (ox.NamedNode(f"http://e/{name}") for name in ("parent", "a", "b"))
            store.remove(ox.Quad(a, parent, b))
            store.add(ox.Quad(b, parent, a))
    assert_same(places["spark"], places["local"])


def test_import__closed_on_spark_is_done_wholly_and_once(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = begun(tmp_path)
    (tmp_path / "a.ttl").write_text(PREFIXES + ":d :parent :e .")

    def run() -> Any:
        return import_dataset(spark, str(tmp_path / "a.ttl"), place, closure="spark", job="once")

    def fail(*_: Any) -> None:
        raise UsageError("planted")

    with Store(place) as store:
        before = store.digest()
    for name in ("_write", "_take", "ClosedElsewhere"):
        with monkeypatch.context() as patch:
            patch.setattr(store_closure, name, fail)
            with pytest.raises(UsageError, match="planted"):
                run()
        with Store(place) as store:
            assert store.digest() == before
            assert store.verify(closure=True) == []
    assert "closure" in run().resumed
    after = files_of(place)
    assert run().already
    assert files_of(place) == after


def test_import__a_strict_store_refuses_what_spark_finds_inconsistent(
    spark: Any, tmp_path: Path
) -> None:
    with Store(tmp_path / "db") as store:
        store.load(PREFIXES + ":A owl:disjointWith :B . :x a :A .", "turtle")
        store.reason("owl-rl", strict=True)
        before = store.digest()
    (tmp_path / "a.ttl").write_text(PREFIXES + ":x a :B .")
    with pytest.raises(InconsistencyError):
        import_dataset(spark, str(tmp_path / "a.ttl"), tmp_path / "db", closure="spark")
    with Store(tmp_path / "db") as store:
        assert store.digest() == before
