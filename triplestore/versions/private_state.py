"""The private state that a branch begins with: start at `private_database`.

A branch is a database in memory whose first state is a commit of the store: the same layers, and a
dictionary of its own that shares all sealed segments. So it has its own writer, and what it adds
are its own layers and terms. Its new terms get the ids that the store gives to other terms; they
never meet, because whatever leaves a branch goes by terms (`keyed_changes.py`), unless the store
has not moved.
"""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from dataclasses import replace

from triplestore.relations.layers.merge_layers import merge_layers
from triplestore.storage import Database, State
from triplestore.storage.files.system import RealFiles
from triplestore.storage.metadata import FILES, file_count
from triplestore.storage.thresholds import STORAGE
from triplestore.versions.thresholds import VERSIONS

_NUMBERS = 1 << 40


def private_database(state: State, owner: Database | None = None) -> Database:
    """A database in memory that begins with a state.

    owner  the database of the state; its live terms become a segment if there are many, which it
           then shares with this branch and later ones
    """
    with owner.commit_lock if owner is not None else nullcontext():
        dictionary, size = state.dictionary, state.term_count
        many = size - dictionary.sealed_size >= VERSIONS.copied_terms
        if many and owner is not None and owner.dictionary is dictionary:
            dictionary.replace([], dictionary.segment_of(dictionary.sealed_size + 1, size))
        own = dictionary.copy(size)
    known = dictionary.remembered.get(state.commit)
    if known is not None:
        own.remembered[state.commit] = known
    # Blank nodes of the files that it loads must not get the labels of files that the store loads.
    files = file_count(state.meta) + 1 + secrets.randbelow(_NUMBERS)
    begun = replace(
        state,
        dictionary=own,
        tables=state.tables.sealed(),
        meta=state.meta.with_changes({FILES: str(files).encode()}),
    )
    return Database(
        path=None,
        state=begun,
        disk=None,
        reader=None,
        durability="commit",
        thresholds=STORAGE,
        files=RealFiles(),
        background=False,
    )


def merge_own_layers(database: Database, shared: int) -> None:
    """Merge the layers above the shared ones if there are many; no transaction is open."""
    with database.commit_lock:
        state = database.state
        own = state.tables.layers[shared:]
        if len(own) <= VERSIONS.own_layers:
            return
        merged = merge_layers(own, bottom=shared == 0)
        tables = state.tables.replace(shared, shared + len(own), merged, own)
        database.put_state(replace(state, tables=tables))


def own_layers(base: State, state: State) -> int:
    """How many layers at the bottom of a private state are those of its base."""
    shared = 0
    for one, other in zip(base.tables.layers, state.tables.layers, strict=False):
        if one is not other:
            break
        shared += 1
    return shared
