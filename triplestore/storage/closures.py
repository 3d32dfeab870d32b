"""Closures of which the tables hold the edges only: found again from what a store keeps.

What is always true: the value `SCHEMES` of a state says which relations of its tables are closed.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.schemes.described import restore
from triplestore.tables import Tables
from triplestore.terms import Dictionary

SCHEMES = "schemes"
"""The name of the value in which `schemes.described` says what is closed."""


def restored(tables: Tables, dictionary: Dictionary, meta: Mapping[str, bytes]) -> Tables:
    """The tables with the closures that a store keeps, in the place of others."""
    data = meta.get(SCHEMES)
    if data is None:
        return tables.with_schemes({})
    bare = tables.with_schemes({})
    schemes = restore(
        data,
        lambda names: dictionary.lookup_keys(list(names)).tolist(),
        lambda name: bare.stored_relation(name).keys(),
    )
    return tables.with_schemes(schemes)
