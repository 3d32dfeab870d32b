"""Labels of blank nodes in a file of which several tasks read parts.

The names are the local loader's (loaders/scope.py): `f<n>x<label>` for labels of the file, and
`f<n>b<k>` for the k-th anonymous node in document order. A task that reads a part of a document
begins to count where the parts before it end: the cutter counted how many anonymous nodes they
have. That a file is cut, and where, can therefore not be seen in its names.
"""

from __future__ import annotations

from collections.abc import Sequence

from triplestore.loaders.scope import Renamer


class PartRenamer(Renamer):
    """The labels of a part of a file, before which the file has `first` anonymous nodes."""

    def __init__(self, number: int, first: int, many: bool) -> None:
        super().__init__(number, generated=True, many=many)
        self._first = first
        self.met = 0

    def _numbers(self, labels: list[bytes]) -> list[int]:
        numbers = super()._numbers(labels)
        self.met = max(self.met, max(numbers))
        return [self._first + number for number in numbers]

    def keys(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys of terms with the labels in them renamed; `met` counts the anonymous nodes.

        >>> renamer = PartRenamer(3, 5, many=False)
        >>> renamer.keys([b"\\x02a", b"\\x02c785e674d23d36c2b5c2568ef7cef3e4"]), renamer.met
        ([b'\\x02f3xa', b'\\x02f3b6'], 1)
        """
        return super().keys(keys)
