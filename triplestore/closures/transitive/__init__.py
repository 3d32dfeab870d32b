"""Transitive relations, kept as rows of strongly connected components."""
