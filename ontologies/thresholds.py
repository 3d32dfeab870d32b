"""Numbers that choose between two translations of an ontology, or limit a step of it."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class OntologyThresholds(Thresholds):
    """Start at `ONTOLOGIES`, the values in use."""

    unfold_growth: int = 2
    """A class is unfolded if that makes at most this many times the rules that it replaces."""
    unfold_few_rules: int = 12
    """Maximum number of rules that unfolding one class may always make."""
    unfold_items: int = 4
    """Maximum size of a group of rules after unfolding, relative to its size before. Each class may
    double the rules about it, so a chain of them would grow without end."""
    unfold_few_items: int = 1_000
    """Maximum number of items that unfolding may always add to a group."""
    key_properties: int = 4
    """Maximum number of properties of a key that are compared by value; each doubles the rules."""
    swrl_values: int = 3
    """Maximum number of places of a SWRL rule where literals are compared by value; each doubles
    the rules."""
    list_readings: int = 64
    """Maximum number of readings of one list or rule; further ones are a problem."""
    list_steps: int = 10_000
    """Maximum number of steps to find the readings of an ambiguous list."""
    kept_items: int = 1 << 20
    """Maximum number of rules and items of their bodies that each step from axioms to rules keeps;
    some 300 bytes each."""
    document_bytes: int = 1 << 30
    """Maximum size of a document that is fetched or unpacked."""


ONTOLOGIES = OntologyThresholds()
