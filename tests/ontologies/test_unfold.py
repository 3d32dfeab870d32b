"""Unfolded rules conclude the same, cost what they are long, and are remembered by group."""

from __future__ import annotations

import random
from itertools import product

import pytest
from support.fuzzing import seeds

from triplestore import Store
from triplestore.datalog.program import (
    TYPE,
    Constant,
    Constraint,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.text import read
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.ontologies.translate import open_clause
from triplestore.ontologies.translate.unfold import _unfolded, unfold

Fact = tuple[bytes, ...]
"""Subject, predicate and object; or the name of a relation and three columns."""


def name(local: str) -> Constant:
    return Constant.iri(f"http://e/{local}")


X, Y = Variable("x"), Variable("y")
NAMED = [name(f"C{i}") for i in range(3)]
LOOSE = [name(f"n{i}") for i in range(6)]
PROPERTIES = [name(f"p{i}") for i in range(2)]
THINGS = [name(thing) for thing in "abc"]


def matches(body: tuple[TripleAtom, ...], facts: set[Fact]) -> list[dict[Variable, bytes]]:
    """Every way to match a body, tried one by one."""
    variables = list(dict.fromkeys(t for a in body for t in a.terms if isinstance(t, Variable)))
    found = []
    for values in product([thing.key for thing in THINGS], repeat=len(variables)):
        row = dict(zip(variables, values, strict=True))
        if all(as_fact(atom, row) in facts for atom in body):
            found.append(row)
    return found


def as_fact(atom: TripleAtom | TupleAtom, row: dict[Variable, bytes]) -> Fact:
    values = (row[term] if isinstance(term, Variable) else term.key for term in atom.terms)
    return (*values,) if isinstance(atom, TripleAtom) else (atom.name.key, *values)


def visible(facts: set[Fact]) -> set[Fact]:
    """Visible facts: no types in loose classes, no rows of helper relations."""
    hidden = {class_.key for class_ in LOOSE}
    return {fact for fact in facts if len(fact) == 3 and fact[2] not in hidden}


def closed(rules: list[Rule], facts: set[Fact]) -> set[Fact]:
    """What follows, by going through all rules until nothing is new."""
    found = set(facts)
    while True:
        more = {as_fact(r.heads[0], row) for r in rules for row in matches(r.body, found)} - found
        if not more:
            return found
        found |= more


def random_case(seed: int) -> tuple[list[Rule], list[Constraint], set[Fact]]:
    roll = random.Random(seed)

    def member(variable: Variable) -> TripleAtom:
        return TripleAtom(variable, TYPE, roll.choice(NAMED + LOOSE + LOOSE))

    def body() -> tuple[TripleAtom, ...]:
        items = [member(X) for _ in range(roll.choice((1, 1, 1, 2, 3)))]
        if roll.random() < 0.6:
            items += [TripleAtom(X, roll.choice(PROPERTIES), Y), member(Y)]
        if roll.random() < 0.1:
            items.append(TripleAtom(roll.choice(THINGS), TYPE, roll.choice(LOOSE)))
        roll.shuffle(items)
        return tuple(dict.fromkeys(items))

    rules = []
    for _ in range(roll.randrange(4, 16)):
        head, items = member(X), body()
        if roll.random() < 0.1:  # an enumeration
            head, items = TripleAtom(roll.choice(THINGS), TYPE, head.o), ()
        elif roll.random() < 0.15:
            head = TripleAtom(X, roll.choice(PROPERTIES), roll.choice(THINGS))
        if head not in items:
            rules.append(Rule((head,), items, roll.choice(("one", "two", "three"))))
    constraints = [Constraint("id", "message", body()) for _ in range(roll.randrange(3))]
    facts = {
        (roll.choice(THINGS).key, TYPE.key, roll.choice(NAMED).key)
        for _ in range(roll.randrange(9))
    }
    facts |= {
        (roll.choice(THINGS).key, roll.choice(PROPERTIES).key, roll.choice(THINGS).key)
        for _ in range(roll.randrange(9))
    }
    return rules, constraints, facts


@pytest.mark.fuzz
def test_unfold__of_random_rules_concludes_the_same() -> None:
    for seed in seeds(150):
        rules, constraints, facts = random_case(seed)
        made, left = unfold(rules, constraints, LOOSE)
        before, after = closed(rules, facts), closed(made, facts)
        assert visible(before) == visible(after)
        broken = [any(matches(one.body, before) for one in constraints)]
        assert broken == [any(matches(one.body, after) for one in left)]


def chain(length: int) -> list[Rule]:
    """Classes in a row, each with two definitions that use the one before."""
    return [
        Rule((TripleAtom(X, TYPE, name(f"n{i + 1}")),), body)
        for i in range(length)
        for side in "ab"
        for body in [(TripleAtom(X, TYPE, name(f"n{i}")), TripleAtom(X, TYPE, name(f"{side}{i}")))]
    ]


def test_unfold__of_a_chain_that_would_double_with_each_class_has_a_bound() -> None:
    rules = chain(60)
    made, _ = unfold(rules, (), [name(f"n{i}") for i in range(1, 60)])
    items = sum(len(rule.body) for rule in rules)
    assert sum(len(rule.body) for rule in made) <= max(
        ONTOLOGIES.unfold_items * items, items + 1_000
    )
    member = THINGS[0].key
    facts = {(member, TYPE.key, name("n0").key)}
    facts |= {(member, TYPE.key, name(f"{'ab'[i % 2]}{i}").key) for i in range(60)}
    wanted = member, TYPE.key, name("n60").key
    assert wanted in closed(made, facts)
    assert wanted not in closed(made, facts - {(member, TYPE.key, name("a30").key)})


def wide(width: int) -> list[Rule]:
    """An intersection of restrictions, as it is translated."""
    members = [name(f"m{i}") for i in range(width)]
    whole, defined = name("whole"), name("D")
    rules = [Rule((TripleAtom(X, TYPE, whole),), tuple(TripleAtom(X, TYPE, m) for m in members))]
    rules += [Rule((TripleAtom(X, TYPE, m),), (TripleAtom(X, TYPE, whole),)) for m in members]
    rules.append(Rule((TripleAtom(X, TYPE, defined),), (TripleAtom(X, TYPE, whole),)))
    rules.append(Rule((TripleAtom(X, TYPE, whole),), (TripleAtom(X, TYPE, defined),)))
    for i, m in enumerate(members):
        body = (TripleAtom(X, name(f"p{i}"), Y), TripleAtom(Y, TYPE, name(f"F{i}")))
        rules.append(Rule((TripleAtom(X, TYPE, m),), body))
    return rules


def test_unfold__of_a_wide_intersection_takes_steps_in_proportion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0
    plain = open_clause.Open._append

    def counting(self: open_clause.Open, *arguments: object) -> None:
        nonlocal steps
        steps += 1
        plain(self, *arguments)

    monkeypatch.setattr(open_clause.Open, "_append", counting)
    counted = []
    for width in (200, 400):
        steps = 0
        loose = [name("whole"), *(name(f"m{i}") for i in range(width))]
        made, _ = unfold(wide(width), (), loose)
        assert [len(rule.body) for rule in made] == [2 * width]
        counted.append(steps)
    assert counted[1] < 2.5 * counted[0]


def test_unfold__gives_the_same_rules_again_where_other_axioms_change() -> None:
    program = read(
        """PREFIX : <http://e/> :n1[?x] :- :a[?x], :b[?x] . :c[?x] :- :n1[?x] . :d[?x] :- :e[?x] .
        :n2[?x] :- :b[?x] . :f[?x] :- :n2[?x] . :g[?x] :- :n2[?x] ."""
    )
    loose = [name("n1"), name("n2")]
    before, _ = unfold(program.rules, (), loose)
    after, _ = unfold(program.rules[:-1], (), loose)
    same = {id(rule) for rule in before} & {id(rule) for rule in after}
    assert sorted(str(rule) for rule in after if id(rule) in same) == [
        "<http://e/c>[?x] :- <http://e/a>[?x], <http://e/b>[?x] .",
        "<http://e/d>[?x] :- <http://e/e>[?x] .",
    ]


def test_reason__after_a_schema_change_unfolds_only_what_it_touches() -> None:
    lines = ["@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> ."]
    for i in range(30):
        some = f"[ owl:onProperty :p{i} ; owl:someValuesFrom :F{i} ]"
        lines.append(f":D{i} owl:equivalentClass [ owl:intersectionOf ( :A{i} {some} ) ] .")
    store = Store()
    store.load("\n".join(lines), "ttl")
    store.reason("owl-rl")
    known = _unfolded.misses
    same = "<http://www.w3.org/2002/07/owl#equivalentProperty>"
    store.update(f"INSERT DATA {{ <http://e/p1> {same} <http://e/q> }}")
    assert _unfolded.misses <= known + 2


def test_unfold__of_a_restriction_inside_another_keeps_their_variables_apart() -> None:
    program = read(
        """PREFIX : <http://e/> :n[?x] :- :p[?x, ?y], :b[?y] .
        :c[?x] :- :p[?x, ?y], :n[?y] ."""
    )
    made, _ = unfold(program.rules, (), [name("n")])
    assert [str(rule) for rule in made] == [
        "<http://e/c>[?x] :- <http://e/p>[?x, ?y], <http://e/p>[?y, ?y_1], <http://e/b>[?y_1] ."
    ]
