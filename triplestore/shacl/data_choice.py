"""Which data are validated: start at `DataChoice`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from triplestore.data_classes import data_class
from triplestore.relations import HOLDS, Tables
from triplestore.shacl.vocabulary import Key
from triplestore.sparql.engine import AskedState
from triplestore.terms import Dictionary


class ValidatedState(Protocol):
    """What is read of a state, committed or not."""

    @property
    def dictionary(self) -> Dictionary:
        """The terms."""

    @property
    def tables(self) -> Tables:
        """The facts."""

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The known prefixes."""

    @property
    def hidden(self) -> int:
        """The number of facts that are not RDF triples."""


@data_class
class DataChoice:
    """Facts of some graphs.

    where    the mask of their statuses
    union    whether the data graph is the merge of all graphs
    default  the graphs whose merge is the data graph, None for the default graph; unless `union`
    named    the graphs that GRAPH reaches; None for all
    """

    where: int = HOLDS
    union: bool = False
    default: tuple[Key | None, ...] = (None,)
    named: tuple[Key, ...] | None = None

    def asked(self, state: ValidatedState) -> AskedState:
        """The part of a state that is validated."""
        dictionary = state.dictionary
        if self.union:
            default: tuple[int, ...] = (0, *state.tables.graphs().tolist())
        elif self.default == (None,):
            default = (0,)
        else:
            own = [0] if None in self.default else []
            keys = [key for key in self.default if key is not None]
            default = (*own, *_known(dictionary, keys))
        named = None if self.named is None else _known(dictionary, list(self.named))
        return AskedState(
            dictionary, state.tables, self.where, default, named, state.prefixes, state.hidden > 0
        )

    def to_json(self) -> str:
        """The choice as text, for `from_json`.

        >>> DataChoice.from_json(DataChoice(union=True).to_json()) == DataChoice(union=True)
        True
        """
        default = [None if key is None else key.decode() for key in self.default]
        named = None if self.named is None else [key.decode() for key in self.named]
        return json.dumps([self.where, self.union, default, named])

    @classmethod
    def from_json(cls, text: str) -> DataChoice:
        """The choice of a text."""
        where, union, default, named = json.loads(text)
        return cls(
            where,
            union,
            tuple(None if key is None else key.encode() for key in default),
            None if named is None else tuple(key.encode() for key in named),
        )


def _known(dictionary: Dictionary, keys: list[Key]) -> tuple[int, ...]:
    ids = dictionary.lookup_keys(keys).tolist() if keys else []
    return tuple(sorted({term_id for term_id in ids if term_id}))
