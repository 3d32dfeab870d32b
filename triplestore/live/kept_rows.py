"""The rows of an answer, kept from commit to commit: start at `KeptRows`.

An answer with a LIMIT may be one of several right ones, so it is compared with the one that was
given before. Ids of terms that are in no dictionary hold for one commit only, and ids of the
dictionary until the store is optimized: such rows are kept by the keys of their terms.
"""

from __future__ import annotations

import numpy as np

from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.frame import Frame
from triplestore.terms.dictionary import FIRST_QUERY_ID


class KeptRows:
    """The last answer, and the terms of its ids."""

    def __init__(self, rows: Frame, terms: QueryTerms) -> None:
        self.rows = rows
        self.terms = terms

    def replace(self, rows: Frame, terms: QueryTerms) -> tuple[Frame, Frame]:
        """The rows before and now, with ids that can be compared."""
        before = self.rows
        if terms is not self.terms:
            before = with_ids_of(before, self.terms, terms)
        self.rows, self.terms = rows, terms
        return before, rows


def with_ids_of(rows: Frame, old: QueryTerms, new: QueryTerms) -> Frame:
    """Rows with the ids that other terms have for the same terms."""
    same = old.dictionary is new.dictionary
    columns = []
    for column in rows.columns:
        changed = column >= np.uint32(FIRST_QUERY_ID) if same else np.ones(len(column), np.bool_)
        if changed.any():
            ids, places = np.unique(column[changed], return_inverse=True)
            column = column.copy()
            column[changed] = new.encode_keys(old.keys(ids))[places]
        columns.append(column)
    return Frame(rows.names, columns, rows.rows)
