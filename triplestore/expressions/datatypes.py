"""Which literals belong to a datatype, by their values, not their lexical forms.

Start at `is_within`. Always true: ill-typed literals belong to no datatype; the members of
an unknown datatype are the literals with this datatype.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values import xsd
from triplestore.terms.values.value_keys import split_typed, value_of
from triplestore.terms.values.xml_literals import is_well_formed
from triplestore.terms.values.xsd import INTEGER_RANGES, Space, Value
from triplestore.terms.values.xsd_temporal import Duration, Moment
from triplestore.terms.vocabulary import (
    RDF_LANG_STRING,
    RDF_PLAIN_LITERAL,
    RDF_XML_LITERAL,
    RDFS_LITERAL,
    XSD,
)


def is_within(term: bytes, datatype: bytes) -> bool:
    """Whether a term is a literal whose value is in a datatype, both given as keys.

    >>> iri = b"\\x01http://www.w3.org/2001/XMLSchema#"
    >>> one = b'\\x051.0"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    >>> is_within(one, iri + b"byte"), is_within(one, iri + b"double")
    (True, False)
    """
    short = len(term) <= TERMS.cached_text and len(datatype) <= TERMS.cached_text
    return _known_within(term, datatype) if short else _is_within(term, datatype)


def _is_within(term: bytes, datatype: bytes) -> bool:
    if term[0] not in (STRING, LANG, TYPED) or datatype[0] != IRI:
        return False
    name = datatype[1:].decode()
    if name == RDFS_LITERAL:
        return True
    if name == RDF_LANG_STRING:
        return term[0] == LANG
    value = value_of(term)
    if value is not None and name in _KNOWN:
        return _has(name, value)
    if term[0] != TYPED:
        return False
    lexical, own = split_typed(term[1:])
    if own == RDF_XML_LITERAL and not is_well_formed(lexical):
        return False
    return own == name and not xsd.is_known(name)


_known_within = lru_cache(maxsize=1 << 16)(_is_within)

_SPACES = {
    "decimal": Space.DECIMAL,
    "float": Space.FLOAT,
    "double": Space.DOUBLE,
    "boolean": Space.BOOLEAN,
    "dateTime": Space.DATETIME,
    "dateTimeStamp": Space.DATETIME,
    "date": Space.DATE,
    "time": Space.TIME,
    "gYear": Space.G_YEAR,
    "gYearMonth": Space.G_YEAR_MONTH,
    "gMonth": Space.G_MONTH,
    "gMonthDay": Space.G_MONTH_DAY,
    "gDay": Space.G_DAY,
    "duration": Space.DURATION,
    "yearMonthDuration": Space.DURATION,
    "dayTimeDuration": Space.DURATION,
    "hexBinary": Space.HEX_BINARY,
    "base64Binary": Space.BASE64_BINARY,
    "anyURI": Space.ANY_URI,
    **dict.fromkeys(INTEGER_RANGES, Space.DECIMAL),
}
_KNOWN = frozenset(xsd.MAPPINGS) | {RDF_PLAIN_LITERAL}


def _has(name: str, value: Value) -> bool:
    """Whether a value is in a known datatype."""
    if name == RDF_PLAIN_LITERAL:
        return value.space == Space.TEXT
    local = name.removeprefix(XSD)
    space = _SPACES.get(local)
    if space is None:  # the strings
        return isinstance(value.data, str) and value.space == Space.TEXT and _reads(name, value)
    if value.space != space:
        return False
    data = value.data
    if isinstance(data, Decimal) and local != "decimal":
        return data == data.to_integral_value() and _in_range(local, data)
    if isinstance(data, Moment) and local == "dateTimeStamp":
        return data.offset is not None
    if isinstance(data, Duration) and local != "duration":
        return (data.seconds if local == "yearMonthDuration" else data.months) == 0
    return True


def _reads(name: str, value: Value) -> bool:
    return xsd.parse(str(value.data), name) is not None


def _in_range(local: str, number: Decimal) -> bool:
    least, most = INTEGER_RANGES[local]
    return (least is None or number >= least) and (most is None or number <= most)
