"""The literals that match a text query, as the leaf of a plan: start at `TextHitsLeaf`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.leaves import slices
from triplestore.operators.operator import Blocks, Operator, Stream
from triplestore.relations.packed_keys import U32
from triplestore.terms.term_keys import TYPED
from triplestore.terms.vocabulary import XSD_FLOAT

_HIT_BYTES = 200
"""Memory for each hit while a search runs."""


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

    def search(self, text: str, language: str) -> FoundLiterals:
        """The literals that match; an error if the text is not a text query."""

    def count(self, text: str, language: str) -> int:
        """About how many literals match."""


SearchText: TypeAlias = Callable[[], TextSearch]
"""Opens the text index for searches."""


class TextColumns(NamedTuple):
    """The names of the columns of hits; None for unwanted ones."""

    literal: str
    score: str | None
    property: str | None
    text: str | None


class TextHitsLeaf(Operator):
    """The literals that match, beside each of some properties; the best first.

    texts       text queries, each with the id of its term
    columns     the names of the columns for literal, score, property and text query; None for
                unwanted ones
    properties  ids of properties; only with a column for them
    terms       takes the scores, as xsd:float
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
    ) -> None:
        names = tuple(name for name in columns if name is not None)
        self._search = search
        self._texts = texts
        self._language = language
        self._columns = columns
        self._properties = np.array(properties, np.uint32)
        self._terms = terms
        self._expected = [search.count(text, language) for text, _ in texts]
        each = 1 if columns.property is None else len(properties)
        rows = sum(self._expected) * each
        super().__init__(names, (ID,) * len(names), unique=len(texts) == 1, estimate=rows)

    def detail(self) -> str:
        """The text queries, and the columns."""
        texts = " ".join(f'"{text}"' for text, _ in self._texts)
        language = f" lang:{self._language}" if self._language else ""
        return f"{texts}{language} -> {' '.join(f'?{name}' for name in self.names)}"

    def _open(self, context: Context) -> Blocks:
        return self._blocks(context)

    def _blocks(self, context: Context) -> Stream:
        for (text, term_id), expected in zip(self._texts, self._expected, strict=True):
            context.need(_HIT_BYTES * expected)
            found = self._search.search(text, self._language)
            context.check()
            rows = self._rows(found, term_id)
            if rows is not None:
                self._charge_block(context, rows.nbytes)
                yield from slices(rows, context.block_rows)

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
