"""Two stores with the same quads, one that replaces equals by rules and one that rewrites them."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from pyoxigraph import DefaultGraph, NamedNode

from triplestore import Store
from triplestore.datalog.program import Atom, Constant, Filter, Rule
from triplestore.ontologies.translate import schema_rules
from triplestore.proofs import Proof
from triplestore.proofs.origins import fill
from triplestore.reasoning.program.graph_scope import is_row
from triplestore.relations import Tables
from triplestore.relations.views.equality import equality_of, representatives, touched_names
from triplestore.store.readable import ReadableStore
from triplestore.terms.vocabulary import RDF_TYPE

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
MODES = ("rules", "rewrite")
LONG = pytest.mark.long


def bag(store: ReadableStore, facts: str = "all") -> list[str]:
    """All facts that a store lists, but types in classes without a name: with rules of equality
    no class is unfolded, so that these are made, too."""
    found = store.quads_for_pattern(None, None, None, DefaultGraph(), facts=facts)
    return sorted(str(quad) for quad in found if not str(quad.object).startswith("_:"))


def classes_of(store: Store) -> int:
    """How many classes are rewritten."""
    found = equality_of(store._view().tables)
    return 0 if found is None else len(found.classes)


def pair_of(data: str = "", regime: str = "owl-rl") -> tuple[Store, Store]:
    """Two stores with the same data, one in each mode."""
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + data, "turtle")
        store.reason(regime, equality=mode)
    return stores


def assert_alike(rules: ReadableStore, rewritten: ReadableStore) -> None:
    for facts in ("all", "explicit", "inferred"):
        assert bag(rewritten, facts) == bag(rules, facts)
    assert violations_of(rewritten) == violations_of(rules)
    assert len(rewritten.inconsistencies) == len([*rewritten.violations()])
    assert len(rewritten) == sum(1 for _ in rewritten)
    assert rewritten.audit().ok
    assert_kept(rewritten)


def violations_of(store: ReadableStore) -> Counter[str]:
    """All violations, but of members of classes without a name."""
    found = map(str, store.violations())
    return Counter(one for one in found if not re.search(r"\?[cd] = _:", one))


def assert_kept(store: ReadableStore) -> None:
    """The tables of representatives are what would be made of the stored rows, counters too."""
    tables = store._view().tables
    equality = equality_of(tables)
    if equality is None:
        return
    anew = representatives(tables.with_schemes({}), equality.classes, equality.same_as)
    assert rows_of(equality.tables) == rows_of(anew)
    touched = touched_names(equality.tables, equality.classes.reps).tolist()
    assert {n for n in touched if len(equality.tables.relation(n))} <= {*equality.names}


def rows_of(tables: Tables) -> set[tuple[int, ...]]:
    """All rows with their statuses and counts."""
    found = set()
    for name in tables.names().tolist():
        keys = tables.stored_relation(name).keys()
        status, count = tables.stored_relation(name).look_up_keys(keys)
        rows = zip(keys.tolist(), status.tolist(), count.tolist(), strict=True)
        found |= {(name, *row) for row in rows}
    return found


def check_proof(store: Store, proof: Proof) -> None:
    """Whether it is a proof of its fact from what is stated."""
    rules = store._view().rules()
    assert rules is not None
    known = {*rules.program.rules, *schema_rules.vocabulary_rules(schema_rules.EQUALITY).rules}
    steps = proof.steps
    assert next(iter(steps)) == proof.fact
    for fact, step in steps.items():
        assert step.fact == fact
        if step.stated:
            assert is_stated(store, fact), fact
            continue
        rule = step.rule
        assert isinstance(rule, Rule)
        assert rule in known or str(rule.name) == "eq-ref"
        values = step.values or {}
        heads = [fill(head, values) for head in rule.heads]
        assert fact in heads
        body = [fill(item, values) for item in rule.body if not isinstance(item, Filter)]
        assert list(step.premises) == [item for item in body if not is_row(item)]
        assert all(is_stated(store, item) for item in body if is_row(item))
        for premise in step.premises:
            assert steps[premise].height < step.height


def is_stated(store: Store, fact: Atom) -> bool:
    """Whether the default graph states a fact; of a row of the scope, whether a graph does."""
    terms = [one.term for one in fact.terms if isinstance(one, Constant)]
    if not is_row(fact):
        return bool([*store.quads_for_pattern(*terms, DefaultGraph(), facts="explicit")])
    p, s, o = terms
    if p == NamedNode(RDF_TYPE):
        s, o = o, s
    found = store.quads_for_pattern(s, p, o, None, facts="explicit")
    return any(quad.graph_name != DefaultGraph() for quad in found)
