"""The parts of an ontology that lie outside of OWL 2 EL, axiom by axiom, and what that can cost.

Start reading at `outside_of_el`. Some constructs outside of the profile are used in one direction,
because that is sound: the members of a union are below it, and nothing is in a class and in its
complement. So each reason says what is not inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.translate.draft import Outside

_AXIOMS: dict[type[ax.Axiom], str] = {
    ax.InverseProperties: "inverse properties; super-classes that need the inverse may be missing",
    ax.InverseFunctionalProperty: "inverse functional properties; equal individuals may be missing",
    ax.FunctionalProperty: "functional properties here; super-classes and equal individuals may "
    "be missing",
    ax.SymmetricProperty: "symmetric properties; super-classes that need them may be missing",
    ax.AsymmetricProperty: "asymmetric properties; unsatisfiable classes may be missing",
    ax.IrreflexiveProperty: "irreflexive properties; unsatisfiable classes may be missing",
    ax.DisjointProperties: "disjoint properties; unsatisfiable classes may be missing",
    ax.AllDisjointProperties: "disjoint properties; unsatisfiable classes may be missing",
    ax.HasKey: "rules for keys here; equal individuals may be missing (owl-rl has them)",
    ax.DatatypeDefinition: "rules for definitions of datatypes here; super-classes may be missing",
}
_EXPRESSIONS: dict[type[ex.Expression], str] = {
    ex.AllValuesFrom: "allValuesFrom",
    ex.DatatypeComplementOf: "complements of data ranges",
    ex.DatatypeRestriction: "facets here",
    ex.ExactCardinality: "cardinalities",
    ex.MaxCardinality: "cardinalities",
    ex.MinCardinality: "cardinalities above 1",
    ex.NaryAllValuesFrom: "n-ary data ranges",
    ex.NarySomeValuesFrom: "n-ary data ranges",
    ex.InverseOf: "inverse properties",
}


def outside_of_el(axioms: Iterable[ax.Axiom]) -> Iterator[Outside]:
    """The parts of axioms that `owl-el` has no rule for, each once per axiom.

    >>> from pyoxigraph import NamedNode
    >>> every = ex.AllValuesFrom(NamedNode("http://e/p"), NamedNode("http://e/B"))
    >>> for one in outside_of_el([ax.SubClassOf(NamedNode("http://e/A"), every)]):
    ...     print(one.reason)
    OWL 2 EL has no allValuesFrom: nothing follows from its meaning
    """
    for axiom in axioms:
        reason = _AXIOMS.get(type(axiom))
        if reason is not None:
            yield Outside(axiom, f"OWL 2 EL has no {reason}")
            continue
        found = (reason for part, right in _parts(axiom) for reason in _reasons(part, right))
        for reason in dict.fromkeys(found):
            yield Outside(axiom, reason)


def _parts(axiom: ax.Axiom) -> Iterator[tuple[ex.ClassExpression, bool]]:
    """The class expressions directly in an axiom, and whether they follow from something."""
    match axiom:
        case ax.SubClassOf(sub, sup):
            yield from ((sub, False), (sup, True))
        case ax.EquivalentClasses(left, right):
            yield from ((left, False), (left, True), (right, False), (right, True))
        case ax.DisjointClasses(left, right):
            yield from ((left, False), (right, False))
        case ax.AllDisjointClasses(members):
            yield from ((member, False) for member in members)
        case ax.DisjointUnion(_, operands):
            yield from ((operand, False) for operand in operands)
            yield ex.UnionOf(operands), True
        case ax.PropertyDomain(_, described) | ax.PropertyRange(_, described):
            yield described, True
        case ax.ClassAssertion(described, _):
            yield described, True


def _reasons(part: ex.ClassExpression, right: bool) -> Iterator[str]:
    stack: list[tuple[ex.ClassExpression | ex.PropertyExpression, bool]] = [(part, right)]
    while stack:
        expression, place = stack.pop()
        if not isinstance(expression, ex.Expression):
            continue
        reason = _reason(expression, place)
        if reason:
            yield f"OWL 2 EL has no {reason}"
        stack.extend(_inside(expression, place))


def _reason(expression: ex.Expression, right: bool) -> str:
    kind = type(expression)
    if kind is ex.MinCardinality and getattr(expression, "number", 0) == 1:
        return ""
    if kind in _EXPRESSIONS:
        if kind in (ex.MinCardinality, ex.ExactCardinality):
            return f"{_EXPRESSIONS[kind]}: only the existence of one value is inferred"
        return f"{_EXPRESSIONS[kind]}: nothing follows from its meaning"
    if kind is ex.UnionOf and right:
        return "unions on the right: no case distinction is made"
    if kind is ex.ComplementOf and not right:
        return "complements on the left: nothing is inferred to be in one"
    if kind is ex.OneOf and right:
        return "enumerations on the right here: equal individuals may be missing"
    return ""


def _inside(
    expression: ex.Expression, right: bool
) -> list[tuple[ex.ClassExpression | ex.PropertyExpression, bool]]:
    match expression:
        case ex.IntersectionOf(operands) | ex.UnionOf(operands):
            return [(operand, right) for operand in operands]
        case ex.ComplementOf(operand):
            return [(operand, not right)]
        case ex.SomeValuesFrom(property_, filler):
            return [(filler, right), (property_, right)]
    return []
