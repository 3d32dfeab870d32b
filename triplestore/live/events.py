"""What followers get: a `ChangeStream`, and `RowChanges`, rows that came and went with a commit."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Generic, Self, TypeVar

from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.frame import Frame
from triplestore.sparql.results.decode import terms_of
from triplestore.sparql.results.json import term_json
from triplestore.sparql.results.solutions import Solution, solution_class

SHOWN = 20
"""Maximum number of rows of each kind that are printed."""

_BLOCK = 8192

OneChange = TypeVar("OneChange")


class ChangeStream(ABC, Generic[OneChange]):
    """Iterating waits for the next change, until the stream or its store is closed.

    The end of a `with` block closes it.
    """

    _closed = False

    @abstractmethod
    def next(self, timeout: float | None = None) -> OneChange | None:
        """The next change; None if there is none within `timeout` seconds, or after the end."""

    @abstractmethod
    def close(self) -> None:
        """End it."""

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._closed

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> OneChange:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ChangedSolutions:
    """Some rows of a query: has a length, and lists solutions."""

    def __init__(self, rows: Frame, terms: QueryTerms) -> None:
        self._rows = rows
        self._terms = terms

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self._rows.names

    def __len__(self) -> int:
        return self._rows.rows

    def __iter__(self) -> Iterator[Solution]:
        made = solution_class(self._rows.names)
        for at in range(0, self._rows.rows, _BLOCK):
            block = self._rows.slice(at, at + _BLOCK)
            if not block.columns:
                yield from (made(()) for _ in range(block.rows))
                continue
            columns = [terms_of(column, self._terms) for column in block.columns]
            yield from map(made, zip(*columns, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"

    def json(self) -> str:
        """The rows as a list of lists of terms, as they are in SPARQL's JSON format."""
        columns = []
        for column in self._rows.columns:
            texts = {key: term_json(key) for key in dict.fromkeys(self._terms.keys(column))}
            columns.append([texts[key] for key in self._terms.keys(column)])
        rows = zip(*columns, strict=True) if columns else [()] * len(self)
        return "[" + ",".join(f"[{','.join(row)}]" for row in rows) + "]"


class RowChanges:
    """The rows of a query that came and went with a commit; prints as lines with + and -.

    commit   its number; the rows are right as of this commit
    removed  rows that are gone, each as often as it was there once more
    added    rows that are new
    """

    def __init__(self, commit: int, removed: Frame, added: Frame, terms: QueryTerms) -> None:
        self.commit = commit
        self.removed = ChangedSolutions(removed, terms)
        self.added = ChangedSolutions(added, terms)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.added.variables

    def __len__(self) -> int:
        return len(self.removed) + len(self.added)

    def __repr__(self) -> str:
        return (
            f"<commit {self.commit}: {len(self.added):,} rows added, {len(self.removed):,} removed>"
        )

    def __str__(self) -> str:
        lines = [f"commit {self.commit}"]
        for sign, rows in (("-", self.removed), ("+", self.added)):
            for number, row in enumerate(rows):
                if number == SHOWN:
                    lines.append(f"{sign} ... and {len(rows) - SHOWN:,} more")
                    break
                terms = ("" if term is None else str(term) for term in row)
                lines.append(f"{sign} {' '.join(terms)}".rstrip())
        return "\n".join(lines)

    @cached_property
    def json(self) -> str:
        """The same as one line of JSON: `{"commit", "vars", "removed", "added"}`."""
        names = json.dumps(self.variables)
        return (
            f'{{"commit":{self.commit},"vars":{names},'
            f'"removed":{self.removed.json()},"added":{self.added.json()}}}'
        )
