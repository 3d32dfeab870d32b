"""An index of literals by their words, made with tantivy: start at `LiteralIndex`.

A document is one literal: its id, its place in the order in which literals were added, the ranges
of its language, its words, and the stems of its words if its language has a stemmer. The index
knows nothing of facts: whether a literal is in use is seen when it is joined with them.

Always true: what was added is found after `commit`; a literal that is found twice (after a crash)
counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.errors import StorageError, UsageError, needs_extra
from triplestore.relations.packed_keys import U32
from triplestore.text_search.languages import LONGEST_WORD, ranges_of, spaced, stemmer_of
from triplestore.text_search.thresholds import TEXT

if TYPE_CHECKING:
    import tantivy

F32 = NDArray[np.float32]

WORDS, LANGUAGE, ID, PLACE = "words", "lang", "id", "place"
GRAMS = "grams"
"""The field with all sequences of three characters, in lower case."""


def tantivy_module() -> Any:
    """The library; an error that says how to install it if it is missing."""
    # Late: only stores with a text index need it.
    try:
        import tantivy
    except ImportError as error:
        raise needs_extra("text search", error, "text") from error
    return tantivy


def stems_field(stemmer: str) -> str:
    """The field with the stems of a language."""
    return f"stems_{stemmer}"


class Hits(NamedTuple):
    """Literals that match, by id: each once."""

    ids: U32
    scores: F32


class LiteralIndex:
    """An index in a folder, or in memory.

    >>> index = LiteralIndex({"en": "english"})
    >>> index.add([7, 9], [("Solar panels", "en"), ("Windows", "")], 0)
    >>> index.commit()
    >>> from triplestore.text_search.compile_query import compiled
    >>> index.search(compiled("panel", "", index), index.searcher).ids.tolist()
    [7]
    """

    def __init__(
        self,
        stemmers: Mapping[str, str],
        folder: Path | None = None,
        *,
        substrings: bool = False,
        writes: bool = True,
    ) -> None:
        self.tantivy = tantivy_module()
        self.substrings = substrings
        self.stemmers = stemmers
        self.stem_names = tuple(sorted(set(stemmers.values())))
        self.schema = self._schema()
        self._in_memory = folder is None
        if folder is None:
            self._index = self.tantivy.Index(self.schema)
        elif writes:
            folder.mkdir(exist_ok=True)
            self._index = self.tantivy.Index(self.schema, path=str(folder))
        else:
            self._index = self.tantivy.Index.open(str(folder))
        self.analyzers = {name: self._analyzer(name) for name in (None, *self.stem_names)}
        self._index.register_tokenizer(WORDS, self.analyzers[None])
        for name in self.stem_names:
            self._index.register_tokenizer(stems_field(name), self.analyzers[name])
        if substrings:
            self._grams = self._gram_analyzer()
            self._index.register_tokenizer(GRAMS, self._grams)
        self._writer: tantivy.IndexWriter | None = None
        self._fields: dict[str, str | None] = {}
        self.refresh()

    def _schema(self) -> tantivy.Schema:
        builder = self.tantivy.SchemaBuilder()
        builder.add_integer_field(ID, fast=True)
        builder.add_integer_field(PLACE, fast=True)
        builder.add_text_field(LANGUAGE, tokenizer_name="raw", index_option="basic")
        builder.add_text_field(WORDS, tokenizer_name=WORDS)
        for name in self.stem_names:
            field = stems_field(name)
            builder.add_text_field(field, tokenizer_name=field)
        if self.substrings:
            builder.add_text_field(GRAMS, tokenizer_name=GRAMS, index_option="basic")
        schema: tantivy.Schema = builder.build()
        return schema

    def _analyzer(self, stemmer: str | None) -> tantivy.TextAnalyzer:
        library = self.tantivy
        builder = library.TextAnalyzerBuilder(library.Tokenizer.simple())
        builder = builder.filter(library.Filter.remove_long(LONGEST_WORD))
        builder = builder.filter(library.Filter.lowercase())
        if stemmer is not None:
            builder = builder.filter(library.Filter.stemmer(stemmer))
        analyzer: tantivy.TextAnalyzer = builder.build()
        return analyzer

    def _gram_analyzer(self) -> tantivy.TextAnalyzer:
        library = self.tantivy
        builder = library.TextAnalyzerBuilder(library.Tokenizer.ngram(3, 3))
        analyzer: tantivy.TextAnalyzer = builder.filter(library.Filter.lowercase()).build()
        return analyzer

    # -- writing ----------------------------------------------------------------------------------

    def add(self, ids: Sequence[int], texts: Sequence[tuple[str, str]], place: int) -> None:
        """Add literals, each a text and a language tag; the first one gets this place."""
        writer, document = self._open_writer(), self.tantivy.Document
        for number, (term_id, (text, tag)) in enumerate(zip(ids, texts, strict=True), place):
            words = spaced(text)
            made = document(id=term_id, place=number, words=words, lang=ranges_of(tag))
            field = self._stems(tag)
            if field is not None:
                made.add_text(field, words)
            if self.substrings:
                made.add_text(GRAMS, text)
            writer.add_document(made)

    def _stems(self, tag: str) -> str | None:
        """The field for the stems of literals with a tag."""
        try:
            return self._fields[tag]
        except KeyError:
            stemmer = stemmer_of(tag, self.stemmers)
            found = self._fields[tag] = None if stemmer is None else stems_field(stemmer)
            return found

    def drop_from(self, place: int) -> None:
        """Remove the literals from this place on."""
        kind = self.tantivy.FieldType.Integer
        found = self.tantivy.Query.range_query(self.schema, PLACE, kind, lower_bound=place)
        self._open_writer().delete_documents_by_query(found)

    def commit(self) -> None:
        """Make everything that was added visible, and durable if the index is in a folder."""
        self._open_writer().commit()
        self.refresh()

    def abandon(self) -> None:
        """Forget what was added since the last commit, as far as that is possible."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(ValueError):  # it has failed before
                writer.rollback()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            heap = TEXT.small_heap_bytes if self._in_memory else TEXT.heap_bytes
            self._writer = self._index.writer(heap_size=heap, num_threads=1)
        return self._writer

    def close(self) -> None:
        """Stop writing; what was not committed is lost."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(ValueError):  # it has failed before
                # Not `rollback` first: nothing would wait for the merges that are running.
                writer.wait_merging_threads()

    # -- reading ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read what was committed last, also by another process."""
        self._index.reload()
        self.searcher: tantivy.Searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self.searcher.num_docs)

    def count(self, query: tantivy.Query, searcher: tantivy.Searcher) -> int:
        """How many literals match."""
        with _explained():
            found: Any = searcher.search(query, limit=1, count=True)  # `count` has no type
        return int(found.count)

    def containing(self, texts: Sequence[str]) -> tantivy.Query:
        """The query for literals that may contain some texts of at least three characters; those
        that do are among them, whether in capitals or small letters."""
        library = self.tantivy
        grams = {gram for text in texts for gram in self._grams.analyze(text)}
        parts = [
            (library.Occur.Must, library.Query.term_query(self.schema, GRAMS, gram, "basic"))
            for gram in sorted(grams)
        ]
        query: tantivy.Query = library.Query.boolean_query(parts)
        scored: tantivy.Query = library.Query.const_score_query(query, 1.0)
        return scored

    def search(
        self, query: tantivy.Query, searcher: tantivy.Searcher, most: int | None = None
    ) -> Hits:
        """The literals that match, with their scores, by id; with `most`, the best ones."""
        size = searcher.num_docs
        if not size:
            return Hits(np.zeros(0, np.uint32), np.zeros(0, np.float32))
        limit = size if most is None else min(most, size)
        with _explained():
            hits = searcher.search(query, limit=limit, count=False).hits
        scores = np.fromiter([hit[0] for hit in hits], np.float32, len(hits))
        places = [hit[1] for hit in hits]
        found = np.array(searcher.fast_field_values(ID, places), np.uint32)
        ids, first = np.unique(found, return_index=True)  # hits come by score, the best first
        return Hits(ids, scores[first])


class DamagedIndexError(StorageError):
    """The files of an index are not those that were written."""


@contextmanager
def _explained() -> Iterator[None]:
    """Turn an error of a search into one that says what to do."""
    try:
        yield
    except ValueError as error:
        if "max expansions" in str(error):
            raise UsageError(
                "text query: too many words begin with the last letters of a phrase: write more "
                "letters before '*'"
            ) from error
        raise DamagedIndexError(f"the text index cannot be read: {error}") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of tantivy: no subclass of Exception
            raise DamagedIndexError(f"the text index cannot be read: {error}") from error
        raise
