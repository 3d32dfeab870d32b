"""Hierarchies of classes, properties and concepts as columns of ids.

Start at `hierarchy_of` (kept_hierarchies.py). `generating_edges` reads a
relation, `collapse` makes one node of equal ones, `without_implied` leaves the direct edges, and
`Hierarchy` is looked up.
"""
