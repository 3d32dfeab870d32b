"""All labels and names of terms as columns of texts, for an index: start at `label_rows`."""

from __future__ import annotations

import numpy as np

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.labels import LABEL_PROPERTIES
from triplestore.relations import Tables
from triplestore.relations.packed_keys import I64, NO_KEYS, U8, U32, U64, Bools, pack
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import LANG, STRING, TYPED
from triplestore.terms.vocabulary import SKOS_ALT_LABEL, SKOS_HIDDEN_LABEL

OTHER_LABELS = (SKOS_ALT_LABEL, SKOS_HIDDEN_LABEL)
"""Further names, which are searched and not shown."""

ALL_LABELS = (*LABEL_PROPERTIES, *OTHER_LABELS)

_SLASH, _HASH, _COLON = b"/#:"


def label_rows(tables: Tables, dictionary: Dictionary) -> U64:
    """The rows of the properties for labels in any graph, as sorted distinct keys (term, label)."""
    keys = [NO_KEYS]
    for name in ids_of(dictionary, ALL_LABELS):
        if name:
            keys.append(tables.relation(name).keys())
            keys += [pack(terms, labels) for terms, labels, _ in tables.quads(name).scan()]
    return np.unique(np.concatenate(keys))


def are_labels(dictionary: Dictionary, labels: U32) -> Bools:
    """Which terms are literals."""
    found: Bools = np.isin(dictionary.kinds(labels), (STRING, LANG, TYPED))
    return found


def lexical_texts(dictionary: Dictionary, labels: U32) -> tuple[U8, I64]:
    """The texts of literals, without language and datatype: bytes, and where each begins."""
    buffer, offsets, kinds = dictionary.text(labels)
    (quotes,) = (buffer == ord('"')).nonzero()
    last = quotes[np.maximum(quotes.searchsorted(offsets[1:]) - 1, 0)] if len(quotes) else 0
    ends = np.where(kinds == STRING, offsets[1:], last)
    return parts_of(buffer, offsets[:-1], ends)


def local_names(dictionary: Dictionary, terms: U32) -> tuple[U8, I64]:
    """The last parts of IRIs, after `#`, `/` or `:`: bytes, and where each begins."""
    buffer, offsets, _ = dictionary.text(terms)
    (cuts,) = ((buffer == _SLASH) | (buffer == _HASH) | (buffer == _COLON)).nonzero()
    starts = offsets[:-1]
    if len(cuts):
        # One at the very end divides nothing.
        places = cuts.searchsorted(offsets[1:] - 1) - 1
        after = cuts[np.maximum(places, 0)] + 1
        starts = np.where((places >= 0) & (after > starts), after, starts)
    return parts_of(buffer, starts, offsets[1:])


def begin_with(dictionary: Dictionary, terms: U32, start: bytes) -> Bools:
    """Which terms have texts that begin with some bytes."""
    spelt = np.frombuffer(start, dtype=np.uint8)
    buffer, offsets, _ = dictionary.text(terms)
    (open_,) = (np.diff(offsets) >= len(spelt)).nonzero()
    for place, code in reversed(list(enumerate(spelt))):  # namespaces differ at their ends
        open_ = open_[buffer[offsets[open_] + place] == code]
    fits = np.zeros(len(terms), dtype=np.bool_)
    fits[open_] = True
    return fits


def parts_of(buffer: U8, starts: I64, ends: I64) -> tuple[U8, I64]:
    """Some parts of a buffer, one after the other."""
    lengths = ends - starts
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.arange(int(offsets[-1])) + np.repeat(starts - offsets[:-1], lengths)
    return buffer[places], offsets
