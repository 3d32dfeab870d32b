"""A first closure of little but axioms: these are closed first, and rules about data made once."""

from __future__ import annotations

import pytest

from tests.reasoning.equal_stores import PREFIXES
from triplestore import Store
from triplestore.errors import ProgramError
from triplestore.reasoning import closure_run
from triplestore.reasoning.program import rules_on_demand
from triplestore.reasoning.program.in_force import InForce
from triplestore.store.transaction import writer_of

HAND = "_:a rdfs:subClassOf :Hand . _:a owl:onProperty :p ; owl:someValuesFrom :A . "
AXIOMS = {
    "no rule follows": ":p a owl:ObjectProperty .",
    "one rule": ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .",
    "restrictions below each other": HAND
    + ":A rdfs:subClassOf :B . :X rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .",
    "reflective": ":m rdfs:subClassOf owl:TransitiveProperty . :q a :m . :n rdfs:subClassOf :m .",
    "pairs": "[] a owl:AllDifferent ; owl:members ( :a :b :c ) . :a owl:sameAs :b .",
    "equality follows": ":p a owl:FunctionalProperty . :a :p :b , :c . :b :r :d .",
}


def closed(axioms: str) -> Store:
    store = Store()
    store.load(PREFIXES + axioms, "turtle")
    store.reason("owl-rl")
    return store


def listed(store: Store) -> list[str]:
    """All facts but for the labels of blank nodes."""
    kept = [
        quad for quad in store.quads_for_pattern(None, None, None, None) if "_:" not in str(quad)
    ]
    return sorted(map(str, kept))


@pytest.mark.parametrize("name", AXIOMS)
def test_axioms__closed_first_give_what_all_rules_give(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    axioms = AXIOMS[name]
    monkeypatch.setattr(rules_on_demand, "find_sleeping_axioms", lambda *_: None)
    with closed(axioms) as first, monkeypatch.context() as context:
        context.setattr(closure_run, "schema_program", lambda *_: None)
        with closed(axioms) as together:
            assert listed(first) == listed(together)
            assert len(first) == len(together)
            one, other = (list(map(str, store.program.rules)) for store in (first, together))
            assert len(one) == len(other)
            assert len(list(first.violations())) == len(list(together.violations()))


def test_axioms__rules_about_axioms_only_are_never_left_in_force() -> None:
    with closed(AXIOMS["no rule follows"]) as store:
        report = store.reason("owl-rl")
        assert report.rules == len(store.program.rules)
        with store.transaction() as transaction:
            rules = writer_of(transaction).view().rules()
            assert isinstance(rules, InForce)
            assert rules.translation is not None and not rules.partial


def test_axioms__that_make_no_rule_at_all() -> None:
    with Store() as store:
        store.load(PREFIXES + AXIOMS["no rule follows"], "turtle")
        first = store.reason("rdfs")
        assert first.rules == len(store.program.rules) == store.reason("rdfs").rules


def test_axioms__data_come_afterwards() -> None:
    with closed(AXIOMS["restrictions below each other"]) as store:
        store.load(PREFIXES + ":x a :X . :y :p [ a :A ] .", "turtle")
        assert store.query("PREFIX : <http://ex.org/> ASK { :y a :Hand }")


def test_equality__does_not_count_under_regimes_without_it() -> None:
    """A functional property with two values forecasts equality, which RDFS does not have: rules
    that would only be circular with it are accepted, whatever was in force before."""
    data = PREFIXES + ":n :p :x, :y . :p a owl:FunctionalProperty . :q rdfs:subPropertyOf :p ."
    circular_with_equality = (
        PREFIXES + "rdfs:subClassOf[?x, ?y] :- :r[?x, ?y] .\n"
        ":q[?x, ?n] :- AGGREGATE(:r[?x, ?y] ON ?x BIND COUNT(?y) AS ?n) ."
    )
    for earlier in (None, PREFIXES + ":k[?x, ?y] :- :q[?y, ?x] ."):
        store = Store()
        store.load(data, "ttl")
        if earlier is not None:
            store.reason(rules=earlier)
        store.reason("rdfs", rules=circular_with_equality)
        assert store.audit()
        with pytest.raises(ProgramError, match="axioms may follow"):
            store.reason("owl-rl")


@pytest.mark.parametrize("name", AXIOMS)
def test_counts__of_several_turns_are_those_of_the_difference(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = []
    for adds_up in (True, False):
        with monkeypatch.context() as context, Store() as store:
            if not adds_up:  # then the states before and after are compared row by row
                context.setattr(closure_run, "_only_adds", lambda _: False)
            store.load(PREFIXES + AXIOMS[name] + " :x a :A , :X ; :p :y .", "turtle")
            report = store.reason("owl-rl")
            with store.transaction() as t:
                t.update(
                    PREFIXES.replace("@prefix", "PREFIX").replace(" .", "")
                    + "INSERT DATA { :C rdfs:subClassOf :D . :p rdfs:subPropertyOf :r }"
                )
            added.append((report.inferred_added, t.change))
    assert added[0] == added[1]
