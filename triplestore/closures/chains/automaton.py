"""Finite automata over relations: the paths whose pairs are in relations defined by chains.

Start reading at `Automaton`. A path of one or more edges spells a word: the labels of its edges,
each forward or turned around. A defined relation has the pairs (x, z) for which some path from x to
z spells a word that leads from its start to an end state; the empty word is ignored.
`Automaton.reduced` gives a small automaton for the same relations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from triplestore.data_classes import data_class

Name: TypeAlias = Hashable


class Arc(NamedTuple):
    """A step between states along an edge; if `turned`, from its second node to its first."""

    source: int
    label: Name
    turned: bool
    target: int


class Language(NamedTuple):
    """The words of a defined relation.

    accepting  its end states
    turned     the words are those of the relation turned around
    """

    start: int
    accepting: frozenset[int]
    turned: bool = False


@data_class
class Automaton:
    """States 0, 1, ..., steps between them, and the languages of the defined relations.

    empty    steps without an edge

    >>> plus = Automaton(2, (Arc(0, "e", False, 1),), ((1, 0),), {"p": Language(0, frozenset({1}))})
    >>> plus.reduced().arcs
    (Arc(source=0, label='e', turned=False, target=0),)
    """

    states: int
    arcs: tuple[Arc, ...]
    empty: tuple[tuple[int, int], ...]
    defined: Mapping[Name, Language]

    @property
    def labels(self) -> tuple[Name, ...]:
        """The distinct labels of its arcs, in order of appearance."""
        return tuple(dict.fromkeys(arc.label for arc in self.arcs))

    def reduced(self) -> Automaton:
        """An automaton for the same relations, without empty steps and with one end state for each.

        Useless states are removed, and equivalent states are merged.
        """
        made = _without_empty(self)
        made = _merged(_trimmed(made))
        return _with_no_end(_trimmed(_with_one_end(_with_good_starts(made))))


def reached(links: Iterable[tuple[int, int]], seeds: Iterable[int]) -> set[int]:
    """The nodes reached from the seeds along links, including the seeds."""
    after: dict[int, list[int]] = {}
    for one, other in links:
        after.setdefault(one, []).append(other)
    found = set(seeds)
    todo = list(found)
    while todo:
        for other in after.get(todo.pop(), ()):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def _without_empty(given: Automaton) -> Automaton:
    """Replace empty steps: arcs also start before them, and states before an end become ends."""
    near = [reached(given.empty, [state]) for state in range(given.states)]
    arcs = [
        arc._replace(source=state)
        for state in range(given.states)
        for arc in given.arcs
        if arc.source in near[state]
    ]
    defined = {
        name: words._replace(
            accepting=frozenset(s for s in range(given.states) if near[s] & words.accepting)
        )
        for name, words in given.defined.items()
    }
    return Automaton(given.states, tuple(dict.fromkeys(arcs)), (), defined)


def _trimmed(given: Automaton) -> Automaton:
    """Remove states that no start reaches, or from which no end is reachable."""
    forward = [(arc.source, arc.target) for arc in given.arcs]
    words = given.defined.values()
    ahead = reached(forward, (one.start for one in words))
    back = reached(((b, a) for a, b in forward), (s for one in words for s in one.accepting))
    kept = ahead & back | {one.start for one in words}
    number = {state: place for place, state in enumerate(sorted(kept))}
    return _renumbered(given, number)


def _renumbered(given: Automaton, number: Mapping[int, int]) -> Automaton:
    """Renumber states; several states may get the same number, states without one are removed."""
    arcs = dict.fromkeys(
        Arc(number[arc.source], arc.label, arc.turned, number[arc.target])
        for arc in given.arcs
        if arc.source in number and arc.target in number
    )
    defined = {
        name: words._replace(
            start=number[words.start],
            accepting=frozenset(number[s] for s in words.accepting if s in number),
        )
        for name, words in given.defined.items()
    }
    return Automaton(max(number.values(), default=-1) + 1, tuple(arcs), (), defined)


def _merged(given: Automaton) -> Automaton:
    """Merge states that are ends of the same relations and continue in the same way."""
    kind: dict[int, Name] = {
        state: frozenset(n for n, words in given.defined.items() if state in words.accepting)
        for state in range(given.states)
    }
    while True:
        on = _onwards(given, kind)
        finer: dict[int, Name] = {state: (kind[state], on[state]) for state in range(given.states)}
        if len(set(finer.values())) == len(set(kind.values())):
            break
        kind = finer
    first: dict[Name, int] = {}
    return _renumbered(given, {s: first.setdefault(kind[s], len(first)) for s in kind})


def _onwards(given: Automaton, kind: Mapping[int, Name]) -> dict[int, Name]:
    """How each state continues: its arcs, with the kinds of states they lead to."""
    on: dict[int, set[Name]] = {state: set() for state in range(given.states)}
    for arc in given.arcs:
        on[arc.source].add((arc.label, arc.turned, kind[arc.target]))
    return {state: frozenset(found) for state, found in on.items()}


def _with_good_starts(given: Automaton) -> Automaton:
    """Replace a start without incoming arcs by a state that continues in the same way.

    Whether a start is an end does not matter, since the empty word is ignored.
    """
    on = _onwards(given, {state: state for state in range(given.states)})
    entered = {arc.target for arc in given.arcs}
    defined = dict(given.defined)
    for name, words in given.defined.items():
        if words.start not in entered:
            same = (s for s in sorted(entered) if on[s] == on[words.start])
            defined[name] = words._replace(start=next(same, words.start))
    return Automaton(given.states, given.arcs, (), defined)


def _with_one_end(given: Automaton) -> Automaton:
    """Give a relation with several ends one new end, without outgoing arcs."""
    states, arcs = given.states, list(given.arcs)
    defined = dict(given.defined)
    for name, words in given.defined.items():
        if len(words.accepting) > 1:
            arcs += [a._replace(target=states) for a in given.arcs if a.target in words.accepting]
            defined[name] = words._replace(accepting=frozenset({states}))
            states += 1
    return Automaton(states, tuple(dict.fromkeys(arcs)), (), defined)


def _with_no_end(given: Automaton) -> Automaton:
    """Give a relation without words an end without incoming arcs."""
    end = frozenset({given.states})
    defined = {
        name: words if words.accepting else words._replace(accepting=end)
        for name, words in given.defined.items()
    }
    states = given.states + any(words.accepting == end for words in defined.values())
    return Automaton(states, given.arcs, (), defined)
