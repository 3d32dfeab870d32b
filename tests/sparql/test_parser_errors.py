"""What is said about texts that are no SPARQL: where, what was expected, what may be meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore.errors import ParseError, QuerySyntaxError
from triplestore.sparql.syntax.parser import parse_query, parse_update


def said(text: str, update: bool = False) -> str:
    with pytest.raises(QuerySyntaxError) as caught:
        (parse_update if update else parse_query)(text, prefixes={"": "http://e/"})
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # keywords and functions
        ("SELEC * {}", "1:1: expected SELECT, ASK, CONSTRUCT or DESCRIBE, found 'SELEC' (did you"),
        ("SELECT * { ?x ?y ?z FILER(?x) }", "1:21: expected a triple, FILTER, OPTIONAL, "),
        ("SELECT * { ?x ?y ?z OPTINAL {} }", "found 'OPTINAL' (did you mean OPTIONAL?)"),
        ("SELECT * {} ORDR BY ?x", "1:13: expected the end of the query or GROUP, HAVING, ORDER"),
        ("SELECT * {} ORDR BY ?x", "(did you mean ORDER?)"),
        (
            "ASK { FILTER(STRLENGTH(?x) > 1) }",
            "1:14: unknown function STRLENGTH (did you mean STRL",
        ),
        ("ASK { FILTER(SUBSTR(?x) > 1) }", "1:14: SUBSTR takes 2 to 3 arguments, not 1"),
        ("ASK { FILTER(BOUND(1)) }", "1:14: BOUND takes a variable"),
        ("ASK { FILTER ?x > 1 }", "1:14: expected '(' or a function after FILTER: put it in paren"),
        # prefixes and IRIs
        ("ASK { ?x foaf:name ?y }", "1:10: unknown prefix 'foaf:'; declare it: PREFIX foaf: <http"),
        (
            "PREFIX foaf: <http://u/> ASK { ?x faof:a ?y }",
            "unknown prefix 'faof:' (did you mean foaf:?)",
        ),
        ("ASK { ?x zzz:a ?y }", "declare it: PREFIX zzz: <...>"),
        (
            "ASK { ?x <a> ?y }",
            "1:10: <a> is not an absolute IRI (No scheme found in an absolute IRI): declare a BASE",
        ),
        (
            "ASK { ?x <http://a b> ?y }",
            "found '<'; an IRI ends with '>' and cannot contain any of <",
        ),
        (
            "PREFIX a:b <http://e> ASK {}",
            "1:8: expected a prefix and ':' after PREFIX, found 'a:b'",
        ),
        # brackets
        ("SELECT * {\n  ?x ?y ?z .\n", "3:1: expected '}' for the '{' at 1:10, found the end"),
        ("ASK { { ?x ?y ?z }", "1:19: expected '}' for the '{' at 1:5, found the end of the text"),
        ("ASK { ?x ?y [ ?z 1 }", "1:20: expected ']' or ';' after an object in '[...]', found '}'"),
        ("ASK { ?x ?y (1 2 ", "1:18: expected ')' for the '(' at 1:13, found the end of the text"),
        ("ASK { FILTER(?x > 1 }", "1:21: expected ')' or an operator after an expression in par"),
        ("ASK { } }", "1:9: expected the end of the query or"),
        ("ASK", "1:4: expected '{' where the pattern begins (WHERE), found the end of the text"),
        # triples
        ("ASK { ?x ?y ?z ?a ?b ?c }", "1:16: expected '.' between two triples, found '?a'"),
        ("ASK { ?x ?y . }", "1:13: expected a constant or a variable as object, found '.'"),
        (
            "ASK { ?x 'p' ?z }",
            "1:10: expected a property (an IRI, a variable, 'a' or a path), found",
        ),
        ("ASK { ?x A ?z }", "1:10: expected a property"),
        ("ASK { ?x ?y 'z }", "1:13: the string that begins with ''z' is not closed on this line"),
        (
            "CONSTRUCT { ?x :p* ?y } {}",
            "1:18: expected a constant or a variable as object, found '*'",
        ),
        ("CONSTRUCT WHERE { ?x :p* ?y }", "1:19: paths are not allowed without a template"),
        ("ASK { _:a ?p 1 { _:a ?q 2 } }", "1:18: _:a is in two basic graph patterns"),
        (
            "ASK { ?x ?p _:a FILTER(_:a) }",
            "1:24: _:a is not allowed in an expression: use a variable",
        ),
        # variables
        (
            "ASK { ?x ?p ?y BIND(1 AS ?y) }",
            "1:26: ?y has a value before this BIND; use another",
        ),
        ("SELECT (1 AS ?x) { ?x ?p ?y }", "1:8: ?x has a value already; use another name"),
        ("SELECT (1 AS ?a) (2 AS ?a) {}", "1:18: ?a has a value already"),
        ("SELECT ?a (2 AS ?a) {}", "1:11: ?a has a value already"),
        ("SELECT (?x) { ?x ?p ?y }", "1:11: expected AS and a variable, or an operator, after an"),
        (
            "SELECT COUNT(?x) {}",
            "1:8: expected a variable, '(expression AS ?variable)' or '*' after",
        ),
        ("SELECT COUNT(?x) {}", "expressions need a name, (COUNT(...) AS ?name)"),
        ("ASK { VALUES (?x ?y) { (1) } }", "1:24: a row of 1 in VALUES with 2 variables"),
        ("ASK { VALUES (?x ?x) {} }", "1:18: ?x occurs twice in this VALUES"),
        ("ASK { VALUES ?x { ?y } }", "1:19: expected a constant or UNDEF in VALUES: use BIND"),
        ("ASK { VALUES ?x { _:b } }", "1:19: _:b is not allowed in VALUES"),
        # groups
        ("SELECT * { ?x ?p ?y } GROUP BY ?x", "1:8: SELECT * is not allowed with GROUP BY"),
        ("SELECT ?y { ?x ?p ?y } GROUP BY ?x", "1:8: ?y is neither in GROUP BY nor in an aggrega"),
        ("SELECT (?y + 1 AS ?z) { ?x ?p ?y } GROUP BY ?x", "use SAMPLE(?y), or group by it"),
        ("SELECT ?x (COUNT(*) AS ?n) { ?x ?p ?y }", "1:8: ?x is neither in GROUP BY"),
        (
            "SELECT (SUM(COUNT(?x)) AS ?n) {}",
            "1:13: COUNT is not allowed here: aggregates cannot be nested",
        ),
        (
            "ASK { FILTER(COUNT(?x) > 1) }",
            "1:14: COUNT is not allowed here: aggregates are allowed",
        ),
        (
            "SELECT ?x {} GROUP BY (COUNT(?y) AS ?x)",
            "1:24: COUNT is not allowed here: GROUP BY comes",
        ),
        (
            "SELECT (SUM(*) AS ?n) {}",
            "1:13: expected an expression: only COUNT accepts '*', not SUM",
        ),
        ("SELECT (SUM(?x; SEPARATOR=',') AS ?n) {}", "1:17: SUM has no SEPARATOR, only GROUP_CON"),
        ("SELECT ?x {} LIMIT 1 LIMIT 2", "1:22: LIMIT occurs twice"),
        ("SELECT ?x {} LIMIT -1", "1:20: expected a number after LIMIT, found '-'"),
        ("SELECT ?x {} ORDER BY DESC ?x", "1:28: expected '(' after DESC, found '?x'"),
        # queries and updates
        (
            "INSERT DATA { }",
            "1:1: expected SELECT, ASK, CONSTRUCT or DESCRIBE, but this is an update",
        ),
        ("", "1:1: expected SELECT, ASK, CONSTRUCT or DESCRIBE, found the end of the text"),
    ],
)
def test_queries__say_where_and_what(text: str, message: str) -> None:
    assert message in said(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT * {}",
            "1:1: expected INSERT, DELETE, WITH, LOAD, CLEAR, DROP, CREATE, ADD, MOVE or",
        ),
        ("SELECT * {}", "but this is a query"),
        ("INSRT DATA {}", "found 'INSRT' (did you mean INSERT?)"),
        ("INSERT DATA { ?x :p 1 }", "1:15: ?x is not allowed here: data cannot have variables"),
        ("INSERT DATA { GRAPH ?g { :a :p 1 } }", "1:21: ?g is not allowed here: data cannot have"),
        ("INSERT DATA { 1 :p 1 }", "cannot be a subject: it is not an IRI or a blank node"),
        ("DELETE DATA { _:b :p 1 }", "1:15: _:b is not allowed here: DELETE DATA cannot"),
        ("DELETE DATA { :a :p [] }", "1:21: '[' is not allowed here: DELETE DATA cannot"),
        ("DELETE { ?x :p _:b } WHERE { ?x :p 1 }", "1:16: _:b is not allowed here: DELETE cannot"),
        ("DELETE WHERE { ?x :p (1) }", "1:22: '(' is not allowed here: DELETE cannot"),
        ("INSERT { ?x :p* 1 } WHERE {}", "1:15: expected a constant or a variable as object"),
        ("INSERT { ?x :p 1 }", "expected WHERE and a pattern after the templates of an update"),
        ("INSERT { GRAP :g {} } WHERE {}", "found 'GRAP' (did you mean GRAPH?)"),
        ("INSERT DATA { _:b :p 1 } ; INSERT DATA { _:b :p 2 }", "_:b is in two INSERT DATA"),
        (
            "CLEAR :g",
            "1:7: expected GRAPH and an IRI, DEFAULT, NAMED or ALL after CLEAR, found ':g'",
        ),
        ("COPY :a :b", "1:9: expected TO after the graph of COPY, found ':b'"),
        ("CREATE :g", "1:8: expected GRAPH after CREATE"),
        ("LOAD <http://a> INTO :g", "1:22: expected GRAPH after INTO"),
        ("CLEAR ALL CLEAR ALL", "1:11: expected ';' between two operations, or the end, found 'CL"),
        ("WITH :g CLEAR ALL", "1:9: expected DELETE or INSERT after WITH"),
    ],
)
def test_updates__say_where_and_what(text: str, message: str) -> None:
    assert message in said(text, update=True)


def test_errors__all_that_is_no_breach_of_grammar_come_at_once() -> None:
    text = "SELECT ?x\n{ ?x a:b ?y .\n  BIND(FOO(1) AS ?y) BIND(c:d() AS ?z) } LIMIT"
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text, file="q.rq")
    error = caught.value
    assert isinstance(error, ParseError)
    assert [problem[:2] for problem in error.problems] == [
        (2, 6),
        (3, 8),
        (3, 18),
        (3, 27),
        (3, 47),
    ]
    assert str(error).splitlines()[0].startswith("q.rq:2:6: unknown prefix 'a:'")
    assert (error.filename, error.lineno, error.offset) == ("q.rq", 2, 6)
    assert error.text == "{ ?x a:b ?y ."


def test_errors__a_file_without_a_name_is_the_input() -> None:
    assert said("ASK").startswith("input:1:4: ")


TEXT = """
SELECT ASK CONSTRUCT WHERE { } ( ) [ ] . ; , ?x ?y :p a 1 'x' FILTER OPTIONAL UNION MINUS BIND AS
VALUES UNDEF GRAPH SERVICE GROUP BY HAVING ORDER LIMIT COUNT EXISTS NOT IN + - * / | ^ ! && = <
_:b INSERT DELETE DATA WITH USING PREFIX BASE <http://e/a> \\u0041 \\ ' # @en ^^ << DISTINCT
"""
WORDS = TEXT.split()


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.booleans())
def test_any_text__is_read_or_refused(words: list[str], update: bool) -> None:
    """Whatever it is, nothing else comes out of the parser than algebra or its own error."""
    text = ("" if update else "SELECT * { ") + " ".join(words)
    try:
        (parse_update if update else parse_query)(text, prefixes={"": "http://e/"})
    except QuerySyntaxError as error:
        assert error.problems
