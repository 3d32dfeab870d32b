"""Rules that nothing can reach yet: an ontology without instances is closed without them.

Start reading at `find_sleeping`. Most rules of an ontology are about members of its classes and
values of its properties. Where there are none, compiling these rules takes longer than the closure.
A rule *sleeps* if there are no facts of any property, class or relation in its body, and none can
follow by the rules that are awake. All rules wake in the run that brings a fact that a sleeping
rule waits for.

What is always true of sleeping rules:

- They have no instances. For each of them one property or class of its body has no facts, and is
  watched; or a relation whose rules all sleep.
- No rule that is awake leads to what a sleeping one reads. So no cycle has rules of both kinds, and
  a rule is recursive among those that are awake if it is in the whole program: counts that are kept
  with facts are right for both.

Only the compiled program is smaller: readers, reports and audits have all rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Constraint,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
)
from triplestore.reasoning.program.outdated_rules import have_one_of, names_in
from triplestore.reasoning.thresholds import REASONING
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import U64, low
from triplestore.rules.compile_rules import all_atoms

if TYPE_CHECKING:
    from triplestore.reasoning.outcome import WriteStep
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary


@data_class(slots=False)
class Sleeping:
    """The part of a program that is compiled while the other rules sleep, and what wakes these.

    awake       the rules and constraints that do not sleep
    properties  keys of properties whose first fact wakes all
    classes     keys of classes whose first member wakes all
    """

    awake: Program
    properties: frozenset[bytes]
    classes: frozenset[bytes]

    def woken_by(self, steps: Iterable[WriteStep], dictionary: Dictionary) -> bool:
        """Whether some steps bring a fact that is watched for."""
        (type_id,) = dictionary.lookup_keys([TYPE.key]).tolist()
        for step in steps:
            names, classes = names_in(step, type_id)
            if have_one_of(names, self.properties, dictionary):
                return True
            if have_one_of(classes, self.classes, dictionary):
                return True
        return False


def find_sleeping(
    program: Program, edges: U64, tables: Tables, dictionary: Dictionary
) -> Sleeping | None:
    """Which rules sleep where these facts hold, closed or not; None if too few would sleep.

    edges  sub-class axioms beside the program, as sorted pairs of ids
    """
    reach = _Reach(program)
    if not reach.begin(tables, dictionary, len(program)) or not reach.run(edges):
        return None
    return reach.found(program) if reach.few else None


class _Reach:
    """Which clauses are reached from the facts that hold.

    slices   of atoms: (b"p" and a property's key), (b"c" and a class's), or a relation -> number
    readers  number of a slice -> the clauses that speak of it
    reads, heads  for each clause the slices it speaks of, and those it concludes
    awake    for each clause whether it is reached
    """

    def __init__(self, program: Program) -> None:
        self.clauses: list[Rule | Constraint] = [*program.rules, *program.constraints]
        self.slices: dict[Any, int] = {}
        self.readers: list[list[int]] = []
        self.reads: list[list[int]] = []
        self.heads: list[list[int]] = []
        self.awake = bytearray(len(self.clauses))
        self._always: list[int] = []
        for place, clause in enumerate(self.clauses):
            some = [self._slice(atom) for atom in _atoms(clause)]
            self.reads.append(some)
            heads = clause.heads if isinstance(clause, Rule) else ()
            self.heads.append([self._slice(atom) for atom in heads])
            if not some or -1 in some:
                self._always.append(place)
                continue
            for one in some:
                self.readers[one].append(place)

    def _slice(self, atom: Atom) -> int:
        """The number of the slice of an atom; -1 if it speaks of several."""
        if type(atom) is TripleAtom:
            if type(atom.p) is not Constant:
                return -1
            if atom.p.key != _TYPE_KEY:
                name: Any = b"p" + atom.p.key
            elif type(atom.o) is Constant:
                name = b"c" + atom.o.key
            else:
                return -1
        else:
            assert isinstance(atom, TupleAtom)
            name = atom.name.key, len(atom.args)
        found = self.slices.get(name)
        if found is None:
            found = self.slices[name] = len(self.readers)
            self.readers.append([])
        return found

    def begin(self, tables: Tables, dictionary: Dictionary, most: int) -> bool:
        """Look up what holds; False if there are more classes with members than this."""
        (type_id,) = dictionary.lookup_keys([TYPE.key]).tolist()
        types = tables.relation(type_id)
        if types.distinct_estimate(1) > most:
            return False
        names = [name for name in self.slices if type(name) is bytes]
        found = dictionary.lookup_keys([name[1:] for name in names]).tolist()
        ids = dict(zip(names, found, strict=True))
        self._classes = {i: self.slices[name] for name, i in ids.items() if name[0] == _CLASS and i}
        properties = {i: self.slices[name] for name, i in ids.items() if name[0] != _CLASS and i}
        self._id_of = {number: i for i, number in self._classes.items()}
        self._open = [properties[i] for i in tables.names().tolist() if i in properties]
        self._frontier: list[int] = types.distinct(1).tolist()
        self._members = set(self._frontier)
        self._open += [self._classes[i] for i in self._frontier if i in self._classes]
        for i, arity in tables.tuple_names():
            number = self.slices.get((dictionary.key(i), arity))
            self._open += [] if number is None else [number]
        return True

    def run(self, edges: U64) -> bool:
        """Follow the rules and these axioms; False if a rule may conclude anything."""
        reached = bytearray(len(self.readers))
        for one in self._open:
            reached[one] = 1
        waking = self._always
        while waking or self._open or self._frontier:
            if not waking and self._open:
                one = self._open.pop()
                waking = [place for place in self.readers[one] if not self.awake[place]]
                i = self._id_of.get(one, 0)
                if i and i not in self._members:
                    self._members.add(i)
                    self._frontier.append(i)
            found: list[int] = []
            for place in waking:
                self.awake[place] = 1
                found += self.heads[place]
            if not waking and not self._open:
                found = self._above(edges)
            if -1 in found:
                return False
            for one in found:
                if not reached[one]:
                    reached[one] = 1
                    self._open.append(one)
            waking = []
        return True

    def _above(self, edges: U64) -> list[int]:
        """The slices of the classes above those that were reached last."""
        ids = np.array(self._frontier, dtype=np.uint64)
        lo = edges.searchsorted(ids << _HALF)
        hi = edges.searchsorted((ids + np.uint64(1)) << _HALF)
        above = sorted_distinct(low(edges[ranges(lo, hi - lo)])).tolist()
        self._frontier = [i for i in above if i not in self._members]
        self._members.update(self._frontier)
        return [self._classes[i] for i in above if i in self._classes]

    @property
    def few(self) -> bool:
        """Whether few of the clauses with a body were reached."""
        awake = [one for one, reads in zip(self.awake, self.reads, strict=True) if reads]
        return sum(awake) * REASONING.awake_share <= len(awake)

    def found(self, program: Program) -> Sleeping:
        """The clauses that were not reached, as those that sleep."""
        watched: set[int] = set()
        names = list(self.slices)
        for place, reads in enumerate(self.reads):
            if not self.awake[place] and watched.isdisjoint(reads):
                watched.update([one for one in reads if type(names[one]) is bytes][:1])
        keys = [names[one] for one in watched]
        chosen = [clause for clause, one in zip(self.clauses, self.awake, strict=True) if one]
        awake = Program(
            [clause for clause in chosen if isinstance(clause, Rule)],
            [clause for clause in chosen if isinstance(clause, Constraint)],
            program.prefixes,
        )
        return Sleeping(
            awake,
            frozenset(key[1:] for key in keys if key[0] != _CLASS),
            frozenset(key[1:] for key in keys if key[0] == _CLASS),
        )


_TYPE_KEY = TYPE.key
_CLASS = b"c"[0]
_HALF = np.uint64(32)


def _atoms(clause: Rule | Constraint) -> Iterator[Atom]:
    for item in clause.body:
        if type(item) is TripleAtom:
            yield item
        else:
            yield from all_atoms((item,))
