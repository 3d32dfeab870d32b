"""What updates are in the algebra, and that large blocks of data are read as small ones are."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.shapes import shape, term
from triplestore.errors import QuerySyntaxError
from triplestore.sparql.algebra import nodes as a
from triplestore.sparql.algebra import updates as u
from triplestore.sparql.syntax import data_blocks
from triplestore.sparql.syntax.parser import parse_update
from triplestore.sparql.syntax.query_printer import write
from triplestore.sparql.thresholds import SPARQL

PREFIXES = {"": "http://e/"}


def one(text: str) -> u.Operation:
    (operation,) = parse_update(text, prefixes=PREFIXES).operations
    return operation


def quads(patterns: tuple[a.QuadPattern, ...]) -> list[str]:
    return [" ".join("-" if part is None else term(part) for part in quad) for quad in patterns]


def data(found: u.Operation) -> list[str]:
    assert isinstance(found, u.InsertData | u.DeleteData)
    return [str(quad).replace("http://e/", "") for quad in found.quads]


# --- operations ----------------------------------------------------------------------------------


def test_data__is_quads() -> None:
    text = "DATA { :a :p 1 , 'x'@en . GRAPH :g { :a :q :b ; :r :c } . :b a :C }"
    expected = [
        '<a> <p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '<a> <p> "x"@en',
        "<a> <q> <b> <g>",
        "<a> <r> <c> <g>",
        "<b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <C>",
    ]
    assert data(one("INSERT " + text)) == expected
    found = one("DELETE " + text)
    assert isinstance(found, u.DeleteData)
    assert data(found) == expected


def test_insert_data__has_blank_nodes_as_labels() -> None:
    found = data(one("INSERT DATA { _:x :p [] GRAPH :g { _:x :q (1) } }"))
    assert found[0] == "_:x <p> _:b0"
    assert found[-1].startswith("_:x <q> _:b1 <g>")


def test_modify__has_templates_and_a_pattern() -> None:
    found = one(
        "DELETE { ?x :p ?y . GRAPH ?g { ?x :q ?y } } INSERT { ?x :r [] } "
        "USING :g USING NAMED :h WHERE { ?x :p ?y }"
    )
    assert isinstance(found, u.Modify)
    assert quads(found.delete) == ["?x :p ?y -", "?x :q ?y ?g"]
    assert quads(found.insert) == ["?x :r _:b0 -"]
    assert shape(found.pattern) == "(bgp ?x :p ?y.)"
    assert found.dataset is not None
    assert [
        [term(name) for name in names] for names in (found.dataset.default, found.dataset.named)
    ] == [
        [":g"],
        [":h"],
    ]
    assert found.graph is None


def test_with__is_part_of_the_templates() -> None:
    found = one("WITH :g DELETE { ?x :p 1 } INSERT { GRAPH :h { ?x :q 1 } ?x :r 1 } WHERE {}")
    assert isinstance(found, u.Modify)
    assert quads(found.delete) == ["?x :p 1 :g"]
    assert quads(found.insert) == ["?x :q 1 :h", "?x :r 1 :g"]
    assert found.graph is not None
    assert term(found.graph) == ":g"


def test_delete_where__is_template_and_pattern() -> None:
    found = one("DELETE WHERE { ?x :p ?y . GRAPH ?g { ?y :q ?z . ?z :q ?x } }")
    assert isinstance(found, u.Modify)
    assert quads(found.delete) == ["?x :p ?y -", "?y :q ?z ?g", "?z :q ?x ?g"]
    assert found.insert == ()
    assert shape(found.pattern) == "(join (bgp ?x :p ?y.) (graph ?g (bgp ?y :q ?z. ?z :q ?x.)))"


G, H = (a.Constant.iri(f"http://e/{name}") for name in "gh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LOAD :h", u.Load(H)),
        ("LOAD SILENT :h INTO GRAPH :g", u.Load(H, G, silent=True)),
        ("CLEAR GRAPH :g", u.Clear(G)),
        ("clear silent default", u.Clear("DEFAULT", silent=True)),
        ("DROP NAMED", u.Drop("NAMED")),
        ("DROP ALL", u.Drop("ALL")),
        ("CREATE SILENT GRAPH :g", u.Create(G, silent=True)),
        ("ADD :g TO GRAPH :h", u.Add(G, H)),
        ("MOVE SILENT DEFAULT TO :h", u.Move(None, H, silent=True)),
        ("COPY GRAPH :g TO DEFAULT", u.Copy(G, None)),
    ],
)
def test_management__of_graphs(text: str, expected: u.Operation) -> None:
    assert one(text) == expected


def test_requests__are_operations_with_prologues_between() -> None:
    found = parse_update(
        "PREFIX p: <http://e/> CLEAR GRAPH p:g ; PREFIX p: <http://f/> BASE <http://b/> "
        "DROP GRAPH p:g ; CREATE GRAPH <x> ;"
    )
    assert found.operations == (
        u.Clear(G),
        u.Drop(a.Constant.iri("http://f/g")),
        u.Create(a.Constant.iri("http://b/x")),
    )
    assert parse_update("").operations == ()
    assert parse_update("PREFIX p: <http://e/>").operations == ()


def test_labels__of_two_patterns_are_two_blank_nodes() -> None:
    text = "INSERT {} WHERE { _:x :p 1 } ; INSERT { _:x :p 1 } WHERE { _:x :p 2 }"
    assert len(parse_update(text, prefixes=PREFIXES).operations) == 2


# --- large blocks of data ------------------------------------------------------------------------


def both_ways(text: str) -> tuple[u.Update, u.Update]:
    """The update with blocks of data read the fast way, and the slow way."""
    with SPARQL.changed(data_block_size=0):
        fast = parse_update(text, prefixes=PREFIXES)
    with SPARQL.changed(data_block_size=1 << 60):
        return fast, parse_update(text, prefixes=PREFIXES)


def is_read_fast(text: str) -> bool:
    with SPARQL.changed(data_block_size=0):
        blocks = data_blocks.data_blocks(text)
    found = [data_blocks.read_block(text[start:end], PREFIXES, None) for start, end in blocks]
    return bool(found) and None not in found


@pytest.mark.parametrize(
    "block",
    [
        ":a :p 1 , 2.5 , -3e0 , true ; :q 'x'@en-GB , \"y\"^^:t . ",
        ":a :p 'a}b{c' , '''d'}\n''' , \"\\\"}\" , \"#}\" ; :q '}'",
        ":a :p :b # a comment with a } and a '\n . :b :p :c",
        ":a\\~b :p :c%20d , :e\\#f , :g.h , <http://e/i#j> .",
        "GRAPH :g { :a :p 1 } :b :q 2 . graph <http://e/h> { :c :p 3 } . :d :p 4",
        "GRAPH :g {} GRAPH :g { :a :p 1 . }",
        "_:x :p _:y . _:y :q _:x .",
        "",
        "  \n ",
        ":a :p 'é\\u0041\\n' .",
        ":a :p <<( :a :b <<( _:b :b 'c' )>> )>> .",
        ":a :p :b ~ :r ; :q 2 . << :a :p <<( :a :p 1 )>> ~ _:x >> :q _:x .",
        "GRAPH :g { :a :p 1 ~ :r . <<:a :p <http://e/x> ~ :s>> :q '|}' }",
    ],
)
def test_blocks__are_read_fast_as_slow(block: str) -> None:
    text = f"INSERT DATA {{ {block} }} ; CLEAR ALL"
    assert is_read_fast(text)
    fast, slow = both_ways(text)
    assert fast == slow


def test_blocks__with_nodes_in_brackets_are_isomorphic() -> None:
    text = (
        "INSERT DATA { :a :p [ :q (1 [ :r 2 ]) ; :s [] ] . [ :t 1 ] :u () . "
        ":a :p :b ~ , :c . << :a :b :c >> :d << :e :f [] ~ :g >> . }"
    )
    assert is_read_fast(text)
    found = []
    for update in both_ways(text):
        operation = update.operations[0]
        assert isinstance(operation, u.InsertData)
        dataset = ox.Dataset(operation.quads)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        found.append(dataset)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "block",
    [
        ":a :p TRUE .",  # keywords in any case, in SPARQL
        ":a :p :b {| :q 1 ; :s 2 |} ~ :r {| :s 3 |} {| :s 4 |} .",
    ],
)
def test_blocks__that_trig_reads_otherwise_are_read_slowly(block: str) -> None:
    text = f"INSERT DATA {{ {block} }}"
    assert not is_read_fast(text)
    fast, slow = both_ways(text)
    assert fast == slow


@pytest.mark.parametrize(
    "block",
    [
        ":a :p/:q :b ~ :r .",
        ":a :p :b {| :q 1 } .",
        "<< :a :p ( 1 ) >> :q 1 .",
        "<<( :a :p 1 )>> :q 1 .",
        "@prefix x: <http://e/> . :a :p 1 .",
        "PREFIX x: <http://e/> :a :p 1 .",
        "?x :p 1",
        ":a :p 1 } :b :p 2 {",
        "{ :a :p 1 }",
        ":g { :a :p 1 }",
        "x:a :p 1",
        ":a :p <b>",
        ":a :p 'x",
        "1 :p 2",
        ":a :p/:q 2",
        "GRAPH _:b { :a :p 1 }",
        "GRAPH :g { GRAPH :h { :a :p 1 } }",
        ":a :p 1 GRAPH :g { :b :p 1 } . .",
    ],
)
def test_blocks__that_are_no_data_are_refused_both_ways(block: str) -> None:
    text = f"INSERT DATA {{ {block} }}"
    with pytest.raises(QuerySyntaxError) as slow:
        parse_update(text, prefixes=PREFIXES)
    with SPARQL.changed(data_block_size=0), pytest.raises(QuerySyntaxError) as fast:
        parse_update(text, prefixes=PREFIXES)
    assert str(fast.value) == str(slow.value)


def test_blocks__in_delete_data_and_beside_other_operations() -> None:
    text = (
        "INSERT DATA { :a :p 1 } ; DELETE { ?x :p '{' } WHERE { FILTER(?x < 3 && 2 > ?x) } ; "
        "DELETE DATA { :a :p 1 . GRAPH :g { :b :p 2 } } # INSERT DATA { }\n ; "
        "INSERT DATA { :c :p 3 }"
    )
    fast, slow = both_ways(text)
    assert fast == slow
    assert len(data_blocks.data_blocks(text)) == 0
    assert is_read_fast(text)


def test_blocks__refuse_blank_nodes_where_small_ones_do() -> None:
    for text in (
        "DELETE DATA { :a :p _:x }",
        "DELETE DATA { :a :p [] }",
        "INSERT DATA { _:x :p 1 } ; INSERT DATA { _:x :p 1 }",
    ):
        refused = pytest.raises(QuerySyntaxError, match=r"_:x|'\['")
        with SPARQL.changed(data_block_size=0), refused:
            parse_update(text, prefixes=PREFIXES)


def test_blocks__see_the_prefixes_and_base_in_force() -> None:
    text = (
        "BASE <http://b/c/> PREFIX : <http://f/> INSERT DATA { :a :p <d> , <../e> } ; "
        "PREFIX : <g#> INSERT DATA { :a :p <> }"
    )
    assert is_read_fast(text) is False  # the helper knows no base
    fast, slow = both_ways(text)
    assert fast == slow


PIECES = [
    *(":a", ":p", ":b", "1", "'x'", "'}'", '"{"', "<http://e/x>", "a", "_:x", "[", "]", "(", ")"),
    *(".", ";", ",", "{", "}", "GRAPH", ":g", "# }\n", "~", "|", "<", "?x", "true", "\\", "'"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=20), st.randoms(use_true_random=False))
def test_any_block__is_read_or_refused_both_ways(pieces: list[str], rng: random.Random) -> None:
    text = "INSERT DATA { :a :p " + " ".join(pieces) + " }"
    results = []
    for long in (0, 1 << 60):
        with SPARQL.changed(data_block_size=long):
            try:
                results.append(write(parse_update(text, prefixes=PREFIXES)).count("\n"))
            except QuerySyntaxError as error:
                results.append(str(error))
    assert results[0] == results[1]
