"""A group of chains as rules over labels, from which an automaton is made. Start at `system_of`."""

from __future__ import annotations

from triplestore.closures.attached import Structure
from triplestore.closures.chains.automaton import Name
from triplestore.closures.chains.regular_rules import ChainRule


def system_of(structure: Structure) -> list[ChainRule]:
    """The chains of a structure, and with them that each relation has facts from outside."""
    chains = [ChainRule(head, body) for head, body in structure.chains]
    return chains + [ChainRule(name, ((outside(name), False),)) for name in structure.relations]


def outside(name: bytes) -> Name:
    """The label of the facts of a relation that come from outside."""
    return ("outside", name)
