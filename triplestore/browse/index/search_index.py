"""The index of terms behind `search`: made when it is first needed, kept while it holds.

Start at `index_of`. An index belongs to the tables that it was made of; the newest are kept for
each store, so that it is made once for each commit after which something is searched.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.browse.index.folded_texts import fold_texts, join_texts
from triplestore.browse.index.label_texts import label_columns, lexical_texts, local_names
from triplestore.browse.index.term_usage import CLASS, PROPERTY, Usage, usage_of
from triplestore.browse.index.word_index import WordIndex
from triplestore.browse.thresholds import BROWSE
from triplestore.relations.packed_keys import U32

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary


class SearchIndex:
    """What is searched in one state.

    tables   the tables that it was made of
    usage    what each term is, and how often it is used
    words    the words of all texts: of labels, then of names
    terms    the term of each text
    labels   the id of the label that is the text; 0 for a name
    """

    def __init__(self, tables: Tables, dictionary: Dictionary) -> None:
        self.tables = tables
        self.usage: Usage = usage_of(tables, dictionary)
        most = BROWSE.indexed_texts
        terms, labels = label_columns(tables, dictionary)
        used = self.usage.kinds[terms] != 0
        terms, labels = terms[used][:most], labels[used][:most]
        named = _most_wanted(self.usage, most - len(terms))
        self.complete = len(named) == np.count_nonzero(self.usage.kinds)
        self.terms = np.concatenate((terms, named))
        self.labels = np.concatenate((labels, np.zeros(len(named), dtype=np.uint32)))
        self.words = WordIndex(
            join_texts(
                [
                    fold_texts(*lexical_texts(dictionary, labels), False),
                    fold_texts(*local_names(dictionary, named), True),
                ]
            )
        )

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        columns = (*self.usage, self.terms, self.labels)
        return self.words.nbytes + sum(column.nbytes for column in columns)


def _most_wanted(usage: Usage, most: int) -> U32:
    """The terms whose names are indexed: of too many, classes and properties come first, then
    those that are used most."""
    (named,) = usage.kinds.nonzero()
    if len(named) > most:
        schema = usage.kinds[named] & (CLASS | PROPERTY) != 0
        order = np.lexsort((-usage.uses[named].astype(np.int64), ~schema))
        named = np.sort(named[order[: max(most, 0)]])
    return named.astype(np.uint32)


_KEPT: WeakKeyDictionary[Dictionary, list[SearchIndex]] = WeakKeyDictionary()
_LOCK = threading.Lock()
"""Guards `_KEPT`."""
_BUILDING = threading.Lock()
"""One index is made at a time: each takes the processor and memory for itself."""


def index_of(view: StateView) -> SearchIndex:
    """The index of what a reader sees, made now if there is none."""
    found = _kept(view)
    if found is None:
        with _BUILDING:
            found = _kept(view)
            if found is None:
                found = SearchIndex(view.tables, view.dictionary)
                with _LOCK:
                    others = _KEPT.get(view.dictionary, [])
                    _KEPT[view.dictionary] = [found, *others][: BROWSE.kept_indexes]
    return found


def _kept(view: StateView) -> SearchIndex | None:
    with _LOCK:
        for index in _KEPT.get(view.dictionary, []):
            if index.tables is view.tables:
                return index
    return None
