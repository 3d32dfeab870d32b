"""Programs of papers on Datalog, over generated graphs.

    reach       reachability in a random graph, one edge after the other
    generation  nodes of the same generation in a forest: pairs by pairs of parents
    andersen    points-to analysis: assignments, addresses, loads and stores
    aliases     expressions that may be the same place (context-sensitive pointer analysis of
                Graspan): flow of values, and two mutually recursive relations of aliases
    triangles   all triangles of a graph whose nodes have few neighbours, with some hubs
    diamonds    two triangles with one side in common, in such a graph
    star        members with values of each of six properties, several of each
    fields      points-to analysis of objects with fields, which also finds calls (as Doop's)
    completion  classification of classes by the rules of the description logic EL (as ELK's)
    history     the predecessors of the last version; some versions have two

`fields` and `completion` derive relations of three columns; their inputs of three columns are
statements about a node for each row (`rows_as_nodes`).

Start at `CLASSICAL`. Always true: the same size gives the same data on every machine; programs have
relations of two columns, classes and one of three, so every peer with rules can run them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.inputs.programs import NAMESPACE, Setting
from bench.inputs.random_numbers import I64, below
from bench.reasoners.program import number_constants
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

DIAMONDS = """
:diamond[?a, ?b, ?c, ?d] :-
    :edge[?a, ?b], :edge[?b, ?d], :edge[?a, ?c], :edge[?c, ?d], :edge[?b, ?c] .
"""

FIELDS = """
:var[?v, ?h] :- :alloc[?v, ?h], :within[?v, ?m], :Reached[?m] .
:var[?t, ?h] :- :move[?t, ?f], :var[?f, ?h] .
:field[?b, ?f, ?h] :-
    :store0[?s, ?x], :store1[?s, ?f], :store2[?s, ?v], :var[?x, ?b], :var[?v, ?h] .
:var[?t, ?h] :-
    :load0[?s, ?x], :load1[?s, ?f], :load2[?s, ?t], :var[?x, ?b], :field[?b, ?f, ?h] .
:calls[?i, ?m] :-
    :call0[?i, ?x], :call1[?i, ?g], :var[?x, ?h], :type[?h, ?c],
    :method0[?l, ?c], :method1[?l, ?g], :method2[?l, ?m] .
:Reached[?m] :- :calls[?i, ?m], :from[?i, ?k], :Reached[?k] .
:Reached[?m] :- :entry[?e, ?m] .
:var[?p, ?h] :- :calls[?i, ?m], :actual[?i, ?a], :formal[?m, ?p], :var[?a, ?h] .
:var[?r, ?h] :- :calls[?i, ?m], :returns[?m, ?v], :result[?i, ?r], :var[?v, ?h] .
:var[?o, ?h] :- :calls[?i, ?m], :call0[?i, ?x], :this[?m, ?o], :var[?x, ?h] .
"""

COMPLETION = """
:below[?x, ?d] :- :below[?x, ?c], :told[?c, ?d] .
:below[?x, ?d] :- :and0[?a, ?c], :and1[?a, ?e], :and2[?a, ?d], :below[?x, ?c], :below[?x, ?e] .
:link[?x, ?r, ?d] :- :below[?x, ?c], :some0[?s, ?c], :some1[?s, ?r], :some2[?s, ?d] .
:below[?x, ?e] :-
    :link[?x, ?r, ?y], :below[?y, ?c], :back0[?b, ?r], :back1[?b, ?c], :back2[?b, ?e] .
:link[?x, ?q, ?y] :- :link[?x, ?r, ?y], :subrole[?r, ?q] .
:link[?x, ?t, ?z] :-
    :link[?x, ?r, ?y], :link[?y, ?q, ?z], :chain0[?k, ?r], :chain1[?k, ?q], :chain2[?k, ?t] .
:below[?x, ?x] :- :told[?x, ?y] .
:below[?x, ?x] :- :told[?y, ?x] .
"""

HISTORY = """
:Past[?x] :- :last[?x, ?x] .
:Past[?y] :- :Past[?x], :parent[?x, ?y] .
"""

STAR = """
:Whole[?x] :- :a[?x, ?1], :b[?x, ?2], :c[?x, ?3], :d[?x, ?4], :e[?x, ?5], :f[?x, ?6] .
""".replace("?", "?v")


def reach(nodes: int = 1_500) -> Setting:
    """A random graph with three edges per node: nearly all pairs of nodes are connected."""
    return setting("reach", REACH, {"edge": random_pairs("reach", nodes, nodes, 3 * nodes)})


def generation(nodes: int = 12_000) -> Setting:
    """A forest of trees of 1,000 nodes, each below one of the nodes before it."""
    own = np.arange(nodes, dtype=np.int64)
    tree = own % 1_000
    above = own - tree + (below(1 << 30, "generation", nodes) % np.maximum(1, tree))
    return setting("generation", GENERATION, {"parent": np.column_stack((own, above))[tree > 0]})


def andersen(variables: int = 1_200) -> Setting:
    """Statements of a program: an assignment per variable, and a third of that of the others."""
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


def diamonds(edges: int = 400_000) -> Setting:
    """Nodes of smaller numbers are ends of more edges."""
    nodes = edges // 8
    made = random_pairs("diamonds", 1 << 20, 1 << 20, edges) / (1 << 20)
    return setting("diamonds", DIAMONDS, {"edge": (nodes * made**1.6).astype(np.int64)})


def fields(size: int = 300) -> Setting:
    """Ten times as many variables as methods; values move, are stored and loaded near by."""
    variables, methods, types = 3 * size, size // 6, size // 30
    signatures = size // 24
    # Variables come first, then objects, methods, fields, types, signatures and rows.
    objects, method, field = 5 * size, 12 * size, 13 * size
    type_, signature, row = 14 * size, 15 * size, 16 * size

    def near(name: str, count: int) -> tuple[I64, I64]:
        one = below(variables, f"fields/{name}", count)
        return one, np.clip(one + below(9, f"fields/{name}/near", count) - 4, 0, variables - 1)

    def beside(variable: I64, steps: int) -> I64:
        return np.minimum(variable + steps, variables - 1)

    made, held = objects + np.arange(2 * size), np.arange(variables)
    calls, known = row + np.arange(size // 2), np.arange(methods)
    called, starts = below(variables, "fields/called", size // 2), known * variables // methods
    every = np.arange(types * signatures)
    every = every[below(3, "fields/method", len(every)) == 0]
    stored, loaded = near("store", size // 2), near("load", size)
    return setting(
        "fields",
        FIELDS,
        {
            "within": np.column_stack((held, method + held * methods // variables)),
            "alloc": np.column_stack((below(variables, "fields/alloc", 2 * size), made)),
            "type": np.column_stack((made, type_ + below(types, "fields/type", 2 * size))),
            "move": np.column_stack(near("move", 2 * size)),
            **rows_as_nodes(
                "store",
                20 * size,
                (stored[0], field + below(20, "fields/stored", size // 2), stored[1]),
            ),
            **rows_as_nodes(
                "load",
                22 * size,
                (loaded[0], field + below(20, "fields/loaded", size), loaded[1]),
            ),
            "call0": np.column_stack((calls, called)),
            "call1": np.column_stack(
                (calls, signature + below(signatures, "fields/signature", size // 2))
            ),
            "from": np.column_stack((calls, method + called * methods // variables)),
            "actual": np.column_stack((calls, beside(called, 1))),
            "result": np.column_stack((calls, beside(called, 2))),
            **rows_as_nodes(
                "method",
                30 * size,
                (
                    type_ + every // signatures,
                    signature + every % signatures,
                    method + below(methods, "fields/found", len(every)),
                ),
            ),
            "formal": np.column_stack((method + known, beside(starts, 1))),
            "this": np.column_stack((method + known, starts)),
            "returns": np.column_stack((method + known, beside(starts, 3))),
            "entry": np.column_stack((np.full((methods + 1) // 2, 50 * size), method + known[::2])),
        },
    )


def completion(classes: int = 4_000) -> Setting:
    """A tree of classes, definitions by two others, and twelve roles with chains."""
    own, role = np.arange(1, classes), 2 * classes

    def some(name: str, count: int, most: int = classes) -> I64:
        return below(most, f"completion/{name}", count)

    above = some("told", classes - 1, 1 << 30) % np.maximum(1, own // 2)
    both, links, backs = classes // 4, classes // 2, classes // 5
    roles = role + np.arange(12)
    return setting(
        "completion",
        COMPLETION,
        {
            "told": np.column_stack((own, above)),
            **rows_as_nodes(
                "and", 10 * classes, (some("1", both), some("2", both), some("3", both))
            ),
            **rows_as_nodes(
                "some",
                20 * classes,
                (some("4", links), role + some("5", links, 12), some("6", links)),
            ),
            **rows_as_nodes(
                "back",
                30 * classes,
                (role + some("7", backs, 12), some("8", backs), some("9", backs)),
            ),
            "subrole": np.column_stack((roles[3:], roles[np.arange(3, 12) // 3])),
            **rows_as_nodes("chain", 40 * classes, (roles[:3], roles[[0, 0, 2]], roles[[0, 0, 2]])),
        },
    )


def history(versions: int = 5_000) -> Setting:
    """A chain of versions; one of ten has a second predecessor among the last fifty."""
    own = np.arange(1, versions, dtype=np.int64)
    merged = own[own % 10 == 0]
    second = np.maximum(0, merged - 2 - below(48, "history", len(merged)))
    parents = np.vstack((np.column_stack((own, own - 1)), np.column_stack((merged, second))))
    last = np.array([[versions - 1, versions - 1]], dtype=np.int64)
    return setting("history", HISTORY, {"parent": parents, "last": last})


def star(members: int = 60_000, values: int = 6) -> Setting:
    """Each member has about this many values of each property."""
    return setting(
        "star",
        STAR,
        {name: random_pairs(f"star/{name}", members, 97, values * members) for name in "abcdef"},
    )


CLASSICAL: dict[str, Callable[[], Setting]] = {
    made.__name__: made
    for made in (
        reach,
        generation,
        andersen,
        aliases,
        triangles,
        diamonds,
        star,
        fields,
        completion,
        history,
    )
}


def random_pairs(seed: str, first: int, second: int, count: int) -> Pairs:
    """This many pairs of nodes, with some repetitions."""
    one, other = below(first, f"{seed}/1", count), below(second, f"{seed}/2", count)
    return np.column_stack((one, other))


def rows_as_nodes(name: str, first: int, columns: Sequence[I64]) -> dict[str, Pairs]:
    """A relation of several columns as pairs of a node per row and the value of a column.

    first  number of the first node
    """
    rows = first + np.arange(len(columns[0]))
    return {f"{name}{i}": np.column_stack((rows, column)) for i, column in enumerate(columns)}


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
