"""Class expressions as text: what a symbol of `owl-el` stands for, in Manchester syntax.

Start at `ExpressionNames.text`. A symbol is looked up in the relations of the normal form, so the
text is made for what is shown only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import Constant
from triplestore.expressions.text.expression_printer import Namer
from triplestore.ontologies.translate.owl_el import HELPER, relation
from triplestore.terms.term_keys import BLANK

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

_DEEPEST = 12
_PREFIX = b"\x01" + HELPER.encode()
_WORDS = {"some": "some", "all": "only"}
_COLUMNS = {
    "some": ("some", 3, 0, (1, 2)),
    "and": ("and", 3, 0, (1, 2)),
    "or": ("parted", 4, 1, (2, 3)),
    "all": ("universal", 4, 1, (2, 3)),
    "not": ("complement", 3, 1, (2,)),
    "range": ("narrowed", 4, 1, (2, 3)),
}
"""Kind of symbol -> the relation that makes it, its columns, that of the symbol, those of parts."""


class ExpressionNames:
    """Writes classes, properties and expressions of one state."""

    def __init__(self, view: ReadableState, prefixes: Mapping[str, str]) -> None:
        self._tables, self._dictionary = view.tables, view.dictionary
        self._namer = Namer(prefixes)
        self._known: dict[bytes, str] = {}

    def text(self, key: bytes, depth: int = 0) -> str:
        """The text of a class, an expression (by its symbol or node), a property or an individual.

        Nested expressions are in parentheses.
        """
        found = self._known.get(key)
        if found is None:
            found = self._written(key, depth)
            if depth < _DEEPEST:
                self._known[key] = found
        return found

    def _written(self, key: bytes, depth: int) -> str:
        if key[0] == BLANK:
            symbol = self._symbol(key)
            return self.text(symbol, depth) if symbol != key else self._node(key)
        if not key.startswith(_PREFIX) or depth >= _DEEPEST:
            return "..." if key.startswith(_PREFIX) else self._namer.term(Constant(key))
        kind = key[len(_PREFIX) :].split(b"/")[0].decode()
        if kind == "one":
            return f"{{{self._names(self.before('nominal', key), depth)}}}"
        if kind == "self":
            return f"{self._names(self.after('self', key), depth)} Self"
        parts = self._parts(kind, key)
        inner = [self._inside(part, depth + 1) for part in parts]
        if not inner:
            return self._namer.term(Constant(key))
        match kind:
            case "some" | "all":
                return f"{inner[0]} {_WORDS[kind]} {inner[1]}"
            case "not":
                return f"not {inner[0]}"
            case "range":
                return f"{inner[1]} and the range of {inner[0]}"
            case "or" if not parts[1].startswith(_PREFIX + b"or/"):
                return " or ".join(inner)
            case "and" | "or":  # a chain of binary ones
                rest = self.text(parts[1], depth + 1)
                same = parts[1].startswith(_PREFIX + kind.encode() + b"/")
                return f"{inner[0]} {kind} {rest if same else inner[1]}"
        return self._namer.term(Constant(key))

    def _inside(self, key: bytes, depth: int) -> str:
        text = self.text(key, depth)
        return f"({text})" if " " in text and not text.startswith(("{", "<", '"')) else text

    def _names(self, keys: list[bytes], depth: int) -> str:
        return ", ".join(self.text(key, depth + 1) for key in keys[:1])

    def _node(self, key: bytes) -> str:
        return self._namer.term(Constant(key))

    def _symbol(self, key: bytes) -> bytes:
        found = self.after("symbol", key)
        return found[0] if found else key

    def after(self, name: str, key: bytes) -> list[bytes]:
        """What a relation of two columns has beside something in its first one."""
        number, term = self._ids(relation(name).key, key)
        rows = self._tables.relation(number).by_first(term).tolist() if number and term else []
        return [self._dictionary.key(row) for row in rows]

    def before(self, name: str, key: bytes) -> list[bytes]:
        """What a relation of two columns has beside something in its second one."""
        number, term = self._ids(relation(name).key, key)
        rows = self._tables.relation(number).by_second(term).tolist() if number and term else []
        return [self._dictionary.key(row) for row in rows]

    def operands(self, key: bytes) -> list[bytes]:
        """The operands of an intersection, by its symbol; anything else is its own operand."""
        found, rest = list[bytes](), key
        while rest.startswith(_PREFIX + b"and/") and (parts := self._parts("and", rest)):
            found.append(parts[0])
            rest = parts[1]
        return [*found, rest]

    def _parts(self, kind: str, key: bytes) -> list[bytes]:
        found = _COLUMNS.get(kind)
        if found is None:
            return []
        name, arity, place, wanted = found
        number, term = self._ids(_PREFIX + name.encode(), key)
        if not (number and term):
            return []
        _, free = self._tables.tuples(number, arity).probe(
            [place], [np.array([term], dtype=np.uint32)]
        )
        if not len(free[0]):
            return []
        places = [column for column in range(arity) if column != place]
        return [self._dictionary.key(int(free[places.index(one)][0])) for one in wanted]

    def _ids(self, name: bytes, key: bytes) -> tuple[int, int]:
        number, term = self._dictionary.lookup_keys([name, key]).tolist()
        return number, term
