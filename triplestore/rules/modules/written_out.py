"""Which closures are written out as rows, and which are kept by their scheme alone.

Start reading at `Choice.compressed`. A module needs the scheme in any case. So the sizes of the
closure and of the scheme are known before a row is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from triplestore.closures.scheme import Scheme
from triplestore.data_classes import data_class
from triplestore.rules.thresholds import RULES

Mode: TypeAlias = Literal["auto", "plain", "compressed"]


@data_class
class Choice:
    """How closures are kept.

    mode         of all relations that are not in `by_relation`
    by_relation  key of a property -> its mode

    >>> Choice("plain", {b"p": "compressed"}).mode_of([b"q", b"p"])
    'compressed'
    """

    mode: Mode = "auto"
    by_relation: Mapping[bytes, Mode] = field(default_factory=dict)

    @property
    def says(self) -> bool:
        """Whether it prescribes how to keep a relation."""
        return self.mode != "auto" or bool(self.by_relation)

    def mode_of(self, relations: Iterable[bytes]) -> Mode:
        """The mode of relations that share one closure."""
        named = [self.by_relation[name] for name in relations if name in self.by_relation]
        return named[0] if named else self.mode

    def compressed(
        self, relations: Iterable[bytes], scheme: Scheme, before: bool, most: int | None
    ) -> bool:
        """Whether to keep a closure by its scheme.

        before  whether it was kept so until now
        most    maximum size of facts in bytes
        """
        names = list(relations)
        mode = self.mode_of(names)
        if mode != "auto":
            return mode == "compressed"
        pairs = scheme.count()
        rows = pairs * RULES.row_bytes * len(names)
        if most is not None and rows > most:
            return True
        if before:
            return pairs >= RULES.still_compressed
        return pairs >= RULES.compressed_pairs and rows > RULES.compression * scheme.nbytes()
