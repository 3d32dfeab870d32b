"""Literals that are indexed together, and which they are: start at `IndexPart`."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from triplestore.errors import StorageError
from triplestore.relations.packed_keys import NO_IDS, U32, Bools
from triplestore.terms import Dictionary
from triplestore.text_search.compile_query import compiled
from triplestore.text_search.id_set import IdSet
from triplestore.text_search.literal_index import Hits, LiteralIndex
from triplestore.text_search.literals import texts_of
from triplestore.text_search.thresholds import TEXT

Check = Callable[[], None]
"""Raises if it is time to stop."""


class IndexPart:
    """An index, and the ids of the literals in it that count.

    added  the number of literals ever added: the place of the next one
    """

    def __init__(self, index: LiteralIndex, ids: U32 = NO_IDS) -> None:
        self.index = index
        self.ids = IdSet(ids)
        self.added = len(ids)

    def lacks(self, ids: U32) -> U32:
        """The ids that are not in it."""
        return ids[~self.ids.has(ids)] if len(ids) else ids

    def grow(self, dictionary: Dictionary, ids: U32, check: Check) -> None:
        """Add literals that it lacks; if that fails, none of them count."""
        try:
            for start in range(0, len(ids), TEXT.block):
                check()
                block = ids[start : start + TEXT.block]
                texts = texts_of(dictionary, block)
                self.index.add(block.tolist(), texts, self.added + start)
            self.index.commit()
        except BaseException as error:
            self.index.abandon()
            if isinstance(error, ValueError) and not isinstance(error, StorageError):
                raise StorageError(f"the text index cannot be written: {error}") from error
            raise
        self.ids.add(ids)
        self.added += len(ids)

    def search(self, text: str, language: str, besides: IdSet | None = None) -> Hits:
        """The literals that match; without those that another part has."""
        found = self.index.search(compiled(text, language, self.index))
        keep: Bools = self.ids.has(found.ids)
        if besides is not None:
            keep &= ~besides.has(found.ids)
        return found if keep.all() else Hits(found.ids[keep], found.scores[keep])

    def count(self, text: str, language: str) -> int:
        """About how many literals match."""
        return self.index.count(compiled(text, language, self.index))


def private_part(stemmers: Mapping[str, str], expected: int) -> IndexPart:
    """A part that only this process uses: in memory, or if it is large in a temporary folder."""
    if expected <= TEXT.in_memory:
        return IndexPart(LiteralIndex(stemmers))
    folder = Path(tempfile.mkdtemp(prefix="triplestore-text-"))
    part = IndexPart(LiteralIndex(stemmers, folder))
    weakref.finalize(part, shutil.rmtree, folder, ignore_errors=True)
    return part


def joined(parts: list[Hits]) -> Hits:
    """Hits in different parts, by id."""
    parts = [part for part in parts if len(part.ids)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    ids = np.concatenate([part.ids for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = np.argsort(ids, kind="stable")
    return Hits(ids[order], scores[order])
