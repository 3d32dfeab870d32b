"""Which texts are asked alike: by shape where they have one, else each by itself.

Start at `Kinds.of`. The first text of a shape is planned like any other, since most shapes are
never asked with other constants; when a second one comes, it is found out which of them can be
exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from triplestore.sparql.algebra import Query
from triplestore.sparql.plans import Question
from triplestore.sparql.shapes import Shape, Shapes
from triplestore.sparql.slots import Exchangeable, Slots, exchangeable

_MOST_KINDS = 512
_MOST_TEXTS = 256


@dataclass(slots=True, eq=False)
class Kind:
    """What texts of a shape have in common.

    first   the constants of the first one
    chosen  which constants can be exchanged; None as long as all had the same
    fixed   the numbers of the others
    """

    first: tuple[bytes, ...]
    chosen: Exchangeable | None = None
    fixed: tuple[int, ...] = ()


@dataclass(slots=True, frozen=True)
class Asked:
    """A text: of which kind it is, and its constants."""

    of: Hashable
    kind: Kind | None = None
    shape: Shape | None = None

    def question(self, of_what: Hashable) -> Question:
        """What is asked with it of something."""
        if self.kind is None or self.shape is None:
            return Question((self.of, of_what))
        constants = self.shape.constants
        chosen = self.kind.chosen
        if chosen is None or not chosen.others.isdisjoint(constants):
            return Question((self.of, of_what), constants)
        fixed = tuple([constants[n] for n in self.kind.fixed])
        return Question((self.of, of_what), constants, fixed)

    def slots(self, parse: Callable[[str], Query]) -> Slots | None:
        """What notes its constants in a plan; None if that is no use (yet)."""
        kind, shape = self.kind, self.shape
        if kind is None or shape is None:
            return None
        constants = shape.constants
        if kind.chosen is None:
            if kind.first == constants:
                return None
            chosen = exchangeable(shape, parse)
            kind.fixed = tuple([n for n in range(len(constants)) if n not in chosen.numbers])
            kind.chosen = chosen
        if not kind.chosen.others.isdisjoint(constants):
            return None
        return Slots(constants, kind.chosen.numbers)


class Kinds:
    """The kinds of the texts that were asked lately."""

    def __init__(self) -> None:
        self._shapes = Shapes()
        self._kinds: dict[Hashable, Kind] = {}
        self._texts: dict[tuple[Any, ...], Asked] = {}

    def of(
        self, key: tuple[Any, ...], text: str, prefixes: Mapping[str, str], base: str | None
    ) -> Asked:
        """What a text is; `key` is all that its algebra depends on."""
        found = self._texts.get(key)
        if found is None:
            found = self._read(key, text, prefixes, base)
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = found
        return found

    def _read(
        self, key: tuple[Any, ...], text: str, prefixes: Mapping[str, str], base: str | None
    ) -> Asked:
        shape = self._shapes.read(text, prefixes, base)
        if shape is None:
            return Asked(key)
        (_, _, optimise, *_) = key
        about = (shape.key, optimise)
        kind = self._kinds.get(about)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            kind = self._kinds[about] = Kind(shape.constants)
        return Asked(kind, kind, shape)
