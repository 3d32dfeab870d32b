"""The functions of expressions that makers of rules call by name."""

from triplestore.expressions.functions import MANY, SAME_VALUE, SWRL_FUNCTIONS, SWRLB

__all__ = ["MANY", "SAME_VALUE", "SWRLB", "SWRL_FUNCTIONS"]
