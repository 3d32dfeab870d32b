"""Data ranges as conditions on a literal: datatypes, facets, enumerations and their combinations.

Start at `is_within`. Literals have no types as facts, so a rule that asks for one in a data range
needs a filter.
"""

from __future__ import annotations

from functools import reduce

from pyoxigraph import Literal

from triplestore.datalog.functions import SAME_VALUE
from triplestore.datalog.program import Call, Constant, Expression, Variable
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model.expressions import Expression as OwlExpression
from triplestore.ontologies.translate.datatypes import within
from triplestore.ontologies.translate.draft import constant

_COMPARED = {
    "minInclusive": ">=",
    "minExclusive": ">",
    "maxInclusive": "<=",
    "maxExclusive": "<",
}
_LENGTHS = {"length": "=", "minLength": ">=", "maxLength": "<="}


def is_within(range_: ex.ClassExpression, literal: Variable | Constant) -> Expression:
    """Whether a literal is in a data range; ValueError if that cannot be said.

    >>> from pyoxigraph import NamedNode
    >>> integer = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
    >>> is_within(ex.UnionOf((integer, integer)), Variable("x")).function
    '||'
    """
    if not isinstance(range_, OwlExpression):
        return within(literal, constant(range_))
    match range_:
        case ex.IntersectionOf(operands):
            return _all("&&", [is_within(one, literal) for one in operands])
        case ex.UnionOf(operands):
            return _all("||", [is_within(one, literal) for one in operands])
        case ex.ComplementOf(operand) | ex.DatatypeComplementOf(operand):
            other = Call("!", (is_within(operand, literal),))
            return Call("&&", (Call("ISLITERAL", (literal,)), other))
        case ex.OneOf(members):
            return _all("||", [Call(SAME_VALUE, (literal, constant(one))) for one in members])
        case ex.DatatypeRestriction(datatype, facets):
            conditions = [_facet(facet, literal) for facet in facets]
            return _all("&&", [is_within(datatype, literal), *conditions])
    raise ValueError(f"{type(range_).__name__} is not a data range")


def _all(operator: str, parts: list[Expression]) -> Expression:
    if not parts:
        raise ValueError("a data range of nothing")
    return reduce(lambda one, other: Call(operator, (one, other)), parts)


def _facet(facet: ex.Facet, literal: Variable | Constant) -> Expression:
    name = facet.facet.value.rpartition("#")[2]
    value = Constant.of(facet.value)
    if name in _COMPARED:
        return Call(_COMPARED[name], (literal, value))
    text = Call("STR", (literal,))
    if name in _LENGTHS:
        return Call(_LENGTHS[name], (Call("STRLEN", (text,)), value))
    if name == "pattern":  # XSD's patterns are about the whole text
        whole = Literal(f"^(?:{facet.value.value})$")
        return Call("REGEX", (text, Constant.of(whole)))
    if name == "langRange":
        return Call("LANGMATCHES", (Call("LANG", (literal,)), value))
    raise ValueError(f"the facet {name} is not supported")
