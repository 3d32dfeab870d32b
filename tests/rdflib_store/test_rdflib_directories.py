"""Stores of rdflib in directories: opening, closing, destroying, and commits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

from rdflib import Graph, Literal
from rdflib.store import NO_STORE, VALID_STORE

from tests.rdflib_store.rdflib_helpers import EX
from triplestore import Store, TripleStoreError
from triplestore.rdflib_store import TripleStore
from triplestore.rdflib_store.plugin import MAX_PENDING

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_open__keeps_what_was_added(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    assert Graph(store="triplestore").open(path) == NO_STORE
    graph = Graph(store="triplestore")
    assert graph.open(path, create=True) == VALID_STORE
    graph.add((EX.a, EX.p, EX.b))
    graph.close()
    again = Graph(store="triplestore")
    assert again.open(path) == VALID_STORE
    assert list(again) == [(EX.a, EX.p, EX.b)]
    again.close()
    with Store(path) as store:
        assert [str(quad.graph_name) for quad in store] == ["DEFAULT"]
    Graph(store="triplestore").destroy(path)
    assert not Path(path).exists()


def test_open__does_not_lose_what_is_in_memory(tmp_path: Path) -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, EX.p, EX.b))
    with pytest.raises(TripleStoreError, match="lost"):
        graph.open(str(tmp_path / "s"), create=True)
    assert len(graph) == 1


@pytest.mark.parametrize("empty", [False, True])
def test_open__that_finds_no_store_refuses_what_would_be_lost(tmp_path: Path, empty: bool) -> None:
    path = tmp_path / "s"
    if empty:
        path.mkdir()
    graph = Graph(store="triplestore")
    graph.bind("ex", EX)
    assert graph.open(str(path)) == NO_STORE
    for use in (
        lambda: graph.add((EX.a, EX.p, EX.b)),
        lambda: graph.addN([(EX.a, EX.p, EX.b, graph)]),
        lambda: graph.parse(data="<http://e/a> <http://e/p> 1 .", format="turtle"),
        lambda: graph.update("INSERT DATA { <http://e/a> <http://e/p> 1 }"),
        lambda: graph.bind("other", "http://other.org/"),
        lambda: graph.remove((None, None, None)),
        lambda: len(graph),
        graph.commit,
    ):
        with pytest.raises(TripleStoreError, match="create=True"):
            use()
    assert path.exists() == empty
    assert graph.open(str(path), create=True) == VALID_STORE
    graph.add((EX.a, EX.p, EX.b))
    graph.close()
    with Store(path) as store:
        assert len(store) == 1 and store.prefixes["ex"] == str(EX)


def test_close__without_a_store_is_not_an_error(tmp_path: Path) -> None:
    graph = Graph(store="triplestore")
    assert graph.open(str(tmp_path / "s")) == NO_STORE
    graph.close()


@pytest.mark.parametrize("end", ["", "del graph", "raise SystemExit(3)"])
def test_what_waits__is_committed_when_the_process_ends(tmp_path: Path, end: str) -> None:
    program = f"""
from rdflib import Graph, URIRef
graph = Graph(store="triplestore")
graph.open({str(tmp_path / "s")!r}, create=True)
graph.add((URIRef("http://ex.org/a"),) * 3)
{end}
"""
    subprocess.run([sys.executable, "-c", program], check=not end.startswith("raise"))
    with Store(tmp_path / "s") as store:
        assert len(store) == 1


def test_destroy__leaves_other_directories_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TripleStoreError):
        TripleStore().destroy(str(tmp_path))
    assert (tmp_path / "file").exists()


def test_commits__are_made_of_many_additions() -> None:
    store = Store()
    graph = Graph(TripleStore(store))
    for number in range(100):
        graph.add((EX.a, EX.p, Literal(number)))
    assert (store.commit, len(store)) == (0, 0)
    assert len(graph) == 100
    assert store.commit == 1
    graph.add((EX.a, EX.p, EX.b))
    graph.commit()
    assert (store.commit, len(store)) == (2, 101)
    graph.add((EX.a, EX.p, EX.c))
    graph.rollback()
    assert len(graph) == 101
    for number in range(MAX_PENDING):
        graph.add((EX.a, EX.q, Literal(number)))
    assert len(store) == 101 + MAX_PENDING


def test_inferred_triples__are_seen_and_not_removed() -> None:
    store = Store()
    store.reason(rules="@prefix : <http://ex.org/> . :q[?y, ?x] :- :p[?x, ?y] .")
    graph = Graph(TripleStore(store))
    graph.add((EX.a, EX.p, EX.b))
    assert (EX.b, EX.q, EX.a) in graph
    graph.remove((EX.b, EX.q, EX.a))
    assert (EX.b, EX.q, EX.a) in graph
    graph.remove((EX.a, None, None))
    assert len(graph) == 0


def test_n_quads__read_into_a_graph_leave_what_is_there() -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, EX.p, EX.b))
    graph.parse(data="<http://ex.org/a> <http://ex.org/p> <http://ex.org/c> .\n", format="nquads")
    assert len(graph) == 2
