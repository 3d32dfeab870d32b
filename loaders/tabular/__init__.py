"""Flat tables as triples: pandas, polars, Arrow, CSV and Parquet. Start at `load_table`.

pyarrow (the extra `arrow`) is imported only when a table is loaded.
"""

from .load_table import TableOptions, load_table
from .mapping import Property

__all__ = ["Property", "TableOptions", "load_table"]
