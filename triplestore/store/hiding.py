"""Facts that are no triples of RDF hold, take part in rules, and are not shown.

Start reading at `is_triple`. Rules work on generalised triples: a rule may conclude one with a
literal as its subject or a blank node as its predicate. No format of RDF can write these down, so
look-ups, counts and dumps leave them out. Whether there are any is known without looking at a row:
the store keeps their number, and most programs cannot make one (`Rules.may_hide`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.store.matching import Rows
from triplestore.tables import Changes
from triplestore.tables.rows import U32, Bools
from triplestore.terms.model import BLANK, IRI

if TYPE_CHECKING:
    from triplestore.terms import Dictionary


def is_triple(dictionary: Dictionary, subjects: U32, predicates: U32) -> Bools:
    """Which rows are triples of RDF, by their subjects and predicates."""
    kinds = dictionary.kinds(subjects)
    fine: Bools = ((kinds == IRI) | (kinds == BLANK)) & (dictionary.kinds(predicates) == IRI)
    return fine


def shown(dictionary: Dictionary, blocks: Iterator[Rows]) -> Iterator[Rows]:
    """Blocks of rows without those that are no triples of RDF."""
    for rows in blocks:
        fine = is_triple(dictionary, rows.subject, rows.predicate)
        if fine.all():
            yield rows
        elif fine.any():
            yield Rows(*(column[fine] for column in rows))


def hidden_more(dictionary: Dictionary, changes: Changes) -> int:
    """How many more facts than before changes are no triples of RDF."""
    rows = changes.facts
    come, gone = rows.status != 0, rows.previous != 0
    moved = come != gone
    if not moved.any():
        return 0
    p, s, _ = (column[moved] for column in rows.columns)
    odd = ~is_triple(dictionary, s, p)
    return int(np.count_nonzero(odd & come[moved])) - int(np.count_nonzero(odd & gone[moved]))
