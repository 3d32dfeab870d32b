"""Random cases with groups of rules that have schemes: transitive, symmetric, inverse ones.

Start at `closure_case`. Other rules, of all kinds, derive edges of these closures, read them,
negate them, and some of the time go through them, so that there is no group. Some rules of a group
have guards, which come and go like other facts. There are more individuals than in other cases, so
that closures have some depth.
"""

from __future__ import annotations

import random

from tests.maintenance.features import ALL, Features
from tests.maintenance.naive import Fact
from tests.maintenance.notation import TYPE_KEY, key
from tests.maintenance.programs import CLASSES, OUTER, PROPERTIES, Case, Maker, random_case
from triplestore.datalog.program import TYPE, Constant, Constraint, Item, Rule, TripleAtom

NODES = [key(name) for name in "abcdefg"]


def closure_case(seed: int, features: Features = ALL, steps: int = 5) -> Case:
    """A case of which about half the rules are those of closures."""
    if seed % 4:  # such atoms nearly always make one knot of everything
        features = features.without("variable_property")
    return random_case(seed, features, steps, Closures)


class Closures(Maker):
    """Makes cases about few properties, most of them closed."""

    def __init__(self, rng: random.Random, features: Features) -> None:
        super().__init__(rng, features)
        self.closed = rng.sample(PROPERTIES, rng.choice((1, 1, 2)))
        self.guarded = self.chance(0.4)
        self.chains = self.chance(0.4)

    def clause(self) -> Rule | Constraint:
        if self.chance(0.5):
            return self.rule_of_closure()
        return super().clause()

    def rule_of_closure(self) -> Rule:
        rng = self.rng
        x, y, z = rng.sample(OUTER, 3)
        p, q = rng.choice(self.closed), rng.choice(self.closed)
        other = rng.choice(PROPERTIES)
        transitive = (TripleAtom(x, p, z), TripleAtom(x, p, y), TripleAtom(y, p, z))
        kinds = [
            transitive,
            transitive,
            (TripleAtom(y, p, x), TripleAtom(x, q, y)),
            (TripleAtom(x, p, y), TripleAtom(x, q, y)),
            (TripleAtom(x, p, y), TripleAtom(x, other, y)),
            (TripleAtom(z, p, x), TripleAtom(y, q, x), TripleAtom(z, q, y)),
        ]
        if self.chains:
            kinds += [
                (TripleAtom(x, p, z), TripleAtom(x, other, y), TripleAtom(y, p, z)),
                (TripleAtom(x, p, z), TripleAtom(x, p, y), TripleAtom(y, other, z)),
                (TripleAtom(x, p, z), TripleAtom(y, other, x), TripleAtom(y, q, z)),
            ]
        head, *body = rng.choice(kinds)
        items: list[Item] = list(body)
        if self.guarded and self.chance(0.5):
            what = Constant(rng.choice((p.key, NODES[0])))
            items.append(TripleAtom(what, TYPE, rng.choice(CLASSES)))
        rng.shuffle(items)
        return Rule((head,), tuple(items))

    def fact(self) -> Fact:
        rng = self.rng
        if self.guarded and self.chance(0.1):
            name = rng.choice((rng.choice(self.closed).key, NODES[0]))
            return ("t", name, TYPE_KEY, rng.choice(CLASSES).key)
        if self.chance(0.6):
            name = rng.choice([*self.closed, rng.choice(PROPERTIES)])
            return ("t", rng.choice(NODES), name.key, rng.choice(NODES))
        return super().fact()


def union_case(seed: int, features: Features = ALL, steps: int = 5) -> Case:
    """A case in which properties take all pairs of closed ones, and of each other."""
    if seed % 8:
        features = features.without("variable_property")
    return random_case(seed, features, steps, Unions)


class Unions(Closures):
    """Makes cases with properties above closed ones; most of them depend on each other one way."""

    def __init__(self, rng: random.Random, features: Features) -> None:
        super().__init__(rng, features)
        others = [name for name in PROPERTIES if name not in self.closed[:1]]
        rng.shuffle(others)
        self.closed = self.closed[:1]
        self.ladder = [*self.closed, *others]
        self.guarded = self.chains = False

    def clause(self) -> Rule | Constraint:
        rng = self.rng
        if not self.chance(0.45):
            return super().clause()
        above = rng.randrange(1, len(self.ladder))
        below = rng.randrange(above)
        x, y = rng.sample(OUTER, 2)
        ends = (x, y) if self.chance(0.7) else (y, x)
        head = TripleAtom(x, self.ladder[above], y)
        return Rule((head,), (TripleAtom(ends[0], self.ladder[below], ends[1]),))

    def rule_of_closure(self) -> Rule:
        x, y, z = self.rng.sample(OUTER, 3)
        (p,) = self.closed
        body = (TripleAtom(x, p, y), TripleAtom(y, p, z))
        if self.chance(0.2):
            return Rule((TripleAtom(y, p, x),), (TripleAtom(x, p, y),))
        return Rule((TripleAtom(x, p, z),), body)
