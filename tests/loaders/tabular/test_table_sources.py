"""All sources of a table beside a model that goes through rows and values of Python."""

from __future__ import annotations

import datetime
import gzip
import random
import sys
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from tests.loaders.tabular.table_triples import XSD, E, Triple, encoded, triples, typed, write
from triplestore.errors import CancelledError, ParseError, TripleStoreError, UsageError
from triplestore.loaders.tabular import Property
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of

pa = pytest.importorskip("pyarrow")

# -- random tables in every form -----------------------------------------------------------------

COLUMNS = ("id", "name", "age", "weight", "org", "born", "ok")
PROPERTIES: dict[str, str | Property] = {
    "name": E + "name",
    "age": E + "age",
    "weight": E + "weight",
    "org": Property(E + "org", E + "org/{org}"),
    "born": E + "born",
    "ok": E + "ok",
}


def random_rows(seed: int, count: int) -> list[dict[str, Any]]:
    some = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if some.random() < 0.2 else value

    return [
        {
            "id": maybe(some.randrange(count)),
            "name": maybe("".join(some.choices('ab "\\\n,é', k=some.randrange(1, 5)))),
            "age": maybe(some.randrange(-3, 50)),
            "weight": maybe(some.randrange(-400, 400) / 8 + 1 / 16),
            "org": maybe(f"o {some.randrange(5)}/ü"),
            "born": maybe(datetime.date(2000, 1, 1) + datetime.timedelta(some.randrange(9999))),
            "ok": maybe(some.random() < 0.5),
        }
        for _ in range(count)
    ]


def model(rows: list[dict[str, Any]], double: str = "double") -> list[Triple]:
    """What the rows mean, one value after the other."""
    found = []
    for row in rows:
        if row["id"] is None:
            continue
        for name, given in PROPERTIES.items():
            value = row[name]
            if value is None:
                continue
            if isinstance(given, Property):
                term: Any = ox.NamedNode(f"{E}org/{encoded(value)}")
            elif isinstance(value, bool):
                term = ox.Literal(str(value).lower(), datatype=ox.NamedNode(XSD + "boolean"))
            elif isinstance(value, float):
                text = repr(value)
                term = ox.Literal(text, datatype=ox.NamedNode(XSD + double))
            elif isinstance(value, datetime.date):
                term = ox.Literal(value.isoformat(), datatype=ox.NamedNode(XSD + "date"))
            else:
                term = ox.Literal(value)
            found.append((f"<{E}person/{row['id']}>", f"<{E}{name}>", str(term)))
    return sorted(found)


def loaded(source: Any, **options: Any) -> list[Triple]:
    return triples(source, subject=E + "person/{id}", properties=PROPERTIES, **options)


def arrow_of(rows: list[dict[str, Any]]) -> Any:
    kinds = [
        ("id", pa.int64()), ("name", pa.string()), ("age", pa.int32()), ("weight", pa.float64()),
        ("org", pa.string()), ("born", pa.date32()), ("ok", pa.bool_()),
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, pa.schema(kinds))


@pytest.fixture(params=["few", "many"])
def terms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With kernels, and without them, whatever the size."""
    few = request.param == "few"
    module = sys.modules["triplestore.loaders.tabular.load_table"]
    monkeypatch.setattr(module, "worth_kernels", lambda count: not few)
    return str(request.param)


def test_sources__all_forms_of_a_table_give_the_same_triples(tmp_path: Path, terms: str) -> None:
    import pyarrow.parquet as pq

    for seed in range(8):
        rows = random_rows(seed, 300)
        table, expected = arrow_of(rows), model(rows)
        dictionary = Dictionary()
        dictionary.encode_keys([key_of(ox.NamedNode(E + "age")), key_of(ox.Literal(7))])
        assert loaded(table, dictionary=dictionary) == expected, seed
        assert loaded(table.slice(7).combine_chunks()) == model(rows[7:]), seed
        pieces = [table.slice(at, 40) for at in range(0, 300, 40)]
        assert loaded(pa.concat_tables(pieces)) == expected
        assert loaded(table.to_reader(13)) == expected
        assert loaded(table.combine_chunks().to_batches()[0]) == expected
        coded = pa.table({name: table[name].dictionary_encode() for name in table.column_names})
        assert loaded(coded) == expected
        assert loaded(coded.slice(50, 60)) == model(rows[50:110])
        assert loaded({name: table[name] for name in COLUMNS}) == expected
        pq.write_table(table, tmp_path / "t.parquet", row_group_size=77)
        assert loaded(tmp_path / "t.parquet") == expected
        for name, new in (("t.arrow", pa.ipc.new_file), ("t.arrows", pa.ipc.new_stream)):
            with new(str(tmp_path / name), table.schema) as out:
                out.write_table(table)
            assert loaded(str(tmp_path / name)) == expected
    assert terms in ("few", "many")


def test_sources__pandas() -> None:
    pd = pytest.importorskip("pandas")
    rows = random_rows(1, 200)
    frame = arrow_of(rows).to_pandas(types_mapper=pd.ArrowDtype)
    assert loaded(frame) == model(rows)
    assert loaded(frame[::-1]) == model(rows)  # the index means nothing
    plain = pd.DataFrame({"id": ["a", "b"], "x": [1.5, float("nan")], "n": ["t", None]})
    found = triples(plain, properties={"x": E + "x", "n": E + "n"})
    assert [(o) for _, _, o in found] == ['"t"', typed("1.5", "double")]
    coded = pd.DataFrame({"id": [1, 2], "c": pd.Categorical(["u", "v"], ["u", "v", "w"])})
    assert [o for _, _, o in triples(coded, properties={"c": E + "c"})] == ['"u"', '"v"']
    with pytest.raises(UsageError, match=r"'id' is the index of the DataFrame.*reset_index"):
        triples(plain.set_index("id"), properties={"x": E + "x"})
    with pytest.raises(UsageError, match="2 columns called 'x'"):
        triples(plain.set_axis(["id", "x", "x"], axis=1), properties={"x": E + "x"})
    with pytest.raises(UsageError, match="values of several types"):
        mixed = pd.DataFrame({"id": [1, 2], "x": [1, "a"]}, dtype=object)
        triples(mixed, properties={"x": E + "x"})
    with pytest.raises(UsageError, match="a Series of pandas"):
        triples(plain["x"], properties={"x": E + "x"})


def test_sources__numbers_that_pandas_makes_floats_for_the_sake_of_nulls() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2, 12345678], "boss": [None, 1, 2]})
    found = triples(frame, properties={"boss": Property(E + "boss", E + "{boss}")})
    assert found[0] == (f"<{E}12345678>", f"<{E}boss>", f"<{E}2>")
    assert found[1] == (f"<{E}2>", f"<{E}boss>", f"<{E}1>")


def test_sources__polars() -> None:
    pl = pytest.importorskip("polars")
    rows = random_rows(2, 200)
    frame = pl.from_arrow(arrow_of(rows))
    assert loaded(frame) == model(rows)
    assert loaded(frame.lazy()) == model(rows)
    coded = frame.with_columns(pl.col("org").cast(pl.Categorical))
    assert loaded(coded.slice(20, 100)) == model(rows[20:120])


class OfAnotherLibrary:
    """What DuckDB, Ibis and others give: a stream by Arrow's protocol."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def test_sources__everything_that_speaks_the_protocol_of_arrow() -> None:
    rows = random_rows(3, 200)
    assert loaded(OfAnotherLibrary(arrow_of(rows))) == model(rows)


def test_terms__unused_values_of_a_dictionary_are_not_added() -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 1]), pa.array(["a", "b", "c", None]))
    dictionary = Dictionary()
    found = triples({"id": [1, 2, 3], "v": coded}, dictionary, properties={"v": E + "v"})
    assert [o for _, _, o in found] == ['"b"', '"b"']
    assert dictionary.lookup(ox.Literal("a")) == 0
    nulls = pa.DictionaryArray.from_arrays(pa.array([3, 0]), pa.array(["a", "b", "c", None]))
    assert len(triples({"id": [1, 2], "v": nulls}, properties={"v": E + "v"})) == 1


def test_terms__that_repeat_in_some_batches_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from triplestore.loaders.tabular import sources

    monkeypatch.setattr(sources, "BATCH_ROWS", 100)
    names = [f"n{i}" for i in range(100)] + ["same"] * 100 + [f"m{i % 3}" for i in range(100)]
    for order in (names, names[::-1]):
        table = {"id": list(range(300)), "v": order}
        found = triples(table, properties={"v": E + "v"})
        assert sorted(o for _, _, o in found) == sorted(f'"{name}"' for name in names)


# -- CSV -----------------------------------------------------------------------------------------


def test_csv__cells_are_read_as_turtle_reads_them(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv",
        "id,i,d,e,b,day,at,zip,phone,mixed,empty\n"
        "007,1,1.50,1e3,true,2024-01-31,2024-01-31T10:00:00Z,01067,+49,1,\n"
        "x,-2,.5,2,false,2024-02-01,2024-02-01T10:00:00.5,90001,+1,one,\n",
    )
    names = ["i", "d", "e", "b", "day", "at", "zip", "phone", "mixed", "empty"]
    found = triples(path, properties={name: E + name for name in names})
    by = {(s[len(E) + 1 : -1], p[len(E) + 1 : -1]): o for s, p, o in found}
    assert by["007", "i"] == typed("1", "integer") and by["x", "i"] == typed("-2", "integer")
    assert by["007", "d"] == typed("1.50", "decimal") and by["x", "d"] == typed(".5", "decimal")
    assert by["007", "e"] == typed("1e3", "double") and by["x", "e"] == typed("2", "double")
    assert by["007", "b"] == typed("true", "boolean")
    assert by["007", "day"] == typed("2024-01-31", "date")
    assert by["x", "at"] == typed("2024-02-01T10:00:00.5", "dateTime")
    assert by["007", "zip"] == '"01067"' and by["x", "phone"] == '"+1"'
    assert by["007", "mixed"] == '"1"' and by["x", "mixed"] == '"one"'
    assert len(found) == 2 * (len(names) - 1)


def test_csv__guesses_look_at_all_cells(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv", "id,v\n" + "\n".join(f"{i},{i}" for i in range(5000)) + "\nz,z"
    )
    assert {o for _, _, o in triples(path, properties={"v": E + "v"})} >= {'"0"', '"z"'}


def test_csv__quotes_nulls_marks_delimiters_and_compression(tmp_path: Path) -> None:
    text = '\ufeffid,v\r\n1,"a\nb"\r\n2,\r\n3,""\r\n4,NA\r\n5,null\r\n'
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    expected = ['"a\\nb"', '""', '"NA"', '"null"']
    assert [o for _, _, o in triples(path, properties={"v": E + "v"})] == expected
    some = triples(path, properties={"v": E + "v"}, null_values=["", "NA"])
    assert [o for _, _, o in some] == ['"a\\nb"', '""', '"null"']
    packed = tmp_path / "p.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert [o for _, _, o in triples(packed, properties={"v": E + "v"})] == expected
    for name, delimiter in (("t.tsv", "\t"), ("u.csv", ";"), ("u.txt", ";")):
        other = write(tmp_path / name, f"id{delimiter}v\n1{delimiter}a,b\n")
        given = None if delimiter == "\t" else delimiter
        found = triples(other, properties={"v": E + "v"}, delimiter=given)
        assert [o for _, _, o in found] == ['"a,b"']


def test_csv__other_encodings_and_long_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,v\n1,é\n".encode("latin-1"))
    found = triples(path, properties={"v": E + "v"}, encoding="latin-1")
    assert [o for _, _, o in found] == ['"é"']
    with pytest.raises(ParseError, match="encoding='latin-1'"):
        triples(path, properties={"v": E + "v"})
    long = write(tmp_path / "long.csv", f"id,v\n1,{'x' * (1 << 22)}\n")
    assert len(triples(long, properties={"v": E + "v"})[0][2]) == (1 << 22) + 2
    with pytest.raises(UsageError, match="no encoding is called 'klingon'"):
        triples(path, properties={"v": E + "v"}, encoding="klingon")
    with pytest.raises(UsageError, match="null_values is a list of texts"):
        triples(path, properties={"v": E + "v"}, null_values="NA")


def test_csv__random_tables(tmp_path: Path, terms: str) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    for seed in range(5):
        rows = random_rows(seed, 300)
        csv.write_csv(arrow_of(rows), tmp_path / "t.csv")
        assert loaded(tmp_path / "t.csv") == model(rows, "decimal"), (seed, terms)


def test_files__a_folder_a_glob_and_a_list_are_one_table(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "id,v\n1,1\n")
    b = write(tmp_path / "b.csv", "id,v\n2,x\n")
    write(tmp_path / "notes.md", "nothing")
    expected = [typed("1", "integer"), '"x"']
    for source in (tmp_path, str(tmp_path / "*.csv"), [a, str(b)]):
        found = triples(source, properties={"v": E + "v"})
        assert [o for _, _, o in found] == expected


# -- faults --------------------------------------------------------------------------------------


def test_faults__of_what_is_said() -> None:
    table = {"id": [1], "name": ["x"]}
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    for name, why in (
        (Property(E + "n", E + "{x}"), "no column 'x'"),
        ("name", "the property of column 'name': 'name' is not an absolute IRI"),
        (Property(E + "n", lang="d e"), "'d e' is not a language tag"),
        (Property(E + "n", lang="de", datatype=E), "give datatype or lang, not both"),
        (Property(E + "n", datatype=rdf + "langString"), "give the language with lang="),
    ):
        with pytest.raises(UsageError, match=why):
            triples(table, properties={"name": name})
    good = {"name": E + "n"}
    for options, why in (
        (
            {"properties": {"nam": E + "n"}},
            r"no column 'nam' \(did you mean 'name'\?\); it has id,",
        ),
        ({"properties": good, "subject": E + "{di}"}, r"no column 'di'"),
        ({"properties": {}}, "no properties are named"),
        ({"properties": ["name"]}, "properties maps each column"),
        ({"properties": good, "type": "Person"}, "type: 'Person' is not an absolute IRI"),
        ({"properties": good, "subject": "id"}, "names no column"),
        ({"properties": good, "subject": "x/{id}"}, "gives no absolute IRIs"),
        ({"properties": good, "subject": E + "{id} {id}"}, "gives no absolute IRIs"),
    ):
        with pytest.raises(UsageError, match=why):
            triples(table, **options)


def test_faults__of_sources(tmp_path: Path) -> None:
    good = {"properties": {"v": E + "v"}}
    write(tmp_path / "bad.csv", "id,v\n1,2\n3\n")
    write(tmp_path / "t.csv", "id,w\n1,2\n")
    (tmp_path / "latin.csv").write_bytes("id,v\n1,\xe9\n".encode("latin-1"))
    write(tmp_path / "t.parquet", "no parquet")
    write(tmp_path / "t.arrow", "no arrow")
    write(tmp_path / "t.txt", "x")
    write(tmp_path / "empty.csv", "")
    (tmp_path / "folder").mkdir()
    for source, why in (
        (tmp_path / "bad.csv", "bad.csv: malformed CSV"),
        (tmp_path / "latin.csv", "latin.csv: malformed CSV.*UTF8"),
        (tmp_path / "empty.csv", "empty.csv: malformed CSV"),
        (tmp_path / "t.csv", "t.csv has no column 'v'"),
        (tmp_path / "t.parquet", "t.parquet: cannot be read"),
        (tmp_path / "t.arrow", "t.arrow: cannot be read"),
        (tmp_path / "t.txt", "shows no format of tables"),
        (tmp_path / "none.csv", "none.csv"),
        (tmp_path / "folder", "no file in .*folder is called"),
        (str(tmp_path / "*.xyz"), "no file matches"),
        (42, "cannot load a table from int"),
        ([1, 2], "cannot load a table from list"),
    ):
        with pytest.raises(TripleStoreError, match=why):
            triples(source, **good)
    with pytest.raises(UsageError, match="the delimiter is one character"):
        triples(tmp_path / "t.csv", delimiter=", ", **good)


def test_faults__text_that_is_not_utf8(tmp_path: Path) -> None:
    buffers = [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    bad = pa.Array.from_buffers(pa.string(), 1, buffers)
    for wanted in (E + "v", Property(E + "v", E + "{v}")):
        with pytest.raises((UsageError, ParseError), match=r"column 'v'.*UTF-?8"):
            triples({"id": [1], "v": bad}, properties={"v": wanted})


def test_cancel__nothing_is_loaded() -> None:
    with pytest.raises(CancelledError):
        triples({"id": [1], "v": [1]}, properties={"v": E + "v"}, cancel=lambda: True)


def test_load__names_load_table_for_files_of_tables(tmp_path: Path) -> None:
    from triplestore.loaders import find_sources

    for name in ("t.csv", "t.CSV.gz", "t.parquet"):
        (tmp_path / name).write_text("id")
        with pytest.raises(UsageError, match="is a table: load it with load_table"):
            find_sources(None, tmp_path / name)
