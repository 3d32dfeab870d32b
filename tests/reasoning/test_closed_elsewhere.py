"""A closure that was computed elsewhere is taken as if it had been inferred here."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from triplestore import Store
from triplestore.errors import InconsistencyError
from triplestore.reasoning.closed_elsewhere import ClosedElsewhere, keys_of_terms
from triplestore.relations import ChangedRows
from triplestore.storage.metadata import REGIMES, hidden_count
from triplestore.store.transaction import Transaction, writer_of
from triplestore.terms import Dictionary

PREFIXES = "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"


def closure_of(store: Store) -> ClosedElsewhere:
    """All that a store holds, in its ids."""
    state = store._database.state
    parts = [[np.zeros(0, np.uint32)] * 5]
    for name in state.tables.names().tolist():
        relation = state.tables.relation(name)
        for s, o in relation.scan():
            p = np.full(len(s), name)
            parts.append([p, s, o, relation.status_of((s, o)), relation.count_of((s, o))])
    p, s, o, status, count = (np.concatenate(part) for part in zip(*parts, strict=True))
    tuples = {}
    for name, arity in state.tables.tuple_names():
        rows = state.tables.tuples(name, arity)
        whole = [np.concatenate(part) for part in zip(*rows.scan(), strict=True)]
        said = rows.status_of(tuple(whole)), 0, rows.count_of(tuple(whole))
        tuples[name, arity] = ChangedRows.of(whole, *said)
    facts = ChangedRows.of((p, s, o), status, 0, count)
    return ClosedElsewhere(facts, tuples, dict(state.meta), hidden_count(state.meta))


def said_in(store: Store) -> tuple[Any, ...]:
    """What a store holds, with statuses and counters."""
    found = closure_of(store)
    rows = {name: _listed(each) for name, each in found.tuples.items()}
    return _listed(found.facts), rows, store.digest(), found.hidden


def _listed(rows: ChangedRows) -> list[tuple[int, ...]]:
    assert rows.count is not None
    columns = [*rows.columns, rows.status, rows.count]
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


RULES = """:far[?x, ?z] :- :far[?x, ?y], :far[?y, ?z] . :far[?x, ?y] :- :p[?x, ?y] .
:q[?y, ?x] :- :p[?x, ?y] . :lone[?x] :- :c[?x], NOT (:p[?x, ?y], :far[?y, ?x]) .
:next[?x, ?m] :- :n[?x, ?n], BIND(?n + 1 AS ?m) . :both[?x, ?y, ?z] :- :p[?x, ?y], :q[?x, ?z] ."""


def random_statements(rng: random.Random) -> list[str]:
    nodes = [f":n{number}" for number in range(6)]
    made = [f"{rng.choice(nodes)} :p {rng.choice(nodes)} ." for _ in range(8)]
    made += [f"{rng.choice(nodes)} :far {rng.choice(nodes)} ." for _ in range(2)]
    made += [f"{rng.choice(nodes)} :n {rng.randint(1, 3)} ." for _ in range(2)]
    return made + [f"{node} a :c ." for node in nodes[:3]]


def begun(statements: list[str]) -> Store:
    store = Store()
    store.load(PREFIXES + "".join(statements), "turtle")
    store.reason(rules=RULES)
    return store


@each_seed(range(30))
def test_take_closure__is_what_is_maintained(seed: int) -> None:
    rng = random.Random(seed)
    first = random_statements(rng)
    here, there = begun(first), begun(first)
    more, away = random_statements(rng), rng.sample(first, 4)
    for _ in range(2):
        with here.transaction() as transaction:
            change(transaction, more, away)
        with there.transaction() as transaction:
            change(transaction, more, away)
            dictionary = here._database.state.dictionary
            keys = [dictionary.key(i) for i in range(1, dictionary.size + 1)]
            assert writer_of(transaction).dictionary.encode_keys(keys).tolist() == list(
                range(1, len(keys) + 1)
            )
            writer_of(transaction).take_closure(closure_of(here))
        assert said_in(there) == said_in(here)
        assert there.verify(closure=True) == []
        more, away = away, more[:3]


def change(transaction: Transaction, more: list[str], away: list[str]) -> None:
    transaction.load(PREFIXES + "".join(more), "turtle")
    for quad in ox.parse(PREFIXES + "".join(away), format=ox.RdfFormat.TURTLE):
        transaction.remove(quad)


def test_take_closure__a_strict_store_refuses_violations() -> None:
    text = PREFIXES + ":A owl:disjointWith :B . :x a :A ."
    stores = []
    for strict in (True, False):
        store = Store()
        store.load(text, "turtle")
        store.reason("owl-rl", strict=strict)
        stores.append(store)
    strict_one, other = stores
    other.load(PREFIXES + ":x a :B .", "turtle")
    before = strict_one.digest()
    with pytest.raises(InconsistencyError), strict_one.transaction() as transaction:
        transaction.load(PREFIXES + ":x a :B .", "turtle")
        writer_of(transaction).take_closure(closure_of(other))
    assert strict_one.digest() == before


def test_infer_anew__commits_violations_that_are_all_that_follows() -> None:
    store = Store()
    store.load(PREFIXES + ":A owl:disjointWith :B . :x a :A, :B .", "turtle")
    kept = Store()
    kept.reason("owl-rl")
    with store.transaction() as transaction:
        writer_of(transaction).keep({REGIMES: kept._database.state.meta[REGIMES]})
    with store.transaction() as transaction:
        writer_of(transaction).infer_anew()
    assert [violation.constraint for violation in store.violations()] == ["cax-dw"]
    assert store.verify(closure=True) == []


def test_keys_of_terms__are_those_of_the_dictionary() -> None:
    keys = [b"\x01http://a", b"\x02b", b"\x03", b'\x05a"b"^^<http://t>', b"\x04x@en"]
    dictionary = Dictionary()
    ids = dictionary.encode_keys(keys)
    data, offsets = keys_of_terms(dictionary, ids)
    ends = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    assert [data[first:last].tobytes() for first, last in ends] == keys
