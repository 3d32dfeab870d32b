"""What a report says of axioms under `owl-el`: they are data, so they are read for it only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.datalog.program import Program
from triplestore.ontologies.profile_el import outside_of_el
from triplestore.ontologies.read import read_ontology
from triplestore.ontologies.translate.regimes import Translation
from triplestore.reasoning.program.schema_reader import SchemaReader

if TYPE_CHECKING:
    from triplestore.ontologies.model.ontology import Ontology
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary


def el_axioms(
    tables: Tables, dictionary: Dictionary, regimes: Regimes
) -> tuple[Translation, Ontology]:
    """How many axioms there are and which are outside of the profile, and the axioms beside those
    between named classes."""
    edges, triples = SchemaReader(dictionary, tables, regimes).read(False)
    ontology = read_ontology(triples)
    used = len(edges) + len(ontology.axioms)
    outside = tuple(outside_of_el(ontology.axioms))
    return Translation(Program(), outside, used), ontology
