"""Reading and printing programs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.datalog.random_programs import items, programs, rules
from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Bind,
    Constant,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.text import parse, read, show, write
from triplestore.errors import ProgramError
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.terms.vocabulary import XSD

EX = "http://example.org/"
PREFIX = f"@prefix : <{EX}> .\n"
X, Y, Z = map(Variable, "xyz")


def iri(name: str) -> Constant:
    return Constant.iri(EX + name)


def one(text: str) -> Rule:
    (rule,) = read(PREFIX + text).rules
    return rule


# --- round trips ---------------------------------------------------------------------------------


@given(programs)
def test_programs__read_back_as_they_were_written(program: Program) -> None:
    found = read(write(program))
    assert found == program
    assert [rule.name for rule in found.rules] == [rule.name for rule in program.rules]
    assert found.rules == program.rules
    assert found.constraints == program.constraints


@settings(max_examples=30)
@given(rules)
def test_rules__are_shown_on_one_line_that_reads_back(rule: Rule) -> None:
    text = str(rule)
    assert "\n" not in text
    assert read(text).rules == (rule,)


@given(items)
def test_items__can_be_printed(item: Item) -> None:
    (rule,) = read(f"<http://a>[<http://b>] :- {item} .").rules
    assert rule.body == (item,)


# --- what is read --------------------------------------------------------------------------------


def test_atoms__of_triples_have_three_ways_to_be_written() -> None:
    assert one(":C[?x] .").heads == (TripleAtom(X, TYPE, iri("C")),)
    assert one(":p[?x, ?y] .").heads == (TripleAtom(X, iri("p"), Y),)
    assert one("[?x, ?z, ?y] .").heads == (TripleAtom(X, Z, Y),)
    assert one("[?x, rdf:type, :C] .") == one(":C[?x] .") == one("rdf:type[?x, :C] .")
    assert one("[?x, a, :C] .") == one(":C[?x] .")  # in the place of the property only
    for text in (":r[?x, a, :C] .", "[a, a, :C] .", "[?x, A, :C] .", "a[?x, :C] ."):
        with pytest.raises(ProgramError):
            one(text)
    assert one(":r[?x, :a, ?x] .").heads == (TupleAtom(iri("r"), (X, iri("a"), X)),)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("5", "5"), ("-5", "-5"), ("+1.50", "+1.50"), ("1e3", "1e3"), ("true", "true"),
        ("'a'", '"a"'), ('"a"@EN-us', '"a"@en-us'), ("_:b", "_:b"), ("<a:b>", "<a:b>"),
        ('"1"^^xsd:int', '"1"^^xsd:int'), (":a", ":a"), ('"a"^^xsd:string', '"a"'),
        ('"1"^^xsd:integer', "1"), ('"x"^^xsd:integer', '"x"^^xsd:integer'),
        (r'"\u00e9\n"', '"é\\n"'), ('"a"@ar--rtl', '"a"@ar--rtl'),
        ("<<( :a :p <<( :b :q 1 )>> )>>", "<<( :a :p <<( :b :q 1 )>> )>>"),
    ],
)  # fmt: skip
def test_constants__of_every_kind(text: str, printed: str) -> None:
    program = read(f"{PREFIX} :p[{text}, ?x] :- :q[?x] .")
    (rule,) = program.rules
    assert show(rule, {"": EX, "xsd": XSD}) == f":p[{printed}, ?x] :- :q[?x] ."


def test_facts__are_rules_without_a_body() -> None:
    assert one(":A[:c] .") == one(":A[:c] :- .") == Rule((TripleAtom(iri("c"), TYPE, iri("A")),))


def test_several_heads__are_one_rule() -> None:
    rule = one(":A[?x], :B[?x] :- :C[?x] .")
    assert len(rule.heads) == 2
    assert [part.heads for part in rule.split()] == [(head,) for head in rule.heads]


@pytest.mark.parametrize(
    "text",
    [
        "NOT :p[?x, ?y]", "not :p[?x, ?y]", "NOT (:p[?x, ?y])", "NOT EXISTS :p[?x, ?y]",
        "Not Exist(:p[?x, ?y])",
    ],
)  # fmt: skip
def test_negation__of_one_atom(text: str) -> None:
    assert one(f":A[?x] :- :B[?x], {text} .").body[1] == Not((TripleAtom(X, iri("p"), Y),))


def test_negation__names_what_exists() -> None:
    body = (TripleAtom(X, iri("p"), Y), TripleAtom(Y, iri("p"), Z))
    for names in ("?y, ?z", "?y ?z"):
        rule = one(f":A[?x] :- :B[?x], NOT EXISTS {names} IN (:p[?x, ?y], :p[?y, ?z]) .")
        assert rule.nots == (Not(body, (Y, Z)),)


def test_filters_and_binds__hold_expressions() -> None:
    rule = one(":A[?y] :- :B[?x], FILTER(?x > 3 && ?x < 5), filter regex(?x, 'a'), "
               "BIND(?x + 1 AS ?y) .")  # fmt: skip
    assert rule.filters == (
        Filter(parse_expression("?x > 3 && ?x < 5")),
        Filter(parse_expression("REGEX(?x, 'a')")),
    )
    assert rule.binds == (Bind(parse_expression("?x + 1"), Y),)


def test_aggregates__have_groups_and_results() -> None:
    rule = one(
        ":n[?x, ?z] :- aggregate(:p[?x, ?y], NOT :B[?y] ON ?x BIND COUNT(DISTINCT ?y) AS ?z, "
        "bind count(*) as ?c BIND group_concat(STR(?y); separator = ', ') AS ?g) ."
    )
    (found,) = rule.aggregates
    assert isinstance(found, Aggregate)
    assert found.groups == (X,)
    assert found.results == (
        Result("count", Y, Z, distinct=True),
        Result("count", None, Variable("c")),
        Result("group_concat", parse_expression("STR(?y)"), Variable("g"), separator=", "),
    )
    assert len(found.body) == 2


def test_constraints_and_named_rules__have_strings_in_front() -> None:
    program = read(
        PREFIX + 'constraint "c1" "nobody" :- :p[?x, ?x] . Constraint "c2" :- :A[?x] .\n'
        'RULE "r1" :A[?x] :- :B[?x] .'
    )
    assert [(c.id, c.message) for c in program.constraints] == [("c1", "nobody"), ("c2", "")]
    assert [rule.name for rule in program.rules] == ["r1"]


def test_prefixes__are_declared_in_both_ways_and_kept() -> None:
    program = read(
        "@prefix a: <http://a/> .\nPREFIX b: <http://b/>\n@base <http://base/x/> .\n"
        "a:A[?x] :- b:B[?x], <../c>[?x] .",
    )
    assert dict(program.prefixes) == {"a": "http://a/", "b": "http://b/"}
    assert program.rules[0].atoms[1] == TripleAtom(X, TYPE, Constant.iri("http://base/c"))
    again = read("a:A[?x] :- b:B[?x], <http://base/c>[?x] .", prefixes=program.prefixes)
    assert again == program


def test_comments__are_skipped_and_iris_have_slashes() -> None:
    rule = one("# one\n:A[?x] :- // two . :B[?x] :- \n <http://example.org/B>[?x] . # three")
    assert rule == one(":A[?x] :- :B[?x] .")


def test_a_byte_order_mark__is_no_part_of_the_text() -> None:
    program = read("\ufeff@prefix : <http://x/> .\n:a[?x] :- :b[?x] .")
    assert [rule.source.line for rule in program.rules if rule.source] == [2]


def test_sources__say_where_a_rule_began_and_how_it_was_written() -> None:
    program = read(PREFIX + "\n  :A[?x] :-\n    :B[?x] . :C[?x] :- :A[?x] .", file="f.dlog")
    one, two = (rule.source for rule in program.rules)
    assert one is not None and two is not None
    assert (str(one), one.text) == ("f.dlog:3:3", ":A[?x] :-\n    :B[?x] .")
    assert (str(two), two.text) == ("f.dlog:4:14", ":C[?x] :- :A[?x] .")


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (":A[?x] :- :B[?x]", 17, "expected ',' or '.' after the body of a rule, found the end"),
        (":A[?x] :B[?x] .", 8, "found ':B'; is one missing?"),
        (":A[?x] :- :B[?x] :C[?x] .", 18, "found ':C'; is one missing?"),
        (":A[?x] :- :B[?x] NOT :C[?x] .", 18, "is ',' missing?"),
        (":A[?x] :g :- :B[?x] .", 8, "atoms of named graphs are not supported"),
        (":A[?x] <- :B[?x] .", 8, "a rule is written head :- body"),
        (":A[?x] := :B[?x] .", 8, "a rule is written head :- body"),
        (":A[?x] :- :B[x] .", 14, "found 'x'; a variable begins with '?'"),
        ("A[?x] :- :B[?x] .", 1, "found 'A'; a name has a prefix"),
        (":A[?x] :- :B[?x], FILTER ?x < 3 .", 29, "put its condition in parentheses"),
        (":A[?x] :- :B[?x], FILTER(NOT EXISTS { :C[?x] }) .", 26, "NOT (atom, ...)"),
        (":A[?x] :- :B[?x], NOT EXISTS { :C[?x] } .", 30, "parentheses: NOT (atom, ...)"),
        (':A[?x] :- :B[?x], SKOLEM("f", ?x, ?y) .', 19, "with IRI(CONCAT(...)) and BIND it"),
        (":A[?y] :- :B[?x], BIND(SKOLEM('f', ?x) AS ?y) .", 24, "SKOLEM; make a unique name"),
        (":A[?y] :- :B[?x], BIND(MAXFN(?x, 3) AS ?y) .", 24, "MAXFN; compare by IF("),
        (":A[?y] :- :B[?x], BIND(ABZ(?x) AS ?y) .", 24, "unknown function ABZ"),
        (":A[?x] :- :p[?x, ?y], ?x != ?y .", 23, "a comparison is written FILTER(...)"),
        (":A[?x] :- ?x :p ?y .", 11, "a triple is written [?x, ?p, ?y]"),
        ("?x a :A :- :B[?x] .", 1, "found '?x'; a triple is written [?x, ?p, ?y]"),
        ("{ ?x a :B } => { ?x a :A } .", 1, "a rule is written head :- body"),
        (":A[?x] :- :B[?x], !:C[?x] .", 19, "negation is written NOT"),
        (":A[?x] :- :B[?x] & :C[?x] .", 18, "separated by ','"),
        (":A[?x] :- :B[?x] ; :C[?x] .", 18, "separated by ','"),
        ("% all of them\n:A[?x] :- :B[?x] .", 1, "comments begin with '#' or '//'"),
        ("/* one */ :A[?x] :- :B[?x] .", 1, "comments begin with '#' or '//'"),
        (":A[?x] :- :p[?x, _] .", 18, "use a new variable"),
        (":A[?x] :- :B[?x] :g .", 18, "atoms of named graphs are not supported"),
        (":A[?x :- :B[?x] .", 7, "expected ']' or ',' after a term of an atom, found ':-'"),
        ("[?x, ?y] :- :B[?x] .", 1, "a triple atom has three terms, not 2"),
        (":A[] .", 4, "expected a constant or a variable in an atom, found ']'"),
        (":A(?x) .", 3, "found '('; put terms in brackets: name[?x, ?y]"),
        (":A[?x] :- NOTT :B[?x] .", 11, "found 'NOTT' (did you mean NOT?)"),
        (":A[?x] :- FILTRE(?x) .", 11, "(did you mean FILTER?)"),
        ("NOT :A[?x] .", 1, "only bodies have NOT"),
        ("preffix a: <http://a/> .", 1, "did you mean PREFIX?"),
        ("@prefix a <http://a/> .", 9, "expected a prefix and ':'"),
        ("@prefix a: b:c .", 12, "expected an IRI in <> for the prefix a:"),
        (":A[?x] :- :B[?x], BIND(1 ?y) .", 26, "expected AS"),
        (":A[?x] :- :B[?x], FILTER(?x + ) .", 31, "in an expression, found ')'"),
        (":A[?x] :- :B[?x], FILTER(SUBSTR(?x)) .", 26, "SUBSTR takes 2 to 3 arguments"),
        (":A[?x] :- AGGREGATE(:B[?x] ON BIND count(?x) AS ?n) .", 31, "a variable after ON"),
        (":A[?x] :- AGGREGATE(:B[?x] ON ?x) .", 33, "expected ',', ON or BIND"),
        (":A[?n] :- AGGREGATE(:B[?x] BIND cout(?x) AS ?n) .", 33, "(did you mean count?)"),
        (":A[?n] :- AGGREGATE(:B[?x] BIND sum(*) AS ?n) .", 33, "only count accepts *"),
        (":A[?n] :- AGGREGATE(:B[?x] BIND sum(?x; SEPARATOR=',') AS ?n) .", 33, "no SEPARATOR"),
        (":A[?x] :- :B[?x], NOT EXISTS ?y :p[?x, ?y] .", 33, "expected IN or a variable"),
        (":A[?x] :- exa:B[?x] .", 11, "unknown prefix 'exa:'"),
        ('constraint "a" "b" :A[?x] .', 20, "expected ':-' after the id"),
        (':A["abc] .', 4, "is not closed on this line"),
        (":A[?x] :- :B[?x], & .", 19, "found '&'"),
    ],
)
def test_errors__say_where_and_what(text: str, column: int, message: str) -> None:
    _, problems = parse(PREFIX + text, file="f.dlog")
    assert message in problems[0].message
    assert (problems[0].file, problems[0].line, problems[0].column) == ("f.dlog", 2, column)


def test_errors__come_all_at_once_and_the_rest_is_read() -> None:
    text = PREFIX + ":A[?x :- :B[?x] .\n:C[?x] :- :D[?x] .\n:E[?x] :- no:F[?x], g(?x) .\n:G[:a] ."
    with pytest.raises(ProgramError) as caught:
        read(text, file="f.dlog")
    error = caught.value
    assert [problem.line for problem in error.problems] == [2, 4, 4]
    assert (error.filename, error.lineno, error.offset) == ("f.dlog", 2, 7)
    assert len(str(error).splitlines()) == 3
    program, _ = parse(text)
    assert [str(rule) for rule in program.rules] == [
        f"<{EX}C>[?x] :- <{EX}D>[?x] .",
        f"<{EX}G>[<{EX}a>] .",
    ]


def test_errors__stop_after_many() -> None:
    _, problems = parse("A .\n" * 1000)
    assert 100 <= len(problems) <= 102
    assert "not checked" in problems[-1].message


def test_deep_nesting__is_refused_not_a_crash() -> None:
    for inner in ("NOT (" * 2000, "FILTER(" + "(" * 5000, "AGGREGATE(" * 2000):
        _, problems = parse(f":A[?x] :- :B[?x], {inner}")
        assert any("deep" in problem.message for problem in problems)
    for sign in (" + ", " - ", " * "):  # a chain is nested, too
        _, problems = parse(f":A[?x] :- :B[?x], FILTER({sign.join(['?x'] * 5000)}) .")
        assert any("deep" in problem.message for problem in problems)
    _, problems = parse(":A[" + "<<( " * 5000 + "] .")
    assert any("deep" in problem.message for problem in problems)


def test_show__uses_prefixes_where_they_fit() -> None:
    atom = TripleAtom(iri("a b".replace(" ", "-")), iri("p"), Constant.iri(EX + "x(1)"))
    assert show(atom, {"ex": EX}) == f"ex:p[ex:a-b, <{EX}x(1)>]"
    assert show(atom.p, {"ex": EX}) == "ex:p"
    assert str(iri("p")) == f"<{EX}p>"
