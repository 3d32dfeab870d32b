"""Names of `expressions.functions` for packages that make rules; nothing is defined here."""

from triplestore.expressions.functions import (
    IN_DATATYPE,
    MANY,
    SAME_VALUE,
    SWRL_FUNCTIONS,
    SWRLB,
    SYMBOL,
)

__all__ = ["IN_DATATYPE", "MANY", "SAME_VALUE", "SWRLB", "SWRL_FUNCTIONS", "SYMBOL"]
