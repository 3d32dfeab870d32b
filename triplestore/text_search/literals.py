"""Which literals a state needs in its text index: start at `Wanted`.

Always true: what is left out is in no fact of the properties. More may be found than is in use,
such as literals of facts that were removed, which does no harm: facts decide what a query sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations import Layer, Tables
from triplestore.relations.layers.table import Table
from triplestore.relations.packed_keys import NO_IDS, U32, low
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI, LANG, STRING

_TAG = b'"@'


@data_class
class Wanted:
    """A state, or what a transaction has made of one.

    size  number of terms; those above are of other transactions
    """

    dictionary: Dictionary
    tables: Tables
    size: int

    def literals(
        self, properties: Sequence[str] | None, known: Tables | None, known_size: int
    ) -> U32:
        """The strings, with a language or without, in facts of some properties (None: of all).

        known, known_size  tables whose literals are not asked for, and their number of terms
        """
        if known is self.tables and known_size == self.size:
            return NO_IDS
        if properties is None:
            return self._of_terms(known_size)
        keys = [bytes([IRI]) + iri.encode() for iri in properties]
        names = self.dictionary.lookup_keys(keys)
        parts = [self._of_property(int(name), known) for name in names if name]
        found = np.unique(np.concatenate(parts)) if parts else NO_IDS
        if not len(found):
            return found
        kinds = self.dictionary.kinds(found)
        texts: U32 = found[(kinds == STRING) | (kinds == LANG)]
        return texts

    def _of_terms(self, since: int) -> U32:
        """The strings among the terms above an id."""
        parts = [
            block[block <= self.size]
            for kind in (STRING, LANG)
            for block in self.dictionary.of_kind(kind, since)
        ]
        return np.sort(np.concatenate(parts)) if parts else NO_IDS

    def _of_property(self, name: int, known: Tables | None) -> U32:
        """The objects of a property, at least those that the known tables lack."""
        tables = self.tables
        if known is None or name in tables.closed or name in known.closed:
            facts = tables.relation(name).distinct(1)
            return np.concatenate((facts, tables.quads(name).distinct(1)))
        shared = {id(layer) for layer in known.layers}
        parts = [NO_IDS]
        for layer in tables.layers:
            if id(layer) not in shared:
                parts += _objects(layer, name)
        return np.concatenate(parts)


def _objects(layer: Layer, name: int) -> Iterator[U32]:
    """The objects in the rows of a layer with a predicate."""
    tables: tuple[Table, ...] = (layer.facts, layer.quads)
    for table in tables:
        place = table.place(name)
        if place >= 0:
            run = table.forward.run(place)
            yield low(run.keys[run.lo : run.hi])


def texts_of(dictionary: Dictionary, ids: U32) -> list[tuple[str, str]]:
    """The texts and language tags of literals.

    >>> dictionary = Dictionary()
    >>> texts_of(dictionary, dictionary.encode_keys([b"\\x03one", b'\\x04two"@en']))
    [('one', ''), ('two', 'en')]
    """
    buffer, starts, kinds = dictionary.text(ids)
    data, places = buffer.tobytes(), starts.tolist()
    found = []
    for number, kind in enumerate(kinds.tolist()):
        text = data[places[number] : places[number + 1]]
        if kind == LANG:
            words, _, tag = text.rpartition(_TAG)
            found.append((words.decode(), tag.decode().partition("--")[0]))
        else:
            found.append((text.decode(), ""))
    return found
