"""From chain rules to an automaton, where the words they derive are a regular language.

Start reading at `regular_system`. A rule `p(x, z) <- q(x, y), r(y, z)` says that each word of q,
followed by one of r, is a word of p; `r` turned around stands for r's words read backwards. So
rules are a grammar. What is recognised, for each set of relations that depend on each other:

* Relations that are copies of each other are one relation, also if they are copies turned around;
  one that is its own copy turned around is symmetric, and each of its rules holds both ways round.
* One relation p that calls itself at the ends only: `p <- C p`, `p <- p A`, `p <- p W p` and
  `p <- B` (each letter a word, W also empty) come to X (W X)* with X = C* B A*.
* Several relations whose rules all call the others last, or all call them first.

Others may use these as letters. Any other recursion has no automaton here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from triplestore.closures.chains.automaton import Arc, Automaton, Language, Name, reached

Letter: TypeAlias = tuple[Name, bool]
"""A relation, and whether it is turned around."""

Word: TypeAlias = tuple[Letter, ...]

MOST_STATES = 256
"""Maximum number of states of an automaton: relations used as letters are copied."""


class ChainRule(NamedTuple):
    """`head(x, z) <- body[0](x, y1), body[1](y1, y2), ...`; a relation may be turned around."""

    head: Name
    body: Word


def regular_system(rules: Sequence[ChainRule]) -> Automaton | None:
    """An automaton for all relations that the rules define, or None if none is found.

    Facts of a defined relation that come from elsewhere are a rule with a label of their own. The
    labels are the relations that no rule defines.

    >>> e, p = ("e", False), ("p", False)
    >>> regular_system([ChainRule("p", (e,)), ChainRule("p", (p, p))]).arcs
    (Arc(source=0, label='e', turned=False, target=0),)
    >>> regular_system([ChainRule("p", (e,)), ChainRule("p", (e, p, e))]) is None
    True
    """
    known: dict[Name, _Words] = {}
    for members in _knots(rules):
        own = [rule for rule in rules if rule.head in members]
        found = _closed(members, own, known)
        if found is None or sum(_sizes(found.values())) > MOST_STATES:
            return None
        known.update(found)
    return _joined(known).reduced() if sum(_sizes(known.values())) <= MOST_STATES else None


def _knots(rules: Sequence[ChainRule]) -> list[list[Name]]:
    """The defined relations, grouped if they depend on each other; used ones come first."""
    names = list(dict.fromkeys(rule.head for rule in rules))
    number = {name: place for place, name in enumerate(names)}
    links = [
        (number[rule.head], number[name])
        for rule in rules
        for name, _ in rule.body
        if name in number
    ]
    needs = [reached(links, [place]) for place in range(len(names))]
    made: list[list[Name]] = []
    for place in sorted(range(len(names)), key=lambda place: len(needs[place])):
        together = [other for other in needs[place] if place in needs[other]]
        if place == min(together):
            made.append([names[other] for other in sorted(together)])
    return made


class _Draft:
    """Steps between states that are being collected."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.arcs: list[Arc] = []
        self.empty: list[tuple[int, int]] = []

    def word(self, source: int, target: int, word: Word, known: Mapping[Name, _Words]) -> None:
        """Let a word lead from one state to another."""
        if not word:
            self.empty.append((source, target))
        for place, letter in enumerate(word):
            after = target
            if place < len(word) - 1:
                after, self.states = self.states, self.states + 1
            self._letter(source, after, letter, known)
            source = after

    def _letter(
        self, source: int, target: int, letter: Letter, known: Mapping[Name, _Words]
    ) -> None:
        name, turned = letter
        if name not in known:
            self.arcs.append(Arc(source, name, turned, target))
            return
        part = known[name]
        turned = turned != part.turned
        first = self.states
        self.states += part.draft.states
        for arc in part.draft.arcs:
            here, there = arc.source + first, arc.target + first
            if turned:
                here, there = there, here
            self.arcs.append(Arc(here, arc.label, arc.turned != turned, there))
        for one, other in part.draft.empty:
            link = (one + first, other + first)
            self.empty.append(link[::-1] if turned else link)
        start, end = part.start + first, part.end + first
        self.empty += (
            [(source, end), (start, target)] if turned else [(source, start), (end, target)]
        )


class _Words(NamedTuple):
    """The words of a relation, or of it turned around: those from one state to another."""

    draft: _Draft
    start: int
    end: int
    turned: bool = False


def _sizes(parts: Iterable[_Words]) -> Iterable[int]:
    return {id(part.draft): part.draft.states for part in parts}.values()


def _joined(parts: Mapping[Name, _Words]) -> Automaton:
    """One automaton for all parts."""
    firsts: dict[int, int] = {}
    all_of = _Draft(0)
    defined: dict[Name, Language] = {}
    for name, part in parts.items():
        first = firsts.get(id(part.draft))
        if first is None:
            first = firsts[id(part.draft)] = all_of.states
            all_of.states += part.draft.states
            for arc in part.draft.arcs:
                moved = arc._replace(source=arc.source + first, target=arc.target + first)
                all_of.arcs.append(moved)
            all_of.empty += [(one + first, other + first) for one, other in part.draft.empty]
        ends = frozenset({part.end + first})
        defined[name] = Language(part.start + first, ends, part.turned)
    return Automaton(all_of.states, tuple(all_of.arcs), tuple(all_of.empty), defined)


def _closed(
    members: list[Name], rules: list[ChainRule], known: Mapping[Name, _Words]
) -> dict[Name, _Words] | None:
    """The words of relations that depend on each other."""
    copies, symmetric = _copies(members, rules)
    rules = [_in_terms_of(copies, symmetric, rule) for rule in rules]
    rules += [
        ChainRule(rule.head, _straight(_backwards(rule.body), symmetric))
        for rule in rules
        if rule.head in symmetric
    ]
    rules = [rule for rule in dict.fromkeys(rules) if [n for n, _ in rule.body] != [rule.head]]
    leaders = list(dict.fromkeys(leader for leader, _ in copies.values()))
    if any(turned and name in leaders for rule in rules for name, turned in rule.body):
        return None
    found = _alone(leaders[0], rules, known) if len(leaders) == 1 else None
    if found is None:
        found = _linear(leaders, rules, known)
    if found is None:
        return None
    return {name: found[leader]._replace(turned=way) for name, (leader, way) in copies.items()}


def _copies(
    members: list[Name], rules: list[ChainRule]
) -> tuple[dict[Name, tuple[Name, bool]], set[Name]]:
    """The relation that each is a copy of, and whether turned; and which are symmetric."""
    number = {name: place for place, name in enumerate(members)}
    links: list[tuple[int, int]] = []  # between 2 * number + turned
    for rule in rules:
        if len(rule.body) == 1 and rule.body[0][0] in number:
            ((name, turned),) = rule.body
            one, other = 2 * number[rule.head], 2 * number[name] + turned
            links += [(one, other), (one ^ 1, other ^ 1)]
    near = [reached(links, [node]) for node in range(2 * len(members))]

    def same(one: int, other: int) -> bool:
        return other in near[one] and one in near[other]

    copies: dict[Name, tuple[Name, bool]] = {}
    for name, place in number.items():
        first = min(node for node in range(2 * len(members)) if same(2 * place, node))
        copies[name] = (members[first >> 1], bool(first & 1))
    return copies, {members[i] for i in number.values() if same(2 * i, 2 * i + 1)}


def _in_terms_of(
    copies: Mapping[Name, tuple[Name, bool]], symmetric: set[Name], rule: ChainRule
) -> ChainRule:
    """The same rule about the relations that others are copies of."""
    head, turned = copies[rule.head]
    body = _backwards(rule.body) if turned else rule.body
    renamed: list[Letter] = []
    for name, way in body:
        name, more = copies.get(name, (name, False))
        renamed.append((name, way != more))
    return ChainRule(head, _straight(tuple(renamed), symmetric))


def _backwards(word: Word) -> Word:
    return tuple((name, not turned) for name, turned in reversed(word))


def _straight(word: Word, symmetric: set[Name]) -> Word:
    """The word without turns of symmetric relations, for which they make no difference."""
    return tuple((name, turned and name not in symmetric) for name, turned in word)


def _alone(
    name: Name, rules: list[ChainRule], known: Mapping[Name, _Words]
) -> dict[Name, _Words] | None:
    """X (W X)* with X = C* B A*: between states 0 and 1, C at 0, B to 1, A at 1, W back to 0."""
    draft = _Draft(2)
    for rule in rules:
        places = [place for place, (letter, _) in enumerate(rule.body) if letter == name]
        last = len(rule.body) - 1
        if not places:
            draft.word(0, 1, rule.body, known)
        elif places == [last]:
            draft.word(0, 0, rule.body[:-1], known)
        elif places == [0]:
            draft.word(1, 1, rule.body[1:], known)
        elif places == [0, last]:
            draft.word(1, 0, rule.body[1:-1], known)
        else:
            return None
    return {name: _Words(draft, 0, 1)}


def _linear(
    names: list[Name], rules: list[ChainRule], known: Mapping[Name, _Words]
) -> dict[Name, _Words] | None:
    """A state for each relation; it is its start if rules call others last, else its end."""
    number = {name: place for place, name in enumerate(names)}
    places = [[i for i, (name, _) in enumerate(rule.body) if name in number] for rule in rules]
    other = len(names)  # where words end, or where they start
    draft = _Draft(other + 1)
    if all(found in ([], [len(rule.body) - 1]) for rule, found in zip(rules, places, strict=True)):
        for rule, found in zip(rules, places, strict=True):
            word = rule.body[: found[0]] if found else rule.body
            target = number[rule.body[-1][0]] if found else other
            draft.word(number[rule.head], target, word, known)
        return {name: _Words(draft, place, other) for name, place in number.items()}
    if all(found in ([], [0]) for found in places):
        for rule, found in zip(rules, places, strict=True):
            word = rule.body[1:] if found else rule.body
            source = number[rule.body[0][0]] if found else other
            draft.word(source, number[rule.head], word, known)
        return {name: _Words(draft, other, place) for name, place in number.items()}
    return None
