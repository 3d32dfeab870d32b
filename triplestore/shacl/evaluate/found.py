"""Results as columns of ids: start at `Found`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, U32
from triplestore.shacl.model import Constraint, Messages, QueryTest, Shape
from triplestore.sparql.algebra.nodes import PathExpression


@data_class(frozen=False, eq=False)
class Found:
    """The results of one constraint of one shape.

    index     places in the focus nodes that were asked about, increasing
    focus     the focus nodes; those of inner property shapes are values of the outer ones
    values    the ids of values; 0 for none
    path      the path of all results; None if `paths` has that of each, or there is none
    paths     the ids of predicates
    messages  of all results, if the constraint has its own
    texts     the messages of each result
    """

    shape: Shape
    constraint: Constraint
    index: I64
    focus: U32
    values: U32
    path: PathExpression | None = None
    paths: U32 | None = None
    messages: Messages = ()
    texts: Sequence[Messages] | None = None

    def __len__(self) -> int:
        return len(self.index)

    @property
    def constraint_is_core(self) -> bool:
        """Whether the constraint is of SHACL Core."""
        return not isinstance(self.constraint, QueryTest)

    def take(self, rows: I64, index: I64) -> Found:
        """Some rows, for other places."""
        return Found(
            self.shape,
            self.constraint,
            index,
            self.focus[rows],
            self.values[rows],
            self.path,
            None if self.paths is None else self.paths[rows],
            self.messages,
            None if self.texts is None else [self.texts[row] for row in rows.tolist()],
        )

    def spread(self, index: I64, places: I64) -> Found:
        """The results of inner nodes as results of outer ones.

        index   the outer places
        places  the place of the inner node of each
        """
        starts = self.index.searchsorted(places)
        stops = self.index.searchsorted(places, side="right")
        sizes = stops - starts
        return self.take(ranges(starts, sizes), np.repeat(index, sizes))
