"""Parents and ancestors: what tests of rules in the store are about."""

from __future__ import annotations

from pyoxigraph import NamedNode, Quad

from triplestore import Store

PREFIX = "@prefix : <http://ex.org/> .\n"
ANCESTORS = (
    PREFIX
    + """:ancestor[?x, ?y] :- :parent[?x, ?y] .
rule "step" :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
"""
)
ENDLESS = PREFIX + ":n[:zero, 0] . :n[:zero, ?m] :- :n[:zero, ?n], BIND(?n + 1 AS ?m) ."


def node(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def quad(text: str) -> Quad:
    s, p, o = text.split()
    return Quad(node(s), node(p), node(o))


def parents(*pairs: str) -> list[Quad]:
    return [quad(f"{pair[0]} parent {pair[1]}") for pair in pairs]


def family() -> Store:
    """A store in which a is the parent of b, and b of c."""
    made = Store()
    made.extend(parents("ab", "bc"))
    made.reason(rules=ANCESTORS)
    return made
