"""Random programs over thousands of facts with skewed values, and their closures by whole joins.

`programs.random_case` has every feature and few facts; here are few features and so many facts that
the engine's ways for many rows are met: weights, merged rows, cycles, joins by kernels. Start at
`random_case`. `Plain` is the oracle: every rule over all facts, again and again until nothing
comes, each body as one table; it shares nothing with the engine but numpy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tests.maintenance.naive import Fact
from tests.maintenance.notation import TYPE_KEY, key
from tests.maintenance.notation import program as parsed
from triplestore.datalog.program import Program

Ints: TypeAlias = NDArray[np.int64]
Name: TypeAlias = tuple[str, int]
"""A relation with its number of columns: classes have one."""

BITS = 20
NUMBER = 1 << (BITS - 1)
"""Entities from here on are integers."""

MOST = 1_500_000
"""Larger joins are too slow for an oracle."""


class TooManyRowsError(Exception):
    """A join is larger than `MOST`."""


class Atom(NamedTuple):
    """Variables are letters, constants entities."""

    name: Name
    terms: tuple[str | int, ...]

    def __str__(self) -> str:
        terms = (f"?{t}" if isinstance(t, str) else f":e{t}" for t in self.terms)
        return f":{self.name[0]}[{', '.join(terms)}]"


class Rule(NamedTuple):
    """counted: the head has its first variable, and how many values the body's second one has."""

    head: Atom
    body: tuple[Atom, ...]
    nots: tuple[Atom, ...] = ()
    unequal: tuple[str, str] | None = None
    counted: bool = False

    def __str__(self) -> str:
        if self.counted:
            return f"{self.head} :- AGGREGATE({self.body[0]} ON ?x BIND count(?y) AS ?n) ."
        items = [*map(str, self.body), *(f"NOT {atom}" for atom in self.nots)]
        if self.unequal:
            items.append("FILTER(?{} != ?{})".format(*self.unequal))
        return f"{self.head} :- {', '.join(items)} ."


Relations: TypeAlias = dict[Name, Ints]
"""Sorted packed rows."""


def packed(columns: list[Ints]) -> Ints:
    made = columns[0]
    for column in columns[1:]:
        made = (made << BITS) | column
    return made


def columns_of(rows: Ints, count: int) -> list[Ints]:
    return [(rows >> (BITS * place)) & ((1 << BITS) - 1) for place in range(count - 1, -1, -1)]


# -- the oracle -----------------------------------------------------------------------------------


class Plain:
    """What follows from rules, level by level (a rule's negated relations are of lower ones)."""

    def __init__(self, levels: list[list[Rule]], asserted: Relations) -> None:
        self.facts = dict(asserted)
        for rules in levels:
            changed = True
            while changed:
                changed = False
                for rule in rules:
                    heads, _ = self.conclusions(rule)
                    known = self.facts.get(rule.head.name, heads[:0])
                    united = np.union1d(known, heads)
                    changed |= len(united) > len(known)
                    self.facts[rule.head.name] = united

    def conclusions(self, rule: Rule) -> tuple[Ints, Ints]:
        """The heads of all instances, and how many instances conclude each."""
        if rule.counted:
            rows = columns_of(self._rows(rule.body[0].name), 2)
            groups, sizes = np.unique(rows[0], return_counts=True)
            return packed([groups, NUMBER + sizes]), np.ones(len(groups), np.int64)
        table: dict[str, Ints] = {}
        n = 1
        for atom in rule.body:
            table, n = self._join(table, n, atom)
        keep = np.ones(n, np.bool_)
        for atom in rule.nots:
            keep &= ~np.isin(packed([table[str(t)] for t in atom.terms]), self._rows(atom.name))
        if rule.unequal:
            keep &= table[rule.unequal[0]] != table[rule.unequal[1]]
        terms = (t if isinstance(t, int) else table[t][keep] for t in rule.head.terms)
        columns = [np.full(keep.sum(), t) if isinstance(t, int) else t for t in terms]
        heads, times = np.unique(packed(columns), return_counts=True)
        return heads, times

    def _rows(self, name: Name) -> Ints:
        return self.facts.get(name, np.zeros(0, np.int64))

    def _join(self, table: dict[str, Ints], n: int, atom: Atom) -> tuple[dict[str, Ints], int]:
        rows = columns_of(self._rows(atom.name), atom.name[1])
        keep = np.ones(len(rows[0]), np.bool_)
        values: dict[str, Ints] = {}
        for term, column in zip(atom.terms, rows, strict=True):
            if isinstance(term, int):
                keep &= column == term
            elif term in values:
                keep &= values[term] == column
            else:
                values[term] = column
        values = {term: column[keep] for term, column in values.items()}
        size = int(keep.sum())
        shared = [term for term in values if term in table]
        left = packed([table[t] for t in shared]) if shared else np.zeros(n, np.int64)
        right = packed([values[t] for t in shared]) if shared else np.zeros(size, np.int64)
        order = np.argsort(right, kind="stable")
        lo, hi = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
        fan = hi - lo
        total = int(fan.sum())
        if total > MOST:
            raise TooManyRowsError
        index = np.repeat(np.arange(n), fan)
        places = order[np.arange(total) - np.repeat(fan.cumsum() - fan, fan) + np.repeat(lo, fan)]
        made = {term: column[index] for term, column in table.items()}
        made.update({t: column[places] for t, column in values.items() if t not in table})
        return made, total


# -- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BulkStep:
    """Facts that come and go, and rules that come and go, by their places."""

    added: Relations
    deleted: Relations
    rules: frozenset[int]


@dataclass(frozen=True)
class Case:
    """A program by levels, facts, and updates; `rules` are the places of those that hold."""

    seed: int
    levels: list[list[Rule]]
    facts: Relations
    rules: frozenset[int]
    steps: list[BulkStep]

    def chosen(self, rules: frozenset[int]) -> list[list[Rule]]:
        """The levels with some of the rules."""
        places = iter(range(1 << 20))
        return [[rule for rule in level if next(places) in rules] for level in self.levels]

    def states(self) -> Iterator[tuple[list[list[Rule]], Relations]]:
        """The rules and the asserted facts: at first, and after each step."""
        held = self.facts
        yield self.chosen(self.rules), held
        for step in self.steps:
            held = {
                name: np.union1d(np.setdiff1d(rows, step.deleted.get(name, rows[:0])), added)
                for name, rows in held.items()
                for added in [step.added.get(name, rows[:0])]
            }
            yield self.chosen(step.rules), held


def program_of(levels: list[list[Rule]]) -> Program:
    return parsed("\n".join(str(rule) for level in levels for rule in level))


def facts_of(relations: Relations) -> set[Fact]:
    """Facts by the keys of their terms."""
    found: set[Fact] = set()
    for (name, arity), rows in relations.items():
        terms = [[entity(int(value)) for value in one] for one in columns_of(rows, arity)]
        if arity == 1:
            found.update(("t", s, TYPE_KEY, key(name)) for s in terms[0])
        elif arity == 2:
            found.update(("t", s, key(name), o) for s, o in zip(*terms, strict=True))
        else:
            found.update(("r", key(name), *row) for row in zip(*terms, strict=True))
    return found


def entity(number: int) -> bytes:
    return key(f"e{number}" if number < NUMBER else str(number - NUMBER))


STATED: tuple[Name, ...] = (("p", 2), ("q", 2), ("r", 2), ("A", 1), ("B", 1), ("t", 3))
PAIRS = (
    "xz zy",
    "xz zy zw",  # something only has to exist
    "xy yz zx",  # a triangle
    "hx hy hw",  # a star
    "xu uv vy",  # rows alike in the middle
    "xu uy yv vx",  # a cycle of four
    "yx",
    "xy x y",
    "xzy",
    "xzy yw",
    "xz uz uy",
)
SINGLE = ("xy", "xy y", "xy xz xw", "xy yz zx", "x xyz", "x y xy", "xyz yz")
RECURSIVE = ("xz zy", "ax ab by")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.entities = rng.choice((40, 90, 200))
        self.skew = rng.choice((0.0, 1.0, 2.5))
        self.names: dict[int, list[Name]] = {1: [], 2: [], 3: []}
        for name in STATED:
            self.names[name[1]].append(name)

    def some(self, count: int) -> Ints:
        """Entities, of which the first come more often."""
        picked = self.numbers.random(count) ** (1 + self.skew) * self.entities
        return picked.astype(np.int64)

    def relation(self, name: Name, count: int) -> Ints:
        return np.unique(packed([self.some(count) for _ in range(name[1])]))

    def level(self, number: int) -> list[Rule]:
        """Rules for one or two new relations, which may go through each other."""
        rng = self.rng
        count = rng.choice((1, 1, 2))
        made: list[Name] = [(f"d{number}{i}", rng.choice((1, 2, 2, 2, 3))) for i in range(count)]
        rules = [self.rule(name, None) for name in made for _ in range(rng.choice((1, 1, 2)))]
        pairs = [name for name in made if name[1] == 2]
        if pairs and self.entities < 200 and rng.random() < 0.5:
            rules.append(self.rule(rng.choice(pairs), rng.choice(pairs)))
        classes = [name for name in made if name[1] == 1]
        if classes and rng.random() < 0.6:
            body = (Atom(classes[0], ("y",)), Atom(self.pick(2), ("y", "x")))
            rules.append(Rule(Atom(classes[0], ("x",)), body))
        if pairs and self.entities < 200 and rng.random() < 0.3:
            rules += self.transitive(pairs[0], (f"g{number}", 2))
        if rng.random() < 0.25:
            counted, name = (f"n{number}", 2), self.pick(2)
            rules.append(Rule(Atom(counted, ("x", "n")), (Atom(name, ("x", "y")),), counted=True))
        for name in made:
            self.names[name[1]].append(name)
        return rules

    def transitive(self, name: Name, beside: Name) -> list[Rule]:
        """A transitive rule, alone or with others that go through it."""
        steps = (Atom(name, ("x", "z")), Atom(name, ("z", "y")))
        made = [Rule(Atom(name, ("x", "y")), steps)]
        if self.rng.random() < 0.6:
            mutual = (Atom(name, ("x", "y")), Atom(name, ("y", "x")))
            onward = (Atom(beside, ("x", "z")), Atom(self.pick(2), ("z", "y")))
            made.append(Rule(Atom(beside, ("x", "y")), mutual))
            made.append(Rule(Atom(name, ("x", "y")), onward))
        return made

    def pick(self, arity: int) -> Name:
        return self.rng.choice(self.names[arity])

    def rule(self, name: Name, through: Name | None) -> Rule:
        """A rule by one of the shapes; `through` a relation of the same level, in one atom."""
        rng = self.rng
        if name[1] == 3:
            shape = rng.choice(("xy yz", "xz zy", "xyz", "xzy yz"))
        else:
            shape = rng.choice(RECURSIVE if through else PAIRS if name[1] == 2 else SINGLE)
        parts = shape.split()
        own = rng.randrange(len(parts)) if through else -1
        if through and len(parts) == 3:
            own = 1
        body = [
            Atom(through if i == own and through else self.pick(len(part)), tuple(part))
            for i, part in enumerate(parts)
        ]
        terms = tuple("xyz"[: name[1]])
        nots = ()
        if rng.random() < 0.2:
            nots = (Atom(self.pick(1), ("x",)),)
        elif rng.random() < 0.1 and name[1] == 2:
            nots = (Atom(self.pick(2), ("y", "x")),)
        unequal = ("x", "y") if name[1] == 2 and rng.random() < 0.15 else None
        if rng.random() < 0.1:
            constant = rng.randrange(self.entities // 4)
            bound = [term for term in {*"".join(parts)} if term not in terms]
            if bound and not through:
                gone = rng.choice(sorted(bound))
                body = [
                    Atom(a.name, tuple(constant if t == gone else t for t in a.terms)) for a in body
                ]
        return Rule(Atom(name, terms), tuple(body), nots, unequal)

    def step(self, held: Relations, rules: frozenset[int], every: int) -> BulkStep:
        rng = self.rng
        added: Relations = {}
        deleted: Relations = {}
        ways = rng.choice(("add", "delete", "delete", "both", "rules"))
        for name, rows in held.items():
            if rng.random() < 0.4:
                continue
            size = rng.choice((1, 3, 30, len(rows) // 10, len(rows) // 2))
            if ways in ("delete", "both"):
                deleted[name] = np.sort(self.numbers.permutation(rows)[:size])
            if ways in ("add", "both"):
                added[name] = self.relation(name, max(size, 1))
        if ways == "rules":
            rules = rules ^ {rng.randrange(every)}
        return BulkStep(added, deleted, rules)


SIZES = (200, 600, 1500)
"""How many rows asserted relations may have."""


def random_case(seed: int, steps: int = 4, sizes: tuple[int, ...] = SIZES) -> Case:
    """A program of three levels over some thousand facts, whose joins are not too large."""
    for attempt in range(1000):
        made = _case(seed + attempt * 1_000_003, seed, steps, sizes)
        try:
            for levels, held in made.states():
                plain = Plain(levels, held)
                for level in levels:
                    for rule in level:
                        plain.conclusions(rule)
        except TooManyRowsError:
            continue
        return made
    raise AssertionError("no such program")


def _case(number: int, seed: int, steps: int, sizes: tuple[int, ...]) -> Case:
    maker = _Maker(number)
    rng = maker.rng
    facts = {
        name: maker.relation(name, rng.choice(sizes) if name[1] > 1 else 60) for name in STATED
    }
    levels = [maker.level(number) for number in range(3)]
    every = sum(map(len, levels))
    rules = frozenset(place for place in range(every) if rng.random() < 0.9)
    case = Case(seed, levels, facts, rules, [])
    for _ in range(steps):
        held = list(case.states())[-1][1]
        case.steps.append(maker.step(held, case.steps[-1].rules if case.steps else rules, every))
    return case
