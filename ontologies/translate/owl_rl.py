"""OWL 2 RL, the rules about axioms: prp-*, cax-*, eq-diff2 and eq-diff3.

Start reading at `translate_axioms`. Every rule of tables 5 to 7 of the W3C's OWL 2 RL/RDF rules is
made for each axiom that fits it, by its id; rules without lists (tables 4 and 9, and constraints
about pairs of classes) are in `schema_rules` unchanged. What an axiom says beyond these rules is
listed as outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, singledispatch
from itertools import combinations, product
from typing import TypeVar

from pyoxigraph import NamedNode

from triplestore.datalog.program import TYPE, Constant, Item, Rule, TripleAtom, Variable
from triplestore.kept_results import kept
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model.vocabulary import DISTINCT_MEMBERS, TARGET_VALUE
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.ontologies.translate.draft import (
    DraftPart,
    RuleDraft,
    X,
    Y,
    Z,
    base_of,
    class_of,
    constant,
    different,
    equal_to,
    is_in,
    is_literal,
    is_nothing,
    related,
    same,
    variant,
)
from triplestore.ontologies.translate.owl_rl_classes import SUB_CLASS, translate_expression
from triplestore.thread_limits import look, needs


def translate_axioms(
    axioms: Iterable[ax.Axiom], draft: RuleDraft, expressions: Iterable[ex.Expression] = ()
) -> None:
    """Put the rules about axioms, and about all expressions in them, into a draft.

    expressions  others that are there, of which no axiom speaks

    >>> from pyoxigraph import NamedNode
    >>> draft = RuleDraft()
    >>> translate_axioms([ax.TransitiveProperty(NamedNode("http://e/p"))], draft)
    >>> print(draft.rules[0])
    rule "prp-trp" <http://e/p>[?x, ?z] :- <http://e/p>[?x, ?y], <http://e/p>[?y, ?z] .
    """
    listed = sorted(axioms, key=_follows_from_others)
    # A node may stand for several: a class with two definitions has the rules of both.
    for expression in dict.fromkeys((*ex.innermost_first(*listed), *expressions)):
        look(expression)
        draft.take(_of_expression(expression))
    for axiom in listed:
        look(axiom)
        draft.take(_of_axiom(axiom))


@kept(ONTOLOGIES.kept_items, DraftPart.size)
def _of_axiom(axiom: ax.Axiom) -> DraftPart:
    """The rules of one axiom; kept, since few axioms of an ontology change at a time."""
    draft = RuleDraft()
    translate_axiom(axiom, draft)
    return draft.part()


@kept(ONTOLOGIES.kept_items, DraftPart.size)
def _of_expression(expression: ex.Expression) -> DraftPart:
    """What one expression gives, except those inside of it."""
    draft = RuleDraft()
    translate_expression(expression, draft)
    return draft.part()


def _follows_from_others(axiom: ax.Axiom) -> bool:
    """Sub-classes and sub-properties also follow from equivalences, which explain more."""
    return isinstance(axiom, ax.SubClassOf | ax.SubPropertyOf)


@singledispatch
def translate_axiom(axiom: ax.Axiom, draft: RuleDraft) -> None:
    """Put the rules about one axiom into a draft; its expressions have theirs."""
    raise TypeError(f"no axiom: {axiom!r}")


# --- classes -------------------------------------------------------------------------------------


@translate_axiom.register
def _sub_class(axiom: ax.SubClassOf, draft: RuleDraft) -> None:
    _below("cax-sco", axiom.sub, axiom.sup, axiom, draft)


@lru_cache(maxsize=1 << 20)
def sub_class_rule(sub: bytes, sup: bytes) -> Rule:
    """cax-sco for two classes with names, given as keys; the same object each time."""
    one, other = Constant(sub), Constant(sup)
    axiom = TripleAtom(one, SUB_CLASS, other)
    body = (TripleAtom(X, TYPE, one),)
    return Rule((TripleAtom(X, TYPE, other),), body, "cax-sco", axioms=(axiom,))


def _below(
    name: str, sub: ex.ClassExpression, sup: ex.ClassExpression, axiom: ax.Axiom, draft: RuleDraft
) -> None:
    """What is in one class is in the other; of owl:Nothing, which has no members, nothing is."""
    if not is_nothing(sub):
        draft.member(name, sup, X, is_in(sub, X), ex.premises_of(axiom))


@translate_axiom.register(ax.EquivalentClasses)
@translate_axiom.register(ax.DatatypeDefinition)
def _equivalent(axiom: ax.EquivalentClasses | ax.DatatypeDefinition, draft: RuleDraft) -> None:
    if class_of(axiom.left) == class_of(axiom.right):
        return  # the name of an expression
    _below("cax-eqc1", axiom.left, axiom.right, axiom, draft)
    _below("cax-eqc2", axiom.right, axiom.left, axiom, draft)


@translate_axiom.register
def _disjoint(axiom: ax.DisjointClasses, draft: RuleDraft) -> None:
    """`schema` has cax-dw."""
    draft.keep(axiom.left, axiom.right)


@translate_axiom.register
def _all_disjoint(axiom: ax.AllDisjointClasses, draft: RuleDraft) -> None:
    draft.keep(*axiom.members)
    for one, other in _pairs(axiom.members):
        draft.pair("cax-adc", class_of(one), class_of(other), axiom.own)


@translate_axiom.register
def _disjoint_union(axiom: ax.DisjointUnion, draft: RuleDraft) -> None:
    """Without a rule; `profile` reports it."""


@translate_axiom.register
def _key(axiom: ax.HasKey, draft: RuleDraft) -> None:
    if not axiom.properties:
        draft.leave(axiom, "a key of no properties would make all members one")
        return
    other = Variable("other")
    premises = ex.premises_of(axiom)
    around = (*is_in(axiom.keyed, X), *is_in(axiom.keyed, other), different(X, other))
    choices: list[list[list[Item]]] = []
    for i, property in enumerate(axiom.properties):
        value, also = Variable(f"value{i}"), Variable(f"also{i}")
        draft.valued.add(base_of(property))
        one = related(property, X, value)
        choices.append([[one, related(property, other, value)]])
        if len(axiom.properties) <= ONTOLOGIES.key_properties:
            choices[-1].append([one, related(property, other, also), variant(value, also)])
    for chosen in product(*choices):
        body = [item for part in chosen for item in part]
        draft.rule("prp-key", same(X, other), [*body, *around], premises)


M = TypeVar("M")

PAIR_BYTES = 600
"""Minimum bytes of the rules about two members of an n-ary axiom."""


def _pairs(members: Sequence[M]) -> Iterator[tuple[M, M]]:
    """Each two members, if there is room for all their rules: n members are n² / 2 pairs, so the
    size is known before the first rule is made."""
    needs(PAIR_BYTES * len(members) * (len(members) - 1) // 2)
    for pair in combinations(members, 2):
        look()
        yield pair


# --- properties ----------------------------------------------------------------------------------


@translate_axiom.register
def _sub_property(axiom: ax.SubPropertyOf, draft: RuleDraft) -> None:
    _implies("prp-spo1", axiom.sub, axiom.sup, axiom, draft)


def _implies(
    name: str,
    sub: ex.PropertyExpression,
    sup: ex.PropertyExpression,
    axiom: ax.Axiom,
    draft: RuleDraft,
    *,
    turned: bool = False,
) -> None:
    head = related(sup, Y, X) if turned else related(sup, X, Y)
    draft.rule(name, head, [related(sub, X, Y)], ex.premises_of(axiom))


@translate_axiom.register
def _chain(axiom: ax.PropertyChain, draft: RuleDraft) -> None:
    if not axiom.chain:
        draft.leave(axiom, "a chain of no properties relates everything to itself")
        return
    steps = [X, *(Variable(f"y{i}") for i in range(1, len(axiom.chain))), Z]
    body = [
        related(property, one, other)
        for property, one, other in zip(axiom.chain, steps, steps[1:], strict=False)
    ]
    draft.rule("prp-spo2", related(axiom.sup, X, Z), body, ex.premises_of(axiom))


@translate_axiom.register
def _equivalent_properties(axiom: ax.EquivalentProperties, draft: RuleDraft) -> None:
    _implies("prp-eqp1", axiom.left, axiom.right, axiom, draft)
    _implies("prp-eqp2", axiom.right, axiom.left, axiom, draft)


@translate_axiom.register
def _inverse(axiom: ax.InverseProperties, draft: RuleDraft) -> None:
    _implies("prp-inv1", axiom.left, axiom.right, axiom, draft, turned=True)
    _implies("prp-inv2", axiom.right, axiom.left, axiom, draft, turned=True)


@translate_axiom.register
def _domain(axiom: ax.PropertyDomain, draft: RuleDraft) -> None:
    draft.member("prp-dom", axiom.domain, X, [related(axiom.property, X, Y)], ex.premises_of(axiom))


@translate_axiom.register
def _range(axiom: ax.PropertyRange, draft: RuleDraft) -> None:
    draft.member("prp-rng", axiom.range, Y, [related(axiom.property, X, Y)], ex.premises_of(axiom))


@translate_axiom.register
def _functional(axiom: ax.FunctionalProperty, draft: RuleDraft) -> None:
    body: list[Item] = [related(axiom.property, X, Y), related(axiom.property, X, Z)]
    body.append(different(Y, Z))
    draft.rule("prp-fp", same(Y, Z), body, ex.premises_of(axiom))


@translate_axiom.register
def _inverse_functional(axiom: ax.InverseFunctionalProperty, draft: RuleDraft) -> None:
    one, other = related(axiom.property, X, Z), Variable("also")
    same_value = (related(axiom.property, Y, other), variant(Z, other))
    for more in ((related(axiom.property, Y, Z),), same_value):
        draft.rule("prp-ifp", same(X, Y), [one, *more, different(X, Y)], ex.premises_of(axiom))
    draft.valued.add(base_of(axiom.property))


@translate_axiom.register
def _symmetric(axiom: ax.SymmetricProperty, draft: RuleDraft) -> None:
    _implies("prp-symp", axiom.property, axiom.property, axiom, draft, turned=True)


@translate_axiom.register
def _transitive(axiom: ax.TransitiveProperty, draft: RuleDraft) -> None:
    body = [related(axiom.property, X, Y), related(axiom.property, Y, Z)]
    draft.rule("prp-trp", related(axiom.property, X, Z), body, ex.premises_of(axiom))


@translate_axiom.register
def _reflexive(axiom: ax.ReflexiveProperty, draft: RuleDraft) -> None:
    """Without a rule; `profile` reports it."""


@translate_axiom.register
def _irreflexive(axiom: ax.IrreflexiveProperty, draft: RuleDraft) -> None:
    message = f"{base_of(axiom.property)} is irreflexive"
    draft.constraint("prp-irp", message, [related(axiom.property, X, X)], ex.premises_of(axiom))


@translate_axiom.register
def _asymmetric(axiom: ax.AsymmetricProperty, draft: RuleDraft) -> None:
    message = f"{base_of(axiom.property)} is asymmetric"
    body = [related(axiom.property, X, Y), related(axiom.property, Y, X)]
    draft.constraint("prp-asyp", message, body, ex.premises_of(axiom))


@translate_axiom.register
def _disjoint_properties(axiom: ax.DisjointProperties, draft: RuleDraft) -> None:
    _no_common("prp-pdw", axiom.left, axiom.right, ex.premises_of(axiom), draft)


@translate_axiom.register
def _all_disjoint_properties(axiom: ax.AllDisjointProperties, draft: RuleDraft) -> None:
    premises = ex.premises_of(axiom)
    for one, other in _pairs(axiom.members):
        _no_common("prp-adp", one, other, premises, draft)


def _no_common(
    name: str,
    one: ex.PropertyExpression,
    other: ex.PropertyExpression,
    premises: tuple[ex.Triple, ...],
    draft: RuleDraft,
) -> None:
    message = f"{base_of(one)} and {base_of(other)} are disjoint"
    draft.constraint(name, message, [related(one, X, Y), related(other, X, Y)], premises)
    body: list[Item] = [related(one, X, Y), related(other, X, Z), variant(Y, Z)]
    draft.constraint(name, message, body, premises)
    draft.valued.update((base_of(one), base_of(other)))


# --- individuals ---------------------------------------------------------------------------------


def all_different_id(axiom: ax.AllDifferent) -> str:
    """The id of the rule that an axiom about different things belongs to, by its predicate."""
    return "eq-diff3" if _has(axiom, DISTINCT_MEMBERS) else "eq-diff2"


@translate_axiom.register
def _all_different(axiom: ax.AllDifferent, draft: RuleDraft) -> None:
    name = all_different_id(axiom)
    for one, other in _pairs(axiom.members):
        draft.pair(name, constant(one), constant(other), axiom.own)


@translate_axiom.register
def _not_related(axiom: ax.NegativePropertyAssertion, draft: RuleDraft) -> None:
    name = "prp-npa2" if _has(axiom, TARGET_VALUE) else "prp-npa1"
    source, target = constant(axiom.source), constant(axiom.target)
    message = f"{base_of(axiom.property)} is denied of {source} and {target}"
    body: list[Item] = [related(axiom.property, source, target)]
    if is_literal(target):
        body = [related(axiom.property, source, Y), *equal_to(Y, target)]
    draft.constraint(name, message, body, ex.premises_of(axiom))


def _has(axiom: ax.Axiom, predicate: NamedNode) -> bool:
    """Whether a triple that states the axiom has a predicate."""
    return any(p == predicate for _, p, _ in axiom.own)


@translate_axiom.register
def _described(axiom: ax.ClassAssertion, draft: RuleDraft) -> None:
    """The type is a fact; its class must be there to have it."""
    draft.keep(axiom.described)


@translate_axiom.register(ax.SameIndividual)
@translate_axiom.register(ax.DifferentIndividuals)
@translate_axiom.register(ax.Deprecated)
def _fact(axiom: ax.Axiom, draft: RuleDraft) -> None:
    """Ordinary facts: `schema_rules` has eq-sym, eq-trans, eq-rep-* and eq-diff1."""
