"""Shapes of SHACL: start at `Validating.validate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from triplestore.store.arguments import GraphLike, PathLike, QuadLike, TermLike
from triplestore.store.querying import Querying

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.datalog.program import Program
    from triplestore.loaders.rdflib_graphs import RdflibGraph
    from triplestore.operators.context import Flag
    from triplestore.shacl.reports.report import ValidationReport

OneShapesGraph: TypeAlias = (
    "str | PathLike | GraphLike | RdflibGraph | Querying | Iterable[QuadLike]"
)
ShapesLike: TypeAlias = "OneShapesGraph | Sequence[OneShapesGraph]"
"""A shapes graph: a text in Turtle, a file (`Path`), a named graph of the store (`NamedNode`), a
store, a graph of rdflib, quads, or a list of these."""


class Validating(Querying):
    """Validation of one consistent state."""

    def shape_rules(
        self,
        shapes: ShapesLike | None = None,
        *,
        imports: Mapping[str, ShapesLike] | Iterable[PathLike] = (),
        shapes_format: RdfFormat | str | None = None,
    ) -> Program:
        """The rules of shapes (`sh:rule`) as a program for `reason` and `add_rules`.

        Triple rules and SPARQL rules are translated; one that cannot be is a `ShapesError` that
        says why. The arguments are those of `validate`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://example.org/> . :r a :Room ; :width 3 .", "ttl")
        >>> report = store.add_rules(store.shape_rules('''@prefix : <http://example.org/> .
        ...     @prefix sh: <http://www.w3.org/ns/shacl#> .
        ...     :S sh:targetClass :Room ; sh:rule [ a sh:TripleRule ;
        ...         sh:subject sh:this ; sh:predicate :depth ; sh:object [ sh:path :width ] ] .'''))
        >>> store.ask("ASK { :r :depth 3 }")
        True
        """
        # Late: few stores have rules of shapes.
        from triplestore.shacl.rules.translate import rules_of_shapes
        from triplestore.store.faces.shapes_sources import read_sources

        return rules_of_shapes(read_sources(self._view(), shapes, imports, shapes_format))

    def validate(
        self,
        shapes: ShapesLike | None = None,
        *,
        facts: str = "all",
        imports: Mapping[str, ShapesLike] | Iterable[PathLike] = (),
        shapes_format: RdfFormat | str | None = None,
        shapes_iri: str | None = None,
        use_default_graph_as_union: bool = False,
        default_graph: GraphLike | Iterable[GraphLike] | None = None,
        named_graphs: Iterable[GraphLike] | None = None,
        focus_nodes: Iterable[TermLike] | None = None,
        use_shapes: Iterable[TermLike] | None = None,
        timeout: float | None = None,
        budget: int | None = None,
        cancel: Flag | None = None,
    ) -> ValidationReport:
        """What is wrong with the data by shapes of SHACL.

        `shapes` is a text in Turtle, a `Path`, a named graph of this store (`NamedNode`), another
        store, a graph of rdflib, or a list of these; by default the shapes are those in the store's
        own graphs. What a shapes graph imports by `owl:imports` is looked for in `imports` (a
        mapping of IRIs to such sources, or files), among the store's named graphs, and beside the
        file of the shapes. `facts` selects the data that are validated: "all", "explicit"
        (asserted) or "inferred" ones. Only some focus nodes are validated with `focus_nodes`, and
        only some of the shapes with targets with `use_shapes`. The other keywords are those of
        `query`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://example.org/> . :ada a :Person .", "ttl")
        >>> print(store.validate('''
        ...     @prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
        ...     :PersonShape sh:targetClass :Person ;
        ...         sh:property [ sh:path :name ; sh:minCount 1 ] .'''))
        does not conform: 1 Violation
        severity   focus node  path   value  message
        ---------  ----------  -----  -----  ----------------------
        Violation  :ada        :name         has fewer than 1 value
        """
        # Late: few runs validate.
        from triplestore.store.faces.shapes_sources import QueryChoice, validated

        choice = QueryChoice(
            facts, use_default_graph_as_union, default_graph, named_graphs, timeout, budget, cancel
        )
        return validated(
            self._view(),
            shapes,
            choice,
            imports,
            shapes_format,
            shapes_iri,
            focus_nodes,
            use_shapes,
        )
