"""Bounds of the ontology in a store: programs below and above it, as the papers' experiments use.

Start reading at `bound_of`. The axioms are those that a store has, in its default graph, the graphs
of ontologies and its scope, and those of files. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from triplestore.errors import UsageError
from triplestore.reasoning.program.ontology_graphs import imports_of, paths_of
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.reasoning.program.settings import Regimes
from triplestore.terms import term_of
from triplestore.terms.vocabulary import RDFS_SUB_CLASS_OF

if TYPE_CHECKING:
    from triplestore.ontologies.bounds import Bound
    from triplestore.ontologies.model.expressions import Triple
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.storage import State

LOWER, UPPER = "lower", "upper"


def bound_of(
    state: State, which: str, files: Places = (), *, imports: Places = (), network: bool = False
) -> Bound:
    """The program below ("lower") or above ("upper") the axioms of a store and of files."""
    # Late: most stores have no regime.
    from triplestore.ontologies.bounds import lower_bound, upper_bound
    from triplestore.ontologies.read import read_ontology

    if which not in (LOWER, UPPER):
        raise UsageError(f'a bound is "{LOWER}" or "{UPPER}", not {which!r}')
    triples = [*_axioms_of(state), *_axioms_in(files, imports, network)]
    ontology = read_ontology(triples)
    return upper_bound(ontology) if which == UPPER else lower_bound(ontology)


def _axioms_of(state: State) -> list[Triple]:
    """The triples of axioms that a store states."""
    reader = SchemaReader(state.dictionary, state.tables, Regimes.of(state.meta))
    edges, triples = reader.read(False)
    below = NamedNode(RDFS_SUB_CLASS_OF)
    pairs = reader.pairs(edges)
    return [*triples, *((term_of(one), below, term_of(other)) for one, other in pairs)]


def _axioms_in(files: Places, imports: Places, network: bool) -> list[Triple]:
    """The triples of files, and of what they import."""
    # Late: most stores have no regime.
    from triplestore.ontologies.imports.catalogue import Catalogue, Document, find_imports

    given = paths_of(files)
    catalogue = Catalogue(*given, *paths_of(imports), network=network)
    found: list[Triple] = []
    wanted: list[str] = []
    for file in given:
        document = catalogue.find(file.resolve().as_uri())
        if not isinstance(document, Document):
            raise UsageError(f"{file} cannot be read: {document.reason}")
        triples = document.triples()
        found += triples
        wanted += imports_of(triples)
    for document in find_imports(wanted, catalogue).documents:
        found += document.triples()
    return found
