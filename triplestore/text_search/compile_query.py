"""Text queries as queries of tantivy: start at `compiled`.

A word matches a literal by itself, or by its stem if the literal's language has a stemmer. Phrases
do the same. Prefixes, patterns and fuzzy words are compared with words, never with stems.
"""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING

from triplestore.errors import UsageError
from triplestore.text_search.languages import NONE, spaced, stemmer_of
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
    weights = None if searcher is None else _Weights(searcher, beside or searcher, index)
    compiler = _Compiler(text, language, index, weights)
    try:
        return compiler.whole(tree)
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"text query: {error}: {text}") from error


class _Weights:
    """Makes scores comparable, of parts of an index and of literals with and without stems.

    A score is a sum over words, each multiplied by how rare the word is. tantivy counts in one part
    and in all languages. In a small part all words are rare, or none; and stems of a language are
    rare where few literals are in that language. So a word is boosted to how rare it is in both
    parts together, and a stem among the literals of its language.
    """

    def __init__(
        self, searched: tantivy.Searcher, beside: tantivy.Searcher, index: LiteralIndex
    ) -> None:
        self._searched = searched
        self._parts = [searched] if beside is searched else [searched, beside]
        self._stemmers = index.stemmers
        self._known: dict[str | None, int] = {}

    def of(self, field: str, words: list[str], stemmer: str | None) -> float:
        """What the score of some words is multiplied by."""
        if stemmer is None and len(self._parts) == 1:
            return 1.0
        documents = self.documents(stemmer)
        wanted = given = 0.0
        for word in words:
            having = [part.doc_freq(field, word) for part in self._parts]
            given += _rarity(having[0], self._searched.num_docs)
            wanted += _rarity(sum(having), documents)
        return wanted / given if given else 1.0

    def documents(self, stemmer: str | None) -> int:
        """How many literals have stems of a stemmer; for None, all."""
        found = self._known.get(stemmer)
        if found is None:
            found = self._known[stemmer] = self._counted(stemmer)
        return found

    def _counted(self, stemmer: str | None) -> int:
        if stemmer is None:
            return sum(part.num_docs for part in self._parts)
        tags = [tag for tag, name in self._stemmers.items() if name == stemmer]
        first = [tag for tag in tags if not any(tag.startswith(f"{other}-") for other in tags)]
        return sum(part.doc_freq(LANGUAGE, tag or NONE) for part in self._parts for tag in first)


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
        tag = "" if self._language == NONE else self._language
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
        made = [self._phrase(self._tokens(text), slop, None)]
        made += [
            self._phrase(self._tokens(text, stemmer), slop, stemmer)
            for stemmer in self._stem_names
            if self._weights is None or self._weights.documents(stemmer)
        ]
        return self._query.disjunction_max_query(made, _SECOND) if len(made) > 1 else made[0]

    def _phrase(self, tokens: list[str], slop: int, stemmer: str | None) -> tantivy.Query:
        schema = self._index.schema
        field = WORDS if stemmer is None else stems_field(stemmer)
        if not tokens:
            return self._query.empty_query()
        if len(tokens) == 1:
            made = self._query.term_query(schema, field, tokens[0])
        else:
            made = self._query.phrase_query(schema, field, list(tokens), slop)
        if self._weights is None:
            return made
        weight = self._weights.of(field, tokens, stemmer)
        return made if weight == 1.0 else self._query.boost_query(made, weight)

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
