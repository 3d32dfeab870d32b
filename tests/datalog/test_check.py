"""What is wrong with programs."""

from __future__ import annotations

import pytest

from triplestore.datalog import check_clause
from triplestore.datalog.check import check, require
from triplestore.datalog.check_clause import clause_problems
from triplestore.datalog.problems import in_order
from triplestore.datalog.program import Program, Rule, TripleAtom, Variable
from triplestore.datalog.text import read
from triplestore.datalog.text.program_parser import parse
from triplestore.errors import ProgramError
from triplestore.expressions.tree import Call, Constant

PREFIX = "@prefix : <http://e/> .\n"

PROBLEMS = [
    # (rule, code, column, part of the message)
    (":A[?y] :- :B[?x] .", "unsafe-variable", 4, "?y in the head is not bound by the body, which"),
    (":A[?x] .", "unsafe-variable", 4, "which binds nothing"),
    (":A[?persn] :- :B[?person] .", "unsafe-variable", 4, "did you mean ?person?"),
    (":A[?x] :- NOT :B[?x] .", "unsafe-variable", 4, "?x in the head"),
    (":A[?x] :- :B[?x], FILTER(?y > 1) .", "unsafe-variable", 26, "?y in FILTER"),
    (":A[?x] :- :B[?x], BIND(?y + 1 AS ?z) .", "unsafe-variable", 24, "?y in BIND"),
    (":A[?x] :- :B[?x], NOT (:C[?x], FILTER(?y)) .", "unsafe-variable", 39, "of a negation"),
    (":A[?a] :- BIND(?b AS ?a), BIND(?a AS ?b) .", "unsafe-variable", 4, "?a in the head"),
    (":A[?y] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .", "unsafe-variable", 4, "?y"),
    (":A[?x] :- AGGREGATE(:B[?y] ON ?x BIND count(?y) AS ?n) .", "unsafe-variable", 31, "ON"),
    (":A[?n] :- :C[?z], AGGREGATE(:B[?y] BIND sum(?z) AS ?n) .", "unsafe-variable", 45, "in sum"),
    (":A[?x] :- :B[?x], BIND(1 AS ?x) .", "rebound", 29, "BIND gives ?x a value"),
    (":A[?x] :- BIND(1 AS ?x), BIND(2 AS ?x) .", "rebound", 21, "BIND gives ?x a value"),
    (":A[?x] :- :B[?x], AGGREGATE(:C[?y] BIND count(?y) AS ?x) .", "rebound", 54, "result ?x"),
    (":A[?x] :- :B[?x], NOT (:C[?y], BIND(1 AS ?x)) .", "rebound", 42, "also bound outside"),
    (":A[?x] :- :B[?x], NOT EXISTS ?x IN (:C[?x]) .", "scope", 30, "bound outside"),
    (
        ":A[?y] :- :B[?y], AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .",
        "scope",
        36,
        "?y is local to the aggregate",
    ),
    (
        ":A[?x] :- :B[?x], NOT (:C[?x], NOT :D[?x]) .",
        "nested",
        19,
        "negation is not allowed inside a neg",
    ),
    (":A[?x] :- :B[?x], NOT (FILTER(?x > 1)) .", "nested", 19, "needs an atom inside"),
    (
        ":A[?x] :- :B[?x], NOT AGGREGATE(:C[?y] BIND count(?y) AS ?n) .",
        "nested",
        19,
        "aggregate is not allowed inside a negation",
    ),
    (":A[?x] :- :B[?x], FILTER(RAND() > 0.5) .", "non-deterministic", 19, "RAND"),
    (":A[?x] :- :B[?x], NOT (:C[?x], FILTER(NOW() > ?x)) .", "non-deterministic", 19, "NOW"),
    (
        ":A[?x] :- :B[?x], :r[?x, ?x, ?x], :r[?x, ?x, ?x, ?x] .",
        "arity",
        35,
        "4 columns here, but 3",
    ),
    (":r[?x, ?x, ?x] :- :r[?x, ?x] .", "arity", 19, "2 columns here, but 3 at input:2:1"),
    (":A[?x] :- :B[?x], NOT :A[?x] .", "unstratifiable", 1, ":A needs NOT :A (input:2:1)"),
    (
        ":n[?x, ?n] :- AGGREGATE(:n[?x, ?y] ON ?x BIND sum(?y) AS ?n) .",
        "unstratifiable",
        1,
        ":n needs all of :n",
    ),
]

WARNINGS = [
    ('["a", :p, ?x] :- :B[?x] .', "generalised", 1, "the subject of a head is a string"),
    ("[?x, _:b, ?x] :- :B[?x] .", "generalised", 1, "the predicate of a head is a blank node"),
    (":p[?x, ?z] :- :p[?x, ?y], BIND(?y + 1 AS ?z) .", "endless", 8, "?z, which BIND computes"),
    (":A[?x] :- :B[?x], NOT EXISTS ?z IN (:p[?x, ?y]) .", "scope", 30, "does not occur inside"),
    (
        ":ancestor[?x, ?y] :- :q[?x, ?y] . :A[?x] :- :ancestr[?x, ?y] .",
        "unknown-name",
        45,
        "did you mean :ancestor?",
    ),
]


@pytest.mark.parametrize(("rule", "code", "column", "message"), PROBLEMS + WARNINGS)
def test_check__finds(rule: str, code: str, column: int, message: str) -> None:
    problems = check(read(PREFIX + rule))
    found = [problem for problem in problems if problem.code == code]
    assert found, problems
    assert message in found[0].message
    assert (found[0].line, found[0].column) == (2, column)
    assert found[0].warning == ((rule, code, column, message) in WARNINGS)
    assert found[0].remedy or code == "unknown-name"


def test_check__names_of_any_length_are_not_compared() -> None:
    """Comparing two takes the square of their length."""
    for length, expected in ((50, ["unknown-name"]), (5000, [])):
        name = "".join(map(chr, range(0x4E00, 0x4E00 + length)))
        text = f":{name}x[?x, ?y] :- :q[?x, ?y] . :A[?x] :- :{name}[?x, ?y] ."
        assert [problem.code for problem in check(read(PREFIX + text))] == expected


def test_check__finds_everything_at_once_in_the_order_of_the_text() -> None:
    text = PREFIX + "\n".join(rule for rule, *_ in PROBLEMS) + "\n:A[?x :- .\n"
    program, reading = parse(text, file="f.dlog")
    problems = in_order(reading, check(program))
    places = [(problem.line, problem.column) for problem in problems]
    assert places == sorted(places)
    rules = {rule: line for line, (rule, *_) in enumerate(PROBLEMS, 2)}
    del rules[PROBLEMS[2][0]]  # the same rule as the first, but for the names of variables
    assert {line for line, _ in places} == {*rules.values(), len(PROBLEMS) + 2}
    assert {problem.code for problem in problems} >= {code for _, code, *_ in PROBLEMS} | {"syntax"}
    assert all(problem.file == "f.dlog" for problem in problems)


@pytest.mark.parametrize(
    "text",
    [
        ":A[:c] .",
        ":A[?x] :- :B[?x], NOT :p[?x, ?y], NOT :q[?x, ?y] .",
        ":A[?z] :- BIND(?y * 2 AS ?z), :B[?x], BIND(?x + 1 AS ?y) .",
        ":A[:c] :- NOT :B[:c] .",
        ":A[?x] :- BIND(5 AS ?x) .",
        ":n[?g, ?m] :- :G[?g], AGGREGATE(:p[?g, ?y], NOT :B[?y] ON ?g BIND count(?y) AS ?n), "
        "BIND(?n + 1 AS ?m), FILTER(?m > 2) .",
        ":A[?x] :- :B[?x], NOT (:p[?x, ?y], BIND(?y + 1 AS ?z), FILTER(?z > ?x)) .",
        ":A[?x] :- :A[?x, ?y], :r[?x, ?x, ?x] .",  # a class and a property may share a name
        "[?x, ?p, ?y] :- [?y, ?p, ?x], :Symmetric[?p] .",
        ":p[?x, ?z] :- :q[?x, ?y], BIND(?y + 1 AS ?z) .",
        ":C1[?x] :- :C2[?x] . :D[?x] :- :C3[?x] .",  # names that differ by a number
    ],
)
def test_check__has_nothing_against(text: str) -> None:
    assert check(read(PREFIX + text)) == []


def test_check__of_names_knows_the_data() -> None:
    program = read(PREFIX + ":A[?x] :- :people[?x], :person[?x, ?y] . :B[?x] :- :people[?x] .")
    assert check(program) == []
    known = {b"\x01http://e/peopl", b"\x01http://e/person"}
    (problem,) = check(program, known)
    assert "no rule and no fact has :people (did you mean :peopl?)" in problem.message


def test_check__of_programs_made_without_text_names_the_rule() -> None:
    x, y = Variable("x"), Variable("y")
    p = Constant.iri("http://e/p")
    rule = Rule((TripleAtom(x, p, y),), (TripleAtom(x, p, x),), name="r7")
    (problem,) = check(Program([rule]))
    assert str(problem).startswith("rule r7: error: ?y in the head")
    assert problem.line is None


def test_check__of_unknown_functions_in_programs_made_without_text() -> None:
    from triplestore.datalog.program import Filter

    x, p = Variable("x"), Constant.iri("http://e/p")
    body = (TripleAtom(x, p, x), Filter(Call("STRLENGTH", (x,))), Filter(Call("STRLEN", ())))
    problems = check(Program([Rule((TripleAtom(x, p, x),), body)]))
    assert [problem.code for problem in problems] == ["function", "function"]
    assert "did you mean STRLEN?" in problems[0].message


def test_require__raises_errors_and_gives_warnings_back() -> None:
    warnings = require(read(PREFIX + WARNINGS[0][0]))
    assert [problem.code for problem in warnings] == ["generalised"]
    with pytest.raises(ProgramError) as caught:
        require(read(PREFIX + PROBLEMS[0][0] + WARNINGS[0][0]))
    assert [problem.code for problem in caught.value.problems] == ["unsafe-variable", "generalised"]


# -- the quick look -------------------------------------------------------------------------------


def test_clause_problems__rules_of_triples_alone__are_as_the_whole_check_finds() -> None:
    x, y = Variable("x"), Variable("y")
    terms = [x, y, Constant.iri("http://e/a"), Constant(b"\x02b"), Constant(b"\x03text")]
    atoms = [TripleAtom(s, p, o) for s in terms for p in terms for o in terms]
    bodies = [(), (TripleAtom(x, terms[2], x),), (TripleAtom(x, terms[2], y),)]
    wrong = 0
    for head in atoms:
        for body in bodies:
            for heads in ((head,), (atoms[0], head)):
                rule = Rule(heads, body)
                found = clause_problems(rule, {})
                assert found == check_clause._Check(rule, {}).problems()
                wrong += bool(found)
    assert 0 < wrong < 6 * len(atoms)
    assert clause_problems(Rule((), bodies[1]), {})
