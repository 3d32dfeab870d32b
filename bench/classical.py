"""Programs that papers on Datalog measure with, over generated graphs.

    reach       which nodes reach which, one edge after the other, in a random graph
    generation  who is of the same generation in a forest: pairs by pairs of parents
    andersen    what pointers may point to: assignments, addresses, loads and stores
    aliases     which expressions may be the same place (context-sensitive pointer analysis of
                Graspan): values that flow, and two relations of aliases that depend on each other
    triangles   all triangles of a graph whose nodes have few neighbours but for some hubs
    star        who has each of six properties; each has several values

Start at `CLASSICAL`. What is always true: the same size gives the same on every machine; programs
speak of relations of two columns, classes and one of three, so every peer with rules can run them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.programs import NAMESPACE, Setting
from bench.reasoners.program import number_constants
from bench.rolls import I64, below
from triplestore.datalog.text import read

Pairs = NDArray[np.int64]
"""Rows of two nodes, numbered from 0."""

PREFIX = f"@prefix : <{NAMESPACE}> .\n"

REACH = """
:path[?x, ?y] :- :edge[?x, ?y] .
:path[?x, ?z] :- :path[?x, ?y], :edge[?y, ?z] .
"""

GENERATION = """
:same[?x, ?y] :- :parent[?x, ?p], :parent[?y, ?p] .
:same[?x, ?y] :- :parent[?x, ?p], :same[?p, ?q], :parent[?y, ?q] .
"""

ANDERSEN = """
:points[?y, ?x] :- :address[?y, ?x] .
:points[?y, ?x] :- :assign[?y, ?z], :points[?z, ?x] .
:points[?y, ?w] :- :load[?y, ?x], :points[?x, ?z], :points[?z, ?w] .
:points[?z, ?w] :- :store[?y, ?x], :points[?y, ?z], :points[?x, ?w] .
"""

ALIASES = """
:flow[?y, ?x] :- :assign[?y, ?x] .
:flow[?x, ?y] :- :assign[?x, ?z], :memory[?z, ?y] .
:flow[?x, ?y] :- :flow[?x, ?z], :flow[?z, ?y] .
:memory[?x, ?w] :- :dereference[?y, ?x], :value[?y, ?z], :dereference[?z, ?w] .
:value[?x, ?y] :- :flow[?z, ?x], :flow[?z, ?y] .
:value[?x, ?y] :- :flow[?z, ?x], :memory[?z, ?w], :flow[?w, ?y] .
:flow[?x, ?x] :- :assign[?x, ?y] .
:flow[?x, ?x] :- :assign[?y, ?x] .
:memory[?x, ?x] :- :assign[?y, ?x] .
:memory[?x, ?x] :- :assign[?x, ?y] .
"""

TRIANGLES = """
:triangle[?x, ?y, ?z] :- :edge[?x, ?y], :edge[?y, ?z], :edge[?z, ?x] .
"""

STAR = """
:Whole[?x] :- :a[?x, ?1], :b[?x, ?2], :c[?x, ?3], :d[?x, ?4], :e[?x, ?5], :f[?x, ?6] .
""".replace("?", "?v")


def reach(nodes: int = 1_500) -> Setting:
    """A random graph with three edges a node: nearly every node reaches nearly every other."""
    return setting("reach", REACH, {"edge": random_pairs("reach", nodes, nodes, 3 * nodes)})


def generation(nodes: int = 12_000) -> Setting:
    """A forest of trees of 1,000 nodes, each below one of the nodes before it."""
    own = np.arange(nodes, dtype=np.int64)
    tree = own % 1_000
    above = own - tree + (below(1 << 30, "generation", nodes) % np.maximum(1, tree))
    return setting("generation", GENERATION, {"parent": np.column_stack((own, above))[tree > 0]})


def andersen(variables: int = 1_200) -> Setting:
    """Statements of a program: as many assignments as variables, a third as many of the others."""
    few = variables // 3
    return setting(
        "andersen",
        ANDERSEN,
        {
            "address": random_pairs("address", variables, variables, few),
            "assign": random_pairs("assign", variables, variables, variables),
            "load": random_pairs("load", variables, variables, few // 4),
            "store": random_pairs("store", variables, variables, few // 4),
        },
    )


def aliases(variables: int = 20_000) -> Setting:
    """Assignments mostly from near places, as within one function."""
    own = below(variables, "aliases/own", variables)
    near = np.minimum(variables - 1, own + 1 + below(12, "aliases/near", variables))
    behind = below(variables, "aliases/place", variables // 2)
    return setting(
        "aliases",
        ALIASES,
        {
            "assign": np.column_stack((near, own)),
            "dereference": np.column_stack(
                (behind, variables + below(variables, "aliases/value", variables // 2))
            ),
        },
    )


def triangles(edges: int = 600_000, hubs: int = 3) -> Setting:
    """A tenth of all edges leads to a hub, a tenth comes from one."""
    nodes = edges // 8
    made = random_pairs("triangles", nodes, nodes, edges)
    tenth = edges // 10
    made[:tenth, 0] = nodes + below(hubs, "triangles/from", tenth)
    made[tenth : 2 * tenth, 1] = nodes + below(hubs, "triangles/to", tenth)
    return setting("triangles", TRIANGLES, {"edge": made})


def star(members: int = 60_000, values: int = 6) -> Setting:
    """Each member has about so many values of each property."""
    return setting(
        "star",
        STAR,
        {name: random_pairs(f"star/{name}", members, 97, values * members) for name in "abcdef"},
    )


CLASSICAL: dict[str, Callable[[], Setting]] = {
    made.__name__: made for made in (reach, generation, andersen, aliases, triangles, star)
}


def random_pairs(seed: str, first: int, second: int, count: int) -> Pairs:
    """So many pairs of nodes, some of them the same."""
    one, other = below(first, f"{seed}/1", count), below(second, f"{seed}/2", count)
    return np.column_stack((one, other))


def setting(name: str, rules: str, relations: dict[str, Pairs]) -> Setting:
    """A program with pairs of nodes for some of its properties, each once."""
    program = read(PREFIX + rules)
    numbers = number_constants(program)
    first = len(numbers) + 1
    columns: list[Sequence[I64]] = []
    for relation, pairs in relations.items():
        made = np.unique(pairs, axis=0)
        number = numbers[b"\x01" + f"{NAMESPACE}{relation}".encode()]
        columns.append((made[:, 0] + first, np.full(len(made), number), made[:, 1] + first))
    s, p, o = (np.concatenate(c).astype(np.uint32) for c in zip(*columns, strict=True))
    return Setting(name, program, s, p, o, numbers)
