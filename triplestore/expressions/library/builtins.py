"""SPARQL's functions of terms, casts, and the table of functions that need all their arguments.

Start at `STRICT`, which maps a name to its implementation: from keys to a key, or ExpressionError.
Functions that do not need all arguments (IF, COALESCE, BOUND, IN, || and &&) or need more than
these (NOW, BNODE) are in `evaluate_scalar` (`_SPECIAL`, `_OUTSIDE`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

import numpy as np

from triplestore.expressions import compare_terms, datatypes
from triplestore.expressions.compare_terms import (
    key_of_boolean,
    parts_of_triple,
    truth,
    value_of_term,
)
from triplestore.expressions.functions import CASTS, IN_DATATYPE, SAME_VALUE, SYMBOL
from triplestore.expressions.library import numbers, regex, strings, times
from triplestore.expressions.library.numbers import (
    DOUBLE,
    FLOAT,
    INTEGER,
    RANKS,
    ExpressionError,
    Number,
    key_of_number,
    maybe_number,
    number_of,
    plain_text,
    promoted,
)
from triplestore.expressions.library.strings import datatype_iri, lexical_form, plain, string
from triplestore.expressions.library.swrl_builtins import SWRL
from triplestore.expressions.library.times import typed_key
from triplestore.expressions.text.term_parser import valid_iri
from triplestore.terms.guards.document_limits import Chain
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED, to_ntriples
from triplestore.terms.values import xsd
from triplestore.terms.values.value_keys import same_value
from triplestore.terms.vocabulary import (
    RDF_DIR_LANG_STRING,
    RDF_LANG_STRING,
    XSD_BOOLEAN,
    XSD_STRING,
)

Strict = Callable[..., bytes]


def key_of_iri(iri: str) -> bytes:
    """The key of an IRI."""
    return b"\x01" + iri.encode()


# --- parts ---------------------------------------------------------------------------------------


def text(key: bytes) -> bytes:
    """STR."""
    return string(lexical_form(key))


def language(key: bytes) -> bytes:
    """LANG: "" for literals without a tag."""
    if key[0] == LANG:
        return string(strings.split_string(key)[1].decode().partition("--")[0])
    if key[0] not in (STRING, TYPED):
        raise ExpressionError
    return string("")


def direction(key: bytes) -> bytes:
    """LANGDIR: "ltr", "rtl" or ""."""
    if key[0] == LANG:
        return string(strings.split_string(key)[1].decode().partition("--")[2])
    if key[0] not in (STRING, TYPED):
        raise ExpressionError
    return string("")


def datatype(key: bytes) -> bytes:
    """DATATYPE."""
    if key[0] not in (STRING, LANG, TYPED):
        raise ExpressionError
    return key_of_iri(datatype_iri(key))


def iri(key: bytes) -> bytes:
    """IRI, of an absolute IRI; `evaluate_scalar` resolves relative ones."""
    if key[0] == IRI:
        return key
    try:
        return key_of_iri(valid_iri(plain(key)))
    except ValueError:
        raise ExpressionError from None


def with_language(key: bytes, tag: bytes) -> bytes:
    """STRLANG."""
    name = plain(tag).lower()
    if not _TAG.fullmatch(name):
        raise ExpressionError
    return string(plain(key), name.encode())


def with_direction(key: bytes, tag: bytes, way: bytes) -> bytes:
    """STRLANGDIR."""
    name, direction_ = plain(tag).lower(), plain(way)
    if not _TAG.fullmatch(name) or direction_ not in ("ltr", "rtl"):
        raise ExpressionError
    return string(plain(key), f"{name}--{direction_}".encode())


_TAG = re.compile("[a-z]{1,8}(?:-[a-z0-9]{1,8})*")


def with_datatype(key: bytes, kind: bytes) -> bytes:
    """STRDT."""
    lexical = plain(key)
    if kind[0] != IRI:
        raise ExpressionError
    name = kind[1:].decode()
    if name in (RDF_LANG_STRING, RDF_DIR_LANG_STRING) or '"' in name:
        raise ExpressionError
    return string(lexical) if name == XSD_STRING else typed_key(lexical, name)


def triple(subject: bytes, predicate: bytes, object_: bytes) -> bytes:
    """TRIPLE."""
    if subject[0] not in (IRI, BLANK) or predicate[0] != IRI:
        raise ExpressionError
    parts = b" ".join(map(to_ntriples, (subject, predicate, object_)))
    if object_[0] == TRIPLE and Chain().too_deep(b"<<( " + parts) is not None:
        raise ExpressionError
    return b"\x06<<( " + parts + b" )>>"


def _part_of_triple(place: int, key: bytes) -> bytes:
    return parts_of_triple(key)[place]


def _is(kinds: tuple[int, ...], key: bytes) -> bytes:
    return key_of_boolean(key[0] in kinds)


def is_numeric(key: bytes) -> bytes:
    """isNUMERIC: a number with a valid lexical form."""
    return key_of_boolean(maybe_number(key) is not None)


def _has_language(key: bytes) -> bytes:
    return key_of_boolean(key[0] == LANG)


def _has_direction(key: bytes) -> bytes:
    return key_of_boolean(key[0] == LANG and b"--" in strings.split_string(key)[1])


# --- operators -----------------------------------------------------------------------------------


def _arithmetic(
    calculate: Callable[[Number, Number], Number],
    on_times: Callable[[bytes, bytes], bytes] | None,
    left: bytes,
    right: bytes,
) -> bytes:
    a, b = maybe_number(left), maybe_number(right)
    if a is not None and b is not None:
        return key_of_number(calculate(a, b))
    if on_times is None or not (times.is_temporal(left) and times.is_temporal(right)):
        raise ExpressionError
    return on_times(left, right)


def _on_number(calculate: Callable[[Number], Number], key: bytes) -> bytes:
    return key_of_number(calculate(number_of(key)))


def _negate(key: bytes) -> bytes:
    number = maybe_number(key)
    return times.negate(key) if number is None else key_of_number(numbers.negate(number))


def _compared(test: Callable[[bytes, bytes], bool], left: bytes, right: bytes) -> bytes:
    return key_of_boolean(test(left, right))


# --- casts ---------------------------------------------------------------------------------------


def cast(datatype_: str, key: bytes) -> bytes:
    """A term cast to another datatype, as in XPath; ExpressionError if that is not possible.

    >>> cast(xsd.XSD + "integer", b'\\x03 12 ')
    b'\\x0512"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if datatype_ == XSD_STRING:
        return _cast_to_string(key)
    if key[0] == STRING:
        return _cast_text(datatype_, key[1:].decode().strip(" \t\r\n"))
    if key[0] != TYPED or value_of_term(key) is None:
        raise ExpressionError
    if datatype_ == XSD_BOOLEAN:
        if maybe_number(key) is None and datatype_iri(key) != XSD_BOOLEAN:
            raise ExpressionError
        return key_of_boolean(truth(key))
    if datatype_ in RANKS:
        return _cast_to_number(RANKS[datatype_], key)
    if datatype_ in times.TEMPORAL:
        return times.cast_moment(key, datatype_)
    return times.cast_duration(key, datatype_)


def _cast_text(datatype_: str, lexical: str) -> bytes:
    value = xsd.parse(lexical, datatype_)
    if value is None:
        raise ExpressionError
    key = typed_key(lexical, datatype_)
    if datatype_ in RANKS:
        return key_of_number(number_of(key))
    return key_of_boolean(bool(value.data)) if datatype_ == XSD_BOOLEAN else key


def _cast_to_string(key: bytes) -> bytes:
    if key[0] in (BLANK, TRIPLE):
        raise ExpressionError
    number = maybe_number(key)
    if number is not None:
        return string(plain_text(number))
    if key[0] == TYPED and datatype_iri(key) == XSD_BOOLEAN and value_of_term(key) is not None:
        return string("true" if truth(key) else "false")
    return text(key)


def _cast_to_number(rank: int, key: bytes) -> bytes:
    number = maybe_number(key)
    if number is None:
        if datatype_iri(key) != XSD_BOOLEAN:
            raise ExpressionError
        number = Number(INTEGER, int(truth(key)))
    value = number.value
    if rank >= FLOAT:
        if number.rank == DOUBLE and rank == FLOAT:
            value = _as_float(value)
        else:
            value = promoted(number, max(rank, number.rank))
        return key_of_number(Number(rank, value))
    if number.rank >= FLOAT:
        if value != value or value in (float("inf"), float("-inf")):
            raise ExpressionError
        # the shortest decimal that is read as this double
        value = Decimal(value) if rank == INTEGER else Decimal(repr(value))
    return key_of_number(Number(rank, int(value) if rank == INTEGER else Decimal(value)))


def _as_float(value: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(value))


# --- the table -----------------------------------------------------------------------------------

STRICT: Mapping[str, Strict] = {
    "=": partial(_compared, compare_terms.equal),
    "!=": partial(_compared, lambda a, b: not compare_terms.equal(a, b)),
    "<": partial(_compared, compare_terms.less),
    ">": partial(_compared, compare_terms.greater),
    "<=": partial(_compared, compare_terms.less_or_equal),
    ">=": partial(_compared, compare_terms.greater_or_equal),
    "!": lambda key: key_of_boolean(not truth(key)),
    "+": partial(_arithmetic, numbers.add, times.add),
    "-": partial(_arithmetic, numbers.subtract, times.subtract),
    "*": partial(_arithmetic, numbers.multiply, None),
    "/": partial(_arithmetic, numbers.divide, None),
    "NEG": _negate,
    "POS": partial(_on_number, lambda number: number),
    "ABS": partial(_on_number, numbers.absolute),
    "CEIL": partial(_on_number, numbers.ceiling),
    "FLOOR": partial(_on_number, numbers.floor),
    "ROUND": partial(_on_number, numbers.round_),
    "STR": text,
    "LANG": language,
    "LANGDIR": direction,
    "DATATYPE": datatype,
    "IRI": iri,
    "STRLANG": with_language,
    "STRLANGDIR": with_direction,
    "STRDT": with_datatype,
    "TRIPLE": triple,
    "SUBJECT": partial(_part_of_triple, 0),
    "PREDICATE": partial(_part_of_triple, 1),
    "OBJECT": partial(_part_of_triple, 2),
    "ISIRI": partial(_is, (IRI,)),
    "ISBLANK": partial(_is, (BLANK,)),
    "ISLITERAL": partial(_is, (STRING, LANG, TYPED)),
    "ISTRIPLE": partial(_is, (TRIPLE,)),
    "ISNUMERIC": is_numeric,
    "HASLANG": _has_language,
    "HASLANGDIR": _has_direction,
    "SAMETERM": lambda a, b: key_of_boolean(a == b),
    "STRLEN": strings.length,
    "SUBSTR": strings.substring,
    "UCASE": strings.upper,
    "LCASE": strings.lower,
    "STRSTARTS": strings.starts,
    "STRENDS": strings.ends,
    "CONTAINS": strings.contains,
    "STRBEFORE": strings.before,
    "STRAFTER": strings.after,
    "CONCAT": strings.concatenate,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "LANGMATCHES": strings.language_matches,
    "REGEX": regex.matches,
    "REPLACE": regex.replace,
    **{name: partial(strings.hashed, name.lower()) for name in ("MD5", "SHA1")},
    **{name: partial(strings.hashed, name.lower()) for name in ("SHA256", "SHA384", "SHA512")},
    **{name: partial(times.part, name) for name in ("YEAR", "MONTH", "DAY")},
    **{name: partial(times.part, name) for name in ("HOURS", "MINUTES", "SECONDS")},
    "TIMEZONE": times.timezone,
    "TZ": times.zone,
    **{name: partial(cast, name) for name in CASTS},
    IN_DATATYPE: lambda term, datatype: key_of_boolean(datatypes.is_within(term, datatype)),
    SYMBOL: strings.symbol,
    SAME_VALUE: lambda a, b: key_of_boolean(same_value(a, b)),
    **SWRL,
}
"""Name -> function of keys, for functions that need exactly their arguments."""
