"""Which closures are written out as rows, and which are kept by their scheme alone.

Start reading at `Choice.compressed`. A scheme is made in any case, for it is what a module computes
with; so how large the closure is, and how large the scheme, is known before a row is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from triplestore.closures.scheme import Scheme
from triplestore.rules.thresholds import RULES

Mode: TypeAlias = Literal["auto", "plain", "compressed"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How closures are kept.

    mode         of all relations that `by_relation` does not name
    by_relation  key of a property -> its mode

    >>> Choice("plain", {b"p": "compressed"}).mode_of([b"q", b"p"])
    'compressed'
    """

    mode: Mode = "auto"
    by_relation: Mapping[bytes, Mode] = field(default_factory=dict)

    @property
    def says(self) -> bool:
        """Whether it says of any relation how to keep it."""
        return self.mode != "auto" or bool(self.by_relation)

    def mode_of(self, relations: Iterable[bytes]) -> Mode:
        """The mode of relations that have one closure."""
        named = [self.by_relation[name] for name in relations if name in self.by_relation]
        return named[0] if named else self.mode

    def compressed(
        self, relations: Iterable[bytes], scheme: Scheme, before: bool, most: int | None
    ) -> bool:
        """Whether to keep a closure by its scheme.

        before  whether it was until now
        most    the bytes that facts may take
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
