"""When a statement is complete, and what it is."""

from __future__ import annotations

from triplestore.cli.shell.commands import statements_of
from triplestore.cli.shell.statements import (
    Kind,
    first_word,
    is_complete,
    kind_of,
    on_one_line,
    open_brackets,
    prefixes_in,
)

KINDS = {
    "": Kind.EMPTY,
    "  # only a comment": Kind.EMPTY,
    ";": Kind.EMPTY,
    ".help": Kind.COMMAND,
    "PREFIX : <http://e/>": Kind.PREFIXES,
    "@prefix e: <http://e/#> . @prefix : <http://e/> .": Kind.PREFIXES,
    "BASE <http://e/>": Kind.PREFIXES,
    "SELECT * {}": Kind.QUERY,
    "prefix e: <http://e/> # SELECT\nask {}": Kind.QUERY,
    "BASE <http://e/> DESCRIBE <a>": Kind.QUERY,
    "CONSTRUCT WHERE { ?s ?p ?o }": Kind.QUERY,
    "insert data { :a :b :c }": Kind.UPDATE,
    "WITH <http://g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }": Kind.UPDATE,
    "CLEAR ALL": Kind.UPDATE,
    ":a[?x] :- :b[?x] .": Kind.RULES,
    "select:a[?x] :- :b[?x] .": Kind.RULES,
    "<http://a>[?x] :- :b[?x] .": Kind.RULES,
    ":a[:b, :c] .": Kind.RULES,
    'rule "one" :a[?x] :- :b[?x] .': Kind.RULES,
    'constraint "c" :- :b[?x] .': Kind.RULES,
    ":ada :knows :bob .": Kind.UNKNOWN,
    "SELCT * {}": Kind.UNKNOWN,
    "ask:a :b :c": Kind.UNKNOWN,
}


def test_kind__of_everything_that_is_typed() -> None:
    for text, kind in KINDS.items():
        assert kind_of(text) is kind, text
    assert first_word("PREFIX : <http://select/> ask {}") == "ASK"
    assert first_word(":a :b :c") == ""


def test_complete__on_one_line() -> None:
    for text in (
        "SELECT * { ?s ?p ?o }",
        "SELECT * { ?s ?p '}' }",
        "DESCRIBE :a",
        "CLEAR ALL",
        "PREFIX : <http://e/#{>",
        ".load a.ttl",
        ":a[?x] :- :b[?x] .",
        "SELCT * {}",
        "# comment {",
        'INSERT DATA { :a :b """x""" }',
    ):
        assert is_complete(text), text


def test_complete__more_is_needed() -> None:
    for text in (
        "SELECT * {",
        "SELECT ?x",
        "INSERT DATA { :a :b 'x }'",
        "SELECT (COUNT(*) AS ?n",
        ":a[?x] :- :b[?x],",
        'INSERT DATA { :a :b """x }',
        "INSERT DATA { :a :b '''x }\n\n",
        ".explain SELECT * {",
        "SELECT * {\n?s ?p ?o }",
        "SELECT * {\n\n",
        "SELECT * { # }",
    ):
        assert not is_complete(text), text


def test_complete__several_lines_end_with_a_semicolon_or_an_empty_line() -> None:
    begun = "SELECT * {\n ?s ?p ?o }\nLIMIT 5"
    assert not is_complete(begun)
    assert is_complete(begun + ";") and is_complete(begun + " ;  ") and is_complete(begun + "\n")
    assert is_complete(":a[?x] :-\n :b[?x] .") and is_complete(":a[?x] :-\n :b[?x] . # so")


def test_open_brackets__look_at_no_strings_iris_and_comments() -> None:
    assert open_brackets("{ ( [") == 3
    assert open_brackets("'{' \"(\" <http://a/(> # [\n '''{\n'''") == 0
    assert open_brackets("} } {") == 0 or open_brackets("} } {") == 1


def test_on_one_line__has_no_comments_and_means_the_same() -> None:
    text = "SELECT * { # all\n  ?s ?p '#'\n}\n\nLIMIT 5;"
    assert on_one_line(text) == "SELECT * { ?s ?p '#' } LIMIT 5;"


def test_prefixes__all_at_the_beginning() -> None:
    text = "PREFIX : <http://e/>\n@prefix x-y: <http://f/#> . ASK { ?s :p 'PREFIX z: <http://z>' }"
    assert prefixes_in(text) == {"": "http://e/", "x-y": "http://f/#"}


def test_statements__of_a_file() -> None:
    text = "\nPREFIX : <http://e/>\n\nASK {}\nSELECT * {\n?s ?p ?o }\n\n.quit\nSELECT * {"
    assert statements_of(text.splitlines()) == [
        "PREFIX : <http://e/>",
        "ASK {}",
        "SELECT * {\n?s ?p ?o }\n",
        ".quit",
        "SELECT * {",
    ]
