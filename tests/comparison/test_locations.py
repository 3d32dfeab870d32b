"""Lines of quads: N-Triples exactly, Turtle by the object's line; against pyoxigraph's parser."""

from __future__ import annotations

import bz2
import gzip
import random

import pyoxigraph as ox
import pytest

from triplestore.comparison.locations import Location, Places
from triplestore.comparison.sides.files_of_side import SideFile
from triplestore.comparison.thresholds import COMPARISON

TRIG = '''@prefix : <http://e/> .
# a comment . with a dot, and <an iri>
:a :p 1.5 ;
   :q "x. y" , """two
lines .
""" , [ :r :s ;
   :t ( 1 2 ) ] .

<http://e/b> a :C . :c :d :e.f , true .
[] :p :q .
[ :only :this ] .
:g { :x :y :z . :u :v "1."^^:t ; a :W }
GRAPH :h { :x2 :y :z }
PREFIX ex: <http://ex/>
ex:a ex:b 'it''s' , ex:c\\,d , "\\" . " .
ex:l :lang "hi"@en-GB ; :n -1.0e3 , +4 ; .
'''.replace("'it''s'", "'its'")

LINES = {
    "http://e/p": {3, 10},
    "http://e/q": {4, 6},
    "http://e/d": {9},
    "http://e/only": {11},
    "http://e/y": {12, 13},
    "http://e/v": {12},
    "http://ex/b": {15},
    "http://e/lang": {16},
    "http://e/n": {16},
}


def places(name: str, data: bytes) -> Places:
    return Places(SideFile(name, "", lambda: data), "http://base/")


def test_places__of_trig() -> None:
    quads = list(ox.parse(TRIG.encode(), format=ox.RdfFormat.TRIG))
    found = places("a.trig", TRIG.encode()).of(quads)
    assert all(place.line is not None for place in found.values()), found
    for predicate, lines in LINES.items():
        mine = {p.line for q, p in found.items() if q.predicate.value == predicate}
        assert mine == lines, predicate


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_places__of_packed_lines(pack: object) -> None:
    text = "".join(f"<http://e/{i}>   <http://e/p> \t<http://e/o> .\n" for i in range(9))
    ending = ".gz" if pack is gzip.compress else ".bz2"
    quads = list(ox.parse(text.encode(), format=ox.RdfFormat.N_TRIPLES))
    found = places(f"a.nt{ending}", pack(text.encode())).of(quads)
    assert [place.line for place in found.values()] == list(range(1, 10))


def test_places__of_lines_in_other_spellings() -> None:
    text = (
        '<http://e/\\u0061> <http://e/p> "x"^^<http://www.w3.org/2001/XMLSchema#string> . # c\r\n'
    )
    text = f"# comment\n\n{text}_:b <http://e/p> _:c .\n"
    quads = list(ox.parse(text.encode(), format=ox.RdfFormat.N_TRIPLES))
    found = places("a.nt", text.encode()).of(quads)
    assert sorted(place.line or 0 for place in found.values()) == [3, 4]


def test_places__of_other_formats_have_no_line() -> None:
    quad = ox.Quad(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal("x"))
    assert places("a.rdf", b"<rdf:RDF/>").of([quad]) == {quad: Location("a.rdf")}


def test_places__of_malformed_text_are_unknown() -> None:
    quad = ox.Quad(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal("x"))
    for text in ("", ":a :p", '@prefix : <http://e/> . :a :p "x', "<<<>>>", ". . ; , ] ) }"):
        assert places("a.ttl", text.encode()).of([quad])[quad].line is None


def test_places__of_a_large_file_are_found_in_blocks() -> None:
    chance = random.Random(1)
    lines = ["@prefix ex: <http://ex/> ."]
    for i in range(300):
        lines.append(f'ex:s{i} ex:p "{chance.random()}" ;')
        lines.append(f"    ex:q ex:o{i} .")
    text = "\n".join(lines)
    quads = list(ox.parse(text.encode(), format=ox.RdfFormat.TURTLE))
    with COMPARISON.changed(scanned_characters=10):
        some = chance.sample(quads, 20)
        found = places("a.ttl", text.encode()).of(some)
    for quad, place in found.items():
        number = int(quad.subject.value.rpartition("s")[2])
        assert place.line == 2 * number + (2 if quad.predicate.value.endswith("p") else 3)
