"""Literals that are indexed together, and which they are: start at `IndexPart`."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.errors import StorageError, UsageError
from triplestore.relations.packed_keys import NO_IDS, U32
from triplestore.terms import Dictionary
from triplestore.text_search.compile_query import compiled
from triplestore.text_search.id_set import IdSet
from triplestore.text_search.literal_index import Hits, LiteralIndex
from triplestore.text_search.literals import texts_of
from triplestore.text_search.settings import TextSettings
from triplestore.text_search.thresholds import TEXT

if TYPE_CHECKING:
    import tantivy

Check = Callable[[], None]
"""Raises if it is time to stop."""


class PartState(NamedTuple):
    """A part as of some moment; it never changes.

    ids  the literals that count; the index may have more
    """

    literals: LiteralIndex
    searcher: tantivy.Searcher
    ids: IdSet


class IndexPart:
    """An index, and the literals in it.

    state  what is found in it; replaced in one assignment
    added   the number of literals ever added: the place of the next one
    adding  the number of literals that are being added
    """

    def __init__(self, index: LiteralIndex, ids: U32 = NO_IDS) -> None:
        self.index = index
        self.state = PartState(index, index.searcher, IdSet(ids))
        self.added = len(ids)
        self.adding = 0

    def add(self, dictionary: Dictionary, ids: U32, check: Check) -> None:
        """Add literals that it lacks, for the next `publish`; if that fails, none of them."""
        try:
            for start in range(0, len(ids), TEXT.block):
                self.adding = start
                check()
                block = ids[start : start + TEXT.block]
                texts = texts_of(dictionary, block)
                self.index.add(block.tolist(), texts, self.added + start)
            self.index.commit()
        except BaseException as error:
            self.index.abandon()
            if isinstance(error, ValueError | RuntimeError) and not isinstance(error, UsageError):
                raise StorageError(f"the text index cannot be written: {error}") from error
            raise
        finally:
            self.adding = 0
        self.added += len(ids)

    def publish(self, ids: U32) -> None:
        """Have the added literals found."""
        self.state = PartState(self.index, self.index.searcher, self.state.ids.with_ids(ids))


def private_part(settings: TextSettings, expected: int) -> IndexPart:
    """A part that only this process uses: in memory, or if it is large in a temporary folder."""
    if expected <= TEXT.in_memory:
        return IndexPart(LiteralIndex(settings.stemmers, substrings=settings.substrings))
    folder = Path(tempfile.mkdtemp(prefix="triplestore-text-"))
    index = LiteralIndex(settings.stemmers, folder, substrings=settings.substrings)
    part = IndexPart(index)
    weakref.finalize(part, shutil.rmtree, folder, ignore_errors=True)
    return part


def found_in(parts: list[PartState], text: str, language: str, most: int | None = None) -> Hits:
    """The literals in some parts that match, by id; each is looked for in the first that has it.

    most  about how many are wanted, the best ones; None for all
    """
    found: list[Hits] = []
    for number, part in enumerate(parts):
        query = compiled(text, language, part.literals, part.searcher, parts[0].searcher)
        hits = part.literals.search(query, part.searcher, most)
        keep = part.ids.has(hits.ids)
        for before in parts[:number]:
            keep &= ~before.ids.has(hits.ids)
        found.append(hits if keep.all() else Hits(hits.ids[keep], hits.scores[keep]))
    if len(found) == 1:
        return found[0]
    ids = np.concatenate([hits.ids for hits in found] or [NO_IDS])
    scores = np.concatenate([hits.scores for hits in found] or [np.zeros(0, np.float32)])
    order = np.argsort(ids, kind="stable")
    return Hits(ids[order], scores[order])


def count_in(parts: list[PartState], text: str, language: str) -> int:
    """About how many literals match."""
    return sum(
        part.literals.count(compiled(text, language, part.literals, part.searcher), part.searcher)
        for part in parts
    )


def containing(parts: list[PartState], texts: Sequence[str]) -> U32:
    """The literals in some parts that contain texts, and perhaps others; increasing."""
    found = [NO_IDS]
    for part in parts:
        ids = part.literals.search(part.literals.containing(texts), part.searcher).ids
        found.append(ids[part.ids.has(ids)])
    return np.unique(np.concatenate(found))


def count_containing(parts: list[PartState], texts: Sequence[str]) -> int:
    """About how many literals these are."""
    return sum(
        part.literals.count(part.literals.containing(texts), part.searcher) for part in parts
    )
