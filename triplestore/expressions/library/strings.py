"""The functions of SPARQL on strings, on one term at a time.

Start at `split_string`. A function takes and returns term keys. Always true: an argument
that is not a string (a plain or language-tagged literal) is an error; the result has the tag of the
first argument if SPARQL says so; positions count characters.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote_from_bytes

from triplestore.expressions.compare_terms import key_of_boolean
from triplestore.expressions.library.numbers import (
    INTEGER,
    ExpressionError,
    Number,
    key_of_number,
    number_of,
)
from triplestore.operators.context import current
from triplestore.terms.term_keys import LANG, STRING, TYPED
from triplestore.terms.values.value_keys import split_typed
from triplestore.terms.vocabulary import XSD_STRING

_BIG = 1 << 16
_MANY = 16
_CHUNK = 1 << 18


def make_room(size: int) -> None:
    """Raise if there is no memory for many bytes, or if the time is over.

    Callers pass the length of their keys times the number of copies held at the same time: 2 for
    the key without its first byte and its text; 4 for these, the resulting text, and its key.
    """
    if size > _BIG:
        current().need(size)


def split_string(key: bytes) -> tuple[str, bytes]:
    """The text of a string literal, and its tag (b"" without one)."""
    if len(key) > _BIG:
        make_room(2 * len(key))
    if key[0] == STRING:
        return key[1:].decode(), b""
    if key[0] == LANG:
        text, _, tag = key[1:].rpartition(b'"@')
        return text.decode(), tag
    raise ExpressionError


def plain(key: bytes) -> str:
    """The text of a plain string literal."""
    if key[0] != STRING:
        raise ExpressionError
    if len(key) > _BIG:
        make_room(2 * len(key))
    return key[1:].decode()


def string(text: str, tag: bytes = b"") -> bytes:
    """The key of a string literal.

    >>> string("a", b"en")
    b'\\x04a"@en'
    """
    return b"\x04" + text.encode() + b'"@' + tag if tag else b"\x03" + text.encode()


def symbol(kind: bytes, one: bytes, other: bytes) -> bytes:
    """The key of an IRI that depends on a kind, a string literal, and on the keys of two terms.

    >>> symbol(string("some"), b"\\x01http://e/p", b"\\x01http://e/C")
    b'\\x01x-triplestore:el/some/f1f683c95febd6aa1b67d13767e8b73c'
    """
    text = b"%d %s %s" % (len(one), one, other)
    digest = hashlib.blake2b(text, digest_size=16).hexdigest()
    return b"\x01x-triplestore:el/" + kind[1:] + b"/" + digest.encode()


def _compatible(left: bytes, right: bytes) -> tuple[str, str, bytes]:
    """Two texts and the tag of the first; the second has the same tag or none."""
    one, tag = split_string(left)
    other, second = split_string(right)
    if second not in (b"", tag):
        raise ExpressionError
    return one, other, tag


def length(key: bytes) -> bytes:
    """STRLEN."""
    return key_of_number(Number(INTEGER, len(split_string(key)[0])))


def substring(key: bytes, start: bytes, count: bytes | None = None) -> bytes:
    """SUBSTR: characters from position `start`, the first being 1; at most `count` of them."""
    text, tag = split_string(key)
    first = _whole(start)
    end = len(text) if count is None else first + _whole(count) - 1
    return string(text[max(first - 1, 0) : max(end, 0)], tag)


def _whole(key: bytes) -> int:
    number = number_of(key)
    if number.rank != INTEGER:
        raise ExpressionError
    return int(number.value)


def upper(key: bytes) -> bytes:
    """UCASE."""
    make_room(4 * len(key))
    text, tag = split_string(key)
    return string(text.upper(), tag)


def lower(key: bytes) -> bytes:
    """LCASE."""
    make_room(4 * len(key))
    text, tag = split_string(key)
    return string(text.lower(), tag)


def starts(key: bytes, part: bytes) -> bytes:
    """STRSTARTS."""
    text, other, _ = _compatible(key, part)
    return key_of_boolean(text.startswith(other))


def ends(key: bytes, part: bytes) -> bytes:
    """STRENDS."""
    text, other, _ = _compatible(key, part)
    return key_of_boolean(text.endswith(other))


def contains(key: bytes, part: bytes) -> bytes:
    """CONTAINS."""
    text, other, _ = _compatible(key, part)
    return key_of_boolean(other in text)


def before(key: bytes, part: bytes) -> bytes:
    """STRBEFORE: "" without a tag if `part` does not occur."""
    text, other, tag = _compatible(key, part)
    at = text.find(other)
    return string(text[:at], tag) if at >= 0 else string("")


def after(key: bytes, part: bytes) -> bytes:
    """STRAFTER."""
    text, other, tag = _compatible(key, part)
    at = text.find(other)
    return string(text[at + len(other) :], tag) if at >= 0 else string("")


def concatenate(*keys: bytes) -> bytes:
    """CONCAT: with a tag if all have the same one."""
    if len(keys) > _MANY or max(map(len, keys), default=0) > _BIG // _MANY:
        make_room(4 * sum(map(len, keys)))
    parts = [split_string(key) for key in keys]
    tags = {tag for _, tag in parts}
    return string("".join(text for text, _ in parts), tags.pop() if len(tags) == 1 else b"")


def encode_for_uri(key: bytes) -> bytes:
    """ENCODE_FOR_URI: all characters except letters, digits and -_.~ as %XX."""
    text = split_string(key)[0].encode()
    made: list[str] = []
    for start in range(0, len(text), _CHUNK):
        made.append(quote_from_bytes(text[start : start + _CHUNK], safe=""))
        make_room(2 * sum(map(len, made)))
    return string("".join(made))


def language_matches(tag: bytes, range_: bytes) -> bytes:
    """LANGMATCHES: basic filtering of RFC 4647."""
    have, wanted = plain(tag).lower(), plain(range_).lower()
    if wanted == "*":
        return key_of_boolean(have != "")
    return key_of_boolean(have == wanted or (wanted != "" and have.startswith(wanted + "-")))


def hashed(algorithm: str, key: bytes) -> bytes:
    """MD5, SHA1, ...: in hexadecimal."""
    text = plain(key).encode()
    made = hashlib.new(algorithm, usedforsecurity=False)
    for start in range(0, len(text), _CHUNK):
        make_room(_CHUNK)
        made.update(text[start : start + _CHUNK])
    return string(made.hexdigest())


def lexical_form(key: bytes) -> str:
    """The result of STR: the text of a literal of any datatype, or of an IRI."""
    if key[0] == TYPED:
        return split_typed(key[1:])[0]
    if key[0] == 1:
        return key[1:].decode()
    return split_string(key)[0]


def datatype_iri(key: bytes) -> str:
    """The IRI of a literal's datatype."""
    if key[0] == TYPED:
        return split_typed(key[1:])[1]
    if key[0] == STRING:
        return XSD_STRING
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    _, tag = split_string(key)
    return rdf + ("dirLangString" if b"--" in tag else "langString")
