"""Keys stand for terms: one key per term, and the way there and back changes nothing."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.terms import strategies as some
from triplestore.errors import UsageError
from triplestore.terms import term_keys, vocabulary
from triplestore.terms.term_keys import key_of, term_of, to_ntriples


@given(some.terms)
def test_key_of__round_trip_of_any_term(term):
    key = key_of(term)
    assert term_of(key) == term
    assert key_of(term_of(key)) == key


@given(some.terms, some.terms)
def test_key_of__equal_exactly_for_equal_terms(left, right):
    assert (key_of(left) == key_of(right)) == (left == right)


@given(some.terms)
def test_to_ntriples__is_what_pyoxigraph_writes(term):
    text = to_ntriples(key_of(term)).decode()
    written = f"<<( {term} )>>" if isinstance(term, ox.Triple) else str(term)
    assert text == written


@given(some.terms)
def test_to_ntriples__is_read_back_as_the_same_term(term):
    line = b"<http://s> <http://p> " + to_ntriples(key_of(term)) + b" ."
    (quad,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES)
    assert quad.object == term


@pytest.mark.parametrize(
    ("term", "key"),
    [
        (ox.NamedNode("http://é.org/"), b"\x01http://\xc3\xa9.org/"),
        (ox.BlankNode("b.0"), b"\x02b.0"),
        (ox.Literal(""), b"\x03"),
        (ox.Literal('a"@en'), b'\x03a"@en'),
        (ox.Literal("a", datatype=ox.NamedNode(some.XSD + "string")), b"\x03a"),
        (ox.Literal("A", language="EN-us"), b'\x04A"@en-us'),
        (ox.Literal("a", language="ar", direction=ox.BaseDirection.RTL), b'\x04a"@ar--rtl'),
        (ox.Literal(7), b'\x057"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (
            ox.Triple(ox.BlankNode("b"), ox.NamedNode("http://p"), ox.Literal('"\n\0')),
            rb"""_<<( _:b <http://p> "\"\n\u0000" )>>""".replace(b"_", b"\x06", 1),
        ),
    ],
)
def test_key_of__layout_of_each_kind(term, key):
    assert key_of(term) == key


def test_key_of__very_long_terms():
    for length in (1_000, 65_536, 3_000_000):
        term = ox.Literal("é\0" * length, language="en")
        assert term_of(key_of(term)) == term


@pytest.mark.parametrize(
    "text",
    [
        rb"<relative>",
        rb"<http://a\u0020b\u003E\u005C>",
        rb'"x"@abcdefghijklmn',
        rb'"x"^^<relative type>',
        b'"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>',
        rb'<<( <s s> <p> "x"^^<relative\u007Ctype> )>>',
    ],
)
def test_term_of__what_a_lenient_parser_let_in_comes_back(text):
    line = b"<http://s> <http://p> " + text + b" ."
    (quad,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES, lenient=True)
    assert term_of(key_of(quad.object)) == quad.object


def test_key_of__a_datatype_with_a_quotation_mark_is_refused():
    line = rb'<http://s> <http://p> "x"^^<a\u0022b> .'
    (quad,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES, lenient=True)
    with pytest.raises(UsageError, match="quotation mark"):
        key_of(quad.object)


@pytest.mark.parametrize("thing", ["http://a", 7, None, ox.DefaultGraph(), ox.Variable("x"), b"x"])
def test_key_of__what_is_no_term_is_refused_by_name(thing):
    with pytest.raises(UsageError, match="not an RDF term"):
        key_of(thing)


@given(some.simple_terms)
def test_key_of__rdflib_terms_have_the_keys_of_their_twins(term):
    rdflib = pytest.importorskip("rdflib")
    if isinstance(term, ox.NamedNode):
        twin = rdflib.URIRef(term.value)
    elif isinstance(term, ox.BlankNode):
        twin = rdflib.BNode(term.value)
    elif term.direction is not None:
        return  # rdflib has no base directions
    elif term.language is not None:
        twin = rdflib.Literal(term.value, lang=term.language)
    else:
        twin = rdflib.Literal(
            term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False
        )
    assert key_of(twin) == key_of(term)


def test_key_of__subclasses_of_rdflib_terms_and_invalid_ones():
    rdflib = pytest.importorskip("rdflib")

    class Mine(rdflib.URIRef):
        pass

    assert key_of(Mine("http://a")) == b"\x01http://a"
    assert key_of(rdflib.Literal("x")) == b"\x03x"
    for bad in (rdflib.URIRef("a b"), rdflib.BNode("a b"), rdflib.Literal("\ud800")):
        with pytest.raises(UsageError, match="rdflib"):
            key_of(bad)
    with pytest.raises(UsageError, match="not an RDF term"):
        key_of(rdflib.Variable("x"))


def test_vocabulary__names_are_prefix_and_local_name():
    names = {n: v for n, v in vars(vocabulary).items() if n.isupper()}
    for name, value in names.items():
        prefix, _, local = name.partition("_")
        assert value.startswith(names[prefix])
        assert value[len(names[prefix]) :].lower() == local.replace("_", "").lower()
    assert len(set(names.values())) == len(names)
    assert names["RDF_TYPE"] == some.RDF + "type"


@given(st.sets(some.terms, max_size=8))
def test_keys__order_is_kind_then_bytes(terms):
    keys = sorted(key_of(term) for term in terms)
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    assert set(term_keys.KIND_NAMES) >= {key[0] for key in keys}
