"""`triplestore diff`: what lies between two states, with consequences, causes and reports.

Start at `diff` (differ.py).
"""

from triplestore.comparison.differ import diff
from triplestore.comparison.found import Found

__all__ = ["Found", "diff"]
