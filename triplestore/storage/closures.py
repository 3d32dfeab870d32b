"""Restores what is not stored as rows: closures of which tables hold only the edges, and the facts
of individuals represented by others.

Always true: the value `SCHEMES` of a state says which relations of its tables are closed.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.closures.attached import Schemes
from triplestore.closures.described import restore
from triplestore.relations import Tables
from triplestore.relations.views.equality import (
    MEMBERS_KEY,
    TOLD_KEY,
    kept_classes,
    representatives,
    with_equality,
)
from triplestore.storage.state import value_of
from triplestore.terms import Dictionary
from triplestore.terms.vocabulary import OWL_SAME_AS

_SAME_AS = b"\x01" + OWL_SAME_AS.encode()

SCHEMES = "schemes"
"""The name of the value that describes the closures; see `closures.described`."""


def restored(tables: Tables, dictionary: Dictionary, meta: Mapping[str, bytes]) -> Tables:
    """The tables with the closures that a store describes, instead of others."""
    bare = made = tables.with_schemes({})
    keys = [MEMBERS_KEY, _SAME_AS, TOLD_KEY]
    members, same_as, told = dictionary.lookup_keys(keys).tolist()
    classes = kept_classes(bare, members)
    if len(classes):
        made = representatives(bare, classes, same_as, told)
    rows = made

    def read(data: bytes) -> Schemes:
        return restore(
            data,
            lambda names: dictionary.lookup_keys(list(names)).tolist(),
            lambda name: rows.stored_relation(name).keys(),
        )

    none: Schemes = {}
    if schemes := value_of(meta, SCHEMES, read, none):
        made = made.with_schemes(schemes)
    if not len(classes):
        return made
    return with_equality(bare, made, classes, same_as, told=told)
