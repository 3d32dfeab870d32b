"""Text queries as queries of tantivy: start at `compiled`.

A word matches a literal by itself, or by its stem if the literal's language has a stemmer. Phrases
do the same. Prefixes, patterns and fuzzy words are compared with words, never with stems.
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING

from triplestore.errors import UsageError
from triplestore.text_search.languages import spaced, stemmer_of
from triplestore.text_search.literal_index import LANGUAGE, WORDS, LiteralIndex, stems_field
from triplestore.text_search.query_parser import parse_text_query, text_query_error
from triplestore.text_search.query_tree import (
    Boosted,
    Clauses,
    Everything,
    Fuzzy,
    Occurs,
    Phrase,
    TextNode,
    Word,
    WordExpression,
    WordPattern,
)

if TYPE_CHECKING:
    import tantivy

_SECOND = 0.1
"""What a match by words adds to one by stems, so that the form that was asked for comes first."""


def compiled(
    text: str,
    language: str,
    index: LiteralIndex,
    searcher: tantivy.Searcher | None = None,
    beside: tantivy.Searcher | None = None,
) -> tantivy.Query:
    """The query for an index.

    language  only literals of this language; "none" for those without a tag, "" for all
    searcher  what is searched
    beside    another, larger part that is searched too: scores are made comparable with its scores
    """
    tree = parse_text_query(text)
    weights = None
    if searcher is not None and beside is not None and searcher is not beside:
        weights = _Weights(searcher, beside)
    compiler = _Compiler(text, language, index, weights)
    try:
        return compiler.whole(tree)
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"text query: {error}: {text}") from error


class _Weights:
    """Makes scores of a small part comparable with those of a large one.

    A score is a sum over words, each multiplied by how rare the word is. In a small part all words
    are rare, or none: there, it is multiplied by how rare the word is in both parts together.
    """

    def __init__(self, small: tantivy.Searcher, large: tantivy.Searcher) -> None:
        self._small = small
        self._large = large

    def of(self, field: str, words: list[str]) -> float:
        """What the score of some words is multiplied by."""
        wanted = given = 0.0
        for word in words:
            own, other = (part.doc_freq(field, word) for part in (self._small, self._large))
            given += _rarity(own, self._small.num_docs)
            wanted += _rarity(own + other, self._small.num_docs + self._large.num_docs)
        return wanted / given if given else 1.0


def _rarity(having: int, documents: int) -> float:
    """How rare a word is, as BM25 has it."""
    return log1p((max(documents - having, 0) + 0.5) / (having + 0.5))


class _Compiler:
    """Compiles the parts of one query."""

    def __init__(
        self, text: str, language: str, index: LiteralIndex, weights: _Weights | None
    ) -> None:
        self._text = text
        self._weights = weights
        self._language = language.lower()
        self._index = index
        self._query: type[tantivy.Query] = index.tantivy.Query
        self._occurs = {
            Occurs.SHOULD: index.tantivy.Occur.Should,
            Occurs.MUST: index.tantivy.Occur.Must,
            Occurs.MUST_NOT: index.tantivy.Occur.MustNot,
        }
        self._stem_names = self._stems_in_question()

    def _stems_in_question(self) -> tuple[str, ...]:
        """The stemmers that the literals in question may have."""
        if not self._language:
            return self._index.stem_names
        tag = "" if self._language == "none" else self._language
        stemmer = stemmer_of(tag, self._index.stemmers)
        own = {stemmer} if stemmer is not None else set()
        if tag:  # a longer tag may have another stemmer
            more = [t for t in self._index.stemmers if t.startswith(f"{tag}-")]
            own.update(self._index.stemmers[t] for t in more)
        return tuple(sorted(own))

    def whole(self, tree: TextNode) -> tantivy.Query:
        """The query, for literals of the language."""
        made = self._compiled(tree)
        if not self._language:
            return made
        wanted = self._query.term_query(self._index.schema, LANGUAGE, self._language, "basic")
        silent = self._query.const_score_query(wanted, 0.0)
        return self._all_of([made, silent])

    def _all_of(self, queries: list[tantivy.Query]) -> tantivy.Query:
        must = self._occurs[Occurs.MUST]
        return self._query.boolean_query([(must, query) for query in queries])

    def _compiled(self, node: TextNode) -> tantivy.Query:
        match node:
            case Word(text):
                return self._words(text, 0)
            case Phrase(text, slop, prefix):
                return self._prefix_phrase(text) if prefix else self._words(text, slop)
            case WordPattern(parts):
                return self._pattern(parts)
            case Fuzzy(text, distance):
                return self._fuzzy(text, distance)
            case WordExpression(text, at):
                return self._expression(text, at)
            case Everything():
                return self._query.all_query()
            case Boosted(part, factor):
                return self._query.boost_query(self._compiled(part), factor)
            case Clauses(parts):
                return self._clauses(parts)

    # -- words ------------------------------------------------------------------------------------

    def _tokens(self, text: str, stemmer: str | None = None) -> list[str]:
        return self._index.analyzers[stemmer].analyze(spaced(text))

    def _words(self, text: str, slop: int) -> tantivy.Query:
        """A word or phrase, by words and by stems."""
        made = [self._phrase(WORDS, self._tokens(text), slop)]
        made += [
            self._phrase(stems_field(stemmer), self._tokens(text, stemmer), slop)
            for stemmer in self._stem_names
        ]
        return self._query.disjunction_max_query(made, _SECOND) if len(made) > 1 else made[0]

    def _phrase(self, field: str, tokens: list[str], slop: int) -> tantivy.Query:
        schema = self._index.schema
        if not tokens:
            return self._query.empty_query()
        if len(tokens) == 1:
            made = self._query.term_query(schema, field, tokens[0])
        else:
            made = self._query.phrase_query(schema, field, list(tokens), slop)
        if self._weights is None:
            return made
        return self._query.boost_query(made, self._weights.of(field, tokens))

    def _prefix_phrase(self, text: str) -> tantivy.Query:
        tokens = self._tokens(text)
        if not tokens:
            return self._query.empty_query()
        *words, last = map(_literally, tokens)
        if not words:
            return self._query.regex_query(self._index.schema, WORDS, f"{last}.*")
        return self._query.regex_phrase_query(self._index.schema, WORDS, [*words, f"{last}.*"])

    def _fuzzy(self, text: str, distance: int) -> tantivy.Query:
        tokens = self._tokens(text)
        made = [
            self._query.fuzzy_term_query(self._index.schema, WORDS, token, distance=distance)
            for token in tokens
        ]
        if not made:
            return self._query.empty_query()
        return made[0] if len(made) == 1 else self._all_of(made)

    # -- patterns ---------------------------------------------------------------------------------

    def _pattern(self, parts: tuple[str | bool | None, ...]) -> tantivy.Query:
        *front, last = parts
        if last is None and len(front) == 1 and isinstance(front[0], str):
            return self._prefix_phrase(front[0])
        made = ""
        for part in parts:
            if isinstance(part, str):
                made += _literally(spaced(part).lower())
            else:
                made += ".*" if part is None else "."
        return self._query.regex_query(self._index.schema, WORDS, made)

    def _expression(self, text: str, at: int) -> tantivy.Query:
        try:
            return self._query.regex_query(self._index.schema, WORDS, text)
        except ValueError as error:
            reason = str(error).strip("'").splitlines()[-1].removeprefix("error: ")
            problem = f"the regular expression cannot be read ({reason})"
            raise text_query_error(problem, self._text, at) from None

    # -- groups -----------------------------------------------------------------------------------

    def _clauses(self, parts: tuple[tuple[Occurs, TextNode], ...]) -> tantivy.Query:
        made = [(self._occurs[occurs], self._compiled(part)) for occurs, part in parts]
        if all(occurs is Occurs.MUST_NOT for occurs, _ in parts):
            made.append((self._occurs[Occurs.MUST], self._query.all_query()))
        return self._query.boolean_query(made)


_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~<>/\"'@")


def _literally(text: str) -> str:
    """A regular expression for a text."""
    return "".join(f"\\{one}" if one in _SPECIAL else one for one in text)
