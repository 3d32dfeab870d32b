"""A few quads added or removed by one call, in a store without rules: the short way of most writes.

Start reading at `FewWrites`. It does what a transaction of the same quads does, without what only
larger ones need: a buffer, a closure, arrays. What it does not handle is left to a transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from triplestore.reasoning.outcome import Change
from triplestore.relations import EXPLICIT, INFERRED
from triplestore.relations.recent_facts import Fact, FactChange
from triplestore.storage.few_facts import commit_facts
from triplestore.storage.metadata import HISTORY, PROGRAM, REGIMES, SCHEMES, SHAPES, STALE, STRICT
from triplestore.store.arguments import QuadKeys, QuadLike, quad_keys
from triplestore.store.faces.text_searching import TextSearching
from triplestore.store.thresholds import STORE

if TYPE_CHECKING:
    from triplestore.storage import Database
    from triplestore.storage.state import Meta

_FOR_TRANSACTIONS = (PROGRAM, REGIMES, SCHEMES, SHAPES, STALE, STRICT, HISTORY)


class FewWrites(TextSearching):
    """A store that writes quads: few of them in the short way, others in a transaction."""

    _plain: Meta | None = None  # named values of a plain store, looked at before

    def _write(self, add: bool, quads: Iterable[QuadLike]) -> Change:
        """Assert or remove quads, in one commit."""
        if isinstance(quads, (list, tuple)) and len(quads) <= STORE.few_quads:
            change = self._write_few(add, list(map(quad_keys, quads)))
            if change is not None:
                return change
        return self._change(lambda writer: writer.write_all(add, quads))

    def _write_few(self, add: bool, quads: Sequence[QuadKeys]) -> Change | None:
        """The same for a few quads; None if a transaction must do it."""
        database, me = self._database, threading.get_ident()
        if self._writer == me or self.has_followers or not self._is_plain():
            return None
        with database.alone:
            database.require_writable()
            if not self._is_plain():
                return None
            self._writer = me
            try:
                change = write_few(database, add, quads)
                if change is not None and change.commit:
                    self._note_commit(change, change.commit)
                    self._seen = None  # it is not read again
                else:
                    database.rollback()
            except BaseException:
                database.rollback()
                raise
            finally:
                self._writer = None
        return change

    def _is_plain(self) -> bool:
        """Whether facts are only what was asserted, and commits keep nothing about themselves."""
        meta = self._database.state.meta
        if meta is self._plain:
            return True
        if any(name in meta for name in _FOR_TRANSACTIONS):
            return False
        self._plain = meta
        return True


def write_few(database: Database, add: bool, quads: Sequence[QuadKeys]) -> Change | None:
    """Add or remove quads of the default graph, and commit; None if a transaction must do it.

    The caller is the writer, and the store has no rules.
    """
    keys: list[bytes] = []
    for *triple, graph in quads:
        if graph is not None:
            return None
        keys += triple
    dictionary, tables, known = (
        database.dictionary,
        database.state.tables,
        database.state.term_count,
    )
    ids = dictionary.encode_few(keys) if add else list(map(dictionary.lookup_key, keys))
    status, unchanged = EXPLICIT if add else 0, 0
    changes: dict[Fact, FactChange] = {}
    for s, p, o in zip(ids[::3], ids[1::3], ids[2::3], strict=True):
        fact = p, s, o
        if fact in changes or 0 in fact:
            unchanged += 1
            continue
        before = 0 if s > known or o > known else tables.status_of_fact(fact)
        if before & INFERRED:
            return None
        if before == status:
            unchanged += 1
        else:
            changes[fact] = FactChange(fact, status, before)
    if not changes:
        return Change(already_there=unchanged) if add else Change(not_stated=unchanged)
    commit = commit_facts(database, list(changes.values())).commit
    if add:
        return Change(added=len(changes), already_there=unchanged, commit=commit)
    return Change(removed=len(changes), not_stated=unchanged, commit=commit)
