"""Rules as text, and their evaluation one fact at a time.

>>> (rule,) = read_rules("cax-sco | ?c rdfs:subClassOf ?d . ?x a ?c | ?x a ?d")
>>> rule.name, len(rule.body), len(rule.heads)
('cax-sco', 2, 1)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .graph import Graph
from .values import identity
from .vocabulary import Fact, Term, term

Binding: TypeAlias = dict[str, Term]
Atom: TypeAlias = tuple[Term | str, Term | str, Term | str]  # a str is a variable


@dataclass(frozen=True)
class Rule:
    """The heads follow from the body; without heads, the body is an inconsistency."""

    name: str
    body: tuple[Atom, ...]
    heads: tuple[Atom, ...]


def read_rules(text: str) -> list[Rule]:
    """Rules: name | body | heads, or `false` for the heads; indented lines continue a rule."""
    rules = []
    for line in re.sub(r"\n +", " ", text).split("\n"):
        if not line:
            continue
        name, body, heads = (part.strip() for part in line.split("|"))
        rules.append(Rule(name, _atoms(body), () if heads == "false" else _atoms(heads)))
    return rules


def _atoms(text: str) -> tuple[Atom, ...]:
    atoms = []
    for part in text.split(" . "):
        places = part.split()
        assert len(places) == 3, part
        s, p, o = (one if one.startswith("?") else term(one) for one in places)
        atoms.append((s, p, o))
    return tuple(atoms)


class Matcher:
    """Finds all instances of rules that a new fact takes part in."""

    def __init__(self, rules: list[Rule]) -> None:
        self._by_predicate: defaultdict[Term, list[Start]] = defaultdict(list)
        self._others: list[Start] = []
        for rule in rules:
            for place, first in enumerate(rule.body):
                start = (rule, first, ordered(rule.body[:place] + rule.body[place + 1 :], first))
                if isinstance(first[1], str):
                    self._others.append(start)
                else:
                    self._by_predicate[first[1]].append(start)

    def instances(self, graph: Graph, fact: Fact) -> Iterator[tuple[Rule, Binding]]:
        """Rules and bindings in whose bodies the fact stands; it must be in the graph already."""
        for rule, first, others in [*self._by_predicate.get(fact[1], ()), *self._others]:
            binding = extended({}, first, fact)
            if binding is not None:
                for full in solutions(graph, others, binding):
                    yield rule, full


Start: TypeAlias = tuple[Rule, Atom, tuple[Atom, ...]]  # the atom matched first, and the others


def ordered(atoms: tuple[Atom, ...], first: Iterable[Term | str] = ()) -> tuple[Atom, ...]:
    """The atoms in an order in which the next one always is that of which most is known.

    first  what is known at the beginning
    """
    known, waiting, found = set(first), list(atoms), []
    while waiting:
        best = max(
            waiting, key=lambda atom: sum(x in known or not isinstance(x, str) for x in atom)
        )
        waiting.remove(best)
        found.append(best)
        known.update(best)
    return tuple(found)


def solutions(graph: Graph, atoms: tuple[Atom, ...], binding: Binding) -> Iterator[Binding]:
    """The bindings that make all atoms true, looked up in their order."""
    if not atoms:
        yield binding
        return
    s, p, o = (binding.get(x) if isinstance(x, str) else x for x in atoms[0])
    for fact in list(graph.match(s, p, o)):
        more = extended(binding, atoms[0], fact)
        if more is not None:
            yield from solutions(graph, atoms[1:], more)


def extended(binding: Binding, atom: Atom, fact: Fact) -> Binding | None:
    """The binding with the atom matched to the fact, literals by value; None if they differ."""
    more = dict(binding)
    for place, found in zip(atom, fact, strict=True):
        known = more.setdefault(place, found) if isinstance(place, str) else place
        if known is not found and identity(known) != identity(found):
            return None
    return more


def instance(atom: Atom, binding: Binding) -> Fact:
    """The fact that an atom becomes."""
    s, p, o = (binding[x] if isinstance(x, str) else x for x in atom)
    return (s, p, o)
