"""Tables as triples, beside a model that goes through rows and values of Python."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import pyoxigraph as ox
import pytest

from tests.loaders.tabular.table_triples import XSD, E, encoded, triples, typed
from triplestore.errors import UsageError
from triplestore.loaders.tabular import Property, TableOptions, load_table
from triplestore.loaders.tabular.iris import percent_encoded
from triplestore.terms.dictionary import Dictionary

pa = pytest.importorskip("pyarrow")

# -- types -------------------------------------------------------------------------------------


def utc(*parts: int) -> datetime.datetime:
    return datetime.datetime(*parts, tzinfo=datetime.UTC)


TYPES: list[tuple[Any, str]] = [
    (pa.array(["a"]), '"a"'),
    (pa.array(["a"], pa.large_string()), '"a"'),
    (pa.array(["a"], pa.string_view()), '"a"'),
    (pa.array(["a"]).dictionary_encode(), '"a"'),
    (pa.array(['q"\n\\é']), '"q\\"\\n\\\\é"'),
    (pa.array([""]), '""'),
    (pa.array([True]), typed("true", "boolean")),
    (pa.array([-5], pa.int8()), typed("-5", "integer")),
    (pa.array([2**64 - 1], pa.uint64()), typed("18446744073709551615", "integer")),
    (pa.array([7]).dictionary_encode(), typed("7", "integer")),
    (pa.array([Decimal("1.50")]), typed("1.50", "decimal")),
    (pa.array([Decimal("0.00000015")]), typed("0.00000015", "decimal")),
    (pa.array([1.5], pa.float32()), typed("1.5", "float")),
    (pa.array([0.1]), typed("0.1", "double")),
    (pa.array([float("inf")]), typed("INF", "double")),
    (pa.array([float("-inf")]), typed("-INF", "double")),
    (pa.array([float("nan")]), typed("NaN", "double")),
    (pa.array([datetime.date(2024, 2, 29)]), typed("2024-02-29", "date")),
    (pa.array([datetime.date(2024, 2, 29)], pa.date64()), typed("2024-02-29", "date")),
    (pa.array([datetime.time(1, 2, 3)]), typed("01:02:03", "time")),
    (pa.array([datetime.time(1, 2, 3, 40)]), typed("01:02:03.00004", "time")),
    (pa.array([0], pa.timestamp("s")), typed("1970-01-01T00:00:00", "dateTime")),
    (pa.array([1500], pa.timestamp("ms")), typed("1970-01-01T00:00:01.5", "dateTime")),
    (pa.array([10_000_000], pa.timestamp("us")), typed("1970-01-01T00:00:10", "dateTime")),
    (pa.array([1], pa.timestamp("ns")), typed("1970-01-01T00:00:00.000000001", "dateTime")),
    (
        pa.array([utc(2024, 7, 1, 10)], pa.timestamp("us", "Europe/Berlin")),
        typed("2024-07-01T10:00:00Z", "dateTime"),
    ),
    (pa.array([90_500], pa.duration("ms")), typed("PT90.5S", "dayTimeDuration")),
    (pa.array([-3], pa.duration("s")), typed("-PT3S", "dayTimeDuration")),
    (pa.array([b"\x00\xff\x1a"]), typed("00FF1A", "hexBinary")),
    (pa.array([b"\x0f"], pa.binary(1)), typed("0F", "hexBinary")),
]


def test_types__each_has_its_datatype() -> None:
    for values, expected in TYPES:
        for some in (values, pa.concat_arrays([values, values, values]).slice(1, 1)):
            found = triples(pa.table({"id": ["x"], "v": some}), properties={"v": E + "v"})
            assert found == [(f"<{E}x>", f"<{E}v>", expected)], some.type


def test_types__null_gives_no_triple() -> None:
    for values, expected in TYPES:
        kind = values.type
        if pa.types.is_dictionary(kind):
            two = pa.concat_arrays([values.dictionary_decode(), pa.nulls(1, kind.value_type)])
            two = two.dictionary_encode()
        else:
            two = pa.concat_arrays([values, pa.nulls(1, kind)])
        found = triples(pa.table({"id": ["x", "y"], "v": two}), properties={"v": E + "v"})
        assert found == [(f"<{E}x>", f"<{E}v>", expected)], kind
    nothing = pa.table({"id": ["x"], "v": pa.nulls(1)})
    assert triples(nothing, properties={"v": E + "v"}) == []


def test_types__said_instead() -> None:
    table = {"id": [1], "n": [5], "t": ["5"], "w": ["Hallo"]}
    found = triples(
        table,
        properties={
            "n": Property(E + "n", datatype=XSD + "string"),
            "t": Property(E + "t", datatype=XSD + "byte"),
            "w": Property(E + "w", lang="de-AT"),
        },
    )
    assert [o for _, _, o in found] == ['"5"', typed("5", "byte"), '"Hallo"@de-at']


def test_types__what_is_no_term_is_refused() -> None:
    with pytest.raises(
        UsageError,
        match="column 'v' has the type map",
    ):
        table = pa.table({"id": [1], "v": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))})
        triples(table, properties={"v": E + "v"})


# -- templates ---------------------------------------------------------------------------------


def test_template__encodes_what_iris_do_not_allow() -> None:
    texts = ["", "plain", "a b", "ü/ö?#", "".join(map(chr, range(1, 128))), "𝄞", "*-._~"]
    made = percent_encoded(pa.array(texts, pa.large_string())).to_pylist()
    assert made == [encoded(text) for text in texts]
    part = pa.array([*texts, None, "x y"], pa.large_string()).slice(2)
    assert percent_encoded(part).to_pylist() == [*map(encoded, texts[2:]), None, "x%20y"]


def test_template__of_several_columns_and_types() -> None:
    table = {"a": ["x y", None, "z"], "b": [1, 2, None], "v": [1, 1, 1]}
    found = triples(table, subject=E + "{a}/n{b}#it", properties={"v": E + "v"})
    assert [s for s, _, _ in found] == [f"<{E}x%20y/n1#it>"]


def test_template__whole_iris_are_taken_as_they_are_and_checked() -> None:
    table = {"iri": ["http://e.org/ü", "urn:a:b", "http://[::1]:80/x", None], "v": [1, 2, 3, 4]}
    found = triples(table, subject="{iri}", properties={"v": E + "v"})
    assert [s for s, _, _ in found] == ["<http://[::1]:80/x>", "<http://e.org/ü>", "<urn:a:b>"]
    for bad in ("no iri", "http://a b/", "http://a/\n", "", "http://e.org:x/", "http://e/%zz"):
        with pytest.raises(UsageError, match=r"column 'iri': .* is not an absolute IRI"):
            triples({"iri": ["http://ok/", bad], "v": [1, 2]}, subject="{iri}",
                    properties={"v": E + "v"})  # fmt: skip


def test_template__a_place_in_the_authority_is_checked() -> None:
    with pytest.raises(UsageError, match="is not an absolute IRI"):
        triples({"p": ["x"], "v": [1]}, subject="http://e.org:{p}/", properties={"v": E + "v"})
    found = triples({"p": [80], "v": [1]}, subject="http://e.org:{p}/", properties={"v": E + "v"})
    assert found[0][0] == "<http://e.org:80/>"


def test_template__every_value_of_a_safe_template_gives_an_iri() -> None:
    texts = ["", "/", "//", ":", "a:b", "#", "?", "%", "[", " ", "\x00", "é", "@", "..", "\\"]
    for template in ("http://e.org/{id}", "urn:x:{id}", "mailto:{id}", "http://e.org?{id}",
                     "http://e.org#{id}", "x:{id}:{id}", "http:{id}"):  # fmt: skip
        for text in texts:
            ((subject, _, _),) = triples(
                {"id": [text], "v": [1]}, subject=template, properties={"v": E + "v"}
            )
            ox.NamedNode(subject[1:-1])


def test_template__of_objects() -> None:
    table = {"id": [1, 2, 3], "boss": [2, None, 1]}
    found = triples(table, properties={"boss": Property(E + "boss", E + "{boss}")})
    assert found == [
        (f"<{E}1>", f"<{E}boss>", f"<{E}2>"),
        (f"<{E}3>", f"<{E}boss>", f"<{E}1>"),
    ]


# -- lists, structs, type, graph -----------------------------------------------------------------


def test_lists__give_one_triple_for_each_element() -> None:
    table = {"id": [1, 2, 3, 4], "k": [["a", "b"], [], None, ["a", None]]}
    expected = [("1", '"a"'), ("1", '"b"'), ("4", '"a"')]
    found = triples(table, properties={"k": E + "k"})
    assert [(s[len(E) + 1 : -1], o) for s, _, o in found] == expected
    iris = triples(table, properties={"k": Property(E + "k", E + "{id}/{k}")})
    assert [o for _, _, o in iris] == [f"<{E}1/a>", f"<{E}1/b>", f"<{E}4/a>"]


def test_lists__in_batches_and_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    from triplestore.loaders.tabular import sources

    some = random.Random(3)
    lists = [some.choice([None, [], ["a"], ["b", None, "c"], ["a", "a"]]) for _ in range(50)]
    whole = pa.table({"id": range(50), "k": lists})
    for size in (1, 3, 7):
        monkeypatch.setattr(sources, "BATCH_ROWS", size)
        for begin, end in ((0, 50), (5, 33)):
            found = triples(
                whole.slice(begin, end - begin),
                properties={"k": Property(E + "k", E + "{id}/{k}")},
            )
            expected = [
                (f"<{E}{i}>", f"<{E}k>", f"<{E}{i}/{value}>")
                for i in range(begin, end)
                for value in lists[i] or []
                if value is not None
            ]
            assert found == sorted(expected), (size, begin)


def test_structs__are_terms_as_in_json_results() -> None:
    rows = [
        {"type": "uri", "value": E + "x", "datatype": None, "lang": None},
        {"type": "literal", "value": "x", "datatype": None, "lang": None},
        {"type": "literal", "value": "x", "datatype": None, "lang": "EN"},
        {"type": None, "value": "1", "datatype": XSD + "integer", "lang": None},
        {"type": "literal", "value": "y", "datatype": XSD + "string", "lang": None},
        {"type": "uri", "value": None, "datatype": None, "lang": None},
        None,
    ]
    table = {"id": list(range(len(rows))), "v": rows}
    found = [o for _, _, o in triples(table, properties={"v": E + "v"})]
    assert found == [f"<{E}x>", '"x"', '"x"@en', typed("1", "integer"), '"y"']
    assert triples({"id": [1], "v": [{"value": 7}]}, properties={"v": E + "v"})[0][2] == '"7"'
    for bad, why in (
        ({"type": "bnode", "value": "b"}, "has blank nodes"),
        ({"type": "uri", "value": "b c"}, "is not an absolute IRI"),
        ({"text": "b"}, "without the field `value`; it has text"),
    ):
        with pytest.raises(UsageError, match=why):
            triples({"id": [1], "v": [bad]}, properties={"v": E + "v"})


def test_type_and_graph() -> None:
    dictionary = Dictionary()
    options = TableOptions(
        subject=E + "{id}", properties={}, type=E + "Person", graph=ox.NamedNode(E + "g")
    )
    loaded = load_table({"id": [1, None, 2]}, dictionary, options)
    loaded.add_terms(dictionary)
    assert loaded.has_named
    assert {str(term) for term in dictionary.terms(loaded.g)} == {f"<{E}g>"}
    assert sorted(str(term) for term in dictionary.terms(loaded.s)) == [f"<{E}1>", f"<{E}2>"]
    assert {str(term) for term in dictionary.terms(loaded.o)} == {f"<{E}Person>"}


def test_graph__as_text_or_as_a_term() -> None:
    for graph in (E + "g", "e:g", ox.NamedNode(E + "g")):
        dictionary = Dictionary()
        options = TableOptions(
            subject=E + "{id}", properties={}, type=E + "P", graph=graph, prefixes={"e": E}
        )
        loaded = load_table({"id": [1]}, dictionary, options)
        loaded.add_terms(dictionary)
        assert [str(term) for term in dictionary.terms(loaded.g)] == [f"<{E}g>"]
    with pytest.raises(UsageError, match="graph: 'g' is not an absolute IRI"):
        triples({"id": [1]}, properties={}, type=E + "P", graph="g")


def test_prefixes__are_written_out() -> None:
    found = triples(
        {"id": [1], "v": [2]},
        subject="e:{id}",
        properties={"v": Property("e:v", datatype="xsd:byte")},
        type=":T",
        prefixes={"e": E, "": E, "xsd": XSD, "http": "http://never/"},
    )
    assert (f"<{E}1>", f"<{E}v>", typed("2", "byte")) in found
    assert found[1][2] == f"<{E}T>"
    whole = triples({"id": [1], "v": [2]}, properties={"v": E + "v"}, prefixes={"http": "x:"})
    assert whole[0][0] == f"<{E}1>"
