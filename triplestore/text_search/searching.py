"""Which index belongs to which terms, and searches for SPARQL: start at `searcher_of`.

An index belongs to a dictionary, whose ids it holds: a store, its snapshots and transactions share
one as long as the store does not number its terms anew.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import U32
from triplestore.storage.open_databases import database_of
from triplestore.text_search.literal_index import Hits, tantivy_module
from triplestore.text_search.literals import Wanted
from triplestore.text_search.settings import TextSettings, settings_of
from triplestore.text_search.text_index import TextIndex
from triplestore.text_search.upkeep import Upkeep

if TYPE_CHECKING:
    from triplestore.storage import Database
    from triplestore.terms import Dictionary


class _Served:
    """An index, and its background work."""

    def __init__(self, index: TextIndex) -> None:
        self.index = index
        self.upkeep = Upkeep(index)


_indexes: weakref.WeakKeyDictionary[Dictionary, dict[str, _Served]] = weakref.WeakKeyDictionary()
_renumbered: weakref.WeakSet[Database] = weakref.WeakSet()
_lock = threading.RLock()


def _forget_all() -> None:
    """After a fork: threads and locks of the parent are useless in the child."""
    global _indexes, _lock
    _indexes, _lock = weakref.WeakKeyDictionary(), threading.RLock()


os.register_at_fork(after_in_child=_forget_all)


def _served(dictionary: Dictionary, settings: TextSettings) -> _Served:
    tantivy_module()
    with _lock:
        known = _indexes.setdefault(dictionary, {})
        found = known.get(settings.uid)
        if found is None:
            database = database_of(dictionary)
            if database is not None:
                current = settings_of(database.state.meta)
                is_older = current is None or current.uid != settings.uid
                if is_older or database in _renumbered:
                    database = None  # these ids are not those of the index
            found = known[settings.uid] = _Served(TextIndex(settings, dictionary, database))
        return found


def text_index_of(dictionary: Dictionary, settings: TextSettings) -> TextIndex:
    """The index of a dictionary's literals."""
    return _served(dictionary, settings).index


def known_index(database: Database) -> TextIndex | None:
    """The index of a store, if it was used in this process."""
    settings = settings_of(database.state.meta)
    if settings is None:
        return None
    found = _indexes.get(database.state.dictionary, {}).get(settings.uid)
    return None if found is None else found.index


def wake(database: Database, settings: TextSettings) -> None:
    """Note that a store with an index was written to."""
    try:
        found = _served(database.state.dictionary, settings)
    except ImportError:  # the next query says so
        return
    found.upkeep.wake()


def release(database: Database, *, remove: bool = False, catch_up: bool = False) -> None:
    """Stop writing the index of a store; it is opened anew when it is used again.

    remove    remove its folder
    catch_up  if it was used, bring it up to date first
    """
    with _lock:
        found = _indexes.pop(database.state.dictionary, {})
    for served in found.values():
        served.upkeep.stop()
        if catch_up and served.index.is_open:
            served.index.catch_up(lambda: None, closing=True)
        served.index.retire(remove=remove)


@contextmanager
def renumbering(database: Database) -> Iterator[None]:
    """A block in which a store gives its terms other ids: meanwhile its index is not written."""
    with _lock:
        _renumbered.add(database)
    try:
        release(database, remove=True)
        yield
    finally:
        with _lock:
            _renumbered.discard(database)
            _indexes.pop(database.state.dictionary, None)


@data_class
class TextSearcher:
    """Searches in one state.

    committed  False in a transaction
    """

    index: TextIndex
    wanted: Wanted
    committed: bool

    @property
    def properties(self) -> tuple[str, ...] | None:
        """The IRIs of the properties that are indexed; None for all."""
        return self.index.settings.properties

    def search(self, text: str, language: str, most: int | None = None) -> Hits:
        """The literals that match, with scores, by id; with `most`, about that many of the best."""
        return self.index.hits(self.wanted, self.committed, text, language, most)

    def count(self, text: str, language: str) -> int:
        """About how many literals match."""
        return self.index.count(self.wanted, self.committed, text, language)

    @property
    def finds_substrings(self) -> bool:
        """Whether `containing` can be asked, without adding much to the index first."""
        return self.index.settings.substrings and self.index.is_ready()

    def containing(self, texts: Sequence[str]) -> U32:
        """The literals that contain some texts, and perhaps others; increasing."""
        return self.index.containing(self.wanted, self.committed, texts)

    def count_containing(self, texts: Sequence[str]) -> int:
        """About how many literals these are."""
        return self.index.count_containing(self.wanted, self.committed, texts)


def searcher_of(settings: TextSettings, wanted: Wanted, committed: bool) -> TextSearcher:
    """A searcher for a state."""
    return TextSearcher(text_index_of(wanted.dictionary, settings), wanted, committed)
