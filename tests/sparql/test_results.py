"""Results in the W3C's formats: read back by pyoxigraph, and the documents of the W3C's suites."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore import Store
from triplestore.errors import BudgetError, ParseError, UsageError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.frame import Frame
from triplestore.sparql.results.read import ReadSolutions, read_results
from triplestore.sparql.results.write import write_boolean, write_frames, write_rows
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of, term_of

Form = ox.QueryResultsFormat
FORMS = [Form.JSON, Form.XML, Form.CSV, Form.TSV]
XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(text: str, name: str) -> ox.Literal:
    return ox.Literal(text, datatype=ox.NamedNode(XSD + name))


TERMS: list[Any] = [
    ox.NamedNode("http://e/a?b=c&d#e"),
    ox.BlankNode("b1"),
    ox.Literal(""),
    ox.Literal("a"),
    ox.Literal("say \"hi\", <b> & \\ 'x'"),
    ox.Literal("two\nlines\r\nand\ta tab"),
    ox.Literal(" blanks "),
    ox.Literal("é \U0001f600 \u2028"),
    ox.Literal("chat", language="fr-be"),
    ox.Literal("abc", language="ar", direction=ox.BaseDirection.RTL),
    typed("042", "integer"),
    typed("+.5", "decimal"),
    typed("1e3", "double"),
    typed("INF", "double"),
    typed("1.", "decimal"),
    typed("x y", "integer"),
    ox.Literal(True),
    typed('a"^^b', "anyURI"),
    ox.Triple(
        ox.NamedNode("http://e/s"), ox.NamedNode("http://e/p"), ox.Literal("x", language="en")
    ),
]
ROWS = [(term, None) for term in TERMS] + [(None, TERMS[0]), (None, None), (TERMS[1], TERMS[4])]


def document(names: Sequence[str], rows: Sequence[Sequence[Any]], form: Form) -> bytes:
    return b"".join(write_rows(names, rows, form))


# --- written and read ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", [Form.JSON, Form.XML, Form.TSV])
def test_all_terms__come_back(form: Form) -> None:
    assert read_results(document(["x", "y"], ROWS, form), form) == ReadSolutions(("x", "y"), ROWS)


def test_csv__has_the_texts() -> None:
    found = read_results(document(["x", "y"], ROWS, Form.CSV), Form.CSV)
    assert isinstance(found, ReadSolutions)
    texts = [row[0].value if row[0] else None for row in found.rows]
    assert texts[:2] == ["http://e/a?b=c&d#e", "_:b1"]
    for term, text in zip(TERMS[2:-1], texts[2:], strict=False):
        assert text == (term.value or None)
    assert texts[len(TERMS) - 1] == '<<( <http://e/s> <http://e/p> "x"@en )>>'


def lexical() -> st.SearchStrategy[str]:
    return st.text(
        st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc", "Cn"]), max_size=8
    )


@given(st.lists(st.tuples(lexical(), st.none() | lexical()), max_size=5))
def test_any_text__comes_back(rows: list[tuple[str, str | None]]) -> None:
    made = [tuple(None if text is None else ox.Literal(text) for text in row) for row in rows]
    for form in (Form.JSON, Form.XML, Form.TSV):
        assert read_results(document(["x", "y"], made, form), form) == ReadSolutions(
            ("x", "y"), made
        )
    found = read_results(document(["x", "y"], made, Form.CSV), Form.CSV)
    assert isinstance(found, ReadSolutions)
    assert found.rows == [tuple(t if t and t.value else None for t in row) for row in made]


@pytest.mark.parametrize("form", FORMS)
def test_no_rows_and_no_variables(form: Form) -> None:
    assert read_results(document(["x"], [], form), form) == ReadSolutions(("x",), [])
    found = read_results(document([], [(), ()], form), form)
    assert isinstance(found, ReadSolutions)
    assert found.variables == ()
    if form in (Form.JSON, Form.XML):
        assert found.rows == [(), ()]


@pytest.mark.parametrize("form", FORMS)
def test_many_rows__are_written_in_pieces(form: Form) -> None:
    rows = [(ox.Literal(number), None) for number in range(3000)]
    pieces = list(write_rows(["x", "y"], rows, form))
    assert len(pieces) == 5  # head, three blocks, end
    found = read_results(b"".join(pieces), form)
    assert isinstance(found, ReadSolutions)
    assert [row[0].value for row in found.rows] == [str(number) for number in range(3000)]


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_booleans__come_back(form: Form, value: bool) -> None:
    assert read_results(write_boolean(value, form), form) is value


def test_csv__a_variable_of_the_name_of_a_boolean_is_none() -> None:
    assert read_results(document(["true"], [], Form.CSV), Form.CSV) == ReadSolutions(("true",), [])


# --- from ids ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_frames__are_written_as_their_terms_are(form: Form) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(TERMS)
    terms = QueryTerms(dictionary)
    own = terms.encode_keys([key_of(ox.Literal("only in the query"))])
    xs = np.concatenate([ids, ids[::-1], own, np.zeros(1, np.uint32)])
    frames = [
        Frame.of(y=xs, x=xs[::-1].copy()),
        Frame.of(x=np.zeros(0, np.uint32)),
        Frame.of(x=ids),
    ]
    rows = [
        (*(dictionary_term(terms, x), dictionary_term(terms, y)), None)
        for x, y in zip(xs[::-1].tolist(), xs.tolist(), strict=True)
    ]
    rows += [(dictionary_term(terms, x), None, None) for x in ids.tolist()]
    names = ["x", "y", "z"]
    assert b"".join(write_frames(names, frames, terms, form)) == document(names, rows, form)


IRIS = [ox.NamedNode(f"http://e/{number}") for number in range(50)]
TEXTS = [ox.Literal(f"text {number}") for number in range(50)]
COLUMNS = {
    "iris": IRIS,
    "texts": TEXTS,
    "both": [*IRIS, *TEXTS, *(ox.BlankNode(f"b{number}") for number in range(50))],
    "with gaps": [None, *IRIS, None, *TEXTS],
    "numbers": [*IRIS, *(ox.Literal(number) for number in range(50))],
    "not ascii": [*TEXTS, ox.Literal("é")],
    "special": [
        *TEXTS,
        ox.Literal('a"b,c'),
        ox.Literal(" x "),
        ox.Literal("a\\b"),
        ox.Literal("<&>"),
    ],
    "repeated": [*TEXTS, *TEXTS[::-1]],
    "of the query": [*IRIS, ox.Literal("only in the query"), *TEXTS],
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("form", FORMS)
def test_frames__of_many_terms_are_written_as_those_of_few(form: Form, name: str) -> None:
    dictionary = Dictionary()
    dictionary.encode([*IRIS, *TEXTS])
    terms = QueryTerms(dictionary)
    column = COLUMNS[name]
    if name != "of the query":
        dictionary.encode([term for term in column if term is not None])
    ids = terms.encode_keys([None if term is None else key_of(term) for term in column])
    made = b"".join(write_frames(["x"], [Frame.of(x=ids), Frame.of(x=ids)], terms, form))
    assert made == document(["x"], [(term,) for term in column * 2], form)


def dictionary_term(terms: QueryTerms, term_id: int) -> Any:
    return term_of(terms.key(term_id)) if term_id else None


def test_frames__without_columns_have_rows() -> None:
    terms = QueryTerms(Dictionary())
    made = b"".join(write_frames([], [Frame((), (), 2)], terms, Form.JSON))
    assert read_results(made, Form.JSON) == ReadSolutions((), [(), ()])


def test_frames__nothing_is_read_before_it_is_asked_for() -> None:
    read = []

    def frames() -> Any:
        for number in range(3):
            read.append(number)
            yield Frame.of(x=np.zeros(1, np.uint32))

    pieces = write_frames(["x"], frames(), QueryTerms(Dictionary()), Form.JSON)
    assert read == []
    next(pieces)
    assert read == []
    next(pieces)
    assert read == [0]


# --- of a store ----------------------------------------------------------------------------------


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load("@prefix : <http://e/> . :a :p 1 , 'x'@en ; :q :b .", "ttl")
    return made


def test_serialize__as_bytes_to_paths_and_to_files(store: Store, tmp_path: Path) -> None:
    text = "SELECT ?o ?none { :a :p ?o } ORDER BY ?o"
    expected = ReadSolutions(("o", "none"), [(ox.Literal("x", language="en"), None)])
    expected.rows.append((ox.Literal(1), None))
    for form, ending in zip(FORMS[:2], ("json", "srx"), strict=True):
        made = store.query(text).serialize(format=form)
        file, path = io.BytesIO(), tmp_path / f"a.{ending}"
        assert store.query(text).serialize(file, format=ending) is None
        assert store.query(text).serialize(path) is None
        assert file.getvalue() == path.read_bytes() == made
        found = read_results(made, form)
        assert isinstance(found, ReadSolutions)
        assert sorted(found.rows, key=str) == sorted(expected.rows, key=str)


def test_serialize__to_a_path_is_compressed_by_its_name_and_whole_or_not_there(
    store: Store, tmp_path: Path
) -> None:
    rows, triples = "SELECT ?o { :a :p ?o }", "CONSTRUCT WHERE { ?x :q ?y }"
    store.query(rows).serialize(tmp_path / "a.csv.gz")
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"o\r\n")
    store.query(triples).serialize(tmp_path / "a.nt.gz")
    written = gzip.decompress((tmp_path / "a.nt.gz").read_bytes())
    assert written == b"<http://e/a> <http://e/q> <http://e/b> .\n"
    (tmp_path / "b.csv").write_bytes(b"before")
    many = (
        "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r } ORDER BY ?a"
    )
    with pytest.raises(BudgetError):
        store.query(many, budget=100_000).serialize(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 3


def test_serialize__of_triples_has_the_prefixes(store: Store) -> None:
    made = store.query("CONSTRUCT WHERE { ?x :q ?y }").serialize(format=ox.RdfFormat.TURTLE)
    assert made == b"@prefix : <http://e/> .\n:a :q :b .\n"
    described = store.query("DESCRIBE :a").serialize(format=ox.RdfFormat.TURTLE)
    assert described.startswith(b"@prefix : <http://e/> .\n:a ")


def test_serialize__refuses_what_is_no_format(store: Store, tmp_path: Path) -> None:
    for output, form in ((None, None), (None, "html"), (tmp_path / "a.txt", None)):
        with pytest.raises(UsageError, match="use json, xml, csv, tsv"):
            store.query("SELECT * { ?x ?y ?z }").serialize(output, form)


# --- refused -------------------------------------------------------------------------------------


def test_xml__refuses_what_it_cannot_hold() -> None:
    rows = [(ox.Literal("a\u0001b"),)]
    with pytest.raises(UsageError, match=r"XML cannot represent the character U\+0001"):
        document(["x"], rows, Form.XML)
    for form in (Form.JSON, Form.TSV):
        assert read_results(document(["x"], rows, form), form) == ReadSolutions(("x",), rows)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form.JSON, '{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": 1}]}}'),
        (Form.JSON, "{"),
        (Form.XML, "<sparql"),
        (Form.TSV, "?x\n<a b>\n"),
        (Form.CSV, "x,y\n1\n"),
        (Form.CSV, 'x\n"a\n'),
    ],
)
def test_malformed__documents_are_refused(form: Form, text: str) -> None:
    with pytest.raises(ParseError):
        read_results(text, form)


# --- the W3C's documents -------------------------------------------------------------------------

ENDINGS = {".srx": Form.XML, ".srj": Form.JSON, ".tsv": Form.TSV, ".csv": Form.CSV}


def test_w3c_results__are_read_and_come_back(shared_data: Path) -> None:
    folder = shared_data / "w3c-rdf-tests" / "sparql"
    files = [file for ending in ENDINGS for file in sorted(folder.rglob(f"*{ending}"))]
    assert len(files) > 400
    for file in files:
        found = read_results(file.read_bytes(), ENDINGS[file.suffix])
        for form in (Form.JSON, Form.XML, Form.TSV):
            if isinstance(found, bool):
                assert read_results(write_boolean(found, form), form) is found
            elif found.variables:
                again = read_results(document(found.variables, found.rows, form), form)
                assert again == found, file
