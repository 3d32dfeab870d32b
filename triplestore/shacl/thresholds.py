"""The thresholds of this package, which tests change: start at `SHACL`."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ShaclThresholds(Thresholds):
    """See `SHACL`."""

    few_nodes: int = 16
    """Maximum number of nodes whose values are kept for the other shapes of one validation, and of
    values that are tested one by one."""

    nested_shapes: int = 50
    """Maximum number of levels of shapes inside of shapes."""

    followed_nodes: int = 20_000
    """Maximum number of focus nodes of one shape that a commit concerns and whose results are
    replaced; with more the shape is validated as a whole."""

    followed_rows: int = 500_000
    """Maximum number of rows of a commit whose facts are followed; after a larger one, all shapes
    are validated as a whole."""

    listed_results: int = 5
    """Maximum number of new results that the refusal of a commit names."""


SHACL = ShaclThresholds()
