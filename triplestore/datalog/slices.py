"""Slices of relations, and which rules depend on which: the dependency graph of a program.

Start at `Slice` and `Graph`. Rules about a vocabulary all speak of one relation of triples, so the
nodes are its slices: one for each property, one for each class, one for each relation of a user.
An atom with a variable for its property or class speaks of all of them. What is always true: the
graph has as many nodes and edges as the program has atoms, but for a constant factor, also with
such variables: they go by four nodes that stand for any slice or any class, written or read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Rule,
    TripleAtom,
    Variable,
    atoms_in,
)
from triplestore.terms.model import to_ntriples

SliceKind: TypeAlias = Literal["property", "class", "tuple", "any class", "any"]


class Slice(NamedTuple):
    """The facts of one property, of one class, or of one relation; or those of any of them.

    name   key of the property, class or relation; empty for `any class` and `any`
    arity  of a relation; else 0

    >>> print(Slice("class", b"\\x01http://e/C"))
    class <http://e/C>
    """

    kind: SliceKind
    name: bytes = b""
    arity: int = 0

    def __str__(self) -> str:
        if self.kind in ("any", "any class"):
            return "any class" if self.kind == "any class" else "any property or class"
        name = to_ntriples(self.name).decode()
        return f"{name}/{self.arity}" if self.kind == "tuple" else f"{self.kind} {name}"


ANY = Slice("any")
ANY_CLASS = Slice("any class")


def slice_of(atom: Atom) -> Slice:
    """The slice an atom speaks of.

    >>> slice_of(TripleAtom(Variable("x"), TYPE, Variable("c"))) is ANY_CLASS
    True
    """
    if not isinstance(atom, TripleAtom):
        return Slice("tuple", atom.name.key, len(atom.args))
    p = atom.p
    if isinstance(p, Variable):
        return ANY
    if p.key != _TYPE_KEY:
        return Slice("property", p.key)
    return Slice("class", atom.o.key) if isinstance(atom.o, Constant) else ANY_CLASS


_TYPE_KEY = TYPE.key

# The nodes that every graph has; the slices follow, then the rules.
WRITE_ANY, WRITE_CLASS, READ_CLASS, READ_ANY = range(4)
_FIRST_SLICE = 4


class Graph:
    """Rules and slices as nodes, with what each of them needs.

    rules   of one head each; node `first_rule + i` is rules[i]
    needs   node -> the nodes it depends on, positively or not
    nots    (node, rule node) pairs: the rule negates or aggregates the slice
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.nodes: dict[Slice, int] = {}
        self.needs: list[list[int]] = [[], [WRITE_ANY], [WRITE_CLASS], [READ_CLASS]]
        self.nots: list[tuple[int, int]] = []
        self.heads: list[int] = []
        self.positives: list[list[int]] = []
        negatives: list[list[int]] = []
        for rule in rules:
            self.heads.append(self._written(slice_of(rule.heads[0])))
            positive: list[int] = []
            negative: list[int] = []
            for atom, is_positive in atoms_in(rule.body):
                (positive if is_positive else negative).append(self._read(slice_of(atom)))
            self.positives.append(positive)
            negatives.append(negative)
        self.first_rule = len(self.needs)
        for i, (positive, negative) in enumerate(zip(self.positives, negatives, strict=True)):
            self.needs.append(positive + negative)
            self.needs[self.heads[i]].append(self.first_rule + i)
            self.nots += [(node, self.first_rule + i) for node in negative]
        self.slices = list(self.nodes)

    def _written(self, of: Slice) -> int:
        if of is ANY:
            return WRITE_ANY
        return WRITE_CLASS if of is ANY_CLASS else self._node(of)

    def _read(self, of: Slice) -> int:
        if of is ANY:
            return READ_ANY
        return READ_CLASS if of is ANY_CLASS else self._node(of)

    def _node(self, of: Slice) -> int:
        node = self.nodes.get(of)
        if node is None:
            node = self.nodes[of] = len(self.needs)
            if of.kind == "property":
                self.needs.append([WRITE_ANY])
                self.needs[READ_ANY].append(node)
            elif of.kind == "class":
                self.needs.append([WRITE_CLASS])
                self.needs[READ_CLASS].append(node)
            else:
                self.needs.append([])
        return node

    def slice_at(self, node: int) -> Slice:
        """The slice of a node that is no rule."""
        if node < _FIRST_SLICE:
            return ANY if node in (WRITE_ANY, READ_ANY) else ANY_CLASS
        return self.slices[node - _FIRST_SLICE]

    def with_equal_levels(self) -> list[list[int]]:
        """`needs` with more edges, so that slices that unify with one head are one component.

        A fact belongs to one stratum, so what rules with a variable property or class write is of
        the stratum of everything else that rules write. The same list if there are no such rules.
        """
        any_ = bool(self.needs[WRITE_ANY])
        any_class = any_ or len(self.needs[WRITE_CLASS]) > 1
        if not any_class:
            return self.needs
        needs = [list(edges) for edges in self.needs]
        for slice_, node in self.nodes.items():
            written = len(needs[node]) > 1
            if written and slice_.kind == "class":
                needs[WRITE_CLASS].append(node)
            elif written and any_ and slice_.kind == "property":
                needs[WRITE_ANY].append(node)
        if any_ and len(needs[WRITE_CLASS]) > 1:
            needs[WRITE_ANY].append(WRITE_CLASS)
        return needs


def components(needs: Sequence[Sequence[int]]) -> list[int]:
    """The strongly connected component of each node, numbered so that needs come first.

    Tarjan's algorithm without recursion; linear.

    >>> components([[1], [0, 2], []])
    [1, 1, 0]
    """
    count = len(needs)
    found = [-1] * count
    index = [0] * count  # 1, 2, 3, ... in the order of discovery; 0 is undiscovered
    low = [0] * count
    next_edge = [0] * count
    open_: list[int] = []
    number = made = 0
    for root in range(count):
        if index[root]:
            continue
        path = [root]
        number += 1
        index[root] = low[root] = number
        open_.append(root)
        while path:
            node = path[-1]
            edges = needs[node]
            at = next_edge[node]
            if at < len(edges):
                next_edge[node] = at + 1
                other = edges[at]
                if not index[other]:
                    number += 1
                    index[other] = low[other] = number
                    open_.append(other)
                    path.append(other)
                elif found[other] < 0 and index[other] < low[node]:
                    low[node] = index[other]
                continue
            path.pop()
            lowest = low[node]
            if path and lowest < low[path[-1]]:
                low[path[-1]] = lowest
            if lowest == index[node]:
                while True:
                    member = open_.pop()
                    found[member] = made
                    if member == node:
                        break
                made += 1
    return found


def shortest_path(
    needs: Sequence[Sequence[int]], start: int, goal: int, within: Iterable[int]
) -> list[int]:
    """The nodes from `start` to `goal` along needs, both included; only nodes of `within`."""
    allowed = set(within)
    before = {start: start}
    queue = [start]
    for node in queue:
        if node == goal:
            break
        for other in needs[node]:
            if other in allowed and other not in before:
                before[other] = node
                queue.append(other)
    path = [goal]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
