"""The index of terms behind `search_terms`: made when it is first needed, and kept up to date.

Start at `index_of`. An index belongs to the tables that it was made of. After a small commit the
next one is made of it: only what the commit touched is counted and folded anew (`next_index`).
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.browse.index.changed_terms import ChangedTerms, changed_terms
from triplestore.browse.index.folded_texts import fold_texts, join_texts
from triplestore.browse.index.label_texts import (
    are_labels,
    label_rows,
    lexical_texts,
    local_names,
)
from triplestore.browse.index.term_usage import CLASS, PROPERTY, Usage, usage_of
from triplestore.browse.index.word_index import Matches, WordIndex
from triplestore.browse.thresholds import BROWSE
from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import (
    NO_KEYS,
    U32,
    U64,
    Bools,
    frozen,
    high,
    in_sorted,
    low,
    pack,
)
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary


class TextPart:
    """Some texts by their words.

    labels  the labels as sorted keys (term, label)
    names   the terms whose names are texts, sorted; their texts follow those of the labels
    """

    def __init__(self, dictionary: Dictionary, labels: U64, names: U32) -> None:
        self.labels = frozen(labels)
        self.names = frozen(names)
        self.words = WordIndex(
            join_texts(
                [
                    fold_texts(*lexical_texts(dictionary, low(labels)), False),
                    fold_texts(*local_names(dictionary, names), True),
                ]
            )
        )

    def __len__(self) -> int:
        return len(self.labels) + len(self.names)

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        return self.words.nbytes + self.labels.nbytes + self.names.nbytes

    def keys(self, texts: np.ndarray) -> U64:
        """The keys (term, label) of texts; the label of a name is 0."""
        keys = np.empty(len(texts), dtype=np.uint64)
        named = texts >= len(self.labels)
        keys[~named] = self.labels[texts[~named]]
        keys[named] = self.names[texts[named] - len(self.labels)].astype(np.uint64) << np.uint64(32)
        return keys

    def places(self, keys: U64) -> np.ndarray:
        """The numbers of the texts with these keys; -1 for those that are not here."""
        terms, labels = high(keys), low(keys)
        places = np.full(len(keys), -1, dtype=np.int64)
        for mask, own, wanted, first in (
            (labels != 0, self.labels, keys, 0),
            (labels == 0, self.names, terms, len(self.labels)),
        ):
            (rows,) = (mask & in_sorted(wanted, own)).nonzero()
            places[rows] = own.searchsorted(wanted[rows]) + first
        return places


@data_class(eq=False)
class SearchIndex:
    """What is searched in one state.

    tables    the tables that it was made of
    usage     what each term is, and how often it is used
    base      the texts of the state when the index was made as a whole
    gone      which texts of `base` are no longer there
    added     the texts that came since then
    complete  whether all names are in it
    """

    tables: Tables
    usage: Usage
    base: TextPart
    gone: Bools
    added: TextPart
    complete: bool

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        usage = sum(column.nbytes for column in self.usage)
        return self.base.nbytes + self.added.nbytes + self.gone.nbytes + usage

    def find(self, words: list[str]) -> tuple[U64, np.ndarray]:
        """The keys (term, label) of the texts that have all words, and how well each matches."""
        keys, quality = [], []
        for part in (self.base, self.added):
            found: Matches = part.words.find(words)
            if part is self.base:
                stays = ~self.gone[found.texts]
                found = Matches(found.texts[stays], found.quality[stays])
            keys.append(part.keys(found.texts))
            quality.append(found.quality)
        return np.concatenate(keys), np.concatenate(quality)

    def named(self) -> U64:
        """The keys of all terms whose names are in the index."""
        stays = ~self.gone[len(self.base.labels) :]
        terms = np.concatenate((self.base.names[stays], self.added.names))
        return terms.astype(np.uint64) << np.uint64(32)


def make_index(tables: Tables, dictionary: Dictionary) -> SearchIndex:
    """The index of a state, made as a whole."""
    usage = usage_of(tables, dictionary)
    most = BROWSE.indexed_texts
    labels = label_rows(tables, dictionary)
    known = usage.kinds[high(labels)] != 0
    labels = labels[known & are_labels(dictionary, low(labels))][:most]
    names = _most_wanted(usage, most - len(labels))
    look("indexing labels and names")  # not later: then the index is done, and kept for others
    base = TextPart(dictionary, labels, names)
    complete = len(names) == np.count_nonzero(usage.kinds)
    gone = np.zeros(len(base), dtype=np.bool_)
    nothing = TextPart(dictionary, NO_KEYS, names[:0])
    return SearchIndex(tables, usage, base, gone, nothing, complete)


def next_index(index: SearchIndex, tables: Tables, dictionary: Dictionary) -> SearchIndex | None:
    """The index of a later state (or an earlier one), made of this one; None if too much changed.

    Always true: it finds what `make_index` would find.
    """
    changed = changed_terms(index.usage, index.tables, tables, dictionary)
    if changed is None or not index.complete:
        return None
    wanted, unwanted = _texts_of(changed, dictionary)
    gone = index.gone.copy()
    for keys, is_gone in ((wanted, False), (unwanted, True)):
        places = index.base.places(keys)
        gone[places[places >= 0]] = is_gone
    new = wanted[index.base.places(wanted) < 0]
    before = np.concatenate(
        (index.added.labels, index.added.names.astype(np.uint64) << np.uint64(32))
    )
    kept = before[~in_sorted(before, unwanted)] if len(unwanted) else before
    added = np.union1d(kept, new)
    if len(added) > max(BROWSE.added_texts, len(index.base) // 8):
        return None
    named = low(added) == 0
    part = index.added
    if not np.array_equal(added, np.sort(before)):
        part = TextPart(dictionary, added[~named], high(added[named]))
    return replace(index, tables=tables, usage=changed.usage, gone=gone, added=part)


def _texts_of(changed: ChangedTerms, dictionary: Dictionary) -> tuple[U64, U64]:
    """The keys of the changed texts that there should be, and of those that there should not."""
    kinds = changed.usage.kinds
    names = pack(changed.terms, np.zeros_like(changed.terms))
    is_named = kinds[changed.terms] != 0
    labels = changed.labels
    is_label = changed.holds & (kinds[high(labels)] != 0) & are_labels(dictionary, low(labels))
    wanted = np.concatenate((names[is_named], labels[is_label]))
    unwanted = np.concatenate((names[~is_named], labels[~is_label]))
    return np.sort(wanted), np.sort(unwanted)


def _most_wanted(usage: Usage, most: int) -> U32:
    """The terms whose names are indexed: of too many, classes and properties come first, then
    those that are used most."""
    (named,) = usage.kinds.nonzero()
    if len(named) > most:
        schema = usage.kinds[named] & (CLASS | PROPERTY) != 0
        order = np.lexsort((-usage.uses[named].astype(np.int64), ~schema))
        named = np.sort(named[order[: max(most, 0)]])
    return named.astype(np.uint32)


# --- which are kept ------------------------------------------------------------------------------

_KEPT: WeakKeyDictionary[Dictionary, list[SearchIndex]] = WeakKeyDictionary()
_LOCK = threading.Lock()
"""Guards `_KEPT`."""
_BUILDING = threading.Lock()
"""One index is made at a time: each takes the processor and memory for itself."""


def index_of(view: StateView, keep: bool = True) -> SearchIndex:
    """The index of what a reader sees, made now if there is none.

    keep  False for a transaction: ids of its terms may become those of others
    """
    found = _kept(view)
    if not keep:
        return make_index(view.tables, view.dictionary)
    if found is None:
        with _BUILDING:
            found = _kept(view) or _made(view)
            with _LOCK:
                others = _KEPT.get(view.dictionary, [])
                if not any(found is other for other in others):
                    _KEPT[view.dictionary] = [found, *others][: BROWSE.kept_indexes]
    return found


def _kept(view: StateView) -> SearchIndex | None:
    with _LOCK:
        for index in _KEPT.get(view.dictionary, []):
            if index.tables is view.tables:
                return index
    return None


def _made(view: StateView) -> SearchIndex:
    with _LOCK:
        others = list(_KEPT.get(view.dictionary, []))
    for index in others:
        made = next_index(index, view.tables, view.dictionary)
        if made is not None:
            return made
    return make_index(view.tables, view.dictionary)
