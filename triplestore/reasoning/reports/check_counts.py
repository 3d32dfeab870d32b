"""Checks that the numbers that a store knows without counting agree with its rows.

Start reading at `wrong_counts`. `len`, COUNT and statistics are answered from totals of layers,
from sizes of closures that are not written out, and from the recorded number of facts that are not
RDF triples. Commits update all of these by differences, so a mistake in one of them would stay
forever. Here every row is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.reasoning.visible import is_triple
from triplestore.relations import EXPLICIT, HOLDS, INFERRED

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

_KINDS = ((EXPLICIT, "stated"), (INFERRED, "inferred"))
_REMEDY = "to count them again, call reason('none') and then reason(...) as before"


def wrong_counts(tables: Tables, dictionary: Dictionary, hidden: int) -> list[str]:
    """The numbers that differ from the rows, in words.

    hidden  the recorded number of facts that are not RDF triples

    >>> from triplestore.relations import Tables
    >>> from triplestore.terms import Dictionary
    >>> wrong_counts(Tables(), Dictionary(), 0)
    []
    >>> print(*wrong_counts(Tables(), Dictionary(), 2))
    counts: 2 facts are recorded to be no triples of RDF, but there are 0; ...
    """
    return [*_totals(tables, dictionary), *_hidden(tables, dictionary, hidden)]


def _totals(tables: Tables, dictionary: Dictionary) -> Iterator[str]:
    sums = dict.fromkeys((EXPLICIT, INFERRED), 0)
    for name in tables.names().tolist():
        relation = tables.relation(name)
        for where, kind in _KINDS:
            rows = sum(len(block[0]) for block in relation.scan(where))
            sums[where] += rows
            if relation.count(where) != rows:
                known = f"{dictionary.term(name)} is recorded with {relation.count(where):,} {kind}"
                yield f"counts: {known} facts, but has {rows:,}; {_REMEDY}"
    quads = dict.fromkeys((EXPLICIT, INFERRED), 0)
    for name in tables.quad_names().tolist():
        for where, _ in _KINDS:
            quads[where] += sum(len(block[0]) for block in tables.quads(name).scan(where))
    for where, kind in _KINDS:
        for rows, total, what in (
            (sums[where], tables.total(where), "facts"),
            (quads[where], tables.quad_total(where), "quads of named graphs"),
        ):
            if rows != total:
                yield f"counts: the total says {total:,} {kind} {what}, but there are {rows:,}"


def _hidden(tables: Tables, dictionary: Dictionary, hidden: int) -> Iterator[str]:
    found = 0
    for name in tables.names().tolist():
        for subjects, _ in tables.relation(name).scan(HOLDS):
            names = np.full(len(subjects), name, dtype=np.uint32)
            found += int(np.count_nonzero(~is_triple(dictionary, subjects, names)))
    if found != hidden:
        recorded = f"{hidden:,} facts are recorded to be no triples of RDF"
        yield f"counts: {recorded}, but there are {found:,}; {_REMEDY}"
