"""A branch taken over as it is by a store that has not moved: start at `adopt_branch`.

The layers of the branch become layers of the store, with everything inferred in them, and its new
terms get the ids that they have in the branch. Nothing is inferred again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from triplestore.live.published import Published
from triplestore.reasoning.outcome import Change, change_of, is_helper_in
from triplestore.storage.metadata import FILES
from triplestore.versions.consequences import consequences_of
from triplestore.versions.one_dictionary import Line
from triplestore.versions.private_state import own_layers
from triplestore.versions.seen_changes import seen_changes

if TYPE_CHECKING:
    from triplestore.storage import State
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.store.writes.writing_calls import WritingCalls


def has_not_moved(store: WritingCalls, base: State) -> bool:
    """Whether a state is still the newest one, with the same ids."""
    now = store._database.state
    return (now.commit, now.term_count) == (base.commit, base.term_count) and (
        now.dictionary is base.dictionary
    )


def adopt_branch(
    store: WritingCalls,
    writer: TransactionWriter,
    base: State,
    private: State,
) -> Change:
    """Commit the state of a branch to the store, whose newest state is its base.

    writer  an open transaction of the store, in which nothing was written but named values; it is
            over then
    """
    database, before = store._database, store._database.state
    layers = private.tables.layers
    shared = own_layers(base, private)
    meta = {**_changed_values(base.meta, private.meta), **writer.values_to_keep}
    found = consequences_of(Line.of(base), Line(base, private))
    net = seen_changes(base, private)
    if not (layers[shared:] or meta or shared < len(base.tables.layers)):
        writer.rollback()
        return Change()
    meta |= writer.note_of_commit()
    new = private.dictionary.new_keys(base.term_count, private.term_count)
    database.dictionary.append_keys(before.term_count + 1, new)
    state = database.commit(
        layers[shared:],
        meta=meta,
        cleared=shared < len(base.tables.layers),
        staged=(base.tables, private.tables),
    )
    violations = len(found.new_violations)
    counts = change_of(net, is_helper_in(state.dictionary), violations)
    change = replace(counts, commit=state.commit)
    known = private.dictionary.remembered.get(private.commit)
    if known is not None:
        state.dictionary.remembered[state.commit] = known
    store._note(Published(before, state, None, False, change))
    writer.rollback()  # nothing is left of it but its turn
    return change


def _changed_values(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> dict[str, bytes | None]:
    """All named values that are others now; the number of files stays that of the store."""
    names = (before.keys() | after.keys()) - {FILES}
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}
