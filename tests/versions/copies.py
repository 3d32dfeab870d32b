"""A store or a branch beside a copy in plain Python: sets of quads, graphs, rules and regimes.

Start at `Copy`. What follows from a copy is inferred anew, in a store of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pyoxigraph as ox

from triplestore import Store
from triplestore.store import ReadableStore

EX = "http://ex.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def name(text: str) -> ox.NamedNode:
    return ox.NamedNode(EX + text)


PREFIX = f"PREFIX : <{EX}>\n"
RULES = (
    ":q[?x, ?z] :- :q[?x, ?y], :q[?y, ?z] .",
    ":r[?y, ?x] :- :p[?x, ?y], NOT :s[?x, ?y] .",
    ":s[?x, ?x] :- :p[?y, ?x], :q[?x, ?x] .",
    ":path[?x, ?y, ?z] :- :p[?x, ?y], :q[?y, ?z] .",
    'constraint "loop" "is its own" :- :p[?x, ?x] .',
)
SCHEMA = tuple(
    ox.Quad(name(one), ox.NamedNode(RDFS + relation), name(other))
    for one, relation, other in (
        ("C", "subClassOf", "D"),
        ("D", "subClassOf", "E"),
        ("p", "subPropertyOf", "q"),
        ("p", "domain", "C"),
        ("q", "range", "E"),
    )
)
SAME_AS = ox.NamedNode("http://www.w3.org/2002/07/owl#sameAs")
NODES = [name(text) for text in "abcde"]
CLASSES = [name(text) for text in "CDE"]
PROPERTIES = [name(text) for text in "pqrs"]
GRAPHS = [name("g"), name("h")]


class Content(NamedTuple):
    """All that can be seen of a state, but for its rules."""

    asserted: frozenset[ox.Quad]
    inferred: frozenset[ox.Quad]
    graphs: frozenset[str]
    rows: frozenset[tuple[str, ...]]
    violations: tuple[str, ...]


def content_of(store: ReadableStore) -> Content:
    """What a store, snapshot or branch shows."""
    path = name("path")
    return Content(
        frozenset(store.quads_for_pattern(None, None, None, facts="explicit")),
        frozenset(store.quads_for_pattern(None, None, None, facts="inferred")),
        frozenset(map(str, store.named_graphs())),
        frozenset(tuple(map(str, row)) for row in store.tuples(path, 3)),
        tuple(sorted(map(str, store.violations()))),
    )


@dataclass
class Copy:
    """What was asserted and set."""

    quads: set[ox.Quad] = field(default_factory=set)
    graphs: set[ox.NamedNode] = field(default_factory=set)
    rules: tuple[str, ...] = ()
    regimes: frozenset[str] = frozenset()
    regime: str = "rdfs"
    equality: str | None = None
    """What `reason` is given when a regime is put in force."""

    def copy(self) -> Copy:
        return replace(self, quads=set(self.quads), graphs=set(self.graphs))

    def add(self, quads: Iterable[ox.Quad]) -> None:
        for quad in quads:
            self.quads.add(quad)
            if isinstance(quad.graph_name, ox.NamedNode):
                self.graphs.add(quad.graph_name)

    def remove_graph(self, graph: ox.NamedNode) -> None:
        self.quads = {quad for quad in self.quads if quad.graph_name != graph}
        self.graphs.discard(graph)

    def content(self) -> Content:
        """What follows, inferred anew."""
        store = Store()
        store.extend(self.quads)
        for graph in self.graphs:
            store.add_graph(graph)
        if self.rules:
            store.reason(rules=PREFIX + "\n".join(self.rules))
        for regime in self.regimes:
            store.reason(regime, equality=self.equality)
        return content_of(store)

    def schema(self) -> frozenset[ox.Quad]:
        return frozenset(self.quads) & frozenset(SCHEMA)


def made_anew(base: Copy, ours: Copy, theirs: Copy) -> Copy:
    """Their copy with what we changed since the base."""
    made = theirs.copy()
    for graph in base.graphs - ours.graphs:
        made.remove_graph(graph)
    made.graphs |= ours.graphs - base.graphs
    made.quads -= base.quads - ours.quads
    made.add(ours.quads - base.quads)
    kept = [rule for rule in theirs.rules if rule in ours.rules or rule not in base.rules]
    made.rules = tuple(dict.fromkeys(kept + [r for r in ours.rules if r not in base.rules]))
    gone, come = base.regimes - ours.regimes, ours.regimes - base.regimes
    made.regimes = (theirs.regimes - gone) | come
    return made


def has_conflict(base: Copy, ours: Copy, theirs: Copy) -> bool | None:
    """Whether a branch may not be committed; None if axioms changed, which may lead to rules."""
    come, gone = ours.quads - base.quads, base.quads - ours.quads
    if come & theirs.quads or gone - theirs.quads:
        return True
    new, old = ours.graphs - base.graphs, base.graphs - ours.graphs
    if new & theirs.graphs or old - theirs.graphs:
        return True
    if any(q.graph_name in old for q in theirs.quads - gone):
        return True
    own = (set(ours.rules), ours.regimes) != (set(base.rules), base.regimes)
    changed = (set(theirs.rules), theirs.regimes) != (set(base.rules), base.regimes)
    edits = bool(come or gone or new or old)
    if changed:
        return own or (edits and bool(base.rules or base.regimes))
    if base.regimes and edits and base.schema() != theirs.schema():
        return None
    return False
