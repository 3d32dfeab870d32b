"""What makers of rules need of `expressions.functions`, passed on; nothing is defined here."""

from triplestore.expressions.functions import (
    IN_DATATYPE,
    MANY,
    SAME_VALUE,
    SWRL_FUNCTIONS,
    SWRLB,
)

__all__ = ["IN_DATATYPE", "MANY", "SAME_VALUE", "SWRLB", "SWRL_FUNCTIONS"]
