"""The parts of an ontology that lie outside of OWL 2 RL, axiom by axiom.

Start reading at `outside_of`. The profile allows each construct in certain places only: a class
expression may be what something follows from (to the left of ⊑) or what follows (to the right).
Rules are made for all constructs, wherever they stand; but where the profile does not allow one,
that direction has no rule, and this module says so. Nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from triplestore.ontologies.model.axioms import (
    AllDifferent,
    AllDisjointClasses,
    AllDisjointProperties,
    AsymmetricProperty,
    Axiom,
    ClassAssertion,
    DatatypeDefinition,
    Deprecated,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    EquivalentClasses,
    EquivalentProperties,
    FunctionalProperty,
    HasKey,
    InverseFunctionalProperty,
    InverseProperties,
    IrreflexiveProperty,
    NegativePropertyAssertion,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    ReflexiveProperty,
    SameIndividual,
    SubClassOf,
    SubPropertyOf,
    SymmetricProperty,
    TransitiveProperty,
)
from triplestore.ontologies.model.expressions import (
    AllValuesFrom,
    ClassExpression,
    ComplementOf,
    DatatypeComplementOf,
    DatatypeRestriction,
    ExactCardinality,
    Expression,
    HasSelf,
    HasValue,
    IntersectionOf,
    MaxCardinality,
    MinCardinality,
    NaryAllValuesFrom,
    NarySomeValuesFrom,
    OneOf,
    SomeValuesFrom,
    UnionOf,
)
from triplestore.ontologies.translate.draft import Outside

LEFT, RIGHT = "left", "right"
"""Whether something follows from being in a class, or that follows."""

_NAMES: dict[type[Expression], str] = {
    AllValuesFrom: "allValuesFrom",
    ComplementOf: "complements",
    DatatypeComplementOf: "complements of data ranges",
    DatatypeRestriction: "facets",
    ExactCardinality: "exact cardinalities",
    HasSelf: "self restrictions",
    MaxCardinality: "maximum cardinalities",
    MinCardinality: "minimum cardinalities",
    NaryAllValuesFrom: "n-ary data ranges",
    NarySomeValuesFrom: "n-ary data ranges",
    OneOf: "enumerations",
    SomeValuesFrom: "someValuesFrom",
    UnionOf: "unions",
}
_NOWHERE = (
    HasSelf,
    MinCardinality,
    ExactCardinality,
    DatatypeComplementOf,
    DatatypeRestriction,
    NarySomeValuesFrom,
    NaryAllValuesFrom,
)


def outside_of(axioms: Iterable[Axiom]) -> Iterator[Outside]:
    """The parts of axioms that OWL 2 RL has no rule for, each once per axiom.

    >>> from pyoxigraph import NamedNode
    >>> some = SomeValuesFrom(NamedNode("http://e/p"), NamedNode("http://e/B"))
    >>> for one in outside_of([SubClassOf(NamedNode("http://e/A"), some)]):
    ...     print(one.reason)
    OWL 2 RL has no someValuesFrom on the right: nothing follows from being in SomeValuesFrom(...)
    """
    for axiom in axioms:
        if isinstance(axiom, DisjointUnion):
            yield Outside(axiom, "OWL 2 RL has no disjoint unions")
        elif isinstance(axiom, ReflexiveProperty):
            yield Outside(axiom, "OWL 2 RL has no reflexive properties")
        else:
            found = chain.from_iterable(reasons(part, side) for part, side in _parts(axiom))
            for reason in dict.fromkeys(found):
                yield Outside(axiom, reason)


def without_rules(axioms: Iterable[Axiom], wanted: frozenset[str]) -> Iterator[Outside]:
    """The axioms from which none of these rules is made.

    >>> from pyoxigraph import NamedNode
    >>> axiom = ReflexiveProperty(NamedNode("http://e/p"))
    >>> [one.reason for one in without_rules([axiom], frozenset({"cax-sco"}))]
    ['the regime has no rule for it']
    """
    for axiom in axioms:
        ids = _RULES.get(type(axiom), ())
        if type(axiom) not in _FACTS and not any(name in wanted for name in ids):
            yield Outside(axiom, "the regime has no rule for it")


_RULES: dict[type[Axiom], tuple[str, ...]] = {
    SubClassOf: ("cax-sco",),
    EquivalentClasses: ("cax-eqc1",),
    DatatypeDefinition: ("cax-eqc1",),
    DisjointClasses: ("cax-dw",),
    AllDisjointClasses: ("cax-adc",),
    HasKey: ("prp-key",),
    SubPropertyOf: ("prp-spo1",),
    PropertyChain: ("prp-spo2",),
    EquivalentProperties: ("prp-eqp1",),
    DisjointProperties: ("prp-pdw",),
    AllDisjointProperties: ("prp-adp",),
    InverseProperties: ("prp-inv1",),
    PropertyDomain: ("prp-dom",),
    PropertyRange: ("prp-rng",),
    FunctionalProperty: ("prp-fp",),
    InverseFunctionalProperty: ("prp-ifp",),
    IrreflexiveProperty: ("prp-irp",),
    SymmetricProperty: ("prp-symp",),
    AsymmetricProperty: ("prp-asyp",),
    TransitiveProperty: ("prp-trp",),
    AllDifferent: ("eq-diff2",),
    NegativePropertyAssertion: ("prp-npa1",),
}
_FACTS = (SameIndividual, DifferentIndividuals, ClassAssertion, Deprecated)


def _parts(axiom: Axiom) -> Iterator[tuple[ClassExpression, str]]:
    """The class expressions directly in an axiom, and where they stand."""
    match axiom:
        case SubClassOf(sub, sup):
            yield from ((sub, LEFT), (sup, RIGHT))
        case EquivalentClasses(left, right) | DatatypeDefinition(left, right):
            yield from ((left, LEFT), (left, RIGHT), (right, LEFT), (right, RIGHT))
        case DisjointClasses(left, right):
            yield from ((left, LEFT), (right, LEFT))
        case AllDisjointClasses(members):
            yield from ((member, LEFT) for member in members)
        case HasKey(keyed, _):
            yield keyed, LEFT
        case PropertyDomain(_, described) | PropertyRange(_, described):
            yield described, RIGHT
        case ClassAssertion(described, _):
            yield described, RIGHT


def reasons(part: ClassExpression, side: str) -> Iterator[str]:
    """The parts of an expression that have no rule in their place."""
    stack = [(part, side)]
    while stack:
        expression, place = stack.pop()
        if not isinstance(expression, Expression):
            continue
        reason = _reason(expression, place)
        if reason:
            yield reason
        stack.extend(_inside(expression, place))


def _inside(expression: Expression, side: str) -> list[tuple[ClassExpression, str]]:
    other = LEFT if side == RIGHT else RIGHT
    match expression:
        case IntersectionOf(operands) | UnionOf(operands):
            return [(operand, side) for operand in operands]
        case ComplementOf(operand):
            return [(operand, other)]
        case SomeValuesFrom(_, filler) | AllValuesFrom(_, filler):
            return [(filler, side)]
        case MaxCardinality(_, _, filler) if filler is not None:
            return [(filler, other)]
    return []


def _reason(expression: Expression, side: str) -> str:
    kind = type(expression)
    if kind is IntersectionOf or kind is HasValue:
        return ""
    if isinstance(expression, _NOWHERE):
        return f"OWL 2 RL has no {_NAMES[kind]}: {_short(expression)}"
    if isinstance(expression, MaxCardinality) and expression.number > 1:
        return f"of maximum cardinalities OWL 2 RL has 0 and 1: {_short(expression)}"
    if side == RIGHT and isinstance(expression, SomeValuesFrom | UnionOf | OneOf):
        what = f"nothing follows from being in {_short(expression)}"
        return f"OWL 2 RL has no {_NAMES[kind]} on the right: {what}"
    if side == LEFT and isinstance(expression, AllValuesFrom | ComplementOf | MaxCardinality):
        what = f"nothing is inferred to be in {_short(expression)}"
        return f"OWL 2 RL has no {_NAMES[kind]} on the left: {what}"
    return ""


def _short(expression: Expression) -> str:
    return f"{type(expression).__name__}(...)"
