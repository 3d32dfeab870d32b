"""Results as Parquet and Arrow IPC."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from triplestore import Store
from triplestore.sparql.results.table_files import table_format, write_table

pa = pytest.importorskip("pyarrow")

DATA = '@prefix : <http://e/> . :a :n 1 ; :s "x" . :b :n 2 ; :s "y"@en .'


@pytest.fixture
def store() -> Store:
    store = Store()
    store.load(DATA, "turtle")
    return store


def written(result: Any, form: str) -> Any:
    stream = io.BytesIO()
    write_table(result, stream, form)
    stream.seek(0)
    if form == "parquet":
        import pyarrow.parquet as pq

        return pq.read_table(stream)
    return (pa.ipc.open_file if form == "arrow" else pa.ipc.open_stream)(stream).read_all()


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrows"])
def test_solutions__are_typed_columns(store: Store, form: str) -> None:
    solutions = store.query("SELECT ?x ?n ?o { ?x :n ?n OPTIONAL { ?x :q ?o } } ORDER BY ?x")
    table = written(solutions, form)
    assert table.column("x").to_pylist() == ["http://e/a", "http://e/b"]
    assert table.schema.field("n").type == pa.int64()
    assert table.column("o").to_pylist() == [None, None]
    empty = written(store.query("SELECT ?x { ?x :q ?y }"), form)
    assert empty.num_rows == 0 and empty.column_names == ["x"]


def test_triples__are_terms_in_ntriples(store: Store) -> None:
    table = written(store.query("CONSTRUCT { ?x :t ?s } WHERE { ?x :s ?s }"), "parquet")
    assert sorted(map(tuple, zip(*table.to_pydict().values(), strict=True))) == [
        ("<http://e/a>", "<http://e/t>", '"x"'),
        ("<http://e/b>", "<http://e/t>", '"y"@en'),
    ]
    assert table.column_names == ["s", "p", "o"]


def test_ask__is_one_cell(store: Store) -> None:
    assert written(store.query("ASK { :a :n 1 }"), "arrow").to_pydict() == {"boolean": [True]}


def test_pipe__needs_no_position(store: Store, tmp_path: Path) -> None:
    solutions = store.query("SELECT * { ?s ?p ?o }")
    for form in ("parquet", "arrow", "arrows"):
        read, write = os.pipe()
        with os.fdopen(write, "wb") as stream:
            write_table(solutions, stream, form)
            assert not stream.closed
        with os.fdopen(read, "rb") as stream:
            data = stream.read()
        whole = io.BytesIO()
        write_table(solutions, whole, form)
        assert data == whole.getvalue()


def test_format__by_name_ending_and_media_type() -> None:
    assert table_format("application/vnd.apache.arrow.stream") == "arrows"
    assert table_format(".parquet") == table_format(None, Path("x.PQ")) == "parquet"
    assert table_format(None, "x.feather") == "arrow"
    assert table_format("json", "x.parquet") is None and table_format(None) is None


def test_without_pyarrow__the_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = store.query("SELECT * { ?s ?p ?o }")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs pyarrow.*\[arrow\]"):
        write_table(solutions, io.BytesIO(), "parquet")
