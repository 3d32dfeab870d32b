"""A dictionary as of one commit, for queries that are asked while a transaction is open.

A transaction adds its terms to the dictionary before it commits, and takes them back if it does
not. Start at `CommittedTerms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U32
    from triplestore.storage import State
    from triplestore.terms import Dictionary


class CommittedTerms:
    """A dictionary that knows only the terms of one commit.

    >>> from triplestore.terms import Dictionary
    >>> dictionary = Dictionary()
    >>> _ = dictionary.encode_keys([b"\\x01http://a", b"\\x01http://b"])
    >>> CommittedTerms(dictionary, 1).lookup_keys([b"\\x01http://a", b"\\x01http://b"]).tolist()
    [1, 0]
    """

    def __init__(self, dictionary: Dictionary, size: int) -> None:
        self._dictionary = dictionary
        self.size = size

    def is_of(self, state: State) -> bool:
        """Whether it is the dictionary of a state."""
        return self._dictionary is state.dictionary

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dictionary, name)

    def lookup_key(self, key: bytes) -> int:
        """The id of a key; 0 if it is unknown."""
        found = self._dictionary.lookup_key(key)
        return found if found <= self.size else 0

    def lookup_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of keys; 0 for unknown ones."""
        found = self._dictionary.lookup_keys(keys)
        return np.where(found > np.uint32(self.size), np.uint32(0), found)
