"""What literals denote: which are the same value, and which datatypes a value belongs to.

Values are those of `triplestore.terms.values.xsd`, which is plain Python with its own tests.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from decimal import Decimal
from functools import cache
from xml.etree import ElementTree

from pyoxigraph import Literal

from triplestore.terms.values import xsd
from triplestore.terms.values.xsd import Space, Value
from triplestore.terms.values.xsd_temporal import Moment

from .vocabulary import Term, term, terms

# The datatypes of OWL 2 RL (Profiles, section 4.2.2).
OWL_RL_DATATYPES = terms(
    """rdf:PlainLiteral rdf:XMLLiteral rdfs:Literal xsd:decimal xsd:integer
    xsd:nonNegativeInteger xsd:nonPositiveInteger xsd:positiveInteger xsd:negativeInteger
    xsd:long xsd:int xsd:short xsd:byte xsd:unsignedLong xsd:unsignedInt xsd:unsignedShort
    xsd:unsignedByte xsd:float xsd:double xsd:string xsd:normalizedString xsd:token
    xsd:language xsd:Name xsd:NCName xsd:NMTOKEN xsd:boolean xsd:hexBinary xsd:base64Binary
    xsd:anyURI xsd:dateTime xsd:dateTimeStamp"""
)
# Others whose values are known; a literal of theirs is in no other value space.
OTHERS = terms(
    """xsd:date xsd:time xsd:gYear xsd:gYearMonth xsd:gMonth xsd:gMonthDay xsd:gDay xsd:duration
    rdf:langString"""
)
DATATYPES = frozenset(OWL_RL_DATATYPES + OTHERS)

_PLAIN = term("rdf:PlainLiteral").value
_LITERAL = term("rdfs:Literal").value
_XML = term("rdf:XMLLiteral").value
_LANG = term("rdf:langString").value
_XSD = "http://www.w3.org/2001/XMLSchema#"


@cache
def value_of(literal: Literal) -> Value | None:
    """The value; None where the literal is ill-typed or its datatype is not known."""
    if literal.language is not None:
        if literal.direction is not None:
            return None
        return Value(Space.TEXT, (literal.value, literal.language.lower()))
    return xsd.parse(literal.value, literal.datatype.value)


@cache
def identity(one: Term) -> Hashable:
    """Equal for two terms if and only if they are known to denote the same (XSD identity)."""
    value = value_of(one) if isinstance(one, Literal) else None
    return one if value is None else ("value", value.identity)


def is_ill_typed(literal: Literal) -> bool:
    """True if the datatype is known and the literal has no value of it."""
    if literal.language is None and literal.datatype.value == _XML:
        return not _is_content(literal.value)
    known = literal.language is None and xsd.is_known(literal.datatype.value)
    return known and value_of(literal) is None


def _is_content(text: str) -> bool:
    """Whether a text is the content of an XML element."""
    try:
        ElementTree.fromstring(f"<content>{text}</content>")
    except ElementTree.ParseError:
        return False
    return True


@cache
def belongs(literal: Literal, datatype: Term) -> bool | None:
    """True or False if the literal's value is known to be in the datatype or not; else None."""
    if datatype not in DATATYPES:
        return True if literal.datatype == datatype else None
    if is_ill_typed(literal):
        return False
    if datatype.value == _LITERAL or literal.datatype == datatype:
        return True
    if literal.datatype.value == _XML:
        return False
    value = value_of(literal)
    return None if value is None else _contains(datatype.value, value)


def datatypes_of(literal: Literal) -> Iterator[Term]:
    """The known datatypes that the literal's value is in."""
    return (datatype for datatype in DATATYPES if belongs(literal, datatype))


def _contains(datatype: str, value: Value) -> bool:
    data = value.data
    if datatype in (_PLAIN, _LANG):
        return value.space == Space.TEXT and (datatype == _PLAIN or isinstance(data, tuple))
    if datatype == _XML or isinstance(data, tuple):
        return False
    name = datatype.removeprefix(_XSD)
    if isinstance(data, Decimal):
        if name == "decimal":
            return True
        return data == data.to_integral_value() and _reads(
            f"{data.to_integral_value():f}", value, datatype
        )
    if isinstance(data, Moment):
        same = value.space == Space.DATETIME and name == "dateTimeStamp" and data.offset is not None
        return same or (name[0].lower() + name[1:]) == _space_name(value.space)
    if isinstance(data, str):
        return _reads(data, value, datatype)
    return name == _space_name(value.space)


def _reads(lexical: str, value: Value, datatype: str) -> bool:
    """True if this lexical form has that very value in the datatype."""
    found = xsd.parse(lexical, datatype)
    return found is not None and found.identity == value.identity


def _space_name(space: Space) -> str:
    """The local name of the primitive datatype: G_YEAR is gYear, HEX_BINARY is hexBinary."""
    first, *others = space.name.lower().split("_")
    named = first + "".join(part.capitalize() for part in others)
    return {"datetime": "dateTime", "anyUri": "anyURI"}.get(named, named)
