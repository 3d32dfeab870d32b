"""Proofs one by one: what they look like, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from tests.maintenance.driver import Driver
from tests.maintenance.notation import fact, facts, key, program
from tests.proofs.proving import atom_of
from triplestore.datalog.program import (
    TYPE,
    Constant,
    Constraint,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.errors import BudgetError, CorruptError, UsageError
from triplestore.maintenance.strategies import strategy
from triplestore.proofs import Limits, Proof, why
from triplestore.proofs.explorer import Explorer, _Spent
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations import INFERRED, ChangedRows, Changes, Layer

HURRY = Limits(depth=1)
"""No search by levels: rounds instead."""


def closed(rules: str, stated: str) -> Driver:
    """A store with rules and facts in the short notation."""
    driver = Driver()
    driver.step(facts(stated), (), program(rules), strategy("dred_c"))
    return driver


def proof_of(driver: Driver, goal: str, **options: object) -> Proof:
    assert driver.compiled is not None
    return why(
        driver.compiled,
        driver.tables,
        driver.dictionary,
        atom_of(fact(goal)),
        **options,  # type: ignore[arg-type]
    )


FAMILY = """rule "base" :anc[?x, ?y] :- :par[?x, ?y] .
rule "trans" :anc[?x, ?z] :- :anc[?x, ?y], :anc[?y, ?z] ."""


def test_why__text__is_a_tree_in_which_a_fact_is_proved_once() -> None:
    driver = closed(
        FAMILY + ":both[?x, ?y] :- :anc[?x, ?y], :anc[?x, ?z], FILTER(?y = ?z), :A[?x] .",
        "par(a, b) par(b, c) A(a)",
    )
    assert (
        str(proof_of(driver, "both(a, c)"))
        == """\
:both[:a, :c]
│  by rule (input:3:58)
│  :both[?x, ?y] :- :anc[?x, ?y], :anc[?x, ?z], FILTER(?y = ?z), :A[?x] .
│  ?x = :a, ?y = :c, ?z = :c
├─ :anc[:a, :c]
│  │  by rule trans (input:3:1)
│  │  :anc[?x, ?z] :- :anc[?x, ?y], :anc[?y, ?z] .
│  │  ?x = :a, ?y = :b, ?z = :c
│  ├─ :anc[:a, :b]
│  │  │  by rule base (input:2:1)
│  │  │  :anc[?x, ?y] :- :par[?x, ?y] .
│  │  │  ?x = :a, ?y = :b
│  │  └─ :par[:a, :b]  (asserted)
│  └─ :anc[:b, :c]
│     │  by rule base (input:2:1)
│     │  :anc[?x, ?y] :- :par[?x, ?y] .
│     │  ?x = :b, ?y = :c
│     └─ :par[:b, :c]  (asserted)
├─ :anc[:a, :c]  (shown above)
├─ true: :c = :c
└─ :A[:a]  (asserted)"""
    )


CONDITIONS = """
rule "count" :n[?x, ?c] :- :A[?x], AGGREGATE(:p[?x, ?y], NOT :A[?y] ON ?x BIND count(?y) AS ?c) .
rule "many" :B[?x] :- :n[?x, ?c], BIND(?c + 1 AS ?d), FILTER(?d > 3), NOT (:p[?x, ?y], :q[?y, ?z]) .
:p[?x, ?y] :- :r[?x, ?y] .
"""


def test_why__conditions__are_shown_in_place_of_helper_relations() -> None:
    driver = closed(CONDITIONS, "A(a) p(a, b) p(a, c) p(a, d) r(a, e) p(a, a)")
    proof = proof_of(driver, "B(a)", members=2)
    text = str(proof)
    assert "count(?y) = 4, of 4 matches of :p[:a, ?y], NOT :A[?y]" in text
    assert "and 2 more" in text
    assert "5 = 4 + 1" in text
    assert "true: 5 > 3" in text
    assert "absent: (:p[:a, ?y], :q[?y, ?z])" in text
    for shown in (text, proof.json(), proof.dot(), proof.mermaid()):
        assert "x-triplestore" not in shown
    assert [part.kind for part in proof.last.parts] == ["fact", "value", "condition", "absent"]


def test_why__members_of_an_aggregate__are_proved_but_add_no_height() -> None:
    proof = proof_of(closed(CONDITIONS, "A(a) r(a, e)"), "n(a, 1)")
    assert proof.height == proof.size == 1
    assert atom_of(fact("p(a, e)")) in proof.steps
    assert proof.steps[atom_of(fact("p(a, e)"))].rule is not None


def test_why__a_helper_of_two_rules__shows_the_variables_of_each() -> None:
    rules = """:B[?x] :- :A[?x], AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n), FILTER(?n > 0) .
        :C[?u] :- :A[?u], AGGREGATE(:p[?u, ?v] ON ?u BIND count(?v) AS ?m), FILTER(?m > 0) ."""
    driver = closed(rules, "A(a) p(a, b)")
    assert len(driver.compiled.helpers) == 1  # type: ignore[union-attr]
    for goal, names in (("B(a)", {"x", "y"}), ("C(a)", {"u", "v"})):
        (member,) = proof_of(driver, goal).last.parts[1].members
        assert {variable.name for variable in member.values} == names
        assert member.facts == (atom_of(fact("p(a, b)")),)


def test_why__an_aggregate__concludes_its_own_results_only() -> None:
    rules = """rule "count" :n[?x, ?c] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?c) .
        rule "given" :n[?x, ?c] :- :q[?x, ?c] ."""
    driver = closed(rules, "p(a, b) p(a, c) q(a, 2) q(a, 7)")
    assert rule_names(proof_of(driver, "n(a, 7)", alternatives=1)) == ["given"]
    assert rule_names(proof_of(driver, "n(a, 2)", alternatives=1)) == ["count", "given"]


def rule_names(proof: Proof) -> list[str]:
    """The names of the last rules of a proof and its alternatives."""
    steps = [proof.last, *(other.last for other in proof.alternatives)]
    return [step.rule.name for step in steps if isinstance(step.rule, Rule)]


def test_why__stated_facts__need_no_proof_and_have_alternatives() -> None:
    driver = closed(FAMILY, "par(a, b) anc(a, b) anc(b, a)")
    proof = proof_of(driver, "anc(a, b)", alternatives=5)
    assert (proof.stated, proof.height, len(proof)) == (True, 0, 1)
    assert str(proof).startswith(":anc[:a, :b]  (asserted)\n\nalternative 1:")
    assert rule_names(proof) == ["base"]
    assert not proof.more


def test_why__facts_that_rules_state__have_a_proof_of_one_step() -> None:
    proof = proof_of(closed(":A[:a] . :B[?x] :- :A[?x] .", "C(c)"), "B(a)")
    assert (proof.height, proof.size, len(proof)) == (2, 2, 2)
    assert str(proof).count("(asserted)") == 0


def test_why__violations__are_proved_like_facts() -> None:
    driver = closed(FAMILY + 'constraint "loop" "in a circle" :- :anc[?x, ?x] .', "par(a, a)")
    compiled = driver.compiled
    assert compiled is not None
    (name,) = compiled.simple.violations
    columns = [Constant(name)] * 2 + [Constant(key("a"))]
    goal = TupleAtom(Constant(name), tuple(columns))
    proof = why(compiled, driver.tables, driver.dictionary, goal)
    assert isinstance(proof.last.rule, Constraint)
    assert str(proof).splitlines()[0] == "inconsistency loop: in a circle"
    assert [step.rule is None for step in proof] == [False, False, True]


def test_why__of_what_does_not_hold__is_refused() -> None:
    driver = closed(FAMILY, "par(a, b)")
    with pytest.raises(UsageError, match="does not hold"):
        proof_of(driver, "anc(b, a)")
    x = Variable("x")
    with pytest.raises(UsageError, match="has variables"):
        why(driver.compiled, driver.tables, driver.dictionary, TripleAtom(x, TYPE, x))  # type: ignore[arg-type]


def with_rows(driver: Driver, rows: str) -> None:
    """Put facts of properties into the tables as inferred, which they are not."""
    batch = driver.batch(facts(rows))
    for name, keys in batch.items():
        assert isinstance(name, int)
        s, o = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
        p = np.full(len(keys), name, dtype=np.uint32)
        layer = Layer.build(Changes(facts=ChangedRows.of((p, s, o), INFERRED, 0)))
        driver.tables = driver.tables.push(layer)


def test_why__two_facts_that_support_each_other__have_no_proof() -> None:
    driver = closed(":p[?y, ?x] :- :p[?x, ?y] .", "p(a, b)")
    with_rows(driver, "p(c, d) p(d, c)")
    assert proof_of(driver, "p(b, a)").height == 1
    for limits in (None, HURRY):
        with pytest.raises(CorruptError, match="does not follow"):
            proof_of(driver, "p(c, d)", limits=limits)


def test_why__recursion__does_not_nest() -> None:
    count = 3000
    x = Variable("x")
    classes = [Constant(key(f"C{i}")) for i in range(count + 1)]
    rules = [
        Rule((TripleAtom(x, TYPE, upper),), (TripleAtom(x, TYPE, lower),))
        for lower, upper in pairwise(classes)
    ]
    driver = Driver()
    driver.step(facts("C0(a)"), (), Program(rules), strategy("dred_c"))
    proof = proof_of(driver, f"C{count}(a)")
    assert (proof.height, proof.size, len(proof), proof.least) == (count, count, count + 1, True)
    lines = proof.text().splitlines()
    assert max(map(len, lines)) < 500
    assert sum(line.endswith("(asserted)") for line in lines) == 1
    assert (
        sum("below)" in line for line in lines) == sum(line.startswith("[") for line in lines) > 100
    )
    assert "and 2,5" in str(proof).splitlines()[-1]
    assert len(json.loads(proof.json())["steps"]) == count + 1


def test_why__chains_through_a_property__are_as_high_as_they_are_long() -> None:
    rules = ":q[?x, ?y] :- :p[?x, ?y] . :q[?x, ?z] :- :q[?x, ?y], :p[?y, ?z] ."
    driver = closed(rules, " ".join(f"p(n{i}, n{i + 1})" for i in range(200)))
    proof = proof_of(driver, "q(n0, n200)")
    assert (proof.height, proof.size, len(proof)) == (200, 200, 400)


def test_why__limits__end_a_search() -> None:
    driver = closed(FAMILY, " ".join(f"par(n{i}, n{i + 1})" for i in range(30)))
    with pytest.raises(BudgetError, match="raise the limits"):
        proof_of(driver, "anc(n0, n30)", limits=Limits(rows=10))
    with pytest.raises(BudgetError, match="raise the limits"):
        proof_of(driver, "anc(n0, n30)", limits=Limits(seconds=0.0))
    assert proof_of(driver, "anc(n0, n30)").height == 6


def test_why__some_proof__may_need_two_inferred_facts_at_every_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spent(explorer: Explorer, goal: int) -> bool:
        raise _Spent

    monkeypatch.setattr(Explorer, "_by_rounds", spent)
    rules = """:D[?x] :- :C[?x], :p[?x, ?x] . :C[?x] :- :B[?x], :q[?x, ?x] .
        :B[?x] :- :A[?x], :r[?x, ?x] . :p[?x, ?x] :- :A[?x] . :q[?x, ?x] :- :p[?x, ?x] .
        :r[?x, ?x] :- :A[?x] . :A[?x] :- :s[?x, ?x] ."""
    proof = proof_of(closed(rules, "s(a, a)"), "D(a)", limits=HURRY)
    assert (proof.height, len(proof), proof.least) == (5, 8, False)
    assert "there may be a smaller proof" in str(proof)


@pytest.mark.parametrize("limits", [None, HURRY])
def test_why__what_is_negated__may_be_inferred(
    limits: Limits | None, tune: Callable[..., None]
) -> None:
    tune(PROOFS, wide_level=0)
    rules = """rule "not" :D[?x] :- :A[?x], NOT :B[?x] . :B[?x] :- :A[?x] .
        rule "so" :D[?x] :- :C[?x] . :C[?x] :- :B[?x] . :E[?x] :- :D[?x], :A[?x] ."""
    proof = proof_of(closed(rules, "A(a)"), "E(a)", limits=limits)
    assert (proof.height, proof.least) == (4, True)
    rule = proof.steps[atom_of(fact("D(a)"))].rule
    assert rule is not None and rule.name == "so"


def test_why__rules_made_from_axioms__name_them() -> None:
    x, above, below = Variable("x"), Constant(key("B")), Constant(key("A"))
    axiom = TripleAtom(below, Constant(key("subClassOf")), above)
    rule = Rule(
        (TripleAtom(x, TYPE, above),), (TripleAtom(x, TYPE, below),), "cax-sco", None, (axiom,)
    )
    driver = Driver()
    driver.step(facts("A(a)"), (), Program([rule], prefixes={"": "http://e/"}), strategy("dred_c"))
    proof = proof_of(driver, "B(a)")
    assert str(proof).splitlines()[1:3] == [
        "│  by rule cax-sco",
        "│  made from :subClassOf[:A, :B]",
    ]
    assert json.loads(proof.json())["steps"][0]["rule"]["axioms"] == [":subClassOf[:A, :B]"]


def test_why__parts_of_proofs__are_proofs_of_their_facts() -> None:
    driver = closed(FAMILY, "par(a, b) par(b, c) par(c, d) par(d, e) par(b, e) par(e, f)")
    proof = proof_of(driver, "anc(a, f)")
    assert proof == proof_of(driver, "anc(a, f)")
    for step in proof:
        part = why(driver.compiled, driver.tables, driver.dictionary, step.fact)  # type: ignore[arg-type]
        assert {one: proof.steps[one] for one in part.steps} == part.steps


def test_why__asking__adds_no_terms() -> None:
    driver = closed(CONDITIONS, "A(a) p(a, b) p(a, c) p(a, d)")
    size = driver.dictionary.size
    proof_of(driver, "B(a)", alternatives=3)
    with pytest.raises(UsageError):
        proof_of(driver, "unknown(nobody, nothing)")
    assert driver.dictionary.size == size


def test_why__json__names_what_is_needed_by_number() -> None:
    proof = proof_of(closed(CONDITIONS, "A(a) p(a, b) p(a, c) p(a, d)"), "B(a)", alternatives=1)
    read = json.loads(proof.json())
    assert (read["holds"], read["fact"], read["height"]) == (True, ":B[:a]", 2)
    steps = {step["number"]: step for step in read["steps"]}
    assert steps[0]["rule"]["name"] == "many"
    assert steps[0]["values"]["c"] == '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    named = {
        part["step"] for step in steps.values() for part in step.get("body", ()) if "step" in part
    }
    members = [m for s in steps.values() for p in s.get("body", ()) for m in p.get("members", ())]
    named |= {one["step"] for member in members for one in member["facts"]}
    assert named == steps.keys() - {0}
    assert steps[1]["triple"][1] == "<http://e/n>"


@pytest.mark.parametrize("kind", ["dot", "mermaid"])
def test_why__drawings__have_a_box_for_each_fact_and_an_arrow_for_each_need(kind: str) -> None:
    rules = r"""rule "a \"name\"" :p[?x, "q\"<"] :- :A[?x], NOT :B[?x] .
        :C[?x] :- :p[?x, ?y], :A[?x] ."""
    proof = proof_of(closed(rules, "A(a)"), "C(a)")
    text = getattr(proof, kind)()
    arrow = "->" if kind == "dot" else "-->"
    assert sorted(re.findall(rf"(\w\d) {arrow} (\w\d)", text)) == [
        ("f1", "r0"),
        ("f2", "r0"),
        ("f2", "r1"),
        ("r0", "f0"),
        ("r1", "f1"),
    ]
    if kind == "dot":
        assert text.count("[label=") == 5
        assert r'label=":p[:a, \"q\\\"<\"]"' in text
        assert r"a \"name\"\n:p[" in text
    else:
        assert 'f1[":p[:a, #quot;q\\#quot;&lt;#quot;]"]' in text
    assert "absent: :B[:a]" in text
