"""The live table: the newest terms, in plain Python, until they are sealed into a segment.

Always true: `keys[i]` is the key of id `first_id + i` and `ids[keys[i]]` is that id. One writer
appends while readers in other threads look: a key is in `keys` before it is in `ids`, so that an
id that a reader finds can always be decoded.
"""

from __future__ import annotations

from collections.abc import Sequence

from triplestore.terms.value_canonical import TermSource
from triplestore.terms.value_stack import LiveValues
from triplestore.terms.values import ValueTable


class LiveTable:
    """Terms first_id, first_id + 1, ... and their values."""

    __slots__ = ("first_id", "ids", "keys", "values")

    def __init__(self, first_id: int, source: TermSource) -> None:
        self.first_id = first_id
        self.keys: list[bytes] = []
        self.ids: dict[bytes, int] = {}
        self.values = LiveValues(source)

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<live terms {self.first_id}..{self.last_id}>"

    @property
    def last_id(self) -> int:
        """The id of the newest term (first_id - 1 if there is none)."""
        return self.first_id + len(self.keys) - 1

    def add(self, key: bytes, tables: Sequence[ValueTable]) -> int:
        """Append a new term and give its id; `tables` are the values of all segments."""
        term_id = self.first_id + len(self.keys)
        self.values.add(term_id, key, tables)
        self.keys.append(key)
        self.ids[key] = term_id
        return term_id

    def after(self, term_id: int) -> LiveTable:
        """A copy without the terms up to `term_id`, which are in a segment now."""
        rest = LiveTable.__new__(LiveTable)
        rest.first_id = term_id + 1
        rest.keys = self.keys[rest.first_id - self.first_id :]
        rest.ids = {key: i for i, key in enumerate(rest.keys, rest.first_id)}
        rest.values = self.values.after(term_id)
        return rest

    def truncate(self, size: int) -> None:
        """Take back the terms with ids above `size`."""
        self.values.truncate(size)
        for key in self.keys[size + 1 - self.first_id :]:
            del self.ids[key]
        del self.keys[size + 1 - self.first_id :]
