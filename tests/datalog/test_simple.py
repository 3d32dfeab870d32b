"""Simple form: its shape, its meaning and its strata, against a plain evaluator of whole bodies."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from support.fuzzing import each_seed

from tests.datalog.random_programs import programs
from tests.datalog.sensible_programs import Maker, iri
from tests.maintenance.naive import ground, naive
from triplestore.datalog.check import check
from triplestore.datalog.problems import Problem
from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
    variables_in,
)
from triplestore.datalog.stratify import stratify
from triplestore.datalog.text import read, show
from triplestore.errors import ProgramError
from triplestore.rules.simplify import SimpleProgram, is_helper, simplify

X, Y = map(Variable, "xy")
A = iri("A")


def made(text: str) -> SimpleProgram:
    return simplify(read(f"PREFIX : <http://e/> {text}"))


def shown(simple: SimpleProgram) -> list[str]:
    """The rules, with helpers named not1, aggregate1, ... in the order of their rules."""
    texts = [show(rule, {"": "http://e/"}) for rule in simple.rules]
    counts: Counter[str] = Counter()
    for name, _ in simple.helpers:
        iri = name[1:].decode()
        kind = iri.removeprefix("x-triplestore:").split("/")[0]
        counts[kind] += 1
        texts = [text.replace(f"<{iri}>", f"{kind}{counts[kind]}") for text in texts]
    return texts


# --- 1: heads, repetitions, facts ----------------------------------------------------------------


def test_simplify__plain_rules_are_the_same_objects() -> None:
    program = read(
        """PREFIX : <http://e/> :A[?x] :- :B[?x], FILTER(?x != :a), BIND(STR(?x) AS ?y) .
        :p[?x, ?y] :- [?x, ?p, ?y], :P[?p], NOT :q[?x, ?y], NOT :Closed[:a] . :A[:a] .
        :n[?x, ?n] :- AGGREGATE(:p[?x, ?y], NOT :q[?y, ?x] ON ?x BIND count(?y) AS ?n) ."""
    )
    simple = simplify(program)
    assert [id(rule) for rule in simple.rules] == [id(rule) for rule in program.rules]
    assert simple.origins == program.rules
    assert not simple.helpers and not simple.violations


def test_simplify__one_rule_for_each_head() -> None:
    simple = made('rule "two" :A[?x], :B[?x] :- :C[?x] . :A[?y] :- :C[?y] . :D[:a], :D[:b] .')
    assert shown(simple) == [
        'rule "two" :A[?x] :- :C[?x] .',
        'rule "two" :B[?x] :- :C[?x] .',
        ":D[:a] .",
        ":D[:b] .",
    ]
    assert [len(origin.heads) for origin in simple.origins if isinstance(origin, Rule)] == [2] * 4


def test_simplify__a_repeated_part_is_dropped_wherever_it_comes() -> None:
    first = made(":A[?y] :- :C[?y] . :A[?x], :B[?x] :- :C[?x] .")
    assert shown(first) == [":A[?y] :- :C[?y] .", ":B[?x] :- :C[?x] ."]
    assert shown(made(":A[?x], :A[?x] :- :C[?x] .")) == [":A[?x] :- :C[?x] ."]


# --- 2: negations --------------------------------------------------------------------------------


def test_not__with_a_local_variable() -> None:
    simple = made(":A[?x] :- :B[?x], NOT :p[?x, ?y] .")
    assert shown(simple) == [
        "not1[not1, not1, ?x] :- :p[?x, ?y] .",
        ":A[?x] :- :B[?x], NOT not1[not1, not1, ?x] .",
    ]
    assert list(simple.helpers.values()) == ["NOT :p[?x, ?y]"]
    assert simple.origins[0] is simple.origins[1]


def test_not__of_several_atoms_and_of_none_that_is_shared() -> None:
    assert shown(made(":A[?x] :- :p[?x, ?y], NOT (:q[?y, ?x], :B[?y]), NOT :C[?z] .")) == [
        "not1[not1, ?y, ?x] :- :q[?y, ?x], :B[?y] .",
        "not2[not2, not2, not2] :- :C[?z] .",
        ":A[?x] :- :p[?x, ?y], NOT not1[not1, ?y, ?x], NOT not2[not2, not2, not2] .",
    ]


def test_not__names_that_are_local_to_two_are_no_link() -> None:
    one = made(":A[?x] :- :B[?x], NOT :p[?x, ?y], NOT :p[?x, ?z] .")
    assert len(one.helpers) == 1
    (rule,) = (rule for rule in one.rules if len(rule.body) == 3)
    assert rule.body[1] == rule.body[2]


def test_not__exists_is_said_no_more() -> None:
    simple = made(":A[?x] :- :B[?x], NOT EXISTS ?y IN (:p[?x, ?y]) .")
    assert shown(simple) == shown(made(":A[?x] :- :B[?x], NOT :p[?x, ?y] ."))
    idle = Rule((TripleAtom(X, TYPE, iri("A")),), (TripleAtom(X, TYPE, iri("B")),))
    idle = replace(idle, body=(*idle.body, Not(idle.body, (Y,))))
    assert simplify(Program([idle])).rules[0].nots == (Not(idle.body[:1]),)


def test_not__four_shared_variables_need_no_padding() -> None:
    simple = made(":r[?x, ?y, ?z, ?w] :- :r[?x, ?y, ?z, ?w], NOT (:p[?x, ?y], :p[?z, ?w]) .")
    assert list(simple.helpers) == [(simple.rules[0].heads[0].name.key, 4)]  # type: ignore[union-attr]
    assert shown(simple)[0] == "not1[?x, ?y, ?z, ?w] :- :p[?x, ?y], :p[?z, ?w] ."


def test_guard__binds_what_only_a_filter_has() -> None:
    assert shown(made(":A[?x] :- :p[?x, ?y], NOT (:q[?x, ?z], FILTER(?z < ?y)) .")) == [
        "not1[not1, ?x, ?y] :- :q[?x, ?z], FILTER(?z < ?y), :p[?x, ?y] .",
        ":A[?x] :- :p[?x, ?y], NOT not1[not1, ?x, ?y] .",
    ]


def test_guard__comes_with_the_binds_and_what_they_need() -> None:
    simple = made(
        """:A[?x] :- :B[?x], :p[?x, ?y], :p[?x, ?w], BIND(?y + 1 AS ?z), BIND(?z + 1 AS ?u),
        NOT (:q[?x, ?v], BIND(?v + ?u AS ?sum), FILTER(?sum > 3)) ."""
    )
    assert shown(simple)[0] == (
        "not1[not1, ?x, ?u] :- :q[?x, ?v], BIND(?v + ?u AS ?sum), FILTER(?sum > 3), "
        "BIND(?z + 1 AS ?u), BIND(?y + 1 AS ?z), :p[?x, ?y] ."
    )


def test_guard__is_no_cartesian_product_where_atoms_lead_to_the_variable() -> None:
    simple = made(
        ":A[?x] :- :D[?y], :p[?x, ?u], :E[?x], :q[?u, ?y], NOT (:r[?x, ?z], FILTER(?z < ?y)) ."
    )
    assert shown(simple)[0].endswith("FILTER(?z < ?y), :p[?x, ?u], :q[?u, ?y] .")
    alone = made(":A[?x] :- :B[?x], :q[?u, ?y], :C[?y], NOT (:r[?z, :a], FILTER(?z < ?y)) .")
    assert shown(alone)[0] == "not1[not1, not1, ?y] :- :r[?z, :a], FILTER(?z < ?y), :C[?y] ."


def test_guard__may_be_an_aggregate() -> None:
    simple = made(
        """:A[?x] :- :B[?x], AGGREGATE(:p[?x, ?u] ON ?x BIND count(?u) AS ?n),
        NOT (:limit[?x, ?m], FILTER(?m < ?n)) ."""
    )
    assert shown(simple)[1:] == [
        "not1[not1, ?x, ?n] :- :limit[?x, ?m], FILTER(?m < ?n), aggregate1[aggregate1, ?x, ?n] .",
        ":A[?x] :- :B[?x], aggregate1[aggregate1, ?x, ?n], NOT not1[not1, ?x, ?n] .",
    ]


def test_guard__keeps_away_from_recursion() -> None:
    simple = made(
        """:A[?y] :- :A[?x], :p[?x, ?y], NOT (:q[?u, ?v], FILTER(?v < ?x)) .
        :B[?x] :- :C[?x] . :C[?x] :- :B[?x], :D[?x], NOT (:q[?u, ?v], FILTER(?v < ?x)) ."""
    )
    assert [text for text in shown(simple) if text.startswith("not")] == [
        "not1[not1, not1, ?x] :- :q[?u, ?v], FILTER(?v < ?x), :p[?x, ?y] .",
        "not2[not2, not2, ?x] :- :q[?u, ?v], FILTER(?v < ?x), :D[?x] .",
    ]
    stratify(simple.rules)


def test_guard__keeps_away_from_what_a_variable_property_puts_into_its_stratum() -> None:
    simple = made(
        """[?x, ?p, ?y] :- :r[?x, ?p, ?y] . :p[?x, ?y] :- :o[?x, ?y, ?y] .
        :A[?x] :- :p[?x, ?y], :s[?x, ?y, ?z], NOT (:o[?x, ?v, ?v], FILTER(?v < ?y)) ."""
    )
    assert ":s[?x, ?y, ?z]" in shown(simple)[2]
    stratify(simple.rules)


def test_guard__that_only_recursion_could_be_is_refused_with_its_place() -> None:
    text = """PREFIX : <http://e/>
:A[?y] :- :B[?y] .
:A[?z] :- :A[?y], BIND(?y + 1 AS ?z),
    NOT (:limit[:a, ?m], FILTER(?m < ?z)) ."""
    stratify(read(text))
    with pytest.raises(ProgramError, match=r"input:4:.*compares \?y.*:A\[\?y\] depends") as caught:
        simplify(read(text))
    (problem,) = caught.value.problems
    assert isinstance(problem, Problem) and problem.code == "unstratifiable"


# --- 3: aggregates -------------------------------------------------------------------------------


def test_aggregate__beside_other_items_has_a_helper() -> None:
    simple = made(
        ":A[?x] :- :B[?x], AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n), FILTER(?n > 1) ."
    )
    assert shown(simple) == [
        "aggregate1[aggregate1, ?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .",
        ":A[?x] :- :B[?x], aggregate1[aggregate1, ?x, ?n], FILTER(?n > 1) .",
    ]


@pytest.mark.parametrize(
    "head", [":p[?n, ?x]", ":p[?x, ?x]", ":C[?n]", "[?x, ?n, :a]", ":r[?x, ?n, :a]"]
)
def test_aggregate__whose_head_is_another_has_a_helper(head: str) -> None:
    simple = made(f"{head} :- AGGREGATE(:q[?x, ?y] ON ?x BIND max(?y) AS ?n) .")
    assert [isinstance(rule.body[0], Aggregate) for rule in simple.rules] == [True, False]
    assert shown(simple)[1] == f"{head} :- aggregate1[aggregate1, ?x, ?n] ."


def test_aggregate__a_class_and_a_relation_may_be_its_head() -> None:
    simple = made(
        """:Total[?n] :- AGGREGATE(:q[?x, ?y] BIND max(?y) AS ?n) .
        :r[?x, ?n, ?m] :- AGGREGATE(:q[?x, ?y] ON ?x BIND max(?y) AS ?n BIND min(?y) AS ?m) ."""
    )
    assert not simple.helpers


def test_aggregate__its_own_negations_are_simplified() -> None:
    simple = made(
        ":n[?x, ?c] :- AGGREGATE(:p[?x, ?y], NOT :q[?y, ?z] ON ?x BIND count(?y) AS ?c) ."
    )
    assert shown(simple) == [
        "not1[not1, not1, ?y] :- :q[?y, ?z] .",
        ":n[?x, ?c] :- AGGREGATE(:p[?x, ?y], NOT not1[not1, not1, ?y] ON ?x "
        "BIND count(?y) AS ?c) .",
    ]


# --- 4: constraints ------------------------------------------------------------------------------


def test_constraint__lists_its_variables_by_name() -> None:
    simple = made(
        """constraint "c" "m" :- :p[?y, ?b], NOT :q[?b, ?z],
        AGGREGATE(:p[?y, ?u] ON ?y BIND count(?u) AS ?a) ."""
    )
    assert shown(simple)[-1] == (
        "constraint1[?a, ?b, ?y] :- :p[?y, ?b], NOT not1[not1, not1, ?b], "
        "aggregate1[aggregate1, ?y, ?a] ."
    )
    (constraint,) = simple.violations.values()
    assert constraint.id == "c" and simple.origins == (constraint,) * 3
    (name,) = simple.violations
    assert (name, 3) in simple.helpers


def test_constraint__its_name_is_of_id_message_body_and_columns() -> None:
    texts = [
        'constraint "c" "m" :- :p[?a, ?b] .',
        'constraint "d" "m" :- :p[?a, ?b] .',
        'constraint "c" "n" :- :p[?a, ?b] .',
        'constraint "c" "m" :- :q[?a, ?b] .',
        'constraint "c" "m" :- :p[?b, ?a] .',  # the columns are exchanged
    ]
    assert len({name for text in texts for name in made(text).violations}) == 5
    assert made(texts[0]).violations.keys() == made(texts[0].replace("a", "A")).violations.keys()


# --- 5: names ------------------------------------------------------------------------------------


def test_helpers__are_shared_up_to_names_of_variables() -> None:
    simple = made(
        """:A[?x] :- :B[?x], NOT (:p[?x, ?y], :q[?y, ?z]) .
        :C[?y] :- :D[?y], NOT (:p[?y, ?z], :q[?z, ?x]) .
        :n[?x] :- :B[?x], AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n), FILTER(?n > 1) .
        :m[?z] :- :B[?z], AGGREGATE(:p[?z, ?x] ON ?z BIND count(?x) AS ?k), FILTER(?k > 2) ."""
    )
    assert len(simple.helpers) == 2
    assert len(simple.rules) == 6


def test_helpers__with_another_guard_or_order_of_columns_are_others() -> None:
    simple = made(
        """:A[?x] :- :p[?x, ?y], NOT (:q[?x, ?z], FILTER(?z < ?y)) .
        :B[?x] :- :s[?x, ?y], NOT (:q[?x, ?z], FILTER(?z < ?y)) .
        :C[?x] :- :p[?x, ?y], NOT (:q[?y, ?z], FILTER(?z < ?x)) ."""
    )
    assert len(simple.helpers) == 3


def test_helpers__have_the_same_names_in_every_process() -> None:
    text = ":A[?x] :- :B[?x], NOT :p[?x, ?y] ."
    program = (
        "from triplestore.rules.simplify import simplify\n"
        "from triplestore.datalog.text import read\n"
        f"print(*[n.decode() for n, _ in simplify(read('PREFIX : <http://e/> {text}')).helpers])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    (name,) = (name for name, _ in made(text).helpers)
    assert run.stdout.strip() == name == b"\x01x-triplestore:not/9e4d039230bdc4e5"
    assert is_helper(name) and not is_helper(iri("A").key)


# --- shape, strata, meaning ----------------------------------------------------------------------


def is_simple(rule: Rule) -> bool:
    if len(rule.heads) != 1:
        return False
    item = rule.body[0] if len(rule.body) == 1 else None
    if isinstance(item, Aggregate):
        variables = [term for term in rule.heads[0].terms if isinstance(term, Variable)]
        columns = [*item.groups, *(one.variable for one in item.results)]
        return variables == columns and is_simple_body(item.body)
    return is_simple_body(rule.body)


def is_simple_body(body: tuple[Item, ...]) -> bool:
    bound = set(bound_by(body))
    for item in body:
        if isinstance(item, Not):
            (atom,) = item.body
            if not isinstance(atom, TripleAtom | TupleAtom) or item.exists:
                return False
            if not bound.issuperset(variables_in(atom)):
                return False
        elif not isinstance(item, TripleAtom | TupleAtom | Filter | Bind):
            return False
    return True


def check_shape(program: Program, simple: SimpleProgram) -> None:
    assert all(is_simple(rule) for rule in simple.rules)
    assert len(simple.rules) == len(simple.origins)
    clauses = {id(clause) for clause in (*program.rules, *program.constraints)}
    assert all(id(origin) in clauses for origin in simple.origins)
    used = {
        (rule.heads[0].name.key, len(rule.heads[0].args))
        for rule in simple.rules
        if isinstance(rule.heads[0], TupleAtom) and is_helper(rule.heads[0].name.key)
    }
    assert used == simple.helpers.keys()
    again = simplify(Program(simple.rules))
    assert again.rules == simple.rules and not again.helpers


def stratifies(rules: Program | tuple[Rule, ...]) -> bool:
    try:
        stratify(rules)
    except ProgramError:
        return False
    return True


def check_meaning(program: Program, simple: SimpleProgram, facts: list[Atom]) -> None:
    explicit = [ground(fact, {}) for fact in facts]
    wanted, found = naive(program, explicit), naive(simple.rules, explicit)
    helpers = {fact for fact in found.facts if fact[0] == "r" and is_helper(fact[1])}
    assert found.facts - helpers == wanted.facts, f"{program}\n{explicit}"
    assert set(simple.violations.values()) == set(program.constraints)
    assert violations(simple, helpers) == wanted.violations, f"{program}\n{explicit}"


def violations(simple: SimpleProgram, helpers: Iterable[Any]) -> set[tuple[object, ...]]:
    """What the helpers of constraints list, in the way the oracle does."""
    found: set[tuple[object, ...]] = set()
    for name, constraint in simple.violations.items():
        names = sorted({variable.name for variable in bound_by(constraint.body)})
        for _, own, *values in helpers:
            if own == name:
                values = values[len(values) - len(names) :]
                pairs = tuple(zip(names, values, strict=True))
                found.add((constraint.id, constraint.message, pairs))
    return found


def check_program(source: random.Random) -> str:
    """What came of one random program."""
    maker = Maker(source)
    program = maker.program()
    problems = [problem for problem in check(program) if not problem.warning]
    if any(problem.code != "unstratifiable" for problem in problems):
        return "not sensible"
    if problems:
        try:
            simple = simplify(program)
        except ProgramError:
            return "without strata"
        assert not stratifies(simple.rules), str(program)
        return "without strata"
    try:
        simple = simplify(program)
    except ProgramError as error:
        assert "which only recursion binds" in str(error)
        return "refused"
    check_shape(program, simple)
    assert stratifies(simple.rules), str(program)
    check_meaning(program, simple, maker.facts())
    check_meaning(program, simple, maker.facts())
    return "with helpers" if simple.helpers else "plain"


@each_seed(range(20))
def test_simplify__means_the_same_and_has_strata_as_before(seed: int) -> None:
    source = random.Random(seed)
    found = Counter(check_program(source) for _ in range(25))
    assert found["with helpers"] >= 3
    assert found["refused"] <= 3


@pytest.mark.long
@each_seed(range(100, 200))
def test_simplify__means_the_same_and_has_strata_as_before__long(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(200):
        check_program(source)


@given(programs)
def test_simplify__whatever_it_is_given_it_gives_rules_or_says_why_not(program: Program) -> None:
    try:
        simple = simplify(program)
    except ProgramError:
        return
    assert all(len(rule.heads) == 1 for rule in simple.rules)
    assert all(
        isinstance(item.body[0], TripleAtom | TupleAtom) and len(item.body) == 1
        for rule in simple.rules
        for item in rule.nots
    )


def test_simplify__nested_negations_that_check_refuses_still_mean_what_they_say() -> None:
    b, p, q = (iri(name) for name in "bpq")
    inner = Not((TripleAtom(Y, q, X),))
    rule = Rule(
        (TripleAtom(X, TYPE, A),),
        (TripleAtom(X, TYPE, b), Not((TripleAtom(X, p, Y), inner))),
    )
    facts: list[Atom] = [TripleAtom(iri(name), TYPE, b) for name in "uvw"]
    facts += [TripleAtom(iri("u"), p, iri("1")), TripleAtom(iri("v"), p, iri("2"))]
    facts += [TripleAtom(iri("1"), q, iri("u")), TripleAtom(iri("2"), q, iri("u"))]
    program = Program([rule])
    check_meaning(program, simplify(program), facts)
    members = {f[1] for f in naive(program, [ground(f, {}) for f in facts]).facts if f[3] == A.key}
    assert members == {iri("u").key, iri("w").key}


def test_constraint__without_variables() -> None:
    simple = made('constraint "c" :- :A[:a], NOT :B[:b] .')
    assert shown(simple) == [
        "constraint1[constraint1, constraint1, constraint1] :- :A[:a], NOT :B[:b] ."
    ]
    assert Constraint("c", "", simple.rules[0].body) in simple.violations.values()
