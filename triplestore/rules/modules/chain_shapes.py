"""The shape of a rule over properties: a chain of steps from one end of its head to the other.

Start reading at `shape_of`. `p(x, z) :- q(x, y), r(z, y)` is the chain q, then r turned around. The
order of its atoms and the names of its variables do not matter. Ground atoms beside the chain (for
example the axiom from which a rule was made) are guards: the rule is in force while they hold.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from triplestore.closures.attached import Structure
from triplestore.closures.chains.automaton import Name
from triplestore.closures.chains.regular_rules import ChainRule
from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Item,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
)


class ChainStep(NamedTuple):
    """One atom of a chain: a property, followed from subject to object, or turned around."""

    relation: bytes
    turned: bool


class ChainShape(NamedTuple):
    """A rule as a chain.

    rule    its number in the program
    steps   from the subject of the head to its object
    guards  ground atoms of the body
    """

    rule: int
    head: bytes
    steps: tuple[ChainStep, ...]
    guards: tuple[Atom, ...]


def shape_of(rule: Rule, number: int) -> ChainShape | None:
    """The shape of a rule with one head; None if it is not a chain.

    >>> from triplestore.datalog.text import read
    >>> (rule,) = read("PREFIX : <http://e/> :p[?x, ?z] :- :r[?z, ?y], :q[?x, ?y] .").rules
    >>> shape = shape_of(rule, 0)
    >>> [(step.relation[-1:], step.turned) for step in shape.steps]
    [(b'q', False), (b'r', True)]
    """
    ends = _ends(rule.heads[0])
    if ends is None:
        return None
    links: list[tuple[Variable, bytes, Variable]] = []
    guards: list[Atom] = []
    for item in rule.body:
        if _is_ground(item):
            guards.append(item)
            continue
        link = _ends(item)
        if link is None:
            return None
        links.append(link)
    steps = _chained(ends, links)
    return None if steps is None else ChainShape(number, ends[1], steps, tuple(guards))


def _ends(item: Item) -> tuple[Variable, bytes, Variable] | None:
    """Subject, property and object of an atom over two different variables."""
    if not isinstance(item, TripleAtom) or not isinstance(item.p, Constant) or item.p == TYPE:
        return None
    s, o = item.s, item.o
    if not isinstance(s, Variable) or not isinstance(o, Variable) or s == o:
        return None
    return s, item.p.key, o


def _is_ground(item: Item) -> TypeGuard[Atom]:
    if not isinstance(item, TripleAtom | TupleAtom):
        return False
    terms: tuple[Term, ...] = item.terms
    return all(isinstance(term, Constant) for term in terms)


def _chained(
    ends: tuple[Variable, bytes, Variable], links: list[tuple[Variable, bytes, Variable]]
) -> tuple[ChainStep, ...] | None:
    """The links in the order in which they lead from end to end; each link and each node once."""
    at, _, goal = ends
    left, seen, steps = list(links), {at}, []
    while left:
        following = [link for link in left if at in (link[0], link[2])]
        if len(following) != 1:
            return None
        (link,) = following
        left.remove(link)
        turned = link[2] == at
        at = link[0] if turned else link[2]
        if at in seen:
            return None
        seen.add(at)
        steps.append(ChainStep(link[1], turned))
    return tuple(steps) if at == goal and steps else None


def system_of(structure: Structure) -> list[ChainRule]:
    """The chains of a structure as rules over labels, to make an automaton of them. Each relation
    also has external facts."""
    chains = [ChainRule(head, body) for head, body in structure.chains]
    return chains + [ChainRule(name, ((outside(name), False),)) for name in structure.relations]


def outside(name: bytes) -> Name:
    """The label of the external facts of a relation."""
    return ("outside", name)
