"""Ontology languages: axioms read from triples, and what becomes of them.

Start reading at `axioms` and `expressions` (what an ontology can say), then `read.read_ontology`
(triples in, axioms and problems out), `catalogue` (where imports are) and `regimes` (axioms to
rules). DESIGN.md has the decisions and measurements.
"""
