"""Turtle and TriG cut in many places are the document uncut: rows, labels and faults."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.spark.parsing_helpers import faults_of, parsed
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.turtle_cuts import Cut, cuts_of
from triplestore.loaders.spark.thresholds import SPARK

HEAD = "@prefix : <http://e/> . @prefix p: <http://e/p#> . @base <http://base/a/b> .\n"

# --- random documents ---------------------------------------------------------------------------

IRIS = st.sampled_from(
    [
        *[
            ":a",
            "p:b.c",
            ":",
            "p:",
            "<c>",
            "<http://e/x#y.z>",
            ":a\\,b",
            ":%41",
            "p:\u00e9",
            ":a:b",
        ],
        *["<>", ":1", ":a\\.", ":x-y", "p:a.b.c", "<http://[::1]/z>", "<a\\u00e9b>"],
    ]
)
LABELS = st.sampled_from(["_:a", "_:b.c", "_:0", "_:\u00e9"])
STRINGS = st.sampled_from(
    [
        *['"a. b"', "'#no [ comment'", '"""long . "" \\""" \n . [ { """', "'''it's \" \n'''"],
        *['""', "''", '"\\"\\\\"', '"x"@en-GB', '"y"^^p:t', "'z'^^<http://e/t>", '"w" ^^ :t'],
        *['"""q\\\\"""', '"[("'],
    ]
)
NUMBERS = st.sampled_from(["1", "-2", "+3.5", ".5", "1e6", "1.E-7", "-.5e+3", "12.0"])
SPACES = st.sampled_from([" ", "\n", "\t", " # a comment . with ' and \" and [\n", "\r\n", "  "])
WORDS = st.sampled_from(["true", "false"])


def lists(terms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.lists(st.tuples(terms, SPACES), max_size=4), SPACES).map(
        lambda made: "(" + "".join(term + space for term, space in made[0]) + made[1] + ")"
    )


def property_lists(terms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(IRIS, terms, SPACES), max_size=3).map(
        lambda made: "[" + ";".join(f"{p} {o}{space}" for p, o, space in made) + "]"
    )


OBJECTS = st.recursive(
    st.one_of(IRIS, LABELS, STRINGS, NUMBERS, WORDS),
    lambda terms: st.one_of(lists(terms), property_lists(terms)),
    max_leaves=8,
)
SUBJECTS = st.one_of(IRIS, LABELS, lists(OBJECTS), property_lists(OBJECTS))


@st.composite
def triples(draw: st.DrawFn, last: bool = True) -> str:
    parts = [draw(SUBJECTS), draw(SPACES)]
    for _ in range(draw(st.integers(1, 3))):
        objects = draw(st.lists(OBJECTS, min_size=1, max_size=3))
        parts += [draw(st.sampled_from([":p", "a", "p:q"])), draw(SPACES), " , ".join(objects), ";"]
    parts.append(draw(SPACES))
    return "".join(parts) + ("." if last else "")


DIRECTIVES = st.sampled_from(
    [
        "@prefix p: <other#> .",
        "PREFIX p: <http://e/q#>",
        "prefix : <#>",
        "@base <../up/> .",
        "BASE <http://other/x/y>",
        "@prefix new: <> .",
        "# @prefix : <no> .\n",
    ]
)
STATEMENTS = st.one_of(triples(), triples(), triples(), DIRECTIVES)


@st.composite
def turtle(draw: st.DrawFn) -> str:
    made = draw(st.lists(st.tuples(STATEMENTS, SPACES), max_size=12))
    return HEAD + "".join(statement + space for statement, space in made)


@st.composite
def graphs(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["", ":g", "GRAPH <g>", "graph _:g", "[]", "_:a # x\n"]))
    # An empty graph that is called [] has a node of which nothing is said; see below.
    least = 1 if name == "[]" else 0
    inside = draw(st.lists(triples(), min_size=least, max_size=4))
    inside += draw(st.lists(triples(last=False), max_size=1))
    return f"{name} {{" + draw(SPACES).join(inside) + "}"


@st.composite
def trig(draw: st.DrawFn) -> str:
    statements = st.one_of(triples(), graphs(), graphs(), DIRECTIVES)
    made = draw(st.lists(st.tuples(statements, SPACES), max_size=8))
    return HEAD + "".join(statement + space for statement, space in made)


SIZES = st.integers(1, 200)  # of parts
BLOCKS = st.sampled_from([1, 7, 64, 1 << 21])  # of reading

# --- comparing ----------------------------------------------------------------------------------


def cut(text: str, is_trig: bool, size: int, block: int = 1 << 21) -> list[Cut]:
    with SPARK.changed(cut_block=block):
        return list(cuts_of(io.BytesIO(text.encode()), is_trig, size, None))


def check(folder: Path, text: str, is_trig: bool, size: int, block: int) -> list[Cut]:
    """The parts of a right document cover it, and together are the document uncut."""
    file = folder / ("a.trig" if is_trig else "a.ttl")
    file.write_bytes(text.encode())
    cuts = cut(text, is_trig, size, block)
    assert [c.start for c in cuts[1:]] == [c.stop for c in cuts[:-1]]
    assert (cuts[0].start, cuts[-1].stop) == (0, len(text.encode()))
    whole, whole_notes = parsed([file])
    rows, notes = parsed([file], SourceOptions(split_bytes=30), {1: cuts})
    assert not faults_of(whole_notes), text
    assert not faults_of(notes)
    assert Counter(rows) == Counter(whole)
    assert notes[-1]["prefixes"] == whole_notes[-1]["prefixes"]
    return cuts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cut")


@settings(max_examples=25)
@given(text=turtle(), size=SIZES, block=BLOCKS)
@example(text=HEAD + ":a :b (1-2 3.5:c:d 1e5:e).:f.g :h :i.", size=1, block=1 << 21)
@example(text=HEAD + ':a :b "x",1.\n:c :d """""" .:e :f \'\'\'\'\'\'@en.', size=1, block=1)
def test_turtle__cut_is_as_uncut(folder: Path, text: str, size: int, block: int) -> None:
    check(folder, text, False, size, block)


@settings(max_examples=25)
@given(text=trig(), size=SIZES, block=BLOCKS)
def test_trig__cut_is_as_uncut(folder: Path, text: str, size: int, block: int) -> None:
    check(folder, text, True, size, block)


@pytest.mark.long
@settings(max_examples=1000)
@given(text=turtle(), other=trig(), size=SIZES, block=BLOCKS)
def test_random__cut_is_as_uncut(
    folder: Path, text: str, other: str, size: int, block: int
) -> None:
    check(folder, text, False, size, block)
    check(folder, other, True, size, block)


def test_cuts__are_made_between_all_statements_and_inside_of_graphs(folder: Path) -> None:
    text = HEAD + ":a :b [] . :c :d 1.5 . PREFIX p: <x#> p:a p:b 'x' ."
    assert len(check(folder, text, False, 1, 1 << 21)) == 8  # the last has nothing
    inside = HEAD + ":g { :a :b :c . :d :e :f . } [] { :a :b [] . :c :d () . } { :h :i _:j }"
    cuts = check(folder, inside, True, 1, 1 << 21)
    assert [c.closing for c in cuts] == [b""] * 3 + [b"}"] * 3 + [b"", b"", b"}", b"", b""]
    assert cuts[4].header.endswith(b":g {")


def test_cuts__are_of_the_size_asked_for(folder: Path) -> None:
    text = HEAD + "".join(f":a{n} :b [ :c {n} ] .\n" for n in range(2000))
    cuts = check(folder, text, False, 5000, 1000)
    assert all(5000 <= c.stop - c.start < 5100 for c in cuts[:-1])
    assert sum(c.nodes or 0 for c in cuts) == 2000


def test_faults_of_parts__have_the_lines_of_the_document(tmp_path: Path) -> None:
    file = tmp_path / "a.trig"
    text = HEAD + ":g # one\n# two\n {\n:a :b :c .\n:d :e :f .\n:d :e .\n} :x :y :z ."
    file.write_text(text)
    cuts = cut(text, True, 1)
    assert len(cuts) == 10
    _, notes = parsed([file])
    [wanted] = faults_of(notes)
    assert wanted[1:3] == (7, text.index(":d :e .\n}"))
    _, notes = parsed([file], SourceOptions(), {1: cuts})
    assert [fault[1:3] for fault in faults_of(notes)] == [wanted[1:3]]


@pytest.mark.parametrize(
    "rest",
    [
        ":a :b <<( :c :d :e )>> . :f :g :h .",
        ":a :b :c {| :d :e |} . :f :g :h .",
        "<< :a :b :c >> :d :e . :f :g [] .",
        ":a :b :c ~ :d . :f :g [] .",
    ],
)
def test_what_it_cannot_tell__ends_the_cutting(folder: Path, rest: str) -> None:
    cuts = check(folder, HEAD + ":a :b [] . :c :d [] . " + rest, False, 1, 1 << 21)
    assert [c.nodes for c in cuts] == [0, 0, 0, 1, 1, None]


def test_nodes_of_which_nothing_is_said__are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.trig"
    file.write_text(HEAD + "[] {} :a :b [] .")
    _, notes = parsed([file], SourceOptions(), {1: cut(file.read_text(), True, 1)})
    assert any("anonymous nodes" in fault[3] for fault in faults_of(notes))


def test_labels_that_look_generated__are_noticed(tmp_path: Path) -> None:
    # The parser's own names for anonymous nodes look so; numbering them by parts would part them.
    label = "_:" + "a" * 26
    file = tmp_path / "a.ttl"
    file.write_text(HEAD + f":a :b {label} .\n{label} :c [] .\n")
    cuts = cut(file.read_text(), False, 1)
    _, notes = parsed([file], SourceOptions(), {1: cuts})
    assert any("anonymous nodes" in fault[3] for fault in faults_of(notes))


BROKEN: list[Callable[[str, int], str]] = [
    lambda text, at: text[:at] + text[at + 1 :],
    lambda text, at: text[:at] + '"' + text[at:],
    lambda text, at: text[:at] + ". " + text[at:],
    lambda text, at: text[:at] + "]" + text[at:],
    lambda text, at: text[:at] + "\x00" + text[at:],
    lambda text, at: text[:at],
]


@settings(max_examples=40)
@given(text=turtle(), data=st.data(), how=st.sampled_from(BROKEN), size=st.integers(1, 80))
def test_broken__a_fault_uncut_is_a_fault_cut(
    folder: Path, text: str, data: st.DataObject, how: Callable[[str, int], str], size: int
) -> None:
    text = how(text, data.draw(st.integers(0, len(text))))
    file = folder / "broken.ttl"
    file.write_bytes(text.encode())
    cuts = cut(text, False, size)
    assert cuts[-1].stop == len(text.encode())
    whole, whole_notes = parsed([file])
    rows, notes = parsed([file], SourceOptions(), {1: cuts})
    if faults_of(whole_notes):
        assert faults_of(notes)
    elif not faults_of(notes):  # otherwise it is read again, uncut
        assert Counter(rows) == Counter(whole)
