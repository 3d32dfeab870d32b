"""Queries to measure: LUBM's fourteen, and two mixes over data of our own generators."""
