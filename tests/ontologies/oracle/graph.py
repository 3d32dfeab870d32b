"""A set of generalised triples, indexed by every choice of known places, literals by value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from .values import identity
from .vocabulary import FIRST, NIL, REST, Fact, Term

Key = tuple[Hashable, Hashable, Hashable]


class Graph:
    """Facts in the order in which they came; `match` finds them with any place left open.

    Two literals of one value match each other; the facts keep the terms that they came with.
    """

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts: dict[Fact, None] = {}
        self._index: defaultdict[Key, list[Fact]] = defaultdict(list)
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> bool:
        """True if the fact is new."""
        if fact in self._facts:
            return False
        self._facts[fact] = None
        s, p, o = map(identity, fact)
        for key in (
            (s, p, o),
            (s, p, None),
            (s, None, o),
            (None, p, o),
            (s, None, None),
            (None, p, None),
            (None, None, o),
        ):
            self._index[key].append(fact)
        return True

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> list[Fact]:
        """The facts with these terms; None stands for any."""
        if s is None and p is None and o is None:
            return list(self._facts)
        return self._index.get((_open(s), _open(p), _open(o)), [])

    def holds(self, fact: Fact) -> bool:
        """True if the fact, or one with literals of the same values, is there."""
        return bool(self.match(*fact))

    def objects(self, s: Term, p: Term) -> list[Term]:
        return [fact[2] for fact in self.match(s, p, None)]

    def subjects(self, p: Term, o: Term) -> list[Term]:
        return [fact[0] for fact in self.match(None, p, o)]

    def lists(self, head: Term) -> Iterator[tuple[Term, ...]]:
        """Every way to read the list: one, if each cell has one first and one rest.

        A cell that a reading comes back to has no end, and so is no list.
        """
        yield from self._readings(head, frozenset())

    def _readings(self, cell: Term, passed: frozenset[Term]) -> Iterator[tuple[Term, ...]]:
        if cell == NIL:
            yield ()
        if cell in passed:
            return
        for rest in dict.fromkeys(self.objects(cell, REST)):
            for tail in self._readings(rest, passed | {cell}):
                for member in dict.fromkeys(self.objects(cell, FIRST)):
                    yield (member, *tail)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._facts

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


def _open(one: Term | None) -> Hashable:
    """The part of a key for a place that may be left open."""
    return None if one is None else identity(one)
