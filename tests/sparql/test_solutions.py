"""Results: rows, tables of text, columns of Arrow."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyoxigraph as ox
import pytest

from triplestore import Literal, NamedNode, Store
from triplestore.errors import CancelledError, TripleStoreError
from triplestore.sparql.thresholds import SPARQL

EX = "http://ex.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(params=[0, 100], ids=["in bulk", "few"], autouse=True)
def few(request: pytest.FixtureRequest, tune: Callable[..., None]) -> None:
    """Columns are made in either way."""
    tune(SPARQL, terms_one_by_one=request.param)


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(
        """@prefix : <http://ex.org/> .
        :a :i 1 ; :d 1.5e0 ; :b true ; :s "text" ; :m 1, "one", :one ; :big 12345678901234567890 .
        :b :i 2 ; :d 2.5e0 ; :b false ; :s "täxt"@en ; :x _:n .
        """,
        "ttl",
    )
    return made


def test_solutions__rows_by_place_name_and_variable(store: Store) -> None:
    result = store.query("SELECT ?x ?i ?nothing { ?x :i ?i } ORDER BY ?i")
    assert result.variables == ("x", "i", "nothing")
    first = next(result)
    assert first[0] == first["x"] == first[ox.Variable("x")] == NamedNode(EX + "a")
    assert first["nothing"] is None
    assert list(first) == [NamedNode(EX + "a"), Literal(1), None]
    assert first.as_dict() == {"x": NamedNode(EX + "a"), "i": Literal(1)}
    with pytest.raises(KeyError, match=r"\?y.*\?x"):
        first["y"]
    assert next(result)["i"] == Literal(2)
    with pytest.raises(StopIteration):
        next(result)
    assert len(result) == 2
    assert bool(result)
    assert [row["i"].value for row in result] == ["1", "2"]


def test_solutions__are_equal_by_names_and_values__and_can_be_copied(store: Store) -> None:
    (first, second), (other, _) = (
        list(store.query(f"SELECT ?{name} {{ ?{name} :b ?b }} ORDER BY DESC(?b)")) for name in "xy"
    )
    assert first == next(store.query("SELECT ?x { ?x :b true }"))
    assert first != second
    assert tuple(first) == tuple(other)
    assert first != other
    for copied in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert (copied, hash(copied), copied["x"]) == (first, hash(first), first["x"])
    (node,) = first
    assert node == NamedNode(EX + "a")


def test_solutions__print_as_a_table(store: Store) -> None:
    text = str(store.query("SELECT ?x ?i ?k { ?x :i ?i OPTIONAL { ?x :x ?k } } ORDER BY ?i"))
    assert [line.split() for line in text.splitlines()[:3]] == [
        ["?x", "?i", "?k"],
        ["--", "--", "-" * len(text.splitlines()[1].split()[2])],
        [":a", "1"],
    ]
    assert text.splitlines()[3].split()[2].startswith("_:")


def test_solutions__print_only_the_first(store: Store) -> None:
    store.load("\n".join(f"<{EX}{i}> <{EX}many> {i} ." for i in range(150)), "ttl")
    lines = str(store.query("SELECT ?x { ?x :many ?y }")).splitlines()
    assert lines[-1] == "... and 50 more"
    assert len(lines) == 103


def test_solutions__many_rows_are_decoded_in_bulk(store: Store) -> None:
    store.load(
        "\n".join(f"<{EX}é{i % 500}> <{EX}many> 'é{i}', {i % 7} ." for i in range(9000)), "ttl"
    )
    found = list(store.query("SELECT ?x ?y { ?x :many ?y }"))
    assert len(found) == 9000 + 500 * 7
    oracle = ox.Store()
    oracle.extend(store.quads_for_pattern(None, None, None))
    expected = oracle.query(f"SELECT ?x ?y {{ ?x <{EX}many> ?y }}")
    assert {tuple(row) for row in found} == {(row[0], row[1]) for row in expected}


def column(store: Store, predicate: str, **arguments: Any) -> tuple[str, list[Any]]:
    table = store.query(f"SELECT ?v {{ ?x :{predicate} ?v }} ORDER BY ?x ?v").to_arrow(**arguments)
    return str(table.schema.field("v").type), table["v"].to_pylist()


def test_to_arrow__without_pyarrow_names_the_extra(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    result = store.query("SELECT ?x { ?x ?p ?y }")
    for make in (result.to_arrow, result.to_pandas):
        with pytest.raises(ImportError, match=r"pyarrow.*pip install 'entailstore\[arrow\]'"):
            make()


def test_to_arrow__columns_have_types(store: Store) -> None:
    pytest.importorskip("pyarrow")
    assert column(store, "i") == ("int64", [1, 2])
    assert column(store, "d") == ("double", [1.5, 2.5])
    assert column(store, "b") == ("bool", [True, False])
    assert column(store, "s") == ("large_string", ["text", "täxt"])
    assert column(store, "m") == ("large_string", [EX + "one", "1", "one"])
    assert column(store, "big") == ("large_string", ["12345678901234567890"])
    kind, (blank,) = column(store, "x")
    assert kind == "large_string"
    assert blank.startswith("_:")


@pytest.mark.parametrize(
    ("literals", "kind", "values"),
    [
        ('"007"^^xsd:integer, "+3"^^xsd:integer, -1', "int64", [-1, 3, 7]),
        ("999999999999999, 1000000000000000", "int64", [10**15 - 1, 10**15]),
        ('1, "one"^^xsd:integer', "large_string", ["1", "one"]),
        ('1, "1_0"^^xsd:integer', "large_string", ["1", "1_0"]),
        ('1, "2"^^xsd:int', "large_string", ["1", "2"]),
        ('"1"^^xsd:byte, "2"^^xsd:byte', "int64", [1, 2]),
        ('"1"^^xsd:byte, "300"^^xsd:byte', "large_string", ["1", "300"]),
        ("1.0, 2.5", "decimal128(38, 1)", [Decimal("1.0"), Decimal("2.5")]),
        (f"1.0, {'1' * 39}.0", "large_string", ["1.0", f"{'1' * 39}.0"]),
        ('"2024-02-29"^^xsd:date', "date32[day]", [date(2024, 2, 29)]),
        ('"2023-02-29"^^xsd:date', "large_string", ["2023-02-29"]),
        ('"2024-02-29Z"^^xsd:date', "large_string", ["2024-02-29Z"]),
        (
            '"2024-01-01T00:00:00"^^xsd:dateTime, "2024-01-01T12:00:00.5"^^xsd:dateTime',
            "timestamp[us]",
            [datetime(2024, 1, 1), datetime(2024, 1, 1, 12, 0, 0, 500_000)],
        ),
        (
            '"2024-01-01T00:00:00Z"^^xsd:dateTime, "2024-01-01T00:30:00+01:00"^^xsd:dateTime',
            "timestamp[us, tz=UTC]",
            [datetime(2023, 12, 31, 23, 30, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)],
        ),
        (
            '"2024-01-01T00:00:00Z"^^xsd:dateTime, "2024-01-01T00:00:01"^^xsd:dateTime',
            "large_string",
            ["2024-01-01T00:00:00Z", "2024-01-01T00:00:01"],
        ),
        ('"2024-01-01T24:00:00"^^xsd:dateTime', "large_string", ["2024-01-01T24:00:00"]),
        (
            '"0001-01-01T00:00:00+14:00"^^xsd:dateTime',
            "large_string",
            ["0001-01-01T00:00:00+14:00"],
        ),
        ('"12:00:00"^^xsd:time', "large_string", ["12:00:00"]),
        ('"a"@en, "b"@de', "large_string", ["a", "b"]),
    ],
)
def test_to_arrow__literals_of_one_datatype(literals: str, kind: str, values: list[Any]) -> None:
    pytest.importorskip("pyarrow")
    made = Store()
    prefixes = f"@prefix xsd: <{XSD}> . @prefix : <{EX}> ."
    made.load(f"{prefixes} :x :y {literals} .", "ttl")
    found = made.query("SELECT ?y { ?x ?p ?y }").to_arrow()["y"]
    assert str(found.type) == kind
    assert sorted(found.to_pylist()) == values


def test_to_arrow__exact_columns_have_nulls_and_repetitions() -> None:
    pytest.importorskip("pyarrow")
    made = Store()
    made.load(f"@prefix : <{EX}> . :a :y 1.5 ; :z 1 . :b :z 1 . :c :y 1.5 ; :z 1 .", "ttl")
    found = made.select("SELECT ?y { ?x :z 1 OPTIONAL { ?x :y ?y } } ORDER BY ?x").to_arrow()["y"]
    assert found.to_pylist() == [Decimal("1.5"), None, Decimal("1.5")]


def test_to_arrow__languages_have_columns_of_their_own_if_asked_for() -> None:
    pytest.importorskip("pyarrow")
    made = Store()
    made.load(f'@prefix : <{EX}> . :a :y "one"@en, "eins"@de, "1" ; :z "x" .', "ttl")
    found = made.select("SELECT ?z ?y { ?x :y ?y ; :z ?z } ORDER BY LANG(?y)")
    assert found.to_arrow().column_names == ["z", "y"]
    table = found.to_arrow(languages=True)
    assert table.column_names == ["z", "y", "y_language"]
    assert table["y_language"].to_pylist() == [None, "de", "en"]
    again = made.select("SELECT ?y (1 AS ?y_language) { ?x :y ?y } ORDER BY LANG(?y)")
    assert again.to_arrow(languages=True).column_names == ["y", "y_language_", "y_language"]
    pytest.importorskip("pandas")
    assert list(found.to_pandas(languages=True)["y"]) == ["1", "eins", "one"]


def test_to_arrow__terms_as_they_are(store: Store) -> None:
    pytest.importorskip("pyarrow")
    assert column(store, "s", typed=False)[1] == ['"text"', '"täxt"@en']
    assert column(store, "i", typed=False)[1] == [f'"{i}"^^<{XSD}integer>' for i in (1, 2)]


def test_to_arrow__unbound_is_null_and_computed_values_are_there(store: Store) -> None:
    pytest.importorskip("pyarrow")
    text = """SELECT ?x ?j ?n ?s { ?x :i ?i OPTIONAL { ?x :x ?n }
              BIND(?i * 1000 AS ?j) BIND(STR(?x) AS ?s) } ORDER BY ?i"""
    table = store.query(text).to_arrow()
    assert table["x"].to_pylist() == [EX + "a", EX + "b"]
    assert table["j"].to_pylist() == [1000, 2000]
    assert table["n"].to_pylist()[0] is None
    assert table["s"].to_pylist() == [EX + "a", EX + "b"]
    assert store.query("SELECT ?x { ?x :nothing ?y }").to_arrow().num_rows == 0


def test_explain__says_what_was_done(store: Store) -> None:
    result = store.query("SELECT ?x { ?x :i ?i FILTER(?i > 1) }")
    text = result.explain()
    assert "scan i[?x, ?i]" in text
    assert "filter ?i > 1" in text
    assert "rows 1" in text
    tree = result.explain_json()
    assert tree["rows"] == 1
    assert tree["children"]


@pytest.mark.parametrize(
    ("pattern", "warning"),
    [
        ("?x :i ?i FILTER(?j > 1)", "?j is never bound, but an expression uses it"),
        ("?x :i ?item FILTER(?itme > 1)", "did you mean ?item?"),
        ("?x :i ?i FILTER NOT EXISTS { ?x :d ?d FILTER(?e > 1) }", "?e is never bound"),
        ("?x :i ?i . ?y :m ?m", "have no variable in common"),
        ("?x :nothing ?i", f"no triple has the property <{EX}nothing>"),
        ("?x :I ?i", f"no triple has the property <{EX}I>; did you mean <{EX}"),
        (
            "?x a :Person",
            "no triple has the property <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        ),
    ],
)
def test_explain__warns_of_likely_mistakes(store: Store, pattern: str, warning: str) -> None:
    result = store.query(f"SELECT * {{ {pattern} }}")
    assert any(warning in line for line in result.advice())
    assert result.explain().startswith("warning: ")
    assert result.explain_json()["warnings"] == result.advice()


def test_explain__names_of_any_length_are_not_compared(store: Store) -> None:
    """Comparing two takes the square of their length."""
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))
    store.load(f"<{EX}a> <{EX}{long}> 1 .", "ttl")
    pattern = f"?x :{long}x ?{long} FILTER(?{long}y > 1)"
    found = store.query(f"SELECT * {{ {pattern} }}").advice()
    assert len(found) == 2
    assert not any("did you mean" in line for line in found)


def test_explain__warns_of_classes_without_members(store: Store) -> None:
    store.load(f"<{EX}a> a <{EX}Person> .", "ttl")
    (warning,) = store.query("SELECT * { ?x a :Persno }").advice()
    assert warning == f"no resource has the class <{EX}Persno>; did you mean <{EX}Person>?"
    (warning,) = store.query("SELECT ?person { ?persn a :Person }").advice()
    assert warning == "?person is never bound, but it is selected; did you mean ?persn?"


def test_explain__has_nothing_to_say_of_good_queries(store: Store) -> None:
    for text in (
        "SELECT ?x (COUNT(*) AS ?n) { ?x :i ?i OPTIONAL { ?x :m ?m FILTER(?m > ?i) } } GROUP BY ?x",
        "SELECT * { ?x :i ?i . ?x :d ?d BIND(?i + ?d AS ?s) FILTER(?s > 1) } ORDER BY ?s",
        "SELECT ?x { { SELECT ?x (MAX(?i) AS ?m) { ?x :i ?i } GROUP BY ?x HAVING(MAX(?i) > 1) } }",
        "SELECT * { :a :i ?i . :b :i ?j }",
    ):
        assert store.query(text).advice() == []


def test_explain__of_constructed_triples(store: Store) -> None:
    result = store.query("CONSTRUCT { ?x :j ?i } { ?x :i ?i . ?x :nothing ?n }")
    assert result.explain().splitlines()[0].startswith("warning: no triple has the property")
    assert "i[?x, ?i]" in store.query("CONSTRUCT { ?x :j ?i } { ?x :i ?i }").explain()
    assert store.query("DESCRIBE ?x { ?x :i 1 }").explain_json()["rows"] == 1
    assert store.query("DESCRIBE :a").explain() == ""


def test_to_arrow__unbound_among_iris_and_strings_is_null(store: Store) -> None:
    pytest.importorskip("pyarrow")
    text = """SELECT ?one ?s { ?x :i ?i OPTIONAL { ?x :m ?one FILTER(ISIRI(?one)) }
              OPTIONAL { ?x :s ?s FILTER(LANG(?s) = "") } } ORDER BY ?i"""
    table = store.query(text).to_arrow()
    assert table["one"].to_pylist() == [EX + "one", None]
    assert table["s"].to_pylist() == ["text", None]
    assert table["one"].null_count == table["s"].null_count == 1


def test_solutions__stored_and_computed_terms_in_one_column(store: Store) -> None:
    store.load("\n".join(f"<{EX}{i}> <{EX}many> {i} ." for i in range(300)), "ttl")
    text = "SELECT (IF(?y / 2 = FLOOR(?y / 2), ?x, STR(?y)) AS ?z) ?y { ?x :many ?y }"
    for value, number in store.query(text):
        expected = f"{EX}{number.value}" if int(number.value) % 2 == 0 else number.value
        assert value.value == expected


def test_explain__names_the_constants_of_a_pattern() -> None:
    store = Store()
    store.load("@prefix : <http://ex.org/> . :a a :Person ; :age 5 . :b a :Robot .", "ttl")
    for name in ("Person", "Robot"):  # the same plan, kept and used again
        result = store.query(f"PREFIX : <http://ex.org/> SELECT ?x {{ ?x a :{name} }}")
        assert f"scan type[?x, {name}]" in result.explain()
        assert f"type[?x, {name}]" in json.dumps(result.explain_json())
    assert "scan age[?x, 5]" in store.query("SELECT ?x { ?x <http://ex.org/age> 5 }").explain()


def test_solutions__that_ended_with_an_error_do_so_again() -> None:
    store = Store()
    triples = (f"<a:{i}> <a:p> <a:b{i % 50}>" for i in range(2000))
    store.update(f"INSERT DATA {{ {' . '.join(triples)} }}")
    cancel = threading.Event()
    text = "SELECT * { ?x <a:p> ?y . ?z <a:p> ?w }"
    result = store.query(text, cancel=cancel)
    assert next(result)["x"] is not None
    cancel.set()
    read_again: list[Callable[[], object]] = [lambda: list(result), lambda: len(result)]
    read_again += [lambda: result.ids("x"), lambda: result.serialize(format="json")]
    for read in read_again * 2:  # what was read before is not all
        with pytest.raises(CancelledError):
            read()
    assert "a:p[?x, ?y]" in str(result.explain())  # what was done until then
    assert result.explain_json()["rows"] > 0


def test_solutions__an_error_that_list_hides_when_it_asks_for_the_length_is_raised() -> None:
    class Mistaken:
        def accumulate(self, term: object) -> None:
            raise TypeError("not this one")

        def finish(self) -> None:
            return None

    store = Store()
    store.update("INSERT DATA { <a:a> <a:p> 1 }")
    text = "SELECT (<a:mistaken>(?o) AS ?m) { ?s ?p ?o }"
    with pytest.raises(TripleStoreError, match=r"not all .* \(TypeError: not this one\)"):
        list(store.query(text, custom_aggregate_functions={"a:mistaken": Mistaken}))
