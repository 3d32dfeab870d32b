"""The parts of an ontology that lie outside of OWL 2 RL, axiom by axiom.

Start reading at `outside_of`. The profile allows each construct in certain places only: a class
expression may be what something follows from (to the left of ⊑) or what follows (to the right).
Rules are made for all constructs, wherever they stand; but where the profile does not allow one,
that direction has no rule, and this module says so. Nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.translate.draft import Outside

LEFT, RIGHT = "left", "right"
"""Whether something follows from being in a class, or that follows."""

_NAMES: dict[type[ex.Expression], str] = {
    ex.AllValuesFrom: "allValuesFrom",
    ex.ComplementOf: "complements",
    ex.DatatypeComplementOf: "complements of data ranges",
    ex.DatatypeRestriction: "facets",
    ex.ExactCardinality: "exact cardinalities",
    ex.HasSelf: "self restrictions",
    ex.MaxCardinality: "maximum cardinalities",
    ex.MinCardinality: "minimum cardinalities",
    ex.NaryAllValuesFrom: "n-ary data ranges",
    ex.NarySomeValuesFrom: "n-ary data ranges",
    ex.OneOf: "enumerations",
    ex.SomeValuesFrom: "someValuesFrom",
    ex.UnionOf: "unions",
}
_NOWHERE = (
    ex.HasSelf,
    ex.MinCardinality,
    ex.ExactCardinality,
    ex.DatatypeComplementOf,
    ex.DatatypeRestriction,
    ex.NarySomeValuesFrom,
    ex.NaryAllValuesFrom,
)


def outside_of(axioms: Iterable[ax.Axiom]) -> Iterator[Outside]:
    """The parts of axioms that OWL 2 RL has no rule for, each once per axiom.

    >>> from pyoxigraph import NamedNode
    >>> some = ex.SomeValuesFrom(NamedNode("http://e/p"), NamedNode("http://e/B"))
    >>> for one in outside_of([ax.SubClassOf(NamedNode("http://e/A"), some)]):
    ...     print(one.reason)
    OWL 2 RL has no someValuesFrom on the right: nothing follows from being in SomeValuesFrom(...)
    """
    for axiom in axioms:
        if isinstance(axiom, ax.DisjointUnion):
            yield Outside(axiom, "OWL 2 RL has no disjoint unions")
        elif isinstance(axiom, ax.ReflexiveProperty):
            yield Outside(axiom, "OWL 2 RL has no reflexive properties")
        else:
            found = chain.from_iterable(reasons(part, side) for part, side in _parts(axiom))
            for reason in dict.fromkeys(found):
                yield Outside(axiom, reason)


def without_rules(axioms: Iterable[ax.Axiom], wanted: frozenset[str]) -> Iterator[Outside]:
    """The axioms from which none of these rules is made.

    >>> from pyoxigraph import NamedNode
    >>> axiom = ax.ReflexiveProperty(NamedNode("http://e/p"))
    >>> [one.reason for one in without_rules([axiom], frozenset({"cax-sco"}))]
    ['the regime has no rule for it']
    """
    for axiom in axioms:
        ids = _RULES.get(type(axiom), ())
        if type(axiom) not in _FACTS and not any(name in wanted for name in ids):
            yield Outside(axiom, "the regime has no rule for it")


_RULES: dict[type[ax.Axiom], tuple[str, ...]] = {
    ax.SubClassOf: ("cax-sco",),
    ax.EquivalentClasses: ("cax-eqc1",),
    ax.DatatypeDefinition: ("cax-eqc1",),
    ax.DisjointClasses: ("cax-dw",),
    ax.AllDisjointClasses: ("cax-adc",),
    ax.HasKey: ("prp-key",),
    ax.SubPropertyOf: ("prp-spo1",),
    ax.PropertyChain: ("prp-spo2",),
    ax.EquivalentProperties: ("prp-eqp1",),
    ax.DisjointProperties: ("prp-pdw",),
    ax.AllDisjointProperties: ("prp-adp",),
    ax.InverseProperties: ("prp-inv1",),
    ax.PropertyDomain: ("prp-dom",),
    ax.PropertyRange: ("prp-rng",),
    ax.FunctionalProperty: ("prp-fp",),
    ax.InverseFunctionalProperty: ("prp-ifp",),
    ax.IrreflexiveProperty: ("prp-irp",),
    ax.SymmetricProperty: ("prp-symp",),
    ax.AsymmetricProperty: ("prp-asyp",),
    ax.TransitiveProperty: ("prp-trp",),
    ax.AllDifferent: ("eq-diff2",),
    ax.NegativePropertyAssertion: ("prp-npa1",),
}
_FACTS = (ax.SameIndividual, ax.DifferentIndividuals, ax.ClassAssertion, ax.Deprecated)


def _parts(axiom: ax.Axiom) -> Iterator[tuple[ex.ClassExpression, str]]:
    """The class expressions directly in an axiom, and where they stand."""
    match axiom:
        case ax.SubClassOf(sub, sup):
            yield from ((sub, LEFT), (sup, RIGHT))
        case ax.EquivalentClasses(left, right) | ax.DatatypeDefinition(left, right):
            yield from ((left, LEFT), (left, RIGHT), (right, LEFT), (right, RIGHT))
        case ax.DisjointClasses(left, right):
            yield from ((left, LEFT), (right, LEFT))
        case ax.AllDisjointClasses(members):
            yield from ((member, LEFT) for member in members)
        case ax.HasKey(keyed, _):
            yield keyed, LEFT
        case ax.PropertyDomain(_, described) | ax.PropertyRange(_, described):
            yield described, RIGHT
        case ax.ClassAssertion(described, _):
            yield described, RIGHT


def reasons(part: ex.ClassExpression, side: str) -> Iterator[str]:
    """The parts of an expression that have no rule in their place."""
    stack = [(part, side)]
    while stack:
        expression, place = stack.pop()
        if not isinstance(expression, ex.Expression):
            continue
        reason = _reason(expression, place)
        if reason:
            yield reason
        stack.extend(_inside(expression, place))


def _inside(expression: ex.Expression, side: str) -> list[tuple[ex.ClassExpression, str]]:
    other = LEFT if side == RIGHT else RIGHT
    match expression:
        case ex.IntersectionOf(operands) | ex.UnionOf(operands):
            return [(operand, side) for operand in operands]
        case ex.ComplementOf(operand):
            return [(operand, other)]
        case ex.SomeValuesFrom(_, filler) | ex.AllValuesFrom(_, filler):
            return [(filler, side)]
        case ex.MaxCardinality(_, _, filler) if filler is not None:
            return [(filler, other)]
    return []


def _reason(expression: ex.Expression, side: str) -> str:
    kind = type(expression)
    if kind is ex.IntersectionOf or kind is ex.HasValue:
        return ""
    if isinstance(expression, _NOWHERE):
        return f"OWL 2 RL has no {_NAMES[kind]}: {_short(expression)}"
    if isinstance(expression, ex.MaxCardinality) and expression.number > 1:
        return f"of maximum cardinalities OWL 2 RL has 0 and 1: {_short(expression)}"
    if side == RIGHT and isinstance(expression, ex.SomeValuesFrom | ex.UnionOf | ex.OneOf):
        what = f"nothing follows from being in {_short(expression)}"
        return f"OWL 2 RL has no {_NAMES[kind]} on the right: {what}"
    if side == LEFT and isinstance(
        expression, ex.AllValuesFrom | ex.ComplementOf | ex.MaxCardinality
    ):
        what = f"nothing is inferred to be in {_short(expression)}"
        return f"OWL 2 RL has no {_NAMES[kind]} on the left: {what}"
    return ""


def _short(expression: ex.Expression) -> str:
    return f"{type(expression).__name__}(...)"
