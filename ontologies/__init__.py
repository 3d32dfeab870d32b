"""Ontology languages: axioms are read from triples and translated to rules.

Start reading at `model.axioms` and `model.expressions` (what an ontology can say), then
`read.ontology` (triples in, axioms and problems out), `imports.catalogue` (where imports are) and
`translate.regimes` (axioms to rules). DESIGN.md has the decisions.
"""
