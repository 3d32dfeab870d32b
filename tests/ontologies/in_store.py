"""A store under regimes, seen as the oracle sees it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from pyoxigraph import BlankNode, DefaultGraph, Quad

from tests.ontologies.oracle import OWL_RL, SKOS, Closure, Fact, Graph, RuleSet, rdfs, term
from tests.ontologies.oracle.closing import LISTS, ON_PROPERTY
from tests.ontologies.oracle.values import identity
from tests.ontologies.oracle.vocabulary import TYPE
from triplestore import Store
from triplestore.store.readable import ReadableStore

EXPRESSION = [*LISTS, *ON_PROPERTY, term("owl:complementOf")]


def store_of(facts: Iterable[Fact], *regimes: str, trivial: bool = False) -> Store:
    """A store that has stated the facts and applies the regimes.

    trivial  whether it lists what is trivial, too
    """
    store = Store()
    store.extend(Quad(*fact) for fact in facts)
    store.reason(*regimes, trivial=trivial)
    return store


def rules_for(regime: str, facts: Iterable[Fact] = ()) -> RuleSet:
    """The oracle's rules for a regime as a store has it.

    Of OWL 2 RL, axiomatic triples are no premises in a store: nothing follows from them but what
    holds anyway, unless somebody says something new about the words of OWL themselves.
    """
    if regime == "skos":
        return SKOS
    return replace(OWL_RL, axiomatic={}) if regime == "owl-rl" else rdfs(facts)


def listed(store: ReadableStore) -> set[Fact]:
    """All facts that the store lists."""
    found = store.quads_for_pattern(None, None, None, DefaultGraph())
    return {(quad.subject, quad.predicate, quad.object) for quad in found}


def inconsistent(store: ReadableStore) -> set[str]:
    """The ids of the rules that noticed an inconsistency."""
    ids = {violation.constraint for violation in store.violations()}
    return {"cls-nothing2" if one == "owl:Nothing" else one for one in ids}


def differences(
    store: ReadableStore, closure: Closure, left_out: Callable[[Fact], bool] = lambda fact: False
) -> list[str]:
    """What a store lists too much or too little, and the inconsistencies likewise.

    Facts that differ only in the form of a literal are the same here. Some inconsistencies bring
    others with them, which a store need not notice: of two different literals that are the same,
    each is then in the datatypes of the other.

    left_out  what is not to be looked at
    """
    ours, theirs = (
        _by_value(fact for fact in facts if not left_out(fact))
        for facts in (listed(store), closure.visible())
    )
    more = [f"too much: {_text(ours[key])}" for key in ours.keys() - theirs.keys()]
    less = [
        f"missing: {_text(theirs[key])} ({closure.rules[theirs[key]]})"
        for key in theirs.keys() - ours.keys()
    ]
    noticed, expected = inconsistent(store), closure.inconsistent
    if "dt-diff" in expected & noticed:
        expected, noticed = expected - {"dt-not-type"}, noticed - {"dt-not-type"}
    wrong = [f"no inconsistency: {rule}" for rule in noticed - expected]
    wrong += [f"inconsistency not noticed: {rule}" for rule in expected - noticed]
    return sorted(more + less + wrong)


def is_in_expression(fact: Fact, held: Graph) -> bool:
    """Says that something belongs to an anonymous class expression, complete or half made."""
    return (
        fact[1] == TYPE
        and isinstance(fact[2], BlankNode)
        and any(held.match(fact[2], word, None) for word in EXPRESSION)
    )


def _by_value(facts: Iterable[Fact]) -> dict[tuple[Hashable, ...], Fact]:
    return {tuple(map(identity, fact)): fact for fact in facts}


def _text(fact: Fact) -> str:
    return " ".join(map(str, fact))
