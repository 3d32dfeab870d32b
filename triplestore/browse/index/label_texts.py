"""All labels and names of terms as columns of texts, for an index: start at `label_columns`."""

from __future__ import annotations

import numpy as np

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.labels import LABEL_PROPERTIES
from triplestore.relations import Tables
from triplestore.relations.packed_keys import I64, U8, U32
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED
from triplestore.terms.vocabulary import SKOS_ALT_LABEL, SKOS_HIDDEN_LABEL

OTHER_LABELS = (SKOS_ALT_LABEL, SKOS_HIDDEN_LABEL)
"""Further names, which are searched and not shown."""

_SLASH, _HASH, _COLON = b"/#:"


def label_columns(tables: Tables, dictionary: Dictionary) -> tuple[U32, U32]:
    """All rows (term, label) of the properties for labels, in any graph, without repetitions."""
    pairs = [np.zeros(0, dtype=np.uint64)]
    for name in ids_of(dictionary, (*LABEL_PROPERTIES, *OTHER_LABELS)):
        if not name:
            continue
        pairs.append(tables.relation(name).keys())
        for subjects, labels, _ in tables.quads(name).scan():
            pairs.append(subjects.astype(np.uint64) << np.uint64(32) | labels)
    rows = np.unique(np.concatenate(pairs))
    terms, labels = (rows >> np.uint64(32)).astype(np.uint32), rows.astype(np.uint32)
    kinds = dictionary.kinds(labels)
    fine = (dictionary.kinds(terms) == IRI) & np.isin(kinds, (STRING, LANG, TYPED))
    return terms[fine], labels[fine]


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


def parts_of(buffer: U8, starts: I64, ends: I64) -> tuple[U8, I64]:
    """Some parts of a buffer, one after the other."""
    lengths = ends - starts
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.arange(int(offsets[-1])) + np.repeat(starts - offsets[:-1], lengths)
    return buffer[places], offsets
