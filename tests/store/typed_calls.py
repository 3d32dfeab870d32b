"""What type checkers see of the public interface; checked by `test_types.py`, never run.

An ignored error is one that must be found: strict checking refuses ignores that are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import triplestore as ox
from triplestore import (
    Change,
    DefaultGraph,
    Difference,
    Info,
    Literal,
    NamedNode,
    Proof,
    Quad,
    Report,
    Snapshot,
    Solution,
    Solutions,
    Store,
    Term,
    Transaction,
    Triple,
    Triples,
    Variable,
    WhyNot,
)

store = Store()
a = NamedNode("http://ex.org/a")

assert_type(store.query("ASK {}"), Solutions | Triples | bool)
assert_type(store.select("SELECT * {}", timeout=1.0, prefixes={"": "http://ex.org/"}), Solutions)
assert_type(store.ask("ASK {}", substitutions={"x": a}), bool)
assert_type(store.ask("ASK {}", substitutions={Variable("x"): Literal("b")}), bool)
assert_type(store.construct("CONSTRUCT WHERE {}", default_graph=[a, DefaultGraph()]), Triples)
assert_type(store.describe("DESCRIBE ?x {}", named_graphs=[a]), Triples)
store.select("SELECT * {}", timeout="soon")  # type: ignore[arg-type]
store.select("SELECT * {}", nonsense=1)  # type: ignore[call-arg]
store.select("SELECT * {}", default_graph="http://ex.org/a")  # type: ignore[arg-type]

for solution in store.select("SELECT * {}"):
    assert_type(solution, Solution)
for triple in store.construct("CONSTRUCT WHERE {}"):
    assert_type(triple, Triple)
for quad in store:
    assert_type(quad, Quad)
assert_type(store.quads_for_pattern(a, None, None, DefaultGraph()), Iterator[Quad])
assert_type(store.named_graphs(), Iterator[Term])

assert_type(store.add(Quad(a, a, a)), Change)
assert_type(store.extend([(a, a, Literal(1)), (a, a, a, a)]), Change)
store.add((a, a))  # type: ignore[arg-type]
store.add("http://ex.org/a")  # type: ignore[arg-type]
store.quads_for_pattern("http://ex.org/a", None, None)  # type: ignore[arg-type]

assert_type(store.load(Path("m.ttl")), Change)
assert_type(store.bulk_load("<x:a> <x:b> <x:c> .", "turtle", to_graph=a), Change)
store.load(5)  # type: ignore[arg-type]
store.bulk_load("", nonsense=1)  # type: ignore[call-arg]

assert_type(store.reason("owl-rl", scope=[a, "http://ex.org/b"]), Report)
assert_type(store.why(":a :b :c"), Proof | WhyNot)
assert_type(store.info(), Info)
store.why(5)  # type: ignore[arg-type]

with store.transaction() as transaction, store.snapshot() as snapshot:
    assert_type(transaction, Transaction)
    assert_type(transaction.select("SELECT * {}"), Solutions)
    assert_type(transaction.diff(), Difference)
    assert_type(snapshot, Snapshot)
    assert_type(snapshot.ask("ASK {}"), bool)

result: ox.QuerySolutions = ox.Store().select("SELECT * {}")
