"""Datatypes as classes of literals: which literal is in which, as expressions of rules.

Start reading at `within`. Literals are in a datatype by their values, whatever datatype they are
written with: 1.0 is an integer. So nothing is inferred about a literal: a body that asks whether
one is in a datatype has a filter, and a head that would put one there is a constraint.
"""

from __future__ import annotations

from triplestore.datalog.functions import IN_DATATYPE
from triplestore.datalog.program import Call, Constant, Expression, Variable
from triplestore.terms.values.xsd import INTEGER_RANGES, MAPPINGS
from triplestore.terms.vocabulary import (
    RDF_HTML,
    RDF_LANG_STRING,
    RDF_PLAIN_LITERAL,
    RDF_XML_LITERAL,
    RDFS_LITERAL,
    XSD,
)

DATATYPES = frozenset(
    Constant.iri(name)
    for name in (*MAPPINGS, RDF_XML_LITERAL, RDF_HTML, RDF_PLAIN_LITERAL, RDFS_LITERAL)
)
"""The datatypes whose values are known, or that a literal has only if it says so."""


_OTHERS = ("gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")
OWL_DATATYPES = frozenset(
    one
    for one in DATATYPES
    if not str(one).endswith(tuple(f"#{name}>" for name in (*_OTHERS, "HTML", "langString")))
    and "uration" not in str(one)
    and not str(one).endswith(("#date>", "#time>"))
)
"""The datatypes of OWL 2 RL."""


def is_datatype(class_: Constant) -> bool:
    """Whether the members of a class are known to be literals of certain values."""
    return class_ in DATATYPES


_SAME_SPACE = (
    frozenset(INTEGER_RANGES) | {"decimal"},
    frozenset(["string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN"]),
    frozenset(("dateTime", "dateTimeStamp")),
    frozenset(("duration", "yearMonthDuration", "dayTimeDuration")),
)


def are_apart(one: Constant, other: Constant) -> bool:
    """Whether two known datatypes have no value in common, because their values are of two kinds.

    >>> string, token, byte = (Constant.iri(XSD + name) for name in ("string", "token", "byte"))
    >>> are_apart(string, byte), are_apart(string, token)
    (True, False)
    """
    names = [str(term)[1:-1].removeprefix(XSD) for term in (one, other)]
    texts = {*_SAME_SPACE[1], RDF_PLAIN_LITERAL, RDF_LANG_STRING}
    if RDFS_LITERAL in names or names[0] == names[1]:
        return False
    if RDF_PLAIN_LITERAL in names and texts.issuperset(names):
        return False
    return not any(space.issuperset(names) for space in _SAME_SPACE)


def within(member: Variable | Constant, datatype: Constant) -> Expression:
    """Whether a literal is in a datatype, as an expression that is never an error."""
    return Call(IN_DATATYPE, (member, datatype))


def outside_of(member: Variable | Constant, datatype: Constant) -> Expression:
    """Whether a literal is not in a datatype; other terms do not matter."""
    return Call("&&", (Call("ISLITERAL", (member,)), Call("!", (within(member, datatype),))))
