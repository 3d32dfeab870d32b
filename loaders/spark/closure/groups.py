"""Groups of rules that define the closure of a graph, computed by graph algorithms.

Start reading at `close_group`. `rules.modules` finds the groups and their closures, as in a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from triplestore.closures.attached import CHAINS, SYMMETRIC, TRANSITIVE, Structure
from triplestore.closures.chains.automaton import Arc, Automaton, Name
from triplestore.closures.chains.regular_rules import regular_system
from triplestore.datalog.program import Constant
from triplestore.loaders.spark.closure.facts import Facts, Frame, local_frame
from triplestore.loaders.spark.closure.graphs import Graphs
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.shapes import TRIPLE, flat_terms
from triplestore.rules.modules.chain_shapes import system_of

GRAPHS = (TRANSITIVE, SYMMETRIC, CHAINS)
"""The kinds of groups that are closed as graphs; others are evaluated by their rules."""

if TYPE_CHECKING:
    from triplestore.datalog.program import Atom
    from triplestore.rules.modules.module_groups import Owned


def structure_in_force(owned: Owned, facts: Facts, naming: Naming) -> Structure | None:
    """The closure that the rules with true guards define; None if it is not a graph's."""
    held = {guard.atom for guard in owned.guards if _holds(guard.atom, facts, naming)}
    found = owned.group.active(held)
    return found if found is not None and found.kind in GRAPHS else None


def is_empty(owned: Owned, facts: Facts, naming: Naming) -> bool:
    """Whether a group has no facts to begin with, so it infers nothing."""
    names = naming.ids_of([*owned.group.relations, *owned.letters]).values()
    known = facts.known
    return known.whole and not any((TRIPLE, name) in known.relations for name in names)


def _holds(atom: Atom, facts: Facts, naming: Naming) -> bool:
    keys = [term.key for term in flat_terms(atom) if isinstance(term, Constant)]
    assert len(keys) == len(flat_terms(atom)), "guards are ground"
    ids = [naming.ids_of(keys)[key] for key in keys]
    tests = [f"k = {len(ids) - 1}", *[f"c{i} = {value}" for i, value in enumerate(ids)]]
    return bool(facts.every().where(" AND ".join(tests)).limit(1).count())


def close_group(structure: Structure, facts: Facts, naming: Naming, graphs: Graphs) -> Frame:
    """The facts of the closure of a group, known ones included."""
    if structure.kind == CHAINS:
        return _close_chains(structure, facts, naming, graphs)
    ids = naming.ids_of(structure.relations)
    names = [ids[key] for key in structure.relations]
    listed = ", ".join(map(str, names))
    back = [name for name, turned in zip(names, structure.turned, strict=True) if turned]
    turned = f"c0 IN ({', '.join(map(str, back))})" if back else "false"
    edges = facts.every().where(f"k = {TRIPLE} AND c0 IN ({listed})")
    edges = edges.selectExpr(f"IF({turned}, c2, c1) AS a", f"IF({turned}, c1, c2) AS b")
    if structure.kind == SYMMETRIC:
        members = graphs.connected(edges)
        other = members.selectExpr("node AS b", "component")
        pairs = members.selectExpr("node AS a", "component").join(other, "component")
    else:
        pairs = graphs.reachable(edges)
    made = [
        pairs.selectExpr(
            f"{name}L AS p", "b AS s" if way else "a AS s", "a AS o" if way else "b AS o"
        )
        for name, way in zip(names, structure.turned, strict=True)
    ]
    found = made[0]
    for one in made[1:]:
        found = found.unionAll(one)
    return facts.flat_triples(found)


def _close_chains(structure: Structure, facts: Facts, naming: Naming, graphs: Graphs) -> Frame:
    """The pairs that chains conclude: reachability in the product of the graph and an automaton.

    A node of the product is a term in a state: `term * states + state`. All known facts count as
    edges, also those that the group inferred, which does not change the result.
    """
    from pyspark.sql.functions import broadcast

    automaton = regular_system(system_of(structure))
    assert automaton is not None, "the group was recognised by it"
    automaton = automaton.reduced()
    states = automaton.states
    ids = naming.ids_of({_relation(arc.label) for arc in automaton.arcs} | {*structure.relations})
    spark = naming.spark
    arcs = [
        (ids[_relation(arc.label)], arc.source, arc.turned, arc.target) for arc in automaton.arcs
    ]
    steps = local_frame(spark, ["c0", "source", "turned", "target"], arcs)
    rows = facts.every().where(f"k = {TRIPLE}").join(broadcast(steps), "c0")
    edges = rows.selectExpr(
        f"IF(turned = 1, c2, c1) * {states} + source AS a",
        f"IF(turned = 1, c1, c2) * {states} + target AS b",
    )
    ends = _ends(automaton, ids)
    listed = ", ".join(str(start) for start in sorted({start for start, *_ in ends}))
    pairs = graphs.reachable(edges, f"a % {states} IN ({listed})")
    pairs = pairs.selectExpr(
        f"a % {states} AS start",
        f"b % {states} AS end",
        f"a DIV {states} AS x",
        f"b DIV {states} AS y",
    )
    words = local_frame(spark, ["start", "end", "p", "turned"], ends)
    found = pairs.join(broadcast(words), ["start", "end"])
    turned = "turned = 1"
    found = found.selectExpr("p", f"IF({turned}, y, x) AS s", f"IF({turned}, x, y) AS o")
    return facts.flat_triples(found)


def _numbers(arc: Arc) -> tuple[int, bool, int]:
    return arc.source, arc.turned, arc.target


def _ends(automaton: Automaton, ids: Mapping[bytes, int]) -> list[tuple[int, int, int, bool]]:
    """For each relation (start, end, name, whether its words are turned)."""
    return [
        (words.start, end, ids[_relation(name)], words.turned)
        for name, words in automaton.defined.items()
        for end in sorted(words.accepting)
    ]


def _relation(label: Name) -> bytes:
    """The relation of a label."""
    found = label[1] if isinstance(label, tuple) else label
    assert isinstance(found, bytes)
    return found
