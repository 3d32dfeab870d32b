"""Hierarchies of classes, properties and concepts as columns of ids.

Start at `hierarchy_of` (kept_hierarchies.py). `direct_edges` finds the edges that do not follow
from others, `collapse` makes one node of equal ones, and `Hierarchy` is looked up.
"""
