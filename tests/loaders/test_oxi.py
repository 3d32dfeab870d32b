"""Turtle, TriG, RDF/XML, JSON-LD and N3: kept statements, places of errors, and labels."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.loaders.loading_helpers import canonical, lines_of, loaded, quads_of
from triplestore.errors import ParseError, UsageError

BOTH = pytest.mark.parametrize("large", [True, False], ids=["blocks", "small"])

XML = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
  <rdf:Description rdf:about="http://e/a">
    <e:p>v</e:p>
    <e:q rdf:nodeID="n 1"/>
  </rdf:Description>
  <rdf:Description rdf:about="http://e/b"><e:p>w</e:p></rdf:Description>
</rdf:RDF>
"""


@BOTH
def test_rdfxml__error_has_the_line_of_the_element(large: bool) -> None:
    with pytest.raises(ParseError) as caught:
        loaded(XML, large=large, format="rdfxml")
    assert caught.value.lineno == 5


@BOTH
def test_rdfxml__error_has_its_line_in_streams_and_compressed_files(
    tmp_path: Path, large: bool
) -> None:
    many = XML.replace(b"  <rdf:Desc", b"  <!-- \n -->\n" * 3_000 + b"  <rdf:Desc", 1)
    path = tmp_path / "a.rdf.gz"
    path.write_bytes(gzip.compress(many))
    for given, named in ((io.BytesIO(many), None), (None, path)):
        with pytest.raises(ParseError) as caught:
            loaded(given, path=named, large=large, format="rdfxml")
        assert caught.value.lineno == 6_005


@BOTH
def test_rdfxml__long_lines_are_one_line_each(large: bool) -> None:
    long = XML.replace(b">v<", b">" + b"v" * 10_000 + b"<")
    with pytest.raises(ParseError) as caught:
        loaded(long, large=large, format="rdfxml")
    assert caught.value.lineno == 5


@BOTH
def test_rdfxml__elements_before_and_after_a_bad_one_are_kept_when_lenient(large: bool) -> None:
    result, dictionary = loaded(XML, large=large, format="rdfxml", lenient=True)
    assert '<http://e/a> <http://e/p> "v"' in lines_of(result, dictionary)
    assert '<http://e/b> <http://e/p> "w"' in lines_of(result, dictionary)
    assert result.bad >= 1
    assert result.problems[0].line == 5


@BOTH
@pytest.mark.parametrize(
    ("document", "line"),
    [
        (b'{"@id":"http://x/a",\n"http://x/p": [1,2}', 2),
        (b'{\n"@id":\n1,"http://x/p": [1,2]}', 3),
        (b'{"@context":"http://x/c",\n"@id":"http://x/p"}', 2),  # where the parser stood
    ],
)
def test_jsonld__error_has_a_line(document: bytes, line: int, large: bool) -> None:
    with pytest.raises(ParseError) as caught:
        loaded(document, large=large, format="jsonld")
    assert caught.value.lineno == line


TURTLE = b"""@prefix : <http://x/> .
:a :b :c ; :d "good", <not good> .
:e :f :g .
:h "i" :j .
:k :l :m .
:n :o .
:p :q :r .
:s :t :u .
"""


@BOTH
def test_turtle__error_has_line_and_column(large: bool) -> None:
    with pytest.raises(ParseError) as caught:
        loaded(TURTLE, large=large, format="ttl")
    assert (caught.value.lineno, caught.value.offset) == (2, 23)
    assert "Parser error" not in caught.value.msg


@BOTH
def test_turtle__lenient_goes_on_after_the_next_dot(large: bool) -> None:
    result, dictionary = loaded(TURTLE, large=large, format="ttl", lenient=True)
    assert lines_of(result, dictionary) == [
        "<http://x/a> <http://x/b> <http://x/c>",
        '<http://x/a> <http://x/d> "good"',
        "<http://x/e> <http://x/f> <http://x/g>",
        "<http://x/k> <http://x/l> <http://x/m>",
        # a statement that ends too early takes the next one with it: its dot is what is wrong
        "<http://x/s> <http://x/t> <http://x/u>",
    ]
    assert [problem.line for problem in result.problems] == [2, 4, 6]
    assert result.bad == 3


@BOTH
def test_turtle__relative_iris_need_a_base(large: bool) -> None:
    document = b"<#a> <http://p> <> ."
    with pytest.raises(ParseError, match="base_iri"):
        loaded(document, large=large, format="ttl")
    result, dictionary = loaded(document, large=large, format="ttl", base_iri="http://b/x")
    assert lines_of(result, dictionary) == ["<http://b/x#a> <http://p> <http://b/x>"]


@pytest.mark.parametrize("base", ["not a base", "relative", ""])
def test_turtle__a_base_must_be_an_iri(base: str) -> None:
    with pytest.raises(UsageError, match=r"base_iri .* is not an absolute IRI"):
        loaded(b"<a> <b> <c> .", large=False, format="ttl", base_iri=base)


@pytest.mark.slow_kernels
@BOTH
def test_turtle__a_term_that_is_too_long_is_named_as_such(large: bool) -> None:
    document = b'<http://a> <http://p> "' + b"x" * (17 << 20) + b'" .'
    with pytest.raises(ParseError, match="less than 16 MB; N-Triples"):
        loaded(document, large=large, format="ttl")
    if large:  # small documents are none of this size
        assert loaded(document, large=True, format="nt")[0].s.size == 1


ANONYMOUS = b"""@prefix : <http://x/> .
[] :p [ :q ( 1 2 ) ] . _:a :p _:b . _:fedcba9876543210fedcba9876543210 :p [] .
:s :p <<( _:a :p _:b )>> . << _:a :q "_:a" >> :r "no _:label here" .
"""


@BOTH
def test_turtle__labels_are_the_same_in_every_run(large: bool) -> None:
    first = loaded(ANONYMOUS, large=large, format="ttl", first_file_number=7)
    second = loaded(ANONYMOUS, large=large, format="ttl", first_file_number=7)
    assert lines_of(*first) == lines_of(*second)
    assert canonical(quads_of(*first)) == canonical(ox.parse(ANONYMOUS, ox.RdfFormat.TURTLE))
    assert "<http://x/s> <http://x/p> <<( _:f7xa <http://x/p> _:f7xb )>>" in lines_of(*first)


def test_turtle__both_paths_give_the_same_labels() -> None:
    small = loaded(ANONYMOUS, large=False, format="ttl")
    large = loaded(ANONYMOUS, large=True, format="ttl")
    assert lines_of(*small) == lines_of(*large)


@pytest.mark.slow_kernels
def test_turtle__labels_are_numbered_in_document_order_over_many_blocks() -> None:
    document = b"@prefix : <http://x/> .\n" + b"".join(
        b":s%d :p [ :q %d ] .\n" % (i, i) for i in range(20_000)
    )
    result, dictionary = loaded(document, large=True, format="ttl", threads=3)
    labels = {quad.subject.value: quad.object for quad in quads_of(result, dictionary)}
    for i in range(20_000):
        assert labels[f"http://x/s{i}"] == ox.BlankNode(f"f1b{i + 1}")


@BOTH
def test_prefixes__are_collected(large: bool) -> None:
    document = b"@prefix a: <http://a/> . PREFIX b: <http://b/> a:x a:y b:z ."
    result, _ = loaded(document, large=large, format="ttl")
    assert result.prefixes == {"a": "http://a/", "b": "http://b/"}


@BOTH
def test_n3__plain_statements_load(large: bool) -> None:
    result, dictionary = loaded(b"@prefix : <http://x/> . :a = :b .", large=large, format="n3")
    assert lines_of(result, dictionary) == [
        "<http://x/a> <http://www.w3.org/2002/07/owl#sameAs> <http://x/b>"
    ]


@BOTH
def test_trig__graphs_are_kept(large: bool) -> None:
    document = b"@prefix : <http://x/> . :a :b :c . :g { :a :b :c } _:h { :a :b _:i }"
    result, dictionary = loaded(document, large=large, format="trig")
    assert lines_of(result, dictionary) == [
        "<http://x/a> <http://x/b> <http://x/c>",
        "<http://x/a> <http://x/b> <http://x/c> <http://x/g>",
        "<http://x/a> <http://x/b> _:f1xi _:f1xh",
    ]


def test_reading__errors_of_the_stream_come_through() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise ZeroDivisionError("the cable is cut")

    for form in ("ttl", "nt", "rdfxml"):
        with pytest.raises(ZeroDivisionError, match="cable"):
            loaded(Broken(), large=True, format=form)
