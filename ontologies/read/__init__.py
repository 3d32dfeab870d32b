"""Reading an ontology: triples in, axioms and problems out.

Start at `ontology.read_ontology`, which calls the others in turn: `headers`, `expressions` (what is
said about blank nodes and definitions), `axioms`, `annotations`,
`swrl`.
"""

from .ontology import read_ontology

__all__ = ["read_ontology"]
