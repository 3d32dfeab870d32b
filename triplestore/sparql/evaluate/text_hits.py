"""The literals that match a text query, as the leaf of a plan: start at `TextHitsLeaf`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import BLOCK_ROWS, Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.leaves import slices
from triplestore.operators.operator import Blocks, Operator, Stream
from triplestore.relations.packed_keys import U32, Bools, in_sorted
from triplestore.terms.term_keys import TYPED
from triplestore.terms.vocabulary import XSD_FLOAT

_HIT_BYTES = 200
"""Memory for each hit while a search runs."""
_MANY_BLOCKS = 4
_FIRST_HITS = 50
"""Number of hits that are looked at first, besides twice those that are enough."""


class FoundLiterals(Protocol):
    """Literals, each once, by id; and how well each matches."""

    @property
    def ids(self) -> U32:
        """The ids."""

    @property
    def scores(self) -> NDArray[np.float32]:
        """Higher is better."""


class TextSearch(Protocol):
    """The text index, as one state sees it."""

    @property
    def properties(self) -> tuple[str, ...] | None:
        """The IRIs of the properties that are indexed; None for all."""

    def search(self, text: str, language: str, most: int | None = None) -> FoundLiterals:
        """The literals that match; an error if the text is not a text query.

        most  about how many are wanted, those with the highest scores; None for all
        """

    def count(self, text: str, language: str) -> int:
        """About how many literals match."""

    @property
    def finds_substrings(self) -> bool:
        """Whether `containing` can be asked."""

    def containing(self, texts: Sequence[str]) -> U32:
        """The literals that contain some texts of three characters or more, whether in capitals or
        small letters, and perhaps others; increasing."""

    def count_containing(self, texts: Sequence[str]) -> int:
        """About how many literals these are."""


SearchText: TypeAlias = Callable[[], TextSearch]
"""Opens the text index for searches."""


class Enough(NamedTuple):
    """When to stop: a number of literals, and which ones are in facts that are joined."""

    literals: int
    used: Callable[[U32], Bools]


class TextColumns(NamedTuple):
    """The names of the columns of hits; None for unwanted ones."""

    literal: str
    score: str | None
    property: str | None
    text: str | None


class _Others:
    """Hits without some that are known."""

    def __init__(self, found: FoundLiterals, known: FoundLiterals) -> None:
        left = ~in_sorted(found.ids, known.ids)
        self.ids: U32 = found.ids[left]
        self.scores: NDArray[np.float32] = found.scores[left]


class TextHitsLeaf(Operator):
    """The literals that match, beside each of some properties; the best first.

    texts       text queries, each with the id of its term
    columns     the names of the columns for literal, score, property and text query; None for
                unwanted ones
    properties  ids of properties; only with a column for them
    terms       takes the scores, as xsd:float
    enough      for one text query: stops at the best literals; None to have all
    """

    kind: ClassVar[str] = "text search"

    def __init__(
        self,
        search: TextSearch,
        texts: Sequence[tuple[str, int]],
        language: str,
        columns: TextColumns,
        properties: Sequence[int],
        terms: QueryTerms,
        enough: Enough | None = None,
    ) -> None:
        names = tuple(name for name in columns if name is not None)
        self._search = search
        self._texts = texts
        self._language = language
        self._columns = columns
        self._properties = np.array(properties, np.uint32)
        self._terms = terms
        self._enough = enough
        if enough is None:
            expected = sum([self._count(text) for text, _ in texts])
        else:
            expected = enough.literals
            for text, _ in texts:
                search.search(text, language, 1)  # a mistake in it is an error before any row
        each = 1 if columns.property is None else len(properties)
        rows = expected * each
        super().__init__(names, (ID,) * len(names), unique=len(texts) == 1, estimate=rows)

    def _count(self, text: str) -> int:
        return self._search.count(text, self._language)

    def detail(self) -> str:
        """The text queries, and the columns."""
        texts = " ".join(f'"{text}"' for text, _ in self._texts)
        language = f" lang:{self._language}" if self._language else ""
        return f"{texts}{language} -> {' '.join(f'?{name}' for name in self.names)}"

    def _open(self, context: Context) -> Blocks:
        return self._blocks(context)

    def _blocks(self, context: Context) -> Stream:
        for text, term_id in self._texts:
            for found in self._found(context, text):
                rows = self._rows(found, term_id)
                if rows is not None:
                    self._charge_block(context, rows.nbytes)
                    yield from slices(rows, context.block_rows)

    def _found(self, context: Context, text: str) -> Iterator[FoundLiterals]:
        """The hits of one text query; a few of the best come first if a few may be enough."""
        found = self._best(context, text)
        if found is not None:
            yield found
            return
        first, expected = None, self._count(text)
        if context.block_rows < BLOCK_ROWS and expected > _MANY_BLOCKS * context.block_rows:
            first = self._search.search(text, self._language, context.block_rows)
            yield first
        context.need(_HIT_BYTES * expected)
        found = self._search.search(text, self._language)
        context.check()
        yield found if first is None else _Others(found, first)

    def _best(self, context: Context, text: str) -> FoundLiterals | None:
        """The hits up to those that are enough; None if there are fewer."""
        enough = self._enough
        if enough is None:
            return None
        most = _FIRST_HITS + 2 * enough.literals
        expected = None
        while expected is None or most < expected:
            context.need(_HIT_BYTES * most)
            found = self._search.search(text, self._language, most)
            if np.count_nonzero(enough.used(found.ids)) >= enough.literals:
                return found
            expected = self._count(text) if expected is None else expected
            most *= 8
        return None

    def _rows(self, found: FoundLiterals, term_id: int) -> Frame | None:
        """The rows of one text query."""
        wanted = self._columns
        order = np.argsort(-found.scores, kind="stable")
        columns: dict[str, Array] = {wanted.literal: found.ids[order]}
        if wanted.score is not None:
            columns[wanted.score] = self._encoded(found.scores[order])
        if wanted.property is not None:
            each = len(self._properties)
            columns = {name: np.repeat(column, each) for name, column in columns.items()}
            columns[wanted.property] = np.tile(self._properties, len(order))
        rows = len(columns[wanted.literal])
        if wanted.text is not None:
            columns[wanted.text] = np.full(rows, term_id, np.uint32)
        if not rows:
            return None
        return Frame(self.names, [columns[name] for name in self.names], rows, (), self.unique)

    def _encoded(self, scores: NDArray[np.float32]) -> U32:
        """Scores as terms."""
        distinct, places = np.unique(scores, return_inverse=True)
        end = f'"^^<{XSD_FLOAT}>'.encode()
        keys = [bytes([TYPED]) + str(score).encode() + end for score in distinct]
        return self._terms.encode_keys(keys)[places]


class SubstringLeaf(Operator):
    """The literals that may contain some texts: a filter decides."""

    kind: ClassVar[str] = "text candidates"

    def __init__(self, search: TextSearch, name: str, texts: Sequence[str], expected: int) -> None:
        super().__init__((name,), (ID,), order=(name,), unique=True, estimate=expected)
        self._search = search
        self._texts = texts

    def detail(self) -> str:
        """The texts, and the column."""
        return " ".join(f'"{text}"' for text in self._texts) + f" -> ?{self.names[0]}"

    def _open(self, context: Context) -> Blocks:
        context.need(int(_HIT_BYTES * self.estimate))
        ids = self._search.containing(self._texts)
        context.check()
        if not len(ids):
            return ()
        self._charge(context, ids.nbytes)
        frame = Frame(self.names, [ids], len(ids), self.order, True)
        return (frame,) if len(ids) <= context.block_rows else slices(frame, context.block_rows)
