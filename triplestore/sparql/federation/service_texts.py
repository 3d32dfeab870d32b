"""The texts that an endpoint is asked: start at `ServiceTexts`.

SELECT ?x ?y WHERE { ... }                                       everything
SELECT ?row ?y WHERE { VALUES (?row ?x) { (0 :a) (1 :b) } ... }  for some values
SELECT ?x ?y WHERE { { ... } FILTER(sameTerm(?x, :a) || ...) }   the same without VALUES
"""

from __future__ import annotations

from collections.abc import Sequence

from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.variables import Variables, mentioned
from triplestore.sparql.syntax.pattern_printer import Writer, indented
from triplestore.terms.term_keys import to_ntriples

Keys = Sequence[bytes | None]
"""The keys of the terms of one row; None is unbound."""


class ServiceTexts:
    """The texts about one pattern.

    row   a name for the number of a row, which the pattern does not use
    """

    def __init__(self, pattern: Node, seen: Variables) -> None:
        self._elements = _elements(pattern)
        used = mentioned(pattern, seen)
        self.row = "row"
        while self.row in used:
            self.row += "_"

    def whole(self, names: Sequence[str]) -> str:
        """Asks for all solutions; without names, for as many rows as there are solutions."""
        shown = " ".join(f"?{name}" for name in names) or f"(1 AS ?{self.row})"
        return self._select(shown, self._elements)

    def for_values(self, names: Sequence[str], given: Sequence[str], rows: Sequence[Keys]) -> str:
        """Asks for the solutions that are compatible with each of some rows, with its number."""
        table = [f"({number} {' '.join(map(_text_of, row))})" for number, row in enumerate(rows)]
        columns = " ".join(f"?{name}" for name in (self.row, *given))
        shown = " ".join(f"?{name}" for name in (self.row, *names))
        values = [f"VALUES ({columns}) {{", *indented(table), "}"]
        return self._select(shown, [*values, *self._elements])

    def for_filter(self, names: Sequence[str], given: Sequence[str], rows: Sequence[Keys]) -> str:
        """Asks for the solutions that have the values of one of some rows."""
        if not given:
            return self.whole(names)
        distinct = dict.fromkeys(tuple(map(_text_of, row)) for row in rows)
        tests = [
            " && ".join(f"sameTerm(?{name}, {text})" for name, text in zip(given, row, strict=True))
            for row in distinct
        ]
        condition = " || ".join(f"({test})" for test in tests)
        shown = " ".join(f"?{name}" for name in names)
        return self._select(shown, ["{", *indented(self._elements), "}", f"FILTER({condition})"])

    def _select(self, shown: str, elements: list[str]) -> str:
        return "\n".join([f"SELECT {shown}", "WHERE {", *indented(elements), "}"])


def _text_of(key: bytes | None) -> str:
    return "UNDEF" if key is None else to_ntriples(key).decode()


def _elements(pattern: Node) -> list[str]:
    """The pattern as elements that may follow others in a group."""
    writer = Writer({})
    parts = pattern.parts if isinstance(pattern, sparql.Join) else (pattern,)
    # The unit pattern stands for what comes before, so that filters keep their braces.
    return writer.elements(sparql.Join((sparql.UNIT, *parts)))
