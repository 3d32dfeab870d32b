"""Users' rules over facts in several graphs, along random schedules, beside the oracle.

Each graph asserts a set of facts. The oracle (`tests.maintenance.naive`) closes what the graphs of
the scope assert together. Start at `Graphs`: a store, and what it should show after each of the
many ways in which quads come, go and move from one graph to another.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad

from tests.maintenance.naive import Fact, naive
from tests.maintenance.programs import Case, random_case
from tests.reasoning.reasoned import facts_of, is_rdf, text_of
from tests.reasoning.test_reasoning import sensible
from triplestore import Store
from triplestore.datalog.program import Program
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.views.equality import TOLD, TOLD_KEY
from triplestore.store.thresholds import STORE
from triplestore.store.transaction import Transaction
from triplestore.terms.term_keys import key_of, term_of

NAMES = [NamedNode(f"http://e/g{number}") for number in range(3)]
GRAPHS = [DefaultGraph(), *NAMES]
SCOPES: tuple[str | list[NamedNode], ...] = (
    "default",
    "union",
    "union",
    NAMES[:1],
    NAMES[:2],
    [NAMES[2]],
)
Graph = DefaultGraph | NamedNode


class Graphs:
    """A store, what each graph should state, and which of them rules should see."""

    def __init__(self, case: Case, store: Store) -> None:
        self.rng = random.Random(case.seed)
        self.store = store
        self.program = Program()
        self.scope: str | list[NamedNode] = "default"
        self.held: dict[Graph, set[Fact]] = {graph: set() for graph in GRAPHS}

    @property
    def told(self) -> set[Fact]:
        """What named graphs of the scope state."""
        named = {"default": [], "union": NAMES}
        inside = named[self.scope] if isinstance(self.scope, str) else self.scope
        return set().union(*(self.held[graph] for graph in inside))

    @property
    def stated(self) -> frozenset[Fact]:
        """What rules see as stated."""
        return frozenset(self.held[DefaultGraph()] | self.told)

    # -- changes -----------------------------------------------------------------------------------

    def write(self, t: Transaction, additions: list[Fact], deletions: list[Fact]) -> None:
        """Facts that come to one graph or several, and go from one or from all of them."""
        rng = self.rng
        for fact in deletions:
            there = [graph for graph in GRAPHS if fact in self.held[graph]]
            for graph in rng.sample(there, rng.randint(0, len(there))):
                t.remove(quad(fact, graph))
                self.held[graph].discard(fact)
        for fact in additions:
            for graph in rng.sample(GRAPHS, rng.choice((1, 1, 2, 3))):
                t.add(quad(fact, graph))
                self.held[graph].add(fact)

    def shift(self, t: Transaction) -> None:
        """One of the ways in which a whole graph, or one quad, moves, is copied, goes, or comes."""
        rng = self.rng
        one, other = rng.sample(GRAPHS, 2)
        held, a, b = self.held, of_update(one), of_update(other)
        how = rng.choice(("one", "one", "one", "MOVE", "COPY", "ADD", "clear", "load", "replace"))
        if how == "one" and held[one]:
            fact = rng.choice(sorted(held[one]))
            steps = [lambda: t.remove(quad(fact, one)), lambda: t.add(quad(fact, other))]
            for step in rng.sample(steps, 2):
                step()
            held[one].discard(fact)
            held[other].add(fact)
        elif how in ("MOVE", "COPY", "ADD") and held[one]:  # of a graph that is not there: nothing
            t.update(f"{how} SILENT {a} TO {b}")
            held[other] = set(held[one]) | (held[other] if how == "ADD" else set())
            if how == "MOVE":
                held[one] = set()
        elif how == "clear":
            t.update(f"CLEAR SILENT {'' if a == 'DEFAULT' else 'GRAPH '}{a}")
            held[one] = set()
        elif how in ("load", "replace"):
            facts = set(rng.sample(sorted(held[other]), len(held[other]) // 2))
            if how == "load":
                t.load(text_of(facts), "nt", to_graph=one)
                held[one] |= facts
            else:
                t.load(text_of(facts), "nt", replace_graph=one)
                held[one] = facts

    def choose(self, t: Transaction) -> None:
        """Another scope."""
        self.scope = self.rng.choice(SCOPES)
        t.reason(scope=self.scope)

    # -- what there should be ----------------------------------------------------------------------

    def check(self, store: Store | Transaction, where: str) -> None:
        """Assert that a store shows what each graph states, and what follows from the scope."""
        closure = naive(self.program, self.stated)
        every = {fact for fact in closure.facts if is_rdf(fact)}
        default = self.held[DefaultGraph()]
        assert facts_of(store) - every == set(), f"{where}: do not follow"
        assert every - facts_of(store) == set(), f"{where}: are missing"
        assert facts_of(store, "explicit") == default, where
        assert facts_of(store, "inferred") == every - default, where
        for graph in NAMES:
            found = store.quads_for_pattern(None, None, None, graph)
            assert {fact_of(one) for one in found} == self.held[graph], (where, graph)
        view = store._view()
        (told,) = view.dictionary.lookup_keys([TOLD_KEY]).tolist()
        assert len(view.tables.tuples(told, TOLD) if told else ()) == len(self.told), where
        asked = {
            ("t", *(key_of(row[name]) for name in "spo"))
            for row in store.query("SELECT ?s ?p ?o { ?s ?p ?o }")
        }
        assert asked == every, where
        for name, arity in {(f[1], len(f) - 2) for f in closure.facts if f[0] == "r"}:
            rows = {("r", name, *map(key_of, row)) for row in store.tuples(term_of(name), arity)}
            wanted = {f for f in closure.facts if f[:2] == ("r", name) and len(f) - 2 == arity}
            assert rows == wanted, where
        violations = {
            (v.constraint, v.message, tuple((n, key_of(t)) for n, t in sorted(v.values.items())))
            for v in store.violations()
            if v.constraint != "owl:Nothing"
        }
        assert violations == {tuple(one) for one in closure.violations}, where


def quad(fact: Fact, graph: Graph) -> Quad:
    return Quad(*map(term_of, fact[1:]), graph)


def fact_of(one: Quad) -> Fact:
    return ("t", key_of(one.subject), key_of(one.predicate), key_of(one.object))


def of_update(graph: Graph) -> str:
    return f"<{graph.value}>" if isinstance(graph, NamedNode) else "DEFAULT"


def run(seed: int, path: Path | None = None) -> bool:
    """Follow one schedule; whether anything followed that no graph states."""
    case = random_case(seed)
    if not sensible(case):
        return False
    store = Store() if path is None else Store(path, durability="flush")
    graphs = Graphs(case, store)
    rng, followed = graphs.rng, False
    MAINTENANCE.large_layer = rng.choice((3, 4096))
    STORE.buffered_writes = rng.choice((1, 3, 1000))
    graphs.program = case.program
    with store.transaction() as t:
        first = rng.random() < 0.5
        if first:
            t.reason(rules=case.program)
            graphs.choose(t)
        graphs.write(t, sorted(filter(is_rdf, case.facts)), [])
        if not first:
            t.reason(rules=case.program)
            graphs.choose(t)
    graphs.check(store, f"seed {seed}")
    for number, step in enumerate(case.steps):
        where = f"seed {seed} after step {number}"
        before = {graph: set(facts) for graph, facts in graphs.held.items()}
        kept = graphs.scope, graphs.program
        with store.transaction() as t:
            parts = ["write", "shift", "shift"]
            parts += ["rules"] if len(step.added) or len(step.removed) else []
            parts += ["scope"] if rng.random() < 0.3 else []
            rng.shuffle(parts)
            for part in parts:
                if part == "write":
                    graphs.write(
                        t,
                        sorted(filter(is_rdf, step.additions)),
                        sorted(filter(is_rdf, step.deletions)),
                    )
                elif part == "shift":
                    graphs.shift(t)
                elif part == "scope":
                    graphs.choose(t)
                else:
                    t.remove_rules(step.removed)
                    t.add_rules(step.added)
                    graphs.program = graphs.program - step.removed + step.added
                if rng.random() < 0.2:
                    graphs.check(t, f"{where}, within, after {part}")
            undone = rng.random() < 0.15 and graphs.program == kept[1]
            if undone:
                t.rollback()
        if undone:
            graphs.held, (graphs.scope, _) = before, kept
        else:
            assert t.change.added == more(graphs.held, before), where
            assert t.change.removed == more(before, graphs.held), where
        graphs.check(store, where)
        if rng.random() < 0.2:
            store.optimize()
        if rng.random() < 0.1:
            store.reason("none")
            program, scope = graphs.program, graphs.scope
            graphs.program, graphs.scope = Program(), "default"
            graphs.check(store, f"{where}, turned off")
            store.reason(rules=program, scope=scope)
            graphs.program, graphs.scope = program, scope
        if path is not None and rng.random() < 0.4:
            store.close()
            graphs.store = store = Store(path, durability="flush")
            graphs.check(store, f"{where}, opened again")
        followed |= store.count("inferred") > len(graphs.stated - graphs.held[DefaultGraph()])
    assert store.verify(closure=True) == [], f"seed {seed}"
    store.close()
    return followed


def more(those: dict[Graph, set[Fact]], these: dict[Graph, set[Fact]]) -> int:
    return sum(len(those[graph] - these[graph]) for graph in GRAPHS)


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> None:
    """`run` sets bounds so small that small cases meet them; here they are set back."""
    tune(MAINTENANCE, large_layer=MAINTENANCE.large_layer)
    tune(STORE, buffered_writes=STORE.buffered_writes)


def test_rules__over_graphs_along_random_schedules_equal_the_oracle(tmp_path: Path) -> None:
    ran = [run(seed, tmp_path / str(seed) if seed % 4 == 0 else None) for seed in range(30)]
    assert sum(ran) > 15


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_rules__over_graphs_along_many_random_schedules(part: int, tmp_path: Path) -> None:
    for seed in range(1000 + part * 100, 1100 + part * 100):
        run(seed, tmp_path / str(seed) if seed % 3 == 0 else None)
