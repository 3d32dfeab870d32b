"""Groups texts into kinds that share plans: by shape if they have one, and by given variables.

Start at `TextKinds.of`. The first text of a shape is planned like any other, since most shapes
never come with other constants. The second one determines which of them can be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, TypeAlias

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.sparql.algebra.nodes import Query
from triplestore.sparql.cache.kept_plans import PlanKey
from triplestore.sparql.cache.slots import Exchangeable, Slots, exchangeable, exchangeable_values
from triplestore.sparql.cache.text_shapes import CutText, TextShapes
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED

Parse: TypeAlias = Callable[[str], Query]
"""Returns the rewritten algebra of a text."""

_CONSTANT = (IRI, STRING, LANG, TYPED)  # a blank node given as a value cannot be written in a text
_MOST_KINDS = 512  # maximum number of cached kinds
_MOST_TEXTS = 256  # maximum number of texts whose kind is cached


@data_class(frozen=False, eq=False)
class TextKind:
    """What texts of a shape have in common.

    first   the constants of the first text
    chosen  which constants can be exchanged; None while all texts had the same constants
    fixed   the numbers of the constants that cannot be exchanged
    """

    first: tuple[bytes, ...]
    chosen: Exchangeable | None = None
    fixed: tuple[int, ...] = ()


@data_class
class KnownText:
    """A text: its kind, its constants, and a function that finds the exchangeable ones.

    of    all that its plans depend on, except constants
    kind  None if it has no shape
    """

    of: Hashable
    kind: TextKind | None = None
    constants: tuple[bytes, ...] = ()
    find: Callable[[Parse], Exchangeable] | None = None

    def plan_key(self, of_what: Hashable) -> PlanKey:
        """The key of its plans; `of_what` is what else they depend on."""
        if self.kind is None:
            return PlanKey((self.of, of_what))
        constants, chosen = self.constants, self.kind.chosen
        if chosen is None or not chosen.others.isdisjoint(constants):
            return PlanKey((self.of, of_what), constants)
        fixed = tuple([constants[n] for n in self.kind.fixed])
        return PlanKey((self.of, of_what), constants, fixed)

    def slots(self, parse: Parse) -> Slots | None:
        """An object that notes its constants in a plan; None if that is not needed (yet)."""
        kind, constants = self.kind, self.constants
        if kind is None or self.find is None:
            return None
        if kind.chosen is None:
            if kind.first == constants:
                return None
            chosen = self.find(parse)
            kind.fixed = tuple([n for n in range(len(constants)) if n not in chosen.numbers])
            kind.chosen = chosen
        if not kind.chosen.others.isdisjoint(constants):
            return None
        return Slots(constants, kind.chosen.numbers)


class TextKinds:
    """The kinds of recent texts."""

    def __init__(self) -> None:
        self._shapes = TextShapes()
        self._kinds: dict[Hashable, TextKind] = {}
        self._firsts: dict[Hashable, CutText] = {}  # the first text with each key
        self._texts: dict[tuple[Any, ...], KnownText] = {}

    def of(
        self, key: tuple[Any, ...], text: str, prefixes: Mapping[str, str], base: str | None
    ) -> KnownText:
        """What is known of a text; `key` is all that its algebra depends on."""
        found = self._texts.get(key)
        if found is None:
            found = self._read(key, text, prefixes, base)
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[key] = found
        return found

    def _read(
        self, key: tuple[Any, ...], text: str, prefixes: Mapping[str, str], base: str | None
    ) -> KnownText:
        cut = self._shapes.cut(text, prefixes, base)
        if cut is None:
            return KnownText(key)
        first = self._firsts.get(cut.key)
        if first is None:  # most texts have no second one of their shape
            if len(self._firsts) >= _MOST_KINDS:
                self._firsts.clear()
            self._firsts[cut.key] = cut
            return KnownText(key)
        shape = self._shapes.shape(cut, prefixes)
        if shape is None:
            return KnownText(key)
        (_, _, optimise, *_) = key
        about = (shape.key, optimise)
        constants = shape.constants
        if about not in self._kinds:
            other = self._shapes.shape(first, prefixes)
            if other is not None and other.key == shape.key:
                constants = other.constants
        kind = self._kind(about, constants)
        return KnownText(kind, kind, shape.constants, partial(exchangeable, shape))

    def with_values(
        self, key: tuple[Any, ...], values: Mapping[str, Constant], read: Callable[[], Query]
    ) -> KnownText | None:
        """What is known of a text with values for variables; None if a value is a blank node."""
        if any(one.kind not in _CONSTANT for one in values.values()):
            return None
        numbers: dict[bytes, int] = {}
        same = tuple([numbers.setdefault(one.key, len(numbers)) for one in values.values()])
        constants = tuple(numbers)
        about = (key, tuple(values), same, bytes([one[0] for one in constants]))
        kind = self._kind(about, constants)
        return KnownText(kind, kind, constants, lambda _: exchangeable_values(read(), values))

    def _kind(self, about: Hashable, constants: tuple[bytes, ...]) -> TextKind:
        kind = self._kinds.get(about)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            kind = self._kinds[about] = TextKind(constants)
        return kind
