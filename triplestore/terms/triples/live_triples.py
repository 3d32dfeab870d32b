"""The parts of the triple terms of a live table, which grows while it is read.

Start at `LiveTriples`. Always true: an instance never changes, so a reader in another thread uses
the one it found; its runs cover the first `done` terms of one version of the table. Each run has
more than twice the rows of the next, so a term is copied O(log n) times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from triplestore.terms.spans import U32
from triplestore.terms.triples.find_parts import parts_of_keys
from triplestore.terms.triples.part_columns import PartColumns


class LiveTriples(NamedTuple):
    """The triple terms among the first `done` terms of a version of a live table.

    >>> import numpy as np
    >>> from triplestore.terms import Dictionary
    >>> dictionary = Dictionary()
    >>> keys = [b"\\x06<<( <http://a> <http://a> _:b )>>"]
    >>> ids = dictionary.encode_keys(keys)
    >>> (run,) = LiveTriples().followed_by(0, 1, keys, dictionary.lookup_keys).runs
    >>> [column.tolist() for column in run.columns()]
    [[1], [2], [2], [3]]
    """

    version: int = 0
    done: int = 0
    runs: tuple[PartColumns, ...] = ()

    def followed_by(
        self,
        version: int,
        first_id: int,
        keys: Sequence[bytes],
        look_up: Callable[[Sequence[bytes]], U32],
    ) -> LiveTriples:
        """The same with the next keys of the table, whose ids begin with `first_id`; of another
        version, those alone."""
        before = self if version == self.version else LiveTriples(version)
        if not keys:
            return before
        runs = list(before.runs)
        made = parts_of_keys(first_id, keys, look_up)
        if len(made):
            while runs and len(runs[-1]) <= 2 * len(made):
                made = PartColumns.joined([runs.pop(), made])
            runs.append(made)
        return LiveTriples(version, before.done + len(keys), tuple(runs))
