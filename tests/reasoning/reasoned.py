"""A store beside the oracle, with facts as tuples of term keys (`tests.maintenance.naive`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyoxigraph import DefaultGraph, NamedNode, Quad

from tests.maintenance.checking import in_views
from tests.maintenance.naive import Fact, counts, naive
from triplestore import Store
from triplestore.datalog.program import Program
from triplestore.datalog.stratify import stratify
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.counting import make_trace
from triplestore.maintenance.steps.traces import Trace
from triplestore.maintenance.update import count_recursive
from triplestore.maintenance.update_state import Work
from triplestore.reasoning.program.stored_rules import rules_of
from triplestore.relations import EXPLICIT, INFERRED
from triplestore.rules.simplify import simplify
from triplestore.store.readable import ReadableStore
from triplestore.store.transaction import Transaction
from triplestore.terms.term_keys import BLANK, IRI, key_of, term_of, to_ntriples

GRAPH = NamedNode("http://e/graph")


def is_rdf(fact: Fact) -> bool:
    """Whether a fact is a triple that can be stated."""
    return fact[0] == "t" and fact[1][0] in (IRI, BLANK) and fact[2][0] == IRI


def quad_of(fact: Fact) -> Quad:
    return Quad(*map(term_of, fact[1:]))


def text_of(facts: Iterable[Fact]) -> str:
    """Facts as N-Triples."""
    lines = [" ".join(to_ntriples(key).decode() for key in fact[1:]) + " .\n" for fact in facts]
    return "".join(sorted(lines))


def facts_of(store: ReadableStore, facts: str = "all") -> set[Fact]:
    """The triples of the default graph that a store shows."""
    found = store.quads_for_pattern(None, None, None, DefaultGraph(), facts=facts)
    return {("t", key_of(q.subject), key_of(q.predicate), key_of(q.object)) for q in found}


def check(
    store: Store | Transaction, program: Program, explicit: Iterable[Fact], where: str
) -> None:
    """Assert that a store, or a transaction, shows exactly what follows, and how it holds."""
    explicit = frozenset(explicit)
    closure = naive(program, explicit)
    triples = {fact for fact in closure.facts if is_rdf(fact)}
    assert facts_of(store, "explicit") == explicit, where
    inferred = facts_of(store, "inferred")
    assert inferred >= triples - explicit, f"{where}: missing"
    assert inferred <= triples - explicit, f"{where}: do not follow"
    in_graph = len(list(store.quads_for_pattern(None, None, None, GRAPH)))
    assert store.count("explicit") == len(explicit) + in_graph, where
    assert store.count("inferred") == len(inferred), where
    rows = {fact[1:] for fact in closure.facts if fact[0] == "r"}
    names = {(row[0], len(row) - 1) for row in rows}
    for name, arity in names:
        shown = {(name, *map(key_of, row)) for row in store.tuples(term_of(name), arity)}
        assert shown == {row for row in rows if row[0] == name and len(row) - 1 == arity}, where
    found = {
        (one.constraint, one.message, tuple((n, key_of(t)) for n, t in sorted(one.values.items())))
        for one in store.violations()
        if one.constraint != "owl:Nothing"
    }
    assert found == {tuple(violation) for violation in closure.violations}, where
    assert store.program == program, where
    check_rows(store, program, explicit, where)


def check_rows(
    store: Store | Transaction, program: Program, explicit: frozenset[Fact], where: str
) -> None:
    """Assert that counters are exact, and that nothing holds that nobody can see."""
    simple = simplify(program)
    wanted = counts(simple.rules, explicit, stratify(simple.rules)).nonrecursive
    all_facts = naive(simple.rules, explicit).facts
    view = store._view()
    for fact in in_views(simple.rules, view.tables.schemes, all_facts):
        wanted[fact] -= 1
    key = view.dictionary.key
    seen = set()
    for name in view.tables.names().tolist():
        relation = view.tables.relation(name)
        for s, o in relation.scan():
            status, count = relation.status_of((s, o)), relation.count_of((s, o))
            for row in zip(s.tolist(), o.tolist(), status.tolist(), count.tolist(), strict=True):
                fact = ("t", key(row[0]), key(name), key(row[1]))
                seen.add(fact)
                assert row[2] == (EXPLICIT if fact in explicit else INFERRED), (where, fact)
                assert row[3] == wanted.get(fact, 0), (where, fact)
    for name, arity in view.tables.tuple_names():
        for columns in view.tables.tuples(name, arity).scan():
            for row in zip(*(column.tolist() for column in columns), strict=True):
                seen.add(("r", key(name), *map(key, row)))
    assert seen == all_facts, where


def check_tables(store: Store, where: str) -> tuple[bool, int]:
    """Assert that the tables in memory are those made from the start; returns whether there are
    recursive counters, and how many traces."""
    state, reasoner = store._database.state, store._reasoner
    kept = reasoner.tables_of(state)
    if kept is None:
        return False, 0
    compiled = reasoner.find(rules_of(state.meta), state.dictionary)
    assert compiled is not None, where
    terms = QueryTerms(state.dictionary)
    if kept.recursive is not None:
        made = count_recursive(compiled, state.tables, terms)
        assert _listed(kept.recursive.items()) == _listed(made.items()), where
    traces = 0
    work = Work(compiled, state.tables, terms)
    for number, stratum in compiled.strata.items():
        trace = None if kept.traces is None else kept.traces.of(number)
        if trace is not None:
            traces += 1
            assert _rows_of(trace) == _rows_of(make_trace(work, stratum)), where
    return kept.recursive is not None, traces


def _listed(rows: Iterable[Any]) -> dict[Any, list[list[int]]]:
    return {name: [column.tolist() for column in columns] for name, *columns in rows}


def _rows_of(trace: Trace) -> dict[Any, list[list[int]]]:
    return _listed((name, *rows) for name, rows in trace.relations())
