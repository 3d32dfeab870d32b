"""Symmetric and transitive relations, kept as connected components."""
