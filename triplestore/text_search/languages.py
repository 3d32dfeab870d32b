"""The languages with a stemmer, and how texts become words.

Start at `stemmed`, which reads the argument `languages` of a text index, and `spaced`. Every
literal is indexed word by word as it is written, in lower case. A literal in a language with a
stemmer is indexed once more by the stems of its words, so that "panels" finds "panel", while
prefixes and fuzzy words are compared with whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from triplestore.errors import UsageError

STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Primary language tag to the name of its stemmer."""

LONGEST_WORD = 255
"""Words with more bytes are not indexed."""

NONE = "none"
"""Stands for no language tag in queries."""

_BY_NAME = {name: name for name in STEMMERS.values()}
# Scripts without spaces between words: each character is a word.
_SINGLE = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)


def stemmed(languages: Iterable[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Language tag to stemmer; the empty tag stands for literals without a tag.

    languages  tags; or a mapping of tags to the languages whose stemmers they use; None for all

    >>> stemmed(["en", "DE"])
    {'de': 'german', 'en': 'english'}
    >>> stemmed({"": "en"})
    {'': 'english'}
    >>> stemmed(["eng"])
    Traceback (most recent call last):
    triplestore.errors.UsageError: the language 'eng' has no stemmer; did you mean ...
    """
    if languages is None:
        return dict(STEMMERS)
    if isinstance(languages, str):
        raise UsageError(f"languages must be a list of tags, such as [{languages!r}]")
    chosen = languages if isinstance(languages, Mapping) else {tag: tag for tag in languages}
    return {tag.lower(): _stemmer(language) for tag, language in sorted(chosen.items())}


def _stemmer(language: str) -> str:
    name = language.lower()
    found = STEMMERS.get(name) or STEMMERS.get(name.partition("-")[0]) or _BY_NAME.get(name)
    if found is None:
        close = get_close_matches(name, [*STEMMERS, *_BY_NAME], 1, 0.5)
        advice = f"; did you mean {close[0]!r}?" if close else "."
        raise UsageError(
            f"the language {language!r} has no stemmer{advice} There are stemmers for "
            f"{', '.join(sorted(STEMMERS))}; literals in other languages are indexed without one"
        )
    return found


def stemmer_of(tag: str, stemmers: Mapping[str, str]) -> str | None:
    """The stemmer for a language tag: that of the tag, or of a shorter one.

    >>> stemmer_of("en-gb", {"en": "english"}), stemmer_of("ja", {"en": "english"})
    ('english', None)
    """
    while True:
        found = stemmers.get(tag)
        if found is not None or not tag:
            return found
        shorter = tag.rpartition("-")[0]
        if not shorter:
            return None
        tag = shorter


def ranges_of(tag: str) -> list[str]:
    """A language tag and all shorter ones that it belongs to; "none" without a tag.

    >>> ranges_of("de-at-1996"), ranges_of("")
    (['de-at-1996', 'de-at', 'de'], ['none'])
    """
    if not tag:
        return [NONE]
    parts = tag.partition("--")[0].split("-")
    return ["-".join(parts[:count]) for count in range(len(parts), 0, -1)]


def spaced(text: str) -> str:
    """A text before it is split into words: composed, with spaces around characters that are words.

    >>> spaced("cafe\u0301"), spaced("\u592a\u967d"), spaced("plain")
    ('caf\u00e9', ' \u592a  \u967d ', 'plain')
    """
    if text.isascii():
        return text
    return _SINGLE.sub(r" \1 ", unicodedata.normalize("NFC", text))
