"""Groups of rules that are the closure of a graph, closed as such.

Start reading at `close_group`. Which groups there are, and what their rules come to, is found by
the engine's `modules`, so it is the same here as in a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.loaders.spark.closure.facts import Facts, Frame
from triplestore.loaders.spark.closure.graphs import Graphs
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.shapes import TRIPLE, flat_terms

from triplestore.schemes.attached import SYMMETRIC, TRANSITIVE, Structure

if TYPE_CHECKING:
    from triplestore.datalog.program import Atom, Constant
    from triplestore.engine.modules.owned import Owned


def structure_in_force(owned: Owned, facts: Facts, naming: Naming) -> Structure | None:
    """What the rules of a group come to whose guards hold; None if it is not one graph."""
    held = {guard.atom for guard in owned.guards if _holds(guard.atom, facts, naming)}
    found = owned.group.active(held)
    return found if found is not None and found.kind in (TRANSITIVE, SYMMETRIC) else None


def _holds(atom: Atom, facts: Facts, naming: Naming) -> bool:
    keys = [term.key for term in flat_terms(atom) if isinstance(term, Constant)]
    assert len(keys) == len(flat_terms(atom)), "guards are ground"
    ids = [naming.ids_of(keys)[key] for key in keys]
    tests = [f"k = {len(ids) - 1}", *[f"c{i} = {value}" for i, value in enumerate(ids)]]
    return bool(facts.every().where(" AND ".join(tests)).limit(1).count())


def close_group(structure: Structure, facts: Facts, naming: Naming, graphs: Graphs) -> Frame:
    """The facts of the closure of a group, from those that hold; they may be known."""
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
