"""Queries to measure: LUBM's fourteen, two mixes over data of our own generators, and relations.

Start at `mixes.mix` for the texts, and at `measuring.measure` for the work of a child.
"""
