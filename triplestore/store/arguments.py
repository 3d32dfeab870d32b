"""Arguments of callers: quads, graphs and a choice of facts as keys and masks; options as records.

A quad is a `pyoxigraph.Quad` or `Triple`, or a tuple of three or four terms; terms are those of
pyoxigraph or of rdflib. A *key* is the form in which the dictionary knows a term.

The public methods (`Store.load`, `Store.reason`, `Store.update`, `Querying.query`, and those of
`Transaction`) have the fields of the records as keywords, explain them, and make the record
once; it is passed down.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict

from pyoxigraph import DefaultGraph, Quad, Triple

from triplestore.data_classes import data_class
from triplestore.errors import UsageError, WrongTypeError
from triplestore.relations import EXPLICIT, HOLDS, INFERRED
from triplestore.terms import BLANK, IRI, Term, key_of

if TYPE_CHECKING:
    from pyoxigraph import NamedNode, RdfFormat, Variable

    from triplestore.network.services import ServicesLike
    from triplestore.operators.context import Flag
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.sparql.plan.planner import PlanOptions
    from triplestore.text_limits import TextLimits


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

    An rdflib `Graph` stands for its identifier; rdflib's name of the default graph is accepted.
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


PathLike: TypeAlias = "str | os.PathLike[str]"


@data_class(kw_only=True)
class LoadOptions:
    """The keywords of `Store.load`."""

    format: RdfFormat | str | None = None
    path: PathLike | Iterable[PathLike] | None = None
    base_iri: str | None = None
    to_graph: GraphLike | None = None
    replace_graph: GraphLike | None = None
    named_graphs: str = "keep"
    lenient: bool = False
    progress: bool = False
    cancel: Callable[[], bool] | None = None
    threads: int | None = None
    max_line_bytes: int | None = None
    max_term_bytes: int | None = None


@data_class(kw_only=True)
class ReasonOptions:
    """The names of regimes and the keywords of `Store.reason`."""

    regimes: tuple[str, ...] = ()
    rules: RulesLike | None = None
    ontology: Places | None = None
    imports: Places = ()
    network: bool = False
    scope: str | Iterable[str | NamedNode | DefaultGraph] | None = None
    trivial: bool | None = None
    strict: bool | None = None
    equality: str | None = None
    tuning: Mapping[str, Any] | None = None
    progress: bool = False
    cancel: Callable[[], bool] | None = None


class Accumulator(Protocol):
    """One group of an aggregate that a caller gives."""

    def accumulate(self, element: Any, /) -> None:
        """Take one more term."""

    def finish(self) -> Term | None:
        """The result; None for an error."""


Substitutions: TypeAlias = "Mapping[str, TermLike] | Mapping[Variable, TermLike]"
"""Values of variables, which are given by name or as variables."""

CustomFunctions: TypeAlias = (
    "Mapping[str, Callable[..., Term | None]] | Mapping[NamedNode, Callable[..., Term | None]]"
)
"""Functions by IRI; None is an error."""

CustomAggregates: TypeAlias = (
    "Mapping[str, Callable[[], Accumulator]] | Mapping[NamedNode, Callable[[], Accumulator]]"
)
"""Aggregates by IRI."""


class QueryKeywords(TypedDict, total=False):
    """The keywords of `Querying.query`, which explains them."""

    facts: str
    equality: str
    base_iri: str | None
    prefixes: Mapping[str, str] | None
    use_default_graph_as_union: bool
    default_graph: GraphLike | Iterable[GraphLike] | None
    named_graphs: Iterable[GraphLike] | None
    timeout: float | None
    budget: int | None
    cancel: Flag | None
    limits: TextLimits | None
    substitutions: Substitutions | None
    custom_functions: CustomFunctions | None
    custom_aggregate_functions: CustomAggregates | None
    allow_service: ServicesLike | None


class QueryOptions(NamedTuple):
    """The options of a query; see `Querying.query`.

    planning  which improvements the planner makes, for tests and measurements; None for all
    form      the form that the query must have, such as "SELECT"; None for any
    """

    facts: str = "all"
    equality: str = "all"
    base_iri: str | None = None
    prefixes: Mapping[str, str] | None = None
    use_default_graph_as_union: bool = False
    default_graph: GraphLike | Iterable[GraphLike] | None = None
    named_graphs: Iterable[GraphLike] | None = None
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    limits: TextLimits | None = None
    substitutions: Substitutions | None = None
    custom_functions: CustomFunctions | None = None
    custom_aggregate_functions: CustomAggregates | None = None
    allow_service: ServicesLike | None = None
    planning: PlanOptions | None = None
    form: str | None = None


class UpdateOptions(NamedTuple):
    """The options of an update; see `Store.update`."""

    base_iri: str | None = None
    prefixes: Mapping[str, str] | None = None
    load_from: Iterable[str] = ()
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    limits: TextLimits | None = None
    allow_service: ServicesLike | None = None


DEFAULTS = QueryOptions()
