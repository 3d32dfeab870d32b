"""Searches in an index of literals, beside an oracle without stems; stems case by case."""

from __future__ import annotations

from random import Random

import pytest

from tests.text_search.oracle import matching, some_query, some_text
from triplestore.errors import UsageError
from triplestore.text_search.compile_query import compiled
from triplestore.text_search.languages import STEMMERS
from triplestore.text_search.literal_index import LiteralIndex


def index_of(texts: list[tuple[str, str]], stemmers: dict[str, str]) -> LiteralIndex:
    index = LiteralIndex(stemmers)
    index.add(range(1, len(texts) + 1), texts, 0)
    index.commit()
    return index


def search(index: LiteralIndex, query: str, language: str = "") -> list[int]:
    """The places of the texts that match, the best first."""
    hits = index.search(compiled(query, language, index), index.searcher)
    return [int(hits.ids[at]) - 1 for at in (-hits.scores).argsort(kind="stable")]


@pytest.mark.parametrize("seed", range(8))
def test_searches__find_what_the_oracle_finds(seed: int) -> None:
    random = Random(seed)
    texts = [some_text(random) for _ in range(60)]
    index = index_of([(text, random.choice(["", "en"])) for text in texts], {})
    for _ in range(60):
        query = some_query(random)
        expected = matching(query, dict(enumerate(texts)))
        assert set(search(index, query)) == expected, query
        assert index.count(compiled(query, "", index), index.searcher) == len(expected), query


TEXTS = [
    ("Solar panels on roofs", "en"),
    ("A panel of experts", "en-gb"),
    ("panel", ""),
    ("Die alten Häuser", "de"),
    ("Le cafe\u0301 des poètes", "fr"),
    ("太陽光パネル", "ja"),
    ("running shoes", "en"),
]


@pytest.mark.parametrize(
    ("query", "language", "expected"),
    [
        ("panels", "", {0, 1}),
        ("PANEL", "", {0, 1, 2}),
        ("panel", "en", {0, 1}),
        ("panel", "en-gb", {1}),
        ("panel", "none", {2}),
        ("panels", "none", set()),
        ("panel", "de", set()),
        ("haus", "", {3}),
        ("haus", "fr", set()),
        ("café", "", {4}),
        ("poète", "", {4}),
        ('"solar panel"', "", {0}),
        ("run", "", {6}),
        ("runn*", "", {6}),
        ("陽光", "", {5}),
        ("光陽", "", set()),
        ("*", "none", {2}),
        ("-panel", "en", {6}),
    ],
)
def test_stems__are_those_of_the_language(query: str, language: str, expected: set[int]) -> None:
    index = index_of(TEXTS, dict(STEMMERS))
    assert set(search(index, query, language)) == expected


def test_stems__of_texts_without_a_tag_are_those_that_were_asked_for() -> None:
    index = index_of([("two panels", ""), ("panels", "fr")], {"": "english"})
    assert search(index, "panel") == [0]
    assert search(index, "panel", "none") == [0]


def test_scores__put_the_rarer_word_the_shorter_text_and_the_exact_form_first() -> None:
    texts = [("sun and wind and rain", ""), ("sun", ""), ("sun sun wind", ""), ("wind", "")]
    assert search(index_of(texts, {}), "sun")[0] == 1
    texts = [("common rare", ""), ("common other", ""), ("common more", ""), ("rare thing", "")]
    assert search(index_of(texts, {}), "common rare")[:2] == [0, 3]
    texts = [("one panel", "en"), ("one panels", "en")]
    assert search(index_of(texts, {"en": "english"}), "panels") == [1, 0]


def test_scores__are_multiplied_by_boosts() -> None:
    index = index_of([("sun", ""), ("wind", "")], {})
    assert search(index, "sun wind^3") == [1, 0]
    assert search(index, "sun^3 wind") == [0, 1]


def test_scores__of_a_small_part_are_comparable_with_those_of_a_large_one() -> None:
    random = Random(3)
    words = [f"w{n}" for n in range(40)]
    texts = [(" ".join(random.choices(words, k=6)), "") for _ in range(300)]
    large, small = index_of(texts[:290], {}), index_of(texts[290:], {})
    whole = index_of(texts, {})
    for query in ("w1", "w1 w2 w3", '"w1 w2"', "+w3 w4"):
        asked = compiled(query, "", small, small.searcher, large.searcher)
        hits = small.search(asked, small.searcher)
        expected = whole.search(compiled(query, "", whole), whole.searcher)
        known = dict(zip(expected.ids.tolist(), expected.scores.tolist(), strict=True))
        for term_id, score in zip(hits.ids.tolist(), hits.scores.tolist(), strict=True):
            assert score == pytest.approx(known[term_id + 290], rel=0.05)


def test_search__says_what_is_wrong_with_a_regular_expression() -> None:
    index = index_of([("a", "")], {})
    with pytest.raises(UsageError, match=r"regular expression cannot be read .*character 3"):
        search(index, "a /b(/")


def test_search__of_words_without_letters_finds_nothing() -> None:
    index = index_of([("a - b", "")], {})
    assert search(index, "...") == []
    assert search(index, '"- -"') == []


def test_search__takes_prefixes_of_many_words_and_says_how_many_are_too_many() -> None:
    index = index_of([(f"x w{n}", "") for n in range(20_000)], {})
    assert len(search(index, "w*")) == 20_000
    assert len(search(index, '"x w1"*')) == 11_111
    with pytest.raises(UsageError, match="write more letters"):
        search(index, '"x w"*')
