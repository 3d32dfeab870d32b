"""Closures of data with ontologies on Spark: equal to a store's, facts, statuses and counters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.spark.random_programs_on_spark import small_jobs
from triplestore import Store
from triplestore.loaders.spark.closure.closing import SparkClosure, close
from triplestore.loaders.spark.closure.facts import from_arrow
from triplestore.loaders.spark.closure.options import Options

Fact = tuple[bytes, ...]
Said = dict[Fact, tuple[int, int]]
"""Facts with status and counter."""

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with small_jobs(spark):
        yield spark


ON_SPARK = Options(partitions=3, driver_facts=0)
IN_DRIVER = Options(driver_facts=10_000_000)


def rows_of(store: Store) -> np.ndarray:
    """The rows of the default graph: s, p, o, status, count."""
    tables = store._database.state.tables
    parts = [np.zeros((0, 5), np.int64)]
    for name in tables.names().tolist():
        relation = tables.relation(name)
        for s, o in relation.scan():
            said = relation.status_of((s, o)), relation.count_of((s, o))
            columns = (s, np.full(len(s), name), o, *said)
            parts.append(np.stack([column.astype(np.int64) for column in columns], axis=1))
    return np.concatenate(parts)


def on_spark(
    spark: Any, store: Store, work: Path, reason: tuple[str, ...], **told: Any
) -> SparkClosure:
    """The closure of a store's asserted facts, in the ids of the store."""
    dictionary = store._database.state.dictionary
    numbers = range(1, dictionary.size + 1)
    keys = [dictionary.key(number) for number in numbers]
    terms = pa.table({"id": pa.array(numbers, pa.int64()), "key": pa.array(keys, pa.binary())})
    triples = pa.table([*rows_of(store)[:, :3].T.copy()], ["s", "p", "o"])
    return close(
        spark,
        triples=from_arrow(spark, triples),
        terms=from_arrow(spark, terms),
        reason=reason,
        work=str(work),
        files=int(store._database.state.meta.get("files", b"0")),
        prefixes=dict(store.prefixes),
        **told,
    )


def said_by(closure: SparkClosure, keys: list[bytes]) -> Said:
    """The facts of the closure on Spark."""
    keys = [*keys, *closure.new_keys]
    return {
        (keys[s - 1], keys[p - 1], keys[o - 1]): (status, count)
        for s, p, o, status, count in closure.facts.collect()
    }


def said_in(store: Store) -> Said:
    """The facts of a store."""
    key = store._database.state.dictionary.key
    return {
        (key(s), key(p), key(o)): (status, count)
        for s, p, o, status, count in rows_of(store).tolist()
    }


def rows_said_by(closure: SparkClosure, keys: list[bytes]) -> Said:
    """The rows of relations of rules on Spark: name and arguments."""
    keys = [*keys, *closure.new_keys]
    found: Said = {}
    for (name, _), rows in closure.tuples.items():
        assert rows.count is not None
        listed = zip(*rows.columns, rows.status, rows.count, strict=True)
        for *terms, status, count in listed:
            row = (keys[name - 1], *(keys[term - 1] for term in terms))
            found[row] = (int(status), int(count))
    return found


def rows_said_in(store: Store) -> Said:
    """The rows of relations of rules in a store."""
    state = store._database.state
    found: Said = {}
    for name, arity in state.tables.tuple_names():
        relation = state.tables.tuples(name, arity)
        for columns in relation.scan():
            listed = zip(
                *columns, relation.status_of(columns), relation.count_of(columns), strict=True
            )
            for *terms, status, count in listed:
                row = tuple(state.dictionary.key(int(term)) for term in (name, *terms))
                found[row] = (int(status), int(count))
    return found


def check(
    spark: Any, store: Store, work: Path, *reason: str, options: Options | None = None, **told: Any
) -> SparkClosure:
    """Assert that the closure on Spark is the store's."""
    dictionary = store._database.state.dictionary
    keys = [dictionary.key(number) for number in range(1, dictionary.size + 1)]
    options = options or ON_SPARK
    found = on_spark(spark, store, work, reason, options=options, **told)
    report = store.reason(*reason, **told)
    mine, wanted = said_by(found, keys), said_in(store)
    assert wanted.keys() - mine.keys() == set(), "facts are missing"
    assert mine.keys() - wanted.keys() == set(), "facts do not follow"
    assert {fact: said for fact, said in mine.items() if said != wanted[fact]} == {}
    assert rows_said_by(found, keys) == rows_said_in(store)
    assert sum(found.counts.values()) == report.violations
    kept = store._database.state.meta
    assert {name: kept[name] for name in kept if name in found.meta} == dict(found.meta)
    found.release()
    return found


FAMILY = (
    PREFIXES
    + """
:ancestor a owl:TransitiveProperty . :parent rdfs:subPropertyOf :ancestor ; rdfs:domain :Person .
:spouse a owl:SymmetricProperty . :Parent owl:equivalentClass [ a owl:Restriction ;
  owl:onProperty :parent ; owl:someValuesFrom :Person ] . :Person rdfs:subClassOf :Being .
:Rock owl:disjointWith :Being . :age a owl:FunctionalProperty .
:ada :parent :bob ; :age "five"^^xsd:integer . :bob :parent :cy ; :spouse :di .
:cy a :Rock, :Person .
:di :age 4 . :eve :knows "x" ."""
)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(ON_SPARK, id="on Spark", marks=pytest.mark.long),
        pytest.param(IN_DRIVER, id="in the driver"),
    ],
)
def test_close__is_the_closure_of_a_store(quick: Any, tmp_path: Path, options: Options) -> None:
    store = Store()
    store.load(FAMILY, "turtle")
    (tmp_path / "more.ttl").write_text(PREFIXES + ":Being rdfs:subClassOf :Thing .")
    rules = """:Lone[?x] :- :age[?x, ?n], NOT :spouse[?x, ?y] .
        :kin[?x, ?y, ?n] :- :parent[?x, ?y], BIND(STR(?x) AS ?n) ."""
    more = tmp_path / "more.ttl"
    found = check(quick, store, tmp_path, "owl-rl", options=options, rules=rules, ontology=more)
    assert found.figures["turns"] == 1
    assert found.counts


def test_close__of_more_than_the_driver_takes_is_made_on_spark(quick: Any, tmp_path: Path) -> None:
    store = Store()
    store.load(PREFIXES + ":a :p :b, :c, :d . :p rdfs:domain :C .", "turtle")
    made = [
        on_spark(quick, store, tmp_path / str(most), ("rdfs",), options=Options(driver_facts=most))
        for most in (3, 4)
    ]
    assert [(tmp_path / str(most)).exists() for most in (3, 4)] == [True, False], "rounds or none"
    dictionary = store._database.state.dictionary
    keys = [dictionary.key(number) for number in range(1, dictionary.size + 1)]
    one, other = (said_by(each, keys) for each in made)
    assert one == other


EQUALS = (
    PREFIXES
    + """
:p a owl:FunctionalProperty . :x :p :a, :b, _:n . :y owl:sameAs :x, :x2 . :x2 owl:sameAs :z .
:a :q :c, "1" . :b a :C . :C rdfs:subClassOf :D . :r a owl:TransitiveProperty .
:a :r :b2 . :b :r :d . :b2 owl:sameAs :d . :d owl:sameAs "lit" . :e owl:sameAs "lit" . :e :q :f .
:q rdfs:range :E . :D rdfs:subClassOf [ owl:onProperty :q ; owl:hasValue :h ] ."""
)


@pytest.mark.parametrize(
    "representatives",
    [
        pytest.param(True, id="representatives"),
        pytest.param(False, id="rules", marks=pytest.mark.long),
    ],
)
def test_close__equals_by_representatives_are_equals_by_rules(
    quick: Any, tmp_path: Path, representatives: bool
) -> None:
    store = Store()
    store.load(EQUALS, "turtle")
    options = replace(ON_SPARK, representatives=representatives)
    found = check(quick, store, tmp_path, "owl-rl", options=options)
    assert found.figures["turns"] <= 2


REAL = {
    "lubm": ("lubm/lubm1/lubm1.nt.gz", "owl-rl", "lubm/univ-bench.owl"),
    "unesco": ("skos/unesco/unesco-thesaurus-2017.ttl", "skos", None),
    "relations": ("owl-real/obo-relations/ro-base.owl", "owl-rl", None),
}
"""Files, the regime, and an ontology beside them."""


def check_real(spark: Any, name: str, shared: Path, work: Path, options: Options) -> None:
    files, reason, ontology = REAL[name]
    store = Store()
    store.load(path=shared / files)
    told = {} if ontology is None else {"ontology": shared / ontology}
    check(spark, store, work, reason, options=options, **told)


@pytest.mark.parametrize(
    "name",
    [
        "relations",
        pytest.param("lubm", marks=pytest.mark.long),
        pytest.param("unesco", marks=pytest.mark.long),
    ],
)
def test_close__of_real_data_in_the_driver_is_the_closure_of_a_store(
    quick: Any, tmp_path: Path, shared_data: Path, name: str
) -> None:
    check_real(quick, name, shared_data, tmp_path, IN_DRIVER)


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_close__of_real_data_is_the_closure_of_a_store(
    quick: Any, tmp_path: Path, shared_data: Path, name: str
) -> None:
    check_real(quick, name, shared_data, tmp_path, ON_SPARK)
