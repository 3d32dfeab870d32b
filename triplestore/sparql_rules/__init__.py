"""CONSTRUCT queries as rules."""
