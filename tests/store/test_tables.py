"""Tables and graphs of other libraries in a store, and results as files of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib
from click.testing import CliRunner, Result

from triplestore import NamedNode, Property, Store
from triplestore.cli import main
from triplestore.errors import UsageError
from triplestore.store.answers import write_answer

pa = pytest.importorskip("pyarrow")

E = "http://e.org/"
PEOPLE = {"id": [1, 2], "name": ["Ada", "Bob"], "boss": [None, 1]}
SAID: dict[str, Any] = {
    "subject": E + "{id}",
    "properties": {"name": E + "name", "boss": Property(E + "boss", template=E + "{boss}")},
}


def test_load_table__is_one_commit_and_counts() -> None:
    store = Store()
    assert str(store.load_table(PEOPLE, **SAID)) == "added 3"
    again = store.load_table(PEOPLE, **SAID)
    assert (again.added, again.already_there) == (0, 3)
    assert store.query(f"ASK {{ <{E}2> <{E}boss> <{E}1> }}")


def test_load_table__prefixes_of_the_store_and_of_the_call() -> None:
    store = Store()
    store.bind("e", E)
    store.load_table(PEOPLE, subject="e:{id}", properties={"name": "f:n"}, prefixes={"f": E})
    assert store.query(f"ASK {{ <{E}1> <{E}n> 'Ada' }}")
    assert dict(store.prefixes) == {"e": E}


def test_load_table__into_a_graph_and_in_its_place() -> None:
    store, graph = Store(), NamedNode(E + "g")
    store.load_table(PEOPLE, graph=E + "g", **SAID)
    assert {quad.graph_name for quad in store} == {graph}
    fewer = {name: values[:1] for name, values in PEOPLE.items()}
    assert str(store.load_table(fewer, replace_graph=graph, **SAID)) == "removed 2, already there 1"
    assert not store.load_table(fewer, replace_graph=graph, **SAID)
    with pytest.raises(UsageError, match="graph or replace_graph"):
        store.load_table(fewer, graph=graph, replace_graph=graph, **SAID)


def test_load_table__in_a_transaction_and_under_rules() -> None:
    store = Store()
    store.bind("", E)
    store.reason(rules=f"@prefix : <{E}> . :reports[?y, ?x] :- :boss[?x, ?y] .")
    with store.transaction() as transaction:
        assert len(transaction.load_table(PEOPLE, **SAID)) == 3
        assert transaction.query("ASK { :1 :reports :2 }")
        assert not store.query("ASK { :1 :reports :2 }")
    assert store.query("ASK { :1 :reports :2 }")


def test_load_table__a_fault_changes_nothing() -> None:
    store = Store()
    with pytest.raises(UsageError, match="is not an absolute IRI"):
        store.load_table({"id": ["http://ok/", "bad"], "v": [1, 2]}, subject="{id}",
                         properties={"v": E + "v"})  # fmt: skip
    assert len(store) == 0 and store.info().terms == 0


def test_load_table__large_and_small_into_a_directory(tmp_path: Path) -> None:
    rows = 200_000
    table = pa.table({"id": range(rows), "name": [f"n{i % 1000}" for i in range(rows)]})
    with Store(tmp_path / "s") as store:
        store.load_table(PEOPLE, **SAID)
        store.load_table(table, subject=E + "{id}", properties={"name": E + "name"})
    with Store.read_only(tmp_path / "s") as store:
        assert len(store) == rows + 3 and store.verify() == []
        assert store.query(f"ASK {{ <{E}1> <{E}name> 'n1', 'Ada' }}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib warns of its own calls
def test_load__graphs_of_rdflib() -> None:
    graph = rdflib.Graph().parse(data=f'@prefix : <{E}> . :a :p [ :q "x"@en ] .', format="turtle")
    store = Store()
    assert str(store.load(graph)) == "added 2"
    assert not store.load(graph)
    assert store.query('ASK { ?a :p [ :q "x"@en ] }')
    store.load(graph, to_graph=NamedNode(E + "g"))
    assert len(store) == 4
    with store.transaction() as transaction:
        assert str(transaction.load(rdflib.Graph(), replace_graph=NamedNode(E + "g"))) is not None
    assert len(store) == 2
    dataset = rdflib.Dataset()
    dataset.parse(data=f"@prefix : <{E}> . :h {{ :a :p :b }}", format="trig")
    store.load(dataset)
    assert [str(name) for name in store.named_graphs() if str(name).endswith("h>")] == [f"<{E}h>"]
    with pytest.raises(UsageError, match="named graph"):
        store.load(dataset, named_graphs="refuse")


def test_write_answer__files_of_tables(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    store = Store()
    store.load_table(PEOPLE, **SAID)
    solutions = store.query(f"SELECT ?n {{ ?x <{E}name> ?n }} ORDER BY ?n")
    write_answer(solutions, tmp_path / "n.parquet")
    assert pq.read_table(tmp_path / "n.parquet").to_pydict() == {"n": ["Ada", "Bob"]}
    solutions.serialize(tmp_path / "s.parquet")
    assert pq.read_table(tmp_path / "s.parquet").num_rows == 2
    data = write_answer(solutions, format="arrow")
    assert pa.ipc.open_file(data).read_all().to_pydict() == {"n": ["Ada", "Bob"]}


def test_to_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("networkx")
    store = Store()
    store.bind("", E)
    store.load_table(PEOPLE, **SAID)
    graph = store.query("CONSTRUCT WHERE { ?x :boss ?y }").to_networkx()
    assert list(graph.edges(keys=True)) == [(ox.NamedNode(E + "2"), ox.NamedNode(E + "1"),
                                             ox.NamedNode(E + "boss"))]  # fmt: skip
    assert graph.nodes[ox.NamedNode(E + "2")]["label"] == ":2"


# -- the commands --------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(
        "id,name,born,motto,boss\n007,Ada,1815,Rien,\n2,Bob,1916,NA,007\n"
    )
    return tmp_path


def test_command__load_table(folder: Path) -> None:
    result = run(
        "load-table", "-l", "s", "people.csv", "--subject", E + "{id}", "--type", E + "Person",
        "-p", f"name={E}name", "-p", f"born={E}born ^^<http://www.w3.org/2001/XMLSchema#gYear>",
        "-p", f"motto={E}motto @fr", "-p", f"boss={E}boss {E}{{boss}}",
        "--null", "NA", "--null", "",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert result.stderr == "added 8 (the store has 8 quads)\n"
    with Store.read_only("s") as store:
        assert store.query(f"ASK {{ <{E}2> <{E}boss> <{E}007> }}")
        assert store.query(f"ASK {{ <{E}007> <{E}motto> 'Rien'@fr ; a <{E}Person> }}")
        year = "'1815'^^<http://www.w3.org/2001/XMLSchema#gYear>"
        assert store.query(f"ASK {{ <{E}007> <{E}born> {year} }}")
    wrong = run("load-table", "-l", "s", "people.csv", "--subject", E + "{id}", "-p", "name")
    assert wrong.exit_code == 2 and "is not COLUMN=IRI" in wrong.stderr
    missing = run("load-table", "-l", "s", "people.csv", "--subject", E + "{i}", "-p", f"name={E}n")
    assert missing.exit_code == 1 and "has no column 'i'" in missing.stderr


def test_command__query_writes_tables(folder: Path) -> None:
    import pyarrow.parquet as pq

    with Store("s") as store:
        store.load_table(PEOPLE, **SAID)
    text = f"SELECT ?n {{ ?x <{E}name> ?n }} ORDER BY ?n"
    assert run("query", "-l", "s", "-q", text, "-o", "out.parquet").exit_code == 0
    assert pq.read_table("out.parquet").to_pydict() == {"n": ["Ada", "Bob"]}
    piped = run("query", "-l", "s", "-q", text, "--results-format", "arrow")
    assert pa.ipc.open_file(piped.stdout_bytes).read_all().num_rows == 2
    assert run("query", "-l", "s", "-q", "ASK {}", "-o", "ask.arrow").exit_code == 0
    triples = "CONSTRUCT WHERE { ?s ?p ?o }"
    assert run("query", "-l", "s", "-q", triples, "-o", "t.parquet").exit_code == 0
    assert pq.read_table("t.parquet").column_names == ["s", "p", "o"]
