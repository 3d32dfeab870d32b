"""What was asserted, removed and set between two states, without what follows from it.

Start at `edits_between`. Edits can be made anew on another state of the store, or on the same state
after the store was closed: see `store/writes/edit_writes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from triplestore.relations import EXPLICIT, ChangedRows, Changes
from triplestore.storage import State
from triplestore.storage.metadata import (
    GRAPH_FILES,
    PREFIXES,
    PROGRAM,
    REGIMES,
    STRICT,
    TUNING,
)
from triplestore.versions.keyed_changes import KeyedChanges
from triplestore.versions.seen_changes import seen_changes

RULE_NAMES = (PROGRAM, REGIMES, TUNING, STRICT)
"""The named values that say which rules are in force, and how."""

OWN_NAMES = (*RULE_NAMES, PREFIXES, GRAPH_FILES)
"""All named values that users set; the others follow from the facts."""

_EXPLICIT = np.uint8(EXPLICIT)


def edits_between(before: State, after: State) -> KeyedChanges:
    """The asserted facts, graphs and settings in which two states differ; ids mean the same."""
    seen = seen_changes(before, after)
    asserted = Changes(asserted_rows(seen.facts), asserted_rows(seen.quads), seen.graphs)
    return KeyedChanges.of(
        asserted, after.dictionary, changed_values(before.meta, after.meta, OWN_NAMES)
    )


def changed_values(
    before: Mapping[str, bytes], after: Mapping[str, bytes], names: Sequence[str]
) -> dict[str, bytes | None]:
    """The values of these names that are others now; None for those that are gone."""
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def asserted_rows(rows: ChangedRows) -> ChangedRows:
    """The rows that were asserted or removed, as if nothing were inferred."""
    now, was = rows.status & _EXPLICIT, rows.previous & _EXPLICIT
    return ChangedRows.of(rows.columns, now, was).take(now != was)
