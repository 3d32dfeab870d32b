"""Recursive programs over small random graphs: many ways to derive a fact, and cycles of support.

`random_graph_case` gives a program, facts, and updates; unlike `programs.random_case` the programs
are fixed, and what is random is a graph that they have much to do with.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.maintenance.naive import Fact
from tests.maintenance.notation import facts, program
from triplestore.datalog.program import Program

RULES = (
    # reachability
    ":B[?y] :- :T[?x, ?y], :B[?x] .",
    # transitive closures, nonlinear and linear
    ":T[?x, ?z] :- :T[?x, ?y], :T[?y, ?z] .",
    ":T[?x, ?z] :- :T[?x, ?y], :e[?y, ?z] . :T[?x, ?y] :- :e[?x, ?y] .",
    # two colours that depend on each other, and a negation
    """:B[?y] :- :T[?x, ?y], :B[?x] . :C[?y] :- :U[?x, ?y], :B[?x] .
       :B[?y] :- :U[?y, ?x], :C[?x] . :C[?x] :- :B[?x], NOT :N[?x] .""",
    # symmetric and transitive: everything supports everything
    """:U[?y, ?x] :- :T[?x, ?y] . :T[?x, ?y] :- :U[?x, ?y] . :T[?x, ?z] :- :T[?x, ?y], :U[?y, ?z] .
       :B[?x] :- :T[?x, ?x], NOT :N[?x] . :C[?x] :- :B[?x] .
       :B[?x] :- :C[?x], :T[?x, ?y], :C[?y] .""",
    # relations of three columns
    """:w[?x, ?y, ?z] :- :T[?x, ?y], :U[?y, ?z] . :w[?x, ?z, ?y] :- :w[?x, ?y, ?z] .
       :w[?x, ?y, ?u] :- :w[?x, ?y, ?z], :w[?y, ?z, ?u] . :T[?x, ?z] :- :w[?x, ?y, ?z] .""",
    # variable properties and classes
    "[?x, ?p, ?z] :- [?x, ?p, ?y], [?y, ?p, ?z], :Tr[?p] .",
    """[?y, ?p, ?x] :- [?x, ?p, ?y], :Sym[?p] . [?x, ?q, ?y] :- [?x, ?p, ?y], :sub[?p, ?q] .
       [?x, rdf:type, ?c] :- [?x, rdf:type, ?d], :sub[?d, ?c] .""",
    # two atoms of the stratum, one of them of a lower one too
    ":B[?y] :- :T[?x, ?y], :B[?x], :B[?z], :U[?z, ?y] . :B[?x] :- :A[?x] .",
    # families of several rules
    """:A[?x] :- :B[?x] . :B[?x] :- :C[?x] . :C[?x] :- :A[?x] . :A[?x] :- :C[?x] .
       :A[?x] :- :N[?x] . :B[?y] :- :A[?x], :T[?x, ?y] . :A[?y] :- :C[?x], :T[?x, ?y] .
       :C[?y] :- :B[?x], :T[?x, ?y] . :A[?y] :- :B[?x], :T[?x, ?y] .""",
)
_PREFIX = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"


class Update(NamedTuple):
    """What one step adds and deletes."""

    added: frozenset[Fact]
    deleted: frozenset[Fact]


class GraphCase(NamedTuple):
    """A program, explicit facts, and updates that only delete explicit facts."""

    program: Program
    facts: frozenset[Fact]
    updates: tuple[Update, ...]


def random_graph_case(seed: int, steps: int = 4) -> GraphCase:
    """A case, the same for the same seed."""
    rng = random.Random(seed)
    rules = RULES[seed % len(RULES)]
    held = set(_facts(rng, rng.choice((10, 20, 30)), rules))
    start = frozenset(held)
    made = []
    for _ in range(steps):
        some = min(len(held), rng.choice((1, 1, 2, 4)))
        deleted = frozenset(rng.sample(sorted(held), some))
        added = frozenset(_facts(rng, rng.choice((0, 0, 1, 3)), rules))
        held = (held - deleted) | added
        made.append(Update(added, deleted))
    return GraphCase(program(_PREFIX + rules), start, tuple(made))


def _facts(rng: random.Random, count: int, rules: str) -> set[Fact]:
    nodes = "abcdefgh"[: rng.randint(4, 8)]
    found = []
    for _ in range(count):
        x, y = rng.choice(nodes), rng.choice(nodes)
        kind = rng.random()
        if kind < 0.3:
            found.append(f"{rng.choice('ABCN')}({x})")
        elif kind < 0.9 or not ("sub" in rules or "Tr" in rules):
            found.append(f"{rng.choice('TTTUe')}({x}, {y})")
        elif "Tr" in rules:
            found.append(f"Tr({rng.choice('TU')})")
        else:
            found.append(
                rng.choice(
                    (
                        f"sub({rng.choice('TUe')}, {rng.choice('TUe')})",
                        f"Sym({rng.choice('TU')})",
                        f"sub({rng.choice('ABC')}, {rng.choice('ABC')})",
                    )
                )
            )
    return facts(" ".join(found))
