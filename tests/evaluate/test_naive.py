"""The naive evaluator on programs whose closures can be seen by eye."""

from __future__ import annotations

import pytest

from tests.maintenance.naive import TooLargeError, counts, naive
from tests.maintenance.notation import fact, facts, program, show
from triplestore.datalog.program import Constant, Program, Rule, TripleAtom, Variable

TRANSITIVE = ":T[?x, ?z] :- :T[?x, ?y], :T[?y, ?z] ."


@pytest.mark.parametrize(
    ("rules", "given", "new"),
    [
        (TRANSITIVE, "T(a,b) T(b,c) T(c,d)", "T(a,c) T(a,d) T(b,d)"),
        (":B[?x] :- :A[?x] . :C[:a] . :B[?x] :- :C[?x] .", "A(b)", "B(a) B(b) C(a)"),
        # constants, repeated variables, relations, products
        (":W[?x, :k, 7] :- :T[?x, ?x], :A[:b] .", "T(a,a) T(a,b) A(b)", "W(a,k,7)"),
        (":T[?y, ?x] :- :W[?x, ?y, :c] .", "W(a,b,c) W(a,b,d)", "T(b,a)"),
        (":T[?x, ?y] :- :A[?x], :A[?y] .", "A(a) A(b)", "T(a,a) T(a,b) T(b,a) T(b,b)"),
        # variable properties and classes see every property and class
        ("[?y, ?p, ?x] :- [?x, ?p, ?y], :S[?p] .", "T(a,b) U(a,b) S(T)", "T(b,a)"),
        (":D[?x] :- [?x, rdf:type, ?c], :sub[?c, :D] .", "A(a) B(b) sub(A,D)", "D(a)"),
        # several heads
        (":A[?x], :T[?x, ?y] :- :U[?x, ?y] .", "U(a,b)", "A(a) T(a,b)"),
        # negation: single atoms, local variables, filters on outer variables, two local ?z
        (":B[?x] :- :A[?x], NOT :T[?x, ?x] .", "A(a) A(b) T(a,a)", "B(b)"),
        (":B[?x] :- :A[?x], NOT :T[?x, ?y] .", "A(a) A(b) T(a,c)", "B(b)"),
        (
            ":B[?x] :- :A[?x], NOT EXISTS ?y IN (:T[?x, ?y], :A[?y]) .",
            "A(a) A(b) T(a,c) T(b,a)",
            "B(a)",
        ),
        (
            ":C[?x] :- :B[?x, ?n], NOT (:B[?y, ?m], FILTER(?m > ?n)) .",
            "B(a,1) B(b,3) B(c,3)",
            "C(b) C(c)",
        ),
        (":B[?x] :- :A[?x], NOT :T[?x, ?z], NOT :U[?z, ?x] .", "A(a) A(b) U(c,b)", "B(a)"),
        # filters and binds: errors are no match; a BIND of a BIND, in whatever order
        (":B[?x] :- :T[?x, ?n], FILTER(?n < 3) .", "T(a,2) T(b,3) T(c,d)", "B(a)"),
        (
            ":U[?x, ?m] :- BIND(?k * 2 AS ?m), :T[?x, ?n], BIND(?n + 1 AS ?k) .",
            "T(a,2) T(b,c)",
            "U(a,6)",
        ),
        # aggregates: per group, per match, distinct, joined, filtered, of nothing at all
        (":N[?x, ?n] :- AGGREGATE(:T[?x, ?y] ON ?x BIND count(?y) AS ?n) .", "T(a,b)", "N(a,1)"),
        (
            ":N[?x, ?n] :- AGGREGATE(:T[?x, ?y], :U[?y, ?z] ON ?x BIND count(?y) AS ?n) .",
            "T(a,b) T(a,c) U(b,d) U(b,e)",
            "N(a,2)",
        ),
        (
            ":N[?x, ?n] :- AGGREGATE(:T[?x, ?y], :U[?y, ?z] ON ?x BIND count(distinct ?y) AS ?n) .",
            "T(a,b) T(a,c) U(b,d) U(b,e)",
            "N(a,1)",
        ),
        (
            ":N[?x, ?m] :- :A[?x], AGGREGATE(:T[?x, ?y] ON ?x BIND sum(?y) AS ?n), FILTER(?n > 2), "
            "BIND(?n - 1 AS ?m) .",
            "A(a) A(b) T(a,1) T(a,2) T(b,2) T(c,5)",
            "N(a,2)",
        ),
        (":N[:all, ?n] :- AGGREGATE(:T[?x, ?y] BIND count(?y) AS ?n) .", "A(a)", ""),
        (":N[?x, ?n] :- AGGREGATE(:T[?x, ?y] ON ?x BIND sum(?y) AS ?n) .", "T(a,1) T(a,b)", ""),
        (
            ":N[?x, ?n, ?k] :- AGGREGATE(:T[?x, ?y] ON ?x BIND min(?y) AS ?n BIND max(?y) AS ?k) .",
            "T(a,1) T(a,3)",
            "N(a,1,3)",
        ),
    ],
)
def test_naive__closure(rules: str, given: str, new: str) -> None:
    explicit = facts(given)
    assert show(naive(program(rules), explicit).facts - explicit) == show(facts(new))


def test_naive__strata_are_complete_before_they_are_negated() -> None:
    rules = program(f"{TRANSITIVE} :U[?x, ?y] :- :A[?x], :A[?y], NOT :T[?x, ?y] .")
    explicit = facts("A(a) A(b) A(c) T(a,b) T(b,c)")
    assert show(naive(rules, explicit).facts - explicit) == (
        "T(a, c) U(a, a) U(b, a) U(b, b) U(c, a) U(c, b) U(c, c)"
    )


def test_naive__violations_name_what_their_body_binds() -> None:
    rules = program(
        'constraint "odd" "not so" :- :T[?x, ?x], NOT :U[?x, ?z] . :T[?y, ?x] :- :T[?x, ?y] .'
    )
    found = naive(rules, facts("T(a,a) T(b,b) U(b,c)")).violations
    assert [(one.id, one.message, one.values) for one in found] == [
        ("odd", "not so", (("x", b"\x01http://e/a"),))
    ]


def test_naive__stops_when_there_is_no_end() -> None:
    endless = program(":T[?x, ?m] :- :T[?x, ?n], BIND(?n + 1 AS ?m) .")
    with pytest.raises(TooLargeError):
        naive(endless, facts("T(a,1)"), most=100)


def test_counts__instances_by_recursion() -> None:
    rules = program(":A[?y] :- :A[?x], :B[?x, ?y] . :A[?x] :- :P[?x, ?y] .")
    found = counts(rules, facts("A(a) A(b) B(a,c) B(b,c) B(c,c) P(c,u) P(c,v) P(c,w)"))
    assert found.nonrecursive == {fact("A(c)"): 3}
    assert found.recursive == {fact("A(c)"): 3}


def test_counts__a_binds_value_is_no_instance_of_its_own_but_an_aggregates_is() -> None:
    rules = program(
        ":A[?x] :- :T[?x, ?n], BIND(?n * 0 AS ?m) ."
        ":B[?x] :- :A[?x], AGGREGATE(:T[?y, ?k] ON ?y BIND max(?k) AS ?n) ."
    )
    found = counts(rules, facts("T(a,1) T(a,2) T(b,5)"))
    assert found.nonrecursive == {
        fact("A(a)"): 2,
        fact("A(b)"): 1,
        **dict.fromkeys(facts("B(a) B(b)"), 2),
    }


def test_counts__heads_that_two_rules_share_count_once() -> None:
    a, b, c = (Constant.iri(f"http://e/{name}") for name in "ABC")
    x = Variable("x")
    one, other = TripleAtom(x, a, b), TripleAtom(x, b, c)
    body = (TripleAtom(x, c, c),)
    rules = Program([Rule((one, other), body), Rule((one,), body)])
    explicit = facts("C(u, C)")
    assert set(counts(rules, explicit).nonrecursive.values()) == {1}
