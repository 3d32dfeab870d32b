"""`Store.watch_shapes`: results exact after every commit, refusals, and what lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from shacl.test_validating import NAMED, PREFIXES
from triplestore import Store
from triplestore.browse.preview import preview_update
from triplestore.errors import ShapesError, ShapesViolationError, UsageError
from triplestore.shacl.thresholds import SHACL

RESULT = "Violation: :ada :name: has fewer than 1 value"


def watched(shapes: str = NAMED, **options: str) -> Store:
    store = Store()
    store.load(PREFIXES + ":x :y :z .", "ttl")
    store.watch_shapes(PREFIXES + shapes, **options)
    return store


def results(store: Store, name: str = "shapes") -> list[str]:
    return [str(result) for result in store.watched_shapes[name].results]


def test_commit__adds_and_heals_results() -> None:
    store = watched()
    change = store.update("INSERT DATA { :ada a :Person }")
    assert (change.results_added, change.results_removed, results(store)) == (1, 0, [RESULT])
    with store.transaction() as t:
        t.update("INSERT DATA { :ada :name 'Ada' }")
        difference = t.diff()
        assert [str(each) for each in difference.results_removed] == [RESULT]
        assert "results of shapes removed 1" in str(difference)
        assert "has fewer than 1 value" in difference._repr_html_()
        assert results(store) == [RESULT]
    assert t.change.results_removed == 1
    assert results(store) == []


def test_commit_of_rules__changes_results() -> None:
    store = watched()
    store.update(
        "INSERT DATA { :ada a :Pilot . :Pilot "
        "<http://www.w3.org/2000/01/rdf-schema#subClassOf> :Human }"
    )
    assert results(store) == []
    rules = "@prefix : <http://example.org/> . :Person[?x] :- :Pilot[?x] ."
    store.reason(rules=rules)
    assert results(store) == [RESULT]
    store.remove_rules(rules)
    assert results(store) == []


def test_class_hierarchy__changes_results() -> None:
    store = watched()
    store.update("INSERT DATA { :ada a :Pilot }")
    sub_class = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    store.update(f"INSERT DATA {{ :Pilot {sub_class} :Person }}")
    assert results(store) == [RESULT]
    store.update(f"DELETE DATA {{ :Pilot {sub_class} :Person }}")
    assert results(store) == []


def test_strict__refuses_what_adds_results_and_applies_nothing() -> None:
    store = watched(strict="Violation")
    commit, size = store.commit, len(store)
    with pytest.raises(ShapesViolationError, match=":ada :name") as refused:
        store.update("INSERT DATA { :ada a :Person . :bob a :Person ; :name 'Bob' }")
    assert [str(result) for result in refused.value.results] == [RESULT]
    assert refused.value.results[0].why().triples == (
        ox.Triple(
            ox.NamedNode("http://example.org/ada"),
            ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
            ox.NamedNode("http://example.org/Person"),
        ),
    )
    assert (store.commit, len(store), results(store)) == (commit, size, [])
    store.update("INSERT DATA { :ada a :Person ; :name 'Ada' }")
    with pytest.raises(ShapesViolationError):
        store.remove(
            next(iter(store.quads_for_pattern(None, ox.NamedNode("http://example.org/name"), None)))
        )
    assert results(store) == []


def test_strict__lets_less_grave_results_and_old_ones_be() -> None:
    store = Store()
    store.load(PREFIXES + ":ada a :Person .", "ttl")
    store.watch_shapes(PREFIXES + NAMED, strict="Violation")
    store.update("INSERT DATA { :ada :age 5 }")
    warning = NAMED.replace(":S ", ":W sh:severity sh:Warning ; ").replace(
        "sh:minCount 1", "sh:minCount 1 ; sh:severity sh:Warning"
    )
    other = watched(warning, strict="Violation")
    assert other.update("INSERT DATA { :ada a :Person }").results_added == 1
    strict = watched(warning, strict="warning")
    with pytest.raises(ShapesViolationError):
        strict.update("INSERT DATA { :ada a :Person }")


def test_watch__lasts_with_the_store(tmp_path: Path) -> None:
    with Store(tmp_path / "db") as store:
        store.watch_shapes(PREFIXES + NAMED, strict="Violation", name="names")
        store.watch_shapes(PREFIXES + ":T sh:targetClass :Person ; sh:nodeKind sh:IRI .")
    with Store(tmp_path / "db") as store:
        assert sorted(store.watched_shapes) == ["names", "shapes"]
        with pytest.raises(ShapesViolationError):
            store.load(PREFIXES + ":ada a :Person .", "ttl")
        store.watched_shapes["names"].stop()
        store.load(PREFIXES + ":ada a :Person .", "ttl")
        assert list(store.watched_shapes) == ["shapes"]
    with Store.read_only(tmp_path / "db") as reader:
        assert results(reader) == []


def test_watch__sees_commits_after_optimize_and_reopening(tmp_path: Path) -> None:
    with Store(tmp_path / "db") as store:
        store.load(PREFIXES + ":a :b :c . :ada a :Person .", "ttl")
        store.watch_shapes(PREFIXES + NAMED)
        assert results(store) == [RESULT]
        store.load(PREFIXES + ":zoe a :Person .", "ttl")
        store.optimize()
        assert len(results(store)) == 2
        store.load(PREFIXES + ":zoe :name 'Zoe' .", "ttl")
        assert results(store) == [RESULT]
    with Store(tmp_path / "db") as store:
        store.load(PREFIXES + ":ada :name 'Ada' .", "ttl")
        assert results(store) == []


def test_clear_and_large_commits__validate_everything(tune: Callable[..., None]) -> None:
    store = watched()
    tune(SHACL, followed_rows=2, followed_nodes=2)
    store.load(PREFIXES + "".join(f":p{i} a :Person ." for i in range(10)), "ttl")
    assert len(results(store)) == 10
    change = store.clear()
    assert (change.results_removed, results(store)) == (10, [])


def test_rolled_back_transaction__changes_no_result() -> None:
    store = watched()
    with store.transaction() as t:
        t.update("INSERT DATA { :ada a :Person }")
        (result,) = t.diff().results_added
        t.rollback()
    with pytest.raises(UsageError, match="rolled back"):
        result.why()
    assert results(store) == []
    store.update("INSERT DATA { :bob a :Person }")
    assert results(store) == [RESULT.replace(":ada", ":bob")]


def test_node_that_the_data_lacked__keeps_its_results_exact() -> None:
    store = watched(":S sh:targetNode :ada ; sh:property [ sh:path :name ; sh:minCount 1 ] .")
    assert results(store) == [RESULT]
    assert store.update("INSERT DATA { :ada :age 5 }").results_added == 0
    assert results(store) == [RESULT]
    assert store.update("INSERT DATA { :ada :name 'Ada' }").results_removed == 1
    assert results(store) == []


def test_wrong_calls__are_refused_and_change_nothing() -> None:
    store = watched()
    commit = store.commit
    with pytest.raises(ShapesError):
        store.watch_shapes(PREFIXES + ":S sh:targetClass :A ; sh:minCount 1 .")
    with pytest.raises(UsageError, match="severity"):
        store.watch_shapes(PREFIXES + NAMED, strict="grave")
    with pytest.raises(UsageError, match="does not watch"):
        store.unwatch_shapes("other")
    assert store.commit == commit
    watch = store.watched_shapes["shapes"]
    watch.stop()
    with pytest.raises(UsageError, match="any more"):
        _ = watch.report
    assert store.watched_shapes == {}


def test_refused_commit__leaves_no_ids_behind(tmp_path: Path) -> None:
    shapes = """: sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/"^^xsd:anyURI ] .
    :S sh:targetNode :ada ; sh:property [ sh:path :name ; sh:minCount 1 ] .
    :T sh:targetSubjectsOf :is ; sh:sparql [ sh:prefixes : ;
        sh:select "SELECT $this ?value { $this :is ?value . ?value :bad ?x }" ] .
    :U sh:targetSubjectsOf :wrong ; sh:datatype xsd:int ."""
    with Store(tmp_path / "db") as store:
        store.load(PREFIXES + ":x :y :z .", "ttl")
        store.watch_shapes(PREFIXES + shapes, strict="Violation")
    with Store(tmp_path / "db") as store:
        for _ in range(2):
            with pytest.raises(ShapesViolationError):
                store.update("INSERT DATA { :ada :wrong :bad . :ada :is :p . :p :bad 1 }")
        store.update("INSERT DATA { :zoe :fine :p , :q , :r , :s . :is2 :bad2 :t }")
        store.update("INSERT DATA { :zoe :is :q . :q :fine 2 }")
        assert results(store) == [RESULT]
        with pytest.raises(ShapesViolationError, match=":zoe :q"):
            store.update("INSERT DATA { :q :bad 2 }")
        assert results(store) == [RESULT]


def test_results__can_be_read_while_another_thread_commits() -> None:
    store = watched()
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(len(results(store)))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(30):
            store.update(f"INSERT DATA {{ :n{number} a :Person }}")
    finally:
        stop.set()
        reader.join()
    assert len(results(store)) == 30
    assert seen == sorted(seen)


def test_preview__shows_results_and_that_a_commit_would_be_refused() -> None:
    store = watched(strict="Violation")
    found = preview_update(store, "INSERT DATA { :ada a :Person }")
    assert found["results"] == {"added": 1, "removed": 0, "examples": [RESULT]}
    assert found["refused"] is True
    fine = preview_update(store, "INSERT DATA { :ada :name 'Ada' }")
    assert (fine["results"]["added"], fine["refused"]) == (0, False)
    assert results(store) == []
