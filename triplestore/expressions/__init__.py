"""Expressions of rules and queries: as data (`tree`), as text, and evaluated on columns."""
