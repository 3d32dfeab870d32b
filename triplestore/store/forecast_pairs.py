"""What is stated of properties, with their sub-properties and inverses, for the guard of costs.

Start reading at `StatedPairs`. Relations are read where they lie: in blocks, or from some places.
What is copied is at most an id for each thing that has a property, or what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from triplestore.datalog.program import Atom, Constant, Rule, Term, TripleAtom
from triplestore.tables.relation import BLOCK
from triplestore.tables.rows import NO_IDS, NO_KEYS, U32, U64, distinct

if TYPE_CHECKING:
    from triplestore.tables import Tables
    from triplestore.tables.plain import PlainRelation
    from triplestore.terms import Dictionary

MOST_TOGETHER = 64
"""So many relations are taken for parts of one, as sub-properties or inverses."""


FEWEST_AT_ONCE = 1 << 10
"""So many pairs are read at once, even if fewer are wanted."""


class Pairs(NamedTuple):
    """Pairs read from one side: relations, each with the order (0 or 1) in which it is read."""

    parts: tuple[tuple[PlainRelation, int], ...]

    def most(self) -> int:
        """How many pairs there are at most: parts may have the same."""
        return sum(relation.count() for relation, _ in self.parts)

    def firsts(self) -> U32:
        """The ids that pairs begin with, increasing."""
        return _united([relation.distinct(order) for relation, order in self.parts])

    def after(self, firsts: U32, most: int) -> tuple[U32, int]:
        """What these ids lead to, increasing, and how many pairs were looked at.

        A little more than `most`, and others are left out.
        """
        found: list[U32] = []
        looked = 0
        size = min(BLOCK, max(FEWEST_AT_ONCE, most))
        for relation, order in self.parts:
            for _, (ids,) in relation.probe_blocks((order,), (firsts,), block_rows=size):
                found.append(distinct(np.sort(ids)))
                looked += len(ids)
                if looked > most:
                    return _united(found), looked
        return _united(found), looked

    def keys(self) -> U64:
        """All pairs as sorted keys: a view if they are one run of rows."""
        found = [relation.keys(order) for relation, order in self.parts]
        if len(found) > 1:
            return distinct(np.sort(np.concatenate(found)))
        return found[0] if found else NO_KEYS


def _united(sorted_ids: list[U32]) -> U32:
    if len(sorted_ids) > 1:
        return distinct(np.sort(np.concatenate(sorted_ids)))
    return sorted_ids[0] if sorted_ids else NO_IDS


class StatedPairs:
    """Properties with what belongs to them by rules of one atom.

    rules   all that are in force
    fewest  rules that make fewer facts are nobody's concern
    """

    def __init__(
        self, rules: Iterable[Rule], tables: Tables, dictionary: Dictionary, fewest: int
    ) -> None:
        self.tables = tables
        self.dictionary = dictionary
        self.fewest = fewest
        self._members: dict[Constant, list[tuple[int, bool]]] = {}
        self._rules = rules

    @cached_property
    def _below(self) -> dict[Constant, list[tuple[Constant, bool]]]:
        """Property -> those of which it has all pairs, and whether turned round."""
        found: dict[Constant, list[tuple[Constant, bool]]] = {}
        for rule in self._rules:
            if len(rule.body) == 1 and len(rule.heads) == 1:
                self._note(found, rule.heads[0], rule.body[0])
        return found

    @staticmethod
    def _note(
        found: dict[Constant, list[tuple[Constant, bool]]], head: object, body: object
    ) -> None:
        if type(head) is not TripleAtom or type(body) is not TripleAtom:
            return
        if type(head.o) is Constant or type(head.s) is Constant or head.s == head.o:
            return
        if type(head.p) is not Constant or type(body.p) is not Constant:
            return
        if {head.s, head.o} == {body.s, body.o}:
            found.setdefault(head.p, []).append((body.p, head.s == body.o))

    def pairs(self, name: Constant, around: bool = False) -> Pairs:
        """The pairs of a property; turned around, if so wanted."""
        parts = (
            (self.tables.stored_relation(number), int(turned != around))
            for number, turned in self._parts(name)
        )
        return Pairs(tuple(parts))

    def most(self, name: Constant) -> int:
        """How many pairs of a property there are at most."""
        return self.pairs(name).most()

    def _parts(self, name: Constant) -> list[tuple[int, bool]]:
        """The relations that belong to a property, and whether turned round."""
        found = self._members.get(name)
        if found is None:
            seen = {(name, False): None}
            waiting = list(seen)
            while waiting:
                one, turned = waiting.pop()
                for other, flipped in self._below.get(one, ()):
                    pair = other, turned != flipped
                    if pair not in seen and len(seen) < MOST_TOGETHER:
                        seen[pair] = None
                        waiting.append(pair)
            ids = self.dictionary.lookup_keys([one.key for one, _ in seen]).tolist()
            members = zip(ids, [turned for _, turned in seen], strict=True)
            found = self._members[name] = [(number, turned) for number, turned in members if number]
        return found

    def size(self, atom: Atom) -> int:
        """How many facts an atom may match."""
        if not isinstance(atom, TripleAtom):
            return 1
        if not isinstance(atom.p, Constant):
            return self.tables.total()
        p = self._id(atom.p)
        if not p:
            return 0
        relation = self.tables.relation(p)
        return len(relation.by_second(self._id(atom.o))) if _names(atom.o) else len(relation)

    def _id(self, term: Term) -> int:
        return int(self.dictionary.lookup_keys([term.key])[0]) if _names(term) else 0

    def text(self, key: bytes) -> str:
        """A name for people."""
        return str(Constant(key))


def _names(term: Term) -> TypeGuard[Constant]:
    return isinstance(term, Constant)
