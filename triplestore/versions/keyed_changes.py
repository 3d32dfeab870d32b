"""Changes in terms instead of ids, so that they mean the same under any dictionary.

Start at `KeyedChanges`. Their own ids number the keys from 1 on. The bytes are those of a commit's
record, which needs no other record. Cost: one look at each distinct term.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations import ChangedRows, Changes
from triplestore.relations.packed_keys import U32
from triplestore.storage.record import Commit, NewTermKeys

if TYPE_CHECKING:
    from triplestore.terms import Dictionary

IdsOfKeys: TypeAlias = Callable[[Sequence[bytes]], U32]

NOTE = "note"
"""The name under which a record keeps what is said about it."""


@data_class
class KeyedChanges:
    """Changed rows, and changed named values, with the keys of all terms.

    keys  the key of each of their ids, from 1 on
    meta  named values, None for those that were removed
    note  what is said about them, fit for JSON

    >>> from triplestore.terms import Dictionary
    >>> one, other = Dictionary(), Dictionary()
    >>> ids = one.encode_keys([b"\\x01http://z", b"\\x01http://a", b"\\x01http://p"])
    >>> changes = Changes(facts=ChangedRows.of(([3], [2], [2])))
    >>> moved = KeyedChanges.of(changes, one).under(other.encode_keys)
    >>> [other.key(column[0]) for column in moved.facts.columns]
    [b'\\x01http://p', b'\\x01http://a', b'\\x01http://a']
    """

    keys: Sequence[bytes] = ()
    changes: Changes = field(default_factory=Changes)
    meta: Mapping[str, bytes | None] = field(default_factory=dict)
    note: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        changes: Changes,
        dictionary: Dictionary,
        meta: Mapping[str, bytes | None] | None = None,
        note: Mapping[str, Any] | None = None,
    ) -> KeyedChanges:
        """Changes whose ids are of this dictionary."""
        ids = ids_in(changes)
        own = renumbered(changes, lambda some: np.searchsorted(ids, some).astype(np.uint32) + 1)
        return cls(keys_of_ids(dictionary, ids), own, dict(meta or {}), dict(note or {}))

    def under(self, ids_of: IdsOfKeys) -> Changes:
        """The changed rows with the ids that keys have elsewhere; 0 for those that have none."""
        ids = np.concatenate([np.zeros(1, np.uint32), ids_of(self.keys)])
        return renumbered(self.changes, lambda some: ids[some])

    def to_bytes(self) -> bytes:
        """The payload of a record."""
        said: dict[str, bytes | None] = dict(self.meta)
        if self.note:
            said[NOTE] = json.dumps(dict(self.note), ensure_ascii=False).encode()
        steps = [self.changes] if len(self.changes) else []
        terms = [NewTermKeys(1, self.keys)] if self.keys else []
        return Commit(terms, steps, said).to_bytes()

    @classmethod
    def of_bytes(cls, payload: bytes) -> KeyedChanges:
        """What `to_bytes` gave."""
        commit = Commit.from_bytes(payload)
        keys = [key for part in commit.terms if isinstance(part, NewTermKeys) for key in part.keys]
        (changes,) = [s for s in commit.steps if isinstance(s, Changes)] or [Changes()]
        meta = dict(commit.meta)
        note = json.loads(meta.pop(NOTE, None) or b"{}")
        return cls(keys, changes, meta, note)


def ids_in(changes: Changes) -> U32:
    """The ids of all terms in some changes, increasing."""
    named = [name for name, _ in changes.tuples if name]
    parts = [np.array(named, np.uint32)]
    for rows in _kinds(changes):
        parts += rows.columns
    found = np.unique(np.concatenate(parts))
    ids: U32 = found[found != 0]
    return ids


def renumbered(changes: Changes, to: Callable[[U32], U32]) -> Changes:
    """The same changes with other ids."""

    def moved(rows: ChangedRows) -> ChangedRows:
        if not len(rows):
            return rows
        return replace(rows, columns=tuple(to(column) for column in rows.columns))

    tuples = {}
    for (name, arity), rows in changes.tuples.items():
        own = int(to(np.array([name], np.uint32))[0]) if name else 0
        tuples[own, arity] = moved(rows)
    return Changes(moved(changes.facts), moved(changes.quads), moved(changes.graphs), tuples)


def keys_of_ids(dictionary: Dictionary, ids: U32) -> list[bytes]:
    """The keys of many ids at once."""
    buf, offsets, kinds = dictionary.text(ids)
    raw, ends = buf.tobytes(), offsets.tolist()
    return [bytes((kind,)) + raw[ends[i] : ends[i + 1]] for i, kind in enumerate(kinds.tolist())]


def _kinds(changes: Changes) -> list[ChangedRows]:
    return [changes.facts, changes.quads, changes.graphs, *changes.tuples.values()]
