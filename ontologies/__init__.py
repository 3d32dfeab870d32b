"""Ontology languages: axioms read from triples, and what becomes of them.

Start reading at `axioms` and `expressions` (what an ontology can say).
DESIGN.md has the decisions and measurements.
"""
