"""Slices of relations, and the dependency graph of a program.

Start at `Slice` and `DependencyGraph`. All rules about a vocabulary use one relation of triples, so
the nodes are its slices: one for each property, one for each class, one for each user-defined
relation. An atom with a variable for its property or class uses all of them. Always true:
the number of nodes and edges is linear in the number of atoms, even with such variables, for which
there are four nodes: any slice or any class, written or read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Constant,
    Not,
    Rule,
    TripleAtom,
    TupleAtom,
    atoms_in,
)
from triplestore.terms.term_keys import to_ntriples
from triplestore.thread_limits import look, looking

SliceKind: TypeAlias = Literal["property", "class", "tuple", "any class", "any"]


class Slice(NamedTuple):
    """The facts of one property, of one class, or of one relation; or those of any of them.

    name   key of the property, class or relation; empty for `any class` and `any`
    arity  of a relation; 0 for others

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


Key = TypeVar("Key", bound=Hashable)

ANY = Slice("any")
ANY_CLASS = Slice("any class")


def slice_of(atom: Atom) -> Slice:
    """The slice of an atom.

    >>> from triplestore.expressions.tree import Variable
    >>> slice_of(TripleAtom(Variable("x"), TYPE, Variable("c"))) is ANY_CLASS
    True
    """
    if type(atom) is not TripleAtom:
        assert isinstance(atom, TupleAtom)
        return Slice("tuple", atom.name.key, len(atom.args))
    p = atom.p
    if type(p) is not Constant:
        return ANY
    if p.key != _TYPE_KEY:
        return Slice("property", p.key)
    return Slice("class", atom.o.key) if type(atom.o) is Constant else ANY_CLASS


_TYPE_KEY = TYPE.key

# The nodes that every graph has; the slices follow, then the rules.
WRITE_ANY, WRITE_CLASS, READ_CLASS, READ_ANY = range(4)
_FIRST_SLICE = 4


class DependencyGraph:
    """Rules and slices as nodes, with their dependencies.

    rules   with one head each; node `first_rule + i` is that of rules[i]
    beside  for the first rules, atoms that they need besides those of their bodies
    needs   node -> the nodes on which it depends, positively or not
    heads, positives  node that a rule writes, and nodes that it uses positively
    nots    (node, rule node) pairs: the rule negates or aggregates the slice
    """

    def __init__(self, rules: Sequence[Rule], beside: Iterable[Iterable[Atom]] = ()) -> None:
        self.rules = rules
        self.slices: list[Slice] = []
        self.needs: list[list[int]] = [[], [WRITE_ANY], [WRITE_CLASS], [READ_CLASS]]
        self.nots: list[tuple[int, int]] = []
        self.heads: list[int] = []
        self.positives: list[list[int]] = []
        self._properties: dict[bytes, int] = {}
        self._classes: dict[bytes, int] = {}
        self._tuples: dict[tuple[bytes, int], int] = {}
        negatives: dict[int, list[int]] = {}
        others = iter(beside)
        for i, rule in enumerate(looking(rules)):
            self.heads.append(self._node_of(rule.heads[0], WRITE_ANY, WRITE_CLASS))
            positive: list[int] = []
            for item in (*rule.body, *next(others, ())):
                if type(item) is TripleAtom or isinstance(item, TupleAtom):
                    positive.append(self._node_of(item, READ_ANY, READ_CLASS))
                elif isinstance(item, Not | Aggregate):
                    negatives.setdefault(i, []).extend(
                        self._node_of(atom, READ_ANY, READ_CLASS) for atom, _ in atoms_in((item,))
                    )
            self.positives.append(positive)
        self.first_rule = len(self.needs)
        self.needs += self.positives
        for node, head in enumerate(self.heads, self.first_rule):
            self.needs[head].append(node)
        for i, negative in negatives.items():
            node = self.first_rule + i
            self.needs[node] = self.positives[i] + negative
            self.nots += [(used, node) for used in negative]

    def _node_of(self, atom: Atom, any_: int, any_class: int) -> int:
        """The node of an atom's slice; `any_` or `any_class` if that is a variable."""
        if type(atom) is not TripleAtom:
            assert isinstance(atom, TupleAtom)
            pair = (atom.name.key, len(atom.args))
            return self._tuples.get(pair) or self._add(slice_of(atom), pair, self._tuples)
        p = atom.p
        if type(p) is not Constant:
            return any_
        key = p.key
        if key != _TYPE_KEY:
            return self._properties.get(key) or self._add(slice_of(atom), key, self._properties)
        if type(atom.o) is not Constant:
            return any_class
        key = atom.o.key
        return self._classes.get(key) or self._add(slice_of(atom), key, self._classes)

    def _add(self, of: Slice, key: Key, nodes: dict[Key, int]) -> int:
        node = nodes[key] = len(self.needs)
        self.slices.append(of)
        if of.kind == "property":
            self.needs.append([WRITE_ANY])
            self.needs[READ_ANY].append(node)
        elif of.kind == "class":
            self.needs.append([WRITE_CLASS])
            self.needs[READ_CLASS].append(node)
        else:
            self.needs.append([])
        return node

    @property
    def nodes(self) -> Iterator[tuple[Slice, int]]:
        """The slices of atoms, with their nodes."""
        return zip(self.slices, range(_FIRST_SLICE, self.first_rule), strict=True)

    def slice_at(self, node: int) -> Slice:
        """The slice of a node that is not a rule."""
        if node < _FIRST_SLICE:
            return ANY if node in (WRITE_ANY, READ_ANY) else ANY_CLASS
        return self.slices[node - _FIRST_SLICE]

    def with_equal_levels(self) -> list[list[int]]:
        """`needs` with more edges, so that slices that unify with one head are one component.

        A fact belongs to one stratum, so facts of rules with a variable property or class are in
        the same stratum as all other inferred facts. The same list if there are no such rules.
        """
        any_ = bool(self.needs[WRITE_ANY])
        any_class = any_ or len(self.needs[WRITE_CLASS]) > 1
        if not any_class:
            return self.needs
        needs = [list(edges) for edges in self.needs]
        for slice_, node in self.nodes:
            written = len(needs[node]) > 1
            if written and slice_.kind == "class":
                needs[WRITE_CLASS].append(node)
            elif written and any_ and slice_.kind == "property":
                needs[WRITE_ANY].append(node)
        if any_ and len(needs[WRITE_CLASS]) > 1:
            needs[WRITE_ANY].append(WRITE_CLASS)
        return needs


def components(needs: Sequence[Sequence[int]]) -> list[int]:
    """The strongly connected component of each node, numbered so that dependencies come first.

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
        look()
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
    """The nodes from `start` to `goal` along dependencies, inclusive; only nodes of `within`."""
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
