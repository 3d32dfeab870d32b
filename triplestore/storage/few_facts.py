"""Commits of a few facts of the default graph: as `Database.commit`, at a tenth of its cost.

Start reading at `commit_facts`. It makes neither arrays of one element nor a layer, which the next
commit would replace before a reader uses it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triplestore.relations.changes import Changes
from triplestore.relations.recent_facts import FactChange, rows_of
from triplestore.relations.status import STATUS_BITS
from triplestore.storage.files.encode import encode_keys
from triplestore.storage.record import Commit, NewTermKeys
from triplestore.storage.state import State

if TYPE_CHECKING:
    from triplestore.storage.database import Database

_COLUMNS = b"2facts.0\n2facts.1\n2facts.2\n0facts.status"
_ROW = struct.Struct("<I4xI4xI4xB7x")
_LENGTHS = struct.Struct("<4I").pack(4, 4, 4, 1)


def commit_facts(database: Database, changes: Sequence[FactChange]) -> State:
    """Commit changed facts, each once, and all terms that were added since the last commit.

    The caller is the writer. The tables must not have closures (`schemes`).
    """
    with database.commit_lock:
        before = database.state
        terms = before.dictionary.size
        tables = before.tables.with_facts(changes)
        state = State(before.commit + 1, before.dictionary, terms, tables, before.meta)
        keys = before.dictionary.new_keys(before.term_count, terms)
        payload = b"" if database.disk is None else payload_of(before.term_count + 1, keys, changes)
        database.publish(state, payload)
    database.work_behind()
    return state


def payload_of(first: int, keys: Sequence[bytes], changes: Sequence[FactChange]) -> bytes:
    """The payload of their record, with new terms whose ids begin with `first`.

    >>> change = FactChange((7, 8, 9), 1, 0)
    >>> same = Commit([NewTermKeys(8, [b"a", b"b"])], [Changes(facts=rows_of([change]))])
    >>> payload_of(8, [b"a", b"b"], [change]) == same.to_bytes()
    True
    """
    if len(changes) > 1:
        terms = (NewTermKeys(first, keys),) if keys else ()
        return Commit(terms, (Changes(facts=rows_of(changes)),)).to_bytes()
    (((p, s, o), status, previous),) = changes
    row = _ROW.pack(p, s, o, status | previous << STATUS_BITS)
    if not keys:
        return _head(_COLUMNS, _LENGTHS) + row
    encoded = encode_keys(first, keys)
    lengths = len(encoded).to_bytes(4, "little") + _LENGTHS
    return b"".join((_head(b"0keys\n" + _COLUMNS, lengths), encoded, bytes(-len(encoded) % 8), row))


def _head(shape: bytes, lengths: bytes) -> bytes:
    head = len(shape).to_bytes(4, "little") + shape + lengths
    return head + bytes(-len(head) % 8)
