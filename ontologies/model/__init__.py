"""What an ontology can say, as data: axioms, expressions, SWRL rules. Start at `axioms.Axiom`."""
