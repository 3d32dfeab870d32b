"""What callers may pass as a quad, a term, a graph or a choice of facts, turned into keys.

A quad is a `pyoxigraph.Quad` or `Triple`, or a tuple of three or four terms; terms are those of
pyoxigraph or of rdflib. A *key* is the form in which the dictionary knows a term.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from pyoxigraph import DefaultGraph, Quad, Triple

from triplestore.errors import UsageError, WrongTypeError
from triplestore.relations import EXPLICIT, HOLDS, INFERRED
from triplestore.terms import BLANK, IRI, Term, key_of


class RdflibTerm(Protocol):
    """A term or a graph of rdflib, which need not be installed: known by its method `n3`."""

    def n3(self, namespace_manager: Any = None) -> str:
        """The term in Notation 3."""


TermLike: TypeAlias = Term | RdflibTerm
"""A term of pyoxigraph (`NamedNode`, `BlankNode`, `Literal`, `Triple`) or of rdflib."""

GraphLike: TypeAlias = TermLike | DefaultGraph
"""The name of a graph: an IRI, a blank node, or `DefaultGraph()`; a graph of rdflib is taken for
its identifier."""

QuadLike: TypeAlias = (
    Quad
    | Triple
    | tuple[TermLike, TermLike, TermLike]
    | tuple[TermLike, TermLike, TermLike, GraphLike | None]
)
"""`Quad`, `Triple`, or a tuple of three or four terms of pyoxigraph or rdflib."""

QuadKeys: TypeAlias = tuple[bytes, bytes, bytes, bytes | None]
"""Keys of subject, predicate, object and graph; the default graph is None."""

_PLACES = ("subject", "predicate", "object")
_NODES = (IRI, BLANK)

FACTS = {"all": HOLDS, "explicit": EXPLICIT, "inferred": INFERRED}


def quad_keys(quad: QuadLike) -> QuadKeys:
    """The keys of a quad's terms.

    >>> from pyoxigraph import NamedNode, Quad
    >>> a, p = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")
    >>> quad_keys(Quad(a, p, a)) == quad_keys((a, p, a)) == quad_keys((a, p, a, None))
    True
    """
    if isinstance(quad, Quad):
        graph = quad.graph_name
        return (
            key_of(quad.subject),
            key_of(quad.predicate),
            key_of(quad.object),
            None if isinstance(graph, DefaultGraph) else key_of(graph),
        )
    if isinstance(quad, Triple):
        return key_of(quad.subject), key_of(quad.predicate), key_of(quad.object), None
    if not isinstance(quad, tuple) or len(quad) not in (3, 4):
        raise WrongTypeError(
            f"expected a quad (pyoxigraph.Quad or Triple, or a tuple of 3 or 4 terms), not {quad!r}"
        )
    s, p, o = (key_of(term) for term in quad[:3])
    graph_name = graph_key(quad[3]) if len(quad) == 4 else None
    if s[0] not in _NODES:
        raise UsageError(f"the subject of a triple must be an IRI or a blank node, not {quad[0]!r}")
    if p[0] != IRI:
        raise UsageError(f"the predicate of a triple must be an IRI, not {quad[1]!r}")
    return s, p, o, graph_name


def graph_key(graph: GraphLike | None) -> bytes | None:
    """The key of a graph's name; None for the default graph.

    An rdflib `Graph` stands for its identifier; rdflib's name of the default graph is understood.
    """
    if graph is None or isinstance(graph, DefaultGraph):
        return None
    if type(graph).__module__.startswith("rdflib.graph"):
        graph = getattr(graph, "identifier", graph)
    key = key_of(graph)
    if key[0] not in _NODES:
        raise UsageError(f"the name of a graph must be an IRI or a blank node, not {graph!r}")
    return None if key[1:] == b"urn:x-rdflib:default" else key


def facts_mask(facts: str) -> int:
    """The mask of statuses that `facts="all" | "explicit" | "inferred"` asks for."""
    try:
        return FACTS[facts]
    except (KeyError, TypeError):
        raise UsageError(f'facts must be "all", "explicit" or "inferred", not {facts!r}') from None
