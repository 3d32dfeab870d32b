"""Results as keys of terms: start at `ResultRow` and `FoundRows`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Constant
from triplestore.shacl.evaluate.found import Found
from triplestore.shacl.model import Constraint, Messages, Shape
from triplestore.shacl.vocabulary import Key
from triplestore.sparql.algebra.nodes import PathExpression

BLOCK = 1 << 12
"""Number of results that are decoded at once."""


class ResultRow(NamedTuple):
    """One result.

    value     None if it is about the focus node alone
    path      None if it is about the focus node itself
    messages  those of the shape or the constraint; none if it has none
    """

    shape: Shape
    constraint: Constraint
    focus: Key
    value: Key | None
    path: PathExpression | None
    messages: Messages

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for results that say the same, also of shapes that were read twice."""
        return (
            self.shape.node,
            self.constraint.component,
            getattr(self.constraint, "constraint", None),
            self.focus,
            self.value,
            self.path,
            self.messages,
        )


class ResultRows(Protocol):
    """Some results."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[ResultRow]: ...

    def severities(self) -> Counter[Key]:
        """How many results there are of each severity."""


class FoundRows:
    """The results of a validation, which are decoded when they are read."""

    def __init__(self, found: Sequence[Found], terms: QueryTerms) -> None:
        self._found = found
        self._terms = terms

    def __len__(self) -> int:
        return sum(map(len, self._found))

    def __iter__(self) -> Iterator[ResultRow]:
        for each in self._found:
            for start in range(0, len(each), BLOCK):
                yield from rows_of(each, self._terms, start, start + BLOCK)

    def severities(self) -> Counter[Key]:
        """How many results there are of each severity."""
        counts: Counter[Key] = Counter()
        for each in self._found:
            counts[each.shape.severity] += len(each)
        return counts


class ListedRows:
    """Results that are listed already."""

    def __init__(self, rows: Sequence[ResultRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[ResultRow]:
        return iter(self._rows)

    def severities(self) -> Counter[Key]:
        """How many results there are of each severity."""
        return Counter(row.shape.severity for row in self._rows)


def rows_of(
    found: Found, terms: QueryTerms, start: int = 0, stop: int | None = None
) -> list[ResultRow]:
    """Some of the results of a constraint, as keys of terms."""
    focus, values = terms.keys(found.focus[start:stop]), terms.keys(found.values[start:stop])
    paths: Sequence[PathExpression | None] = [found.path] * len(focus)
    if found.paths is not None:
        keys = terms.keys(found.paths[start:stop])
        paths = [None if key is None else Constant(key) for key in keys]
    own = found.messages or found.shape.messages
    texts = [own] * len(focus)
    if found.texts is not None and not (own and found.constraint_is_core):
        texts = [given or own for given in found.texts[start:stop]]
    return [
        ResultRow(found.shape, found.constraint, node, value, path, messages)
        for node, value, path, messages in zip(focus, values, paths, texts, strict=True)
        if node is not None
    ]
