"""The algebra of SPARQL 1.1 as data. Start at `nodes`."""
