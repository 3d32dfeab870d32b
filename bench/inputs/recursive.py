"""Highly recursive programs: thousands of rules in one stratum, like the papers' Reactome-R.

Start at `highly_recursive`. The program consists of topics, each like a small ontology: trees of
classes and of properties, and rules across them.

    C_i(x) -> C_j(x)                     j above i in a tree
    R_i(x,y) -> R_j(x,y)                 j above i in a tree
    R_i(x,y) -> R_j(y,x)                 an inverse
    R_i(x,y), R_j(y,z) -> T(x,z)         a composition, and T(x,y), C_i(y) -> C_j(x)
    C_i(x), R_j(x,y) -> C_k(y)           ranges
    R_j(x,y), C_i(y) -> C_k(x)           definitions
    C_i(x), R_j(x,y) -> R_k(x,y)         subproperties under a condition

One in ten of the last three has a second class atom. Always true:

- All rules are of one component: each class and property depends on each other one. So all rules
  are recursive and in one stratum, by any method of stratification.
- Statements come in blocks of individuals with one type and two properties each, all of one topic;
  both ends of a property are of one block. So the closure grows as the data does.
- The numbers of rules and statements are the given ones. With the same number of rules, a smaller
  set of statements is the beginning of a larger one.

Measured with an evaluator that considers each rule instance once, deleting a uniform sample (E: the
statements, I: the closure). "Overdeleted" are the instances by which DRed overdeletes, "lost" those
that hold before and not after, which is the least that any algorithm has to consider. The last line
is Reactome-R as published.

    rules        E     I / E   instances / I   deleted   overdeleted      lost   ratio
    4,000   100,000     30.5        3.6            100        1.8 M     11.9 k     155
                                                 1,000        9.1 M    153.9 k      59
    4,000   400,000     30.6        3.6          1,000       16.3 M    177.3 k      92
    21,385  300,000     30.3        3.6          1,000       14.9 M    140.5 k     106
    21,385   12.5 M     29.6                     1,000       38.6 M    131.7 k     293

A block (some 180 statements) is overdeleted nearly whole, so the ratio grows with the data until
deleted statements are of different blocks: 17,000 instances for each, 130 of them lost; samples by
random walks overdelete half of that. By seed, I / E is 29 to 32; a closure takes 40 to 70 rounds.
With more classes and more conditions blocks are less full, but then one deleted statement may empty
a block, and the number of lost instances differs tenfold by seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.inputs.lubm import Dice
from bench.inputs.programs import Setting, X, Y, Z, iri, of_class
from bench.inputs.random_numbers import I64, below
from bench.reasoners.program import TYPE_NUMBER, number_constants
from triplestore.datalog.program import Constant, Program, Rule, TripleAtom, Variable

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of topics and blocks.

    classes, properties, compositions   of a topic
    rules       minimum number of rules of a topic
    conditions  share of the rules under a condition that have a second one; with a smaller share
                more is inferred, up to nearly all possible facts of a block
    block       individuals of a block
    """

    classes: int = 30
    properties: int = 10
    compositions: int = 2
    rules: int = 100
    conditions: float = 0.1
    block: int = 60


SHAPE = Shape()


def highly_recursive(
    rules: int = 4_000, facts: int = 100_000, seed: int = 0, shape: Shape = SHAPE
) -> Setting:
    """A program of `rules` rules, all recursive and of one stratum, and `facts` statements.

    >>> made = highly_recursive(rules=500, facts=1_000)
    >>> len(made.program), len(made)
    (500, 1000)
    """
    topics = [Topic(number, shape) for number in range(max(1, rules // shape.rules))]
    program = Program(distinct_rules(topics, rules, Dice(f"{seed}/rules")))
    numbers = number_constants(program)

    def numbered(constants: Iterator[Constant]) -> Numbers:
        return np.fromiter((numbers[constant.key] for constant in constants), np.uint32)

    classes = numbered(class_ for topic in topics for class_ in topic.classes)
    properties = numbered(one for topic in topics for one in topic.properties)
    typed, s, about, o = statements(facts, len(topics), seed, shape)
    first = len(numbers) + 1
    p = np.full(facts, TYPE_NUMBER, np.uint32)
    p[~typed] = properties[about[~typed]]
    objects = (first + o).astype(np.uint32)
    objects[typed] = classes[about[typed]]
    name = f"highly recursive: {rules} rules, {facts} statements"
    return Setting(name, program, (first + s).astype(np.uint32), p, objects, numbers)


# --- rules ---------------------------------------------------------------------------------------


def distinct_rules(topics: Sequence[Topic], count: int, dice: Dice) -> list[Rule]:
    """The rules that connect everything, then further rules under conditions, by topic."""
    found: dict[Rule, None] = {}
    for topic in topics:
        following = topics[(topic.number + 1) % len(topics)]
        found.update(dict.fromkeys(topic.rules(dice, following)))
    if len(found) > count:
        raise ValueError(f"{count} rules are too few for this shape: {len(found)} are needed")
    turn = 0
    while len(found) < count:
        found[topics[turn % len(topics)].conditional(dice)] = None
        turn += 1
    return list(found)


class Topic:
    """A part of the vocabulary with its rules.

    Classes and properties are numbered down their trees; statements and conditions use those of
    the lower half.
    """

    def __init__(self, number: int, shape: Shape) -> None:
        self.number = number
        self.shape = shape
        self.classes = [iri(f"C{number}_{i}") for i in range(shape.classes)]
        self.properties = [iri(f"R{number}_{j}") for j in range(shape.properties)]

    def rules(self, dice: Dice, following: Topic) -> Iterator[Rule]:
        """Rules that connect everything in the topic, and the topic to others."""
        classes, properties = self.classes, self.properties
        for i in range(1, len(classes)):
            yield Rule((of_class(X, classes[(i - 1) // 2]),), (of_class(X, classes[i]),))
            above = classes[_within(dice, i // 2, i)]
            edge = TripleAtom(X, self.low_property(dice), Y)
            yield self.rule(dice, of_class(Y, classes[i]), of_class(X, above), edge, Y)
        for j in range(1, len(properties)):
            yield Rule(
                (TripleAtom(X, properties[(j - 1) // 2], Y),), (TripleAtom(X, properties[j], Y),)
            )
            above = properties[_within(dice, j // 2, j)]
            head, edge = TripleAtom(X, properties[j], Y), TripleAtom(X, above, Y)
            yield self.rule(dice, head, of_class(X, self.low_class(dice)), edge, Y)
        top = TripleAtom(X, properties[0], Y)
        yield Rule((of_class(X, classes[0]),), (top,))
        yield Rule((of_class(Y, following.classes[0]),), (self.any_class(dice, X), top))
        for _ in range(2):
            one, other = dice.below(len(properties)), dice.below(len(properties))
            inverse = TripleAtom(Y, properties[one], X)
            yield Rule((inverse,), (TripleAtom(X, properties[other], Y),))
        for k in range(self.shape.compositions):
            yield from self.composition(dice, iri(f"T{self.number}_{k}"))

    def composition(self, dice: Dice, made: Constant) -> Iterator[Rule]:
        """A property of two steps; only a class follows from it, so blocks do not fill up."""
        first = TripleAtom(X, self.low_property(dice), Y)
        second = TripleAtom(Y, self.low_property(dice), Z)
        yield Rule((TripleAtom(X, made, Z),), (first, second))
        condition = of_class(Y, self.low_class(dice))
        yield Rule((self.any_class(dice, X),), (TripleAtom(X, made, Y), condition))

    def conditional(self, dice: Dice) -> Rule:
        """A range, a definition or a subproperty under a condition."""
        edge = TripleAtom(X, self.low_property(dice), Y)
        at_x = of_class(X, self.low_class(dice))
        way = dice.below(5)
        if way < 2:
            return self.rule(dice, self.any_class(dice, Y), at_x, edge, Y)
        if way < 4:
            at_y = of_class(Y, self.low_class(dice))
            return self.rule(dice, self.any_class(dice, X), edge, at_y, X)
        made = self.properties[dice.below(len(self.properties))]
        if made == edge.p:
            made = self.properties[0]
        return self.rule(dice, TripleAtom(X, made, Y), at_x, edge, Y)

    def rule(
        self, dice: Dice, head: TripleAtom, one: TripleAtom, two: TripleAtom, at: Variable
    ) -> Rule:
        """A rule of two atoms, some with a further condition on one of the ends."""
        further = of_class(at, self.low_class(dice))
        conditioned = dice.below(1000) < 1000 * self.shape.conditions
        if conditioned and further not in (head, one, two):
            return Rule((head,), (one, two, further))
        return Rule((head,), (one, two))

    def any_class(self, dice: Dice, at: Variable) -> TripleAtom:
        return of_class(at, self.classes[1 + dice.below(len(self.classes) - 1)])

    def low_class(self, dice: Dice) -> Constant:
        return self.classes[_within(dice, len(self.classes) // 2, len(self.classes))]

    def low_property(self, dice: Dice) -> Constant:
        return self.properties[_within(dice, len(self.properties) // 2, len(self.properties))]


def _within(dice: Dice, first: int, stop: int) -> int:
    return first + dice.below(stop - first)


# --- statements ----------------------------------------------------------------------------------

_SPARE = 1.02  # a few statements come twice


def statements(
    count: int, topics: int, seed: int, shape: Shape
) -> tuple[NDArray[np.bool_], I64, I64, I64]:
    """Which statements are types, and subjects, classes or properties, and objects, from 0 on."""
    n = shape.block
    blocks = int(_SPARE * count / (3 * n)) + 2
    topic = below(topics, f"{seed}/topics", blocks)[:, None]

    def roll(what: str, bound: int, width: int) -> I64:
        return below(bound, f"{seed}/{what}", blocks * width).reshape(blocks, width)

    def low(what: str, of: int, width: int) -> I64:
        return topic * of + of // 2 + roll(what, of - of // 2, width)

    here = n * np.arange(blocks)[:, None]
    everyone = np.broadcast_to(np.arange(n), (blocks, n))
    typed = np.zeros((blocks, 3 * n), np.bool_)
    typed[:, :n] = True
    s = here + np.hstack((everyone, roll("subjects", n, 2 * n)))
    about = np.hstack((low("types", shape.classes, n), low("edges", shape.properties, 2 * n)))
    o = here + np.hstack((np.zeros((blocks, n), np.int64), roll("objects", n, 2 * n)))
    # subject and object of one block, so this is one number for each different statement
    same = ((s * n + o % n) * (topics * shape.classes) + about) * 2 + typed
    kept = np.unique(same.ravel(), return_index=True)[1][:count]
    if len(kept) < count:
        raise AssertionError(f"{len(kept)} of {count} statements: more are the same than expected")
    return typed.ravel()[kept], s.ravel()[kept], about.ravel()[kept], o.ravel()[kept]
