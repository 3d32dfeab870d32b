"""OWL 2 EL in the plainest way: a graph of nodes with labels, completed until nothing changes.

Start reading at `Completion`. Each expression of an ontology has a node, whose labels are the
expressions that it is below. It is the textbook's completion of EL++ (Baader, Brandt, Lutz), with
ranges, reflexive roles, self restrictions, and individuals; nothing is indexed or left out because
it is not needed. Expressions are names or tuples:

    "A"   ("and", C, D)   ("some", r, C)   ("self", r)   ("one", a)   TOP   BOTTOM

Axioms:

    ("sub", C, D) ("eq", C, D) ("disjoint", C, D) ("role", r, s) ("chain", (r, s, ...), t)
    ("transitive", r) ("reflexive", r) ("domain", r, C) ("range", r, C) ("type", a, C)
    ("fact", r, a, b)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

TOP, BOTTOM = ("top",), ("bottom",)

Class = Any
Axiom = tuple[Any, ...]
Node = tuple[Any, ...]


def parts(expression: Class) -> Iterator[Class]:
    """An expression and those inside of it."""
    yield expression
    if isinstance(expression, tuple):
        inside = {"and": expression[1:], "some": expression[2:]}.get(expression[0], ())
        for part in inside:
            yield from parts(part)


def classes_of(axiom: Axiom) -> tuple[Class, ...]:
    """The class expressions directly in an axiom."""
    kind = axiom[0]
    if kind in ("sub", "eq", "disjoint"):
        return axiom[1:]
    if kind in ("domain", "range"):
        return axiom[2:]
    if kind == "type":
        return (axiom[2], ("one", axiom[1]))
    return (("one", axiom[2]), ("one", axiom[3])) if kind == "fact" else ()


def roles_of(axiom: Axiom) -> Iterator[str]:
    """The roles of an axiom."""
    kind = axiom[0]
    if kind == "role":
        yield from axiom[1:]
    elif kind == "chain":
        yield from (*axiom[1], axiom[2])
    elif kind in ("transitive", "reflexive", "domain", "range", "fact"):
        yield axiom[1]
    for class_ in classes_of(axiom):
        for part in parts(class_):
            if isinstance(part, tuple) and part[0] in ("some", "self"):
                yield part[1]


class Completion:
    """What follows from axioms.

    labels  node -> expressions that it is below
    edges   (node, role, node); `loops` are those that each member has to itself
    """

    def __init__(self, axioms: Iterable[Axiom], names: Iterable[str] = ()) -> None:
        self.axioms = list(axioms)
        self.expressions = {
            part for axiom in self.axioms for class_ in classes_of(axiom) for part in parts(class_)
        } | {TOP, BOTTOM, *names}
        self.roles = {role for axiom in self.axioms for role in roles_of(axiom)}
        self.above = self._above()
        self.chains = [(a[1], a[2]) for a in self.axioms if a[0] == "chain"]
        self.chains += [((a[1], a[1]), a[1]) for a in self.axioms if a[0] == "transitive"]
        self.reflexive = self._reflexive()
        self.ranges = [(a[1], a[2]) for a in self.axioms if a[0] == "range"]
        self.labels: dict[Node, set[Class]] = {(e,): {e, TOP} for e in self.expressions}
        self.edges: set[tuple[Node, str, Node]] = set()
        self.loops: set[tuple[Node, str]] = set()
        while self._round():
            pass

    def _above(self) -> dict[str, set[str]]:
        above = {role: {role} for role in self.roles}
        changed = True
        while changed:
            changed = False
            told = [(a[1], a[2]) for a in self.axioms if a[0] == "role"]
            for (one, other), role in product(told, self.roles):
                if one in above[role] and other not in above[role]:
                    above[role].add(other)
                    changed = True
        return above

    def _reflexive(self) -> set[str]:
        found = {s for a in self.axioms if a[0] == "reflexive" for s in self.above[a[1]]}
        while True:
            more = {s for c, t in self.chains if found.issuperset(c) for s in self.above[t]}
            if more <= found:
                return found
            found |= more

    def _size(self) -> int:
        return sum(map(len, self.labels.values())) + len(self.edges) + len(self.loops)

    def _round(self) -> bool:
        before = self._size()
        for node in list(self.labels):
            self._label(node)
        self._compose()
        for one, role, other in list(self.edges):
            if BOTTOM in self.labels[other]:
                self.labels[one].add(BOTTOM)
            for label in list(self.labels[other]):
                if ("some", role, label) in self.expressions:
                    self.labels[one].add(("some", role, label))
            self.labels[one] |= {a[2] for a in self.axioms if a[:2] == ("domain", role)}
        return self._size() > before

    def _add_edge(self, one: Node, role: str, other: Node) -> None:
        self.edges |= {(one, wider, other) for wider in self.above[role]}

    def _filler(self, role: str, filler: Class) -> Node:
        wanted = {c for r, c in self.ranges if r in self.above[role]}
        node: Node = (filler,)
        if wanted:
            node = ("filler", role, filler)
            self.labels.setdefault(node, {TOP, filler}).update(wanted)
            self.labels[node] |= self.labels[filler,]
        return node

    def _label(self, node: Node) -> None:
        labels = self.labels[node]
        for axiom in self.axioms:
            match axiom:
                case ("sub", sub, sup) if sub in labels:
                    labels.add(sup)
                case ("eq", one, other) if one in labels or other in labels:
                    labels |= {one, other}
                case ("disjoint", one, other) if one in labels and other in labels:
                    labels.add(BOTTOM)
                case ("type", a, class_) if ("one", a) in labels:
                    labels.add(class_)
                case ("fact", role, a, b):
                    if ("one", a) in labels:
                        self._add_edge(node, role, (("one", b),))
                    if ("one", b) in labels:
                        labels |= {c for r, c in self.ranges if r in self.above[role]}
        for label in list(labels):
            if isinstance(label, tuple) and label[0] == "and":
                labels |= set(label[1:])
            elif isinstance(label, tuple) and label[0] == "some":
                self._add_edge(node, label[1], self._filler(label[1], label[2]))
            elif isinstance(label, tuple) and label[0] == "self":
                self.loops |= {(node, wider) for wider in self.above[label[1]]}
        self._itself(node)
        for one in self.expressions:
            if isinstance(one, tuple) and one[0] == "and" and labels.issuperset(one[1:]):
                labels.add(one)
        if node[0] in self.labels:
            labels |= self.labels[node]
        for label in list(labels):
            if label != node[0]:
                labels |= self.labels[label,]
                if isinstance(label, tuple) and label[0] == "one" and node[0][0] == "one":
                    self.labels[label,].add(node[0])

    def _itself(self, node: Node) -> None:
        labels = self.labels[node]
        for role in self.reflexive:
            self.loops.add((node, role))
        for other, role in list(self.loops):
            if other == node:
                self.edges.add((node, role, node))
                if ("self", role) in self.expressions:
                    labels.add(("self", role))
                labels |= {c for r, c in self.ranges if r == role}

    def _compose(self) -> None:
        by_start: dict[tuple[Node, str], set[Node]] = {}
        for one, role, other in self.edges:
            by_start.setdefault((one, role), set()).add(other)
        for chain, role in self.chains:
            for node in list(self.labels):
                ends = {node}
                for link in chain:
                    ends = {o for end in ends for o in by_start.get((end, link), ())}
                for end in ends:
                    self._add_edge(node, role, end)

    # -- answers --------------------------------------------------------------------------------

    def unsatisfiable(self) -> set[str]:
        """The names of classes that cannot have members."""
        return {n for n in self._names() if BOTTOM in self.labels[n,]}

    def _names(self) -> list[str]:
        return [e for e in self.expressions if isinstance(e, str)]

    def subsumptions(self) -> set[tuple[str, str]]:
        """Pairs of different names of classes that can have members, one below the other."""
        top = self.labels[TOP,]
        bad = self.unsatisfiable()
        return {
            (one, other)
            for one in self._names()
            if one not in bad
            for other in self.labels[one,] | top
            if isinstance(other, str) and other != one
        }

    def types(self) -> set[tuple[str, str]]:
        """Individuals that can exist, and the names of their classes."""
        return {
            (node[1], label)
            for (node, *_), labels in self.labels.items()
            if isinstance(node, tuple) and node[0] == "one" and BOTTOM not in labels
            for label in labels | self.labels[TOP,]
            if isinstance(label, str)
        }

    def impossible(self) -> set[str]:
        """Individuals that cannot exist."""
        return {
            node[1]
            for (node, *_), labels in self.labels.items()
            if isinstance(node, tuple) and node[0] == "one" and BOTTOM in labels
        }
