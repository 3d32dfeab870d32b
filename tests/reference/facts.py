"""Facts as tuples of term keys, and a set of them that atoms can be matched against.

    ("t", s, p, o)           a triple
    ("r", name, *arguments)  a row of a relation of three columns or more
    ("v", number, *values)   a row of an aggregate or of a negated body (see `views`)

Start at `Table`. What is always true: places are compared as bytes, so equal facts are the same
fact; a table's index holds exactly its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeAlias

from triplestore.datalog.program import TYPE
from triplestore.datalog.slices import ANY, Slice
from triplestore.expressions.tree import Variable

Fact: TypeAlias = tuple[Any, ...]
"""A letter, then term keys (the number of a view, for its rows)."""

Pattern: TypeAlias = tuple[Any, ...]
"""A fact with variables in some places."""

Values: TypeAlias = dict[Variable, bytes]
"""What variables stand for."""

Order: TypeAlias = Callable[[Iterable[Fact]], Iterable[Fact]]
"""Puts facts into the order in which they are tried."""

_TYPE = TYPE.key


def by_predicate(facts: Iterable[Fact]) -> list[Fact]:
    """Facts sorted by property, class or relation, then by their arguments from left to right."""
    return sorted(facts, key=_arguments)


def _arguments(fact: Fact) -> tuple[Any, ...]:
    if fact[0] == "t":
        _, s, p, o = fact
        return (1, o, s) if p == _TYPE else (1, p, s, o)
    return (0 if fact[0] == "v" else 1, *fact[1:])


def slice_of_fact(fact: Fact) -> Slice:
    """The slice that a fact is of, which says its stratum.

    >>> print(slice_of_fact(("t", b"\\x01http://e/a", b"\\x01http://e/p", b"\\x01http://e/b")))
    property <http://e/p>
    """
    if fact[0] == "r":
        return Slice("tuple", fact[1], len(fact) - 2)
    if fact[0] == "v":
        return ANY
    return Slice("class", fact[3]) if fact[2] == _TYPE else Slice("property", fact[2])


def unify(pattern: Pattern, fact: Fact, values: Values) -> Values | None:
    """The values with those that make a pattern this fact, or None if nothing does."""
    if len(pattern) != len(fact):
        return None
    made = values
    for term, key in zip(pattern, fact, strict=True):
        if isinstance(term, Variable):
            known = made.get(term)
            if known is None:
                if made is values:
                    made = dict(values)
                made[term] = key
            elif known != key:
                return None
        elif term != key:
            return None
    return made


def ground(pattern: Pattern, values: Values) -> Fact:
    """The fact that a pattern is when its variables have these values."""
    return tuple([values[term] if isinstance(term, Variable) else term for term in pattern])


class Table:
    """A set of facts that are found by the value in any one place.

    >>> table = Table([("r", b"v", b"1", b"2", b"3"), ("r", b"v", b"1", b"4", b"5")])
    >>> len(table.like(("r", b"v", Variable("x"), b"4", Variable("y")), {}))
    1
    """

    __slots__ = ("_by_kind", "_by_place", "facts")

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.facts: set[Fact] = set()
        self._by_kind: dict[tuple[Any, ...], dict[Fact, None]] = {}
        self._by_place: dict[tuple[Any, ...], dict[Fact, None]] = {}
        for fact in facts:
            self.add(fact)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.facts

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def add(self, fact: Fact) -> None:
        """Have a fact."""
        if fact not in self.facts:
            self.facts.add(fact)
            for index, key in self._entries(fact):
                index.setdefault(key, {})[fact] = None

    def discard(self, fact: Fact) -> None:
        """Have a fact no longer."""
        if fact in self.facts:
            self.facts.remove(fact)
            for index, key in self._entries(fact):
                del index[key][fact]

    def copy(self) -> Table:
        """A table with the same facts."""
        made = Table()
        made.facts = set(self.facts)
        made._by_kind = {key: dict(facts) for key, facts in self._by_kind.items()}
        made._by_place = {key: dict(facts) for key, facts in self._by_place.items()}
        return made

    def like(self, pattern: Pattern, values: Values) -> Collection[Fact]:
        """Facts among which are all that unify with a pattern: those of its rarest known place."""
        kind, columns = pattern[0], len(pattern)
        best: Collection[Fact] = self._by_kind.get((kind, columns), ())
        for place in range(1, columns):
            term = pattern[place]
            key = values.get(term) if isinstance(term, Variable) else term
            if key is not None:
                found: Collection[Fact] = self._by_place.get((kind, columns, place, key), ())
                if len(found) < len(best):
                    best = found
        return best

    def _entries(
        self, fact: Fact
    ) -> Iterator[tuple[dict[tuple[Any, ...], dict[Fact, None]], tuple[Any, ...]]]:
        kind, columns = fact[0], len(fact)
        yield self._by_kind, (kind, columns)
        for place in range(1, columns):
            yield self._by_place, (kind, columns, place, fact[place])
