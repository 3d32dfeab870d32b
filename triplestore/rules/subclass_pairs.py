"""Subclass axioms between names, as pairs of ids beside a program: hundreds of thousands of them.

Start reading at `SubClasses`. An axiom `C` below `D` is the rule `D[?x] :- C[?x]`. As an object it
costs microseconds in each pass over a program: a change of one axiom among 285,000 took seconds.
Most of them need no passes. A class is at the *bottom* if only such axioms lead to it, from classes
for which the same holds. No other rule concludes its members, so all these axioms together are one
hierarchy (see `subclass_levels`) in one stratum below all others. Always true of the bottom: it has
no cycles, and it reads asserted facts and itself only.

Measured on the Gene Ontology under `owl-rl`: the closure takes 1.2 s, with rules instead 2.7;
adding or deleting an axiom takes 2 to 3 ms, with rules instead 1.6 to 1.9 s.

An axiom costs some 0.1 us. Axioms that are not at the bottom become rules of the program again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program, Rule
from triplestore.datalog.rules import signature
from triplestore.datalog.slices import slice_of
from triplestore.datalog.stratify import Stratification, Stratum
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U32,
    U64,
    Bools,
    high,
    in_sorted,
    low,
    pack,
    start_of_runs,
)
from triplestore.rules.simplify import SimpleProgram
from triplestore.rules.subclass_levels import numbered
from triplestore.rules.subclass_rules import copied_class, names_of
from triplestore.rules.thresholds import RULES

BOTTOM = 1
"""The stratum of the bottom, if there is one."""


@data_class(eq=False)
class SubClasses:
    """Sub-class axioms in one dictionary.

    keys     packed pairs (class, class above it), sorted, each once, none of a class with itself
    rule_of  makes the rule of a pair

    >>> from triplestore.datalog.text import read
    >>> names = {1: "A", 2: "B"}
    >>> def rule_of(one: int, other: int) -> Rule:
    ...     return read(f"<http://e/{names[other]}>[?x] :- <http://e/{names[one]}>[?x] .").rules[0]
    >>> print(*SubClasses(np.array([(1 << 32) + 2], np.uint64), rule_of).rules())
    <http://e/B>[?x] :- <http://e/A>[?x] .
    """

    keys: U64
    rule_of: Callable[[int, int], Rule]

    def rules(self, keys: U64 | None = None) -> list[Rule]:
        """The rules of these axioms, or of some of them."""
        chosen = self.keys if keys is None else keys
        pairs = zip(high(chosen).tolist(), low(chosen).tolist(), strict=True)
        return [self.rule_of(one, other) for one, other in pairs]

    def at_bottom(self, rules: Iterable[Rule], ids_of: Callable[[Sequence[bytes]], U32]) -> Bools:
        """Which of the axioms are at the bottom of a program with these other rules."""
        heads = {slice_of(head) for rule in rules for head in rule.heads}
        few = len(self.keys) < RULES.many_subclasses
        if few or any(head.kind in ("any", "any class") for head in heads):
            return np.zeros(len(self.keys), dtype=np.bool_)
        names = [head.name for head in heads if head.kind == "class"]
        concluded = sorted_distinct(ids_of(names)) if names else NO_IDS
        return _at_bottom(self.keys, concluded)


def _at_bottom(keys: U64, concluded: U32) -> Bools:
    """Which edges lead to a node that is done.

    A node is done when all edges to it come from done nodes. Nodes that other rules conclude are
    never done. Layer by layer, each edge is followed once.
    """
    ids, one, other = numbered(keys)
    starts = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(np.bincount(one, minlength=len(ids)), out=starts[1:])
    waiting: I64 = np.bincount(other, minlength=len(ids))
    if len(concluded):
        waiting[in_sorted(ids, concluded)] += len(keys) + 1  # never done
    done = waiting == 0
    layer = np.flatnonzero(done)
    while len(layer):
        edges = ranges(starts[layer], starts[layer + 1] - starts[layer])
        ends = np.sort(other[edges])
        runs = start_of_runs(ends)
        reached = ends[runs[:-1]]
        waiting[reached] -= np.diff(runs)
        layer = reached[waiting[reached] == 0]
        done[layer] = True
    found: Bools = done[other]
    return found


def parted(
    program: Program, ids_of: Callable[[Sequence[bytes]], U32]
) -> tuple[Program, SubClasses | None]:
    """A program without its rules `D[?x] :- C[?x]`, and these as pairs, if there are very many."""
    copies = [rule for rule in program.rules if len(rule.heads) == 1 and copied_class(rule)]
    if len(copies) < RULES.many_subclasses:
        return program, None
    ids = ids_of([name for rule in copies for name in names_of(rule)])
    pairs = pack(np.ascontiguousarray(ids[::2]), np.ascontiguousarray(ids[1::2]))
    order = np.flatnonzero(ids[::2] != ids[1::2])  # a rule of a class with itself is recursive
    order = order[np.argsort(pairs[order])]
    keys = pairs[order]

    def rule_of(one: int, other: int) -> Rule:
        place = int(keys.searchsorted(np.uint64(one << 32 | other)))
        return copies[int(order[place])]

    taken = {id(copies[i]) for i in order.tolist()}
    return program.where(lambda rule: id(rule) not in taken), SubClasses(keys, rule_of)


class Bottom:
    """The axioms at the bottom of a program.

    keys     their pairs, sorted
    heads    the upper classes, increasing
    """

    def __init__(self, subclasses: SubClasses, keys: U64) -> None:
        self._subclasses = subclasses
        self.keys = keys
        self.heads: U32 = sorted_distinct(low(keys)) if len(keys) else NO_IDS

    def rules(self, keys: U64) -> list[Rule]:
        """The rules of some of the axioms."""
        return self._subclasses.rules(keys)


def without_bottom(
    simple: SimpleProgram, beside: SubClasses, ids_of: Callable[[Sequence[bytes]], U32]
) -> tuple[SimpleProgram, Bottom | None]:
    """A program in which axioms that are not at its bottom are rules; and the bottom."""
    chosen = beside.at_bottom(simple.rules, ids_of)
    found = Bottom(beside, beside.keys[chosen]) if chosen.any() else None
    if chosen.all():
        return simple, found
    others = {signature(rule): rule for rule in beside.rules(beside.keys[~chosen])}
    for rule in simple.rules:
        others.pop(signature(rule), None)
    rules = tuple(others.values())
    made = replace(simple, rules=(*simple.rules, *rules), origins=(*simple.origins, *rules))
    return made, found


def above_bottom(strata: Stratification) -> Stratification:
    """The same strata above an empty one."""
    moved = [replace(stratum, number=stratum.number + 1) for stratum in strata]
    return replace(
        strata,
        strata=(Stratum(BOTTOM, (), (), (), ()), *moved),
        levels={slice_: level + (level > 0) for slice_, level in strata.levels.items()},
        any_property=strata.any_property + (strata.any_property > 0),
        any_class=strata.any_class + (strata.any_class > 0),
    )
