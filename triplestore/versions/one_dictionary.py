"""Two states of one store brought under one dictionary, so that they can be compared.

Start at `under_one_dictionary`. A branch and its store give the same ids to different new terms.
Where both come from one state, only what changed since then gets other ids; the cost is that of the
two differences. Otherwise (the store was optimized) one of the states is numbered anew as a whole.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from triplestore.data_classes import data_class
from triplestore.reasoning.difference import net_between
from triplestore.reasoning.reasoner import Reasoner
from triplestore.relations import Changes, Layer, Tables
from triplestore.relations.packed_keys import U32
from triplestore.storage import Database, State
from triplestore.storage.record import restored
from triplestore.terms import Dictionary
from triplestore.versions.back_changes import reversed_changes
from triplestore.versions.keyed_changes import keys_of_ids, renumbered

_PIECE = 1 << 16


@data_class
class Line:
    """A state, and the one that it began with.

    root   the committed state that it began with; the same for a state that is not a branch
    now    the state; terms of the root have the ids that they have there
    owner  the database of the state, if it is the newest one, and its reasoner
    """

    root: State
    now: State
    owner: tuple[Database, Reasoner] | None = None

    @classmethod
    def of(cls, state: State, owner: tuple[Database, Reasoner] | None = None) -> Line:
        """A state that is not a branch."""
        return cls(state, state, owner)


def under_one_dictionary(one: Line, other: Line) -> tuple[State, State]:
    """Both states, with ids that mean the same in both."""
    same = one.root.dictionary is other.root.dictionary
    if same and other.now is other.root and other.root.term_count <= one.root.term_count:
        return one.now, replace(other.now, dictionary=one.now.dictionary)
    joint = other.now.dictionary.copy(other.now.term_count)
    if same and other.root.term_count >= one.root.term_count:
        net = _net_in(joint, one, other.now)
    else:
        net = _all_in(joint, one.now, other.now)
    bare = other.now.tables.with_schemes({})
    tables = restored(bare.push(Layer.build(net)), joint, one.now.meta)
    moved = State(one.now.commit, joint, joint.size, tables, one.now.meta)
    return moved, replace(other.now, dictionary=joint)


def _net_in(joint: Dictionary, one: Line, onto: State) -> Changes:
    """The stored rows in which `one` differs from `onto`, by the state that both come from."""
    shared = one.root.term_count
    new = np.arange(shared + 1, one.now.term_count + 1, dtype=np.uint32)
    ids = joint.encode_keys(keys_of_ids(one.now.dictionary, new))

    def own(some: U32) -> U32:
        private = some > shared
        if not private.any():
            return some
        found = some.copy()
        found[private] = ids[some[private] - np.uint32(shared + 1)]
        return found

    ours = renumbered(net_between(one.root.tables, one.now.tables), own)
    return Changes.concat([reversed_changes(net_between(one.root.tables, onto.tables)), ours])


def _all_in(joint: Dictionary, state: State, onto: State) -> Changes:
    """The same where nothing is shared: all rows of both are listed."""
    ids = np.zeros(state.term_count + 1, np.uint32)
    for at in range(1, state.term_count + 1, _PIECE):
        some = np.arange(at, min(at + _PIECE, state.term_count + 1), dtype=np.uint32)
        ids[some] = joint.encode_keys(keys_of_ids(state.dictionary, some))
    ours = renumbered(net_between(Tables(), state.tables), lambda some: ids[some])
    return Changes.concat([reversed_changes(net_between(Tables(), onto.tables)), ours])
