"""Programs below and above an ontology of OWL 2 DL, as the papers' experiments use them.

Start reading at `lower_bound` and `upper_bound`. The lower bound is what OWL 2 RL has rules for,
with some further sound rules; all that follows from it follows from the ontology. The upper bound
replaces what rules cannot say by something stronger: a value that must exist is one new constant
for all, a choice is all of its members, a condition that cannot be tested is taken to hold. So what
does not follow from it does not follow from the ontology; what follows from it may not, and must
not be taken for an answer. Both list what they left out or replaced, axiom by axiom. Their programs
have no blank nodes, so that they can be given to a store as rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from pyoxigraph import BlankNode

from triplestore.data_classes import data_class
from triplestore.datalog.program import (
    TYPE,
    Constant,
    Constraint,
    Item,
    Program,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.translate.draft import (
    SAME_AS,
    Outside,
    RuleDraft,
    X,
    Y,
    Z,
    class_of,
    constant,
    different,
    is_in,
    related,
    same,
    triple,
)
from triplestore.ontologies.translate.owl_rl import translate_axioms
from triplestore.ontologies.translate.owl_rl_classes import at_most
from triplestore.ontologies.translate.regimes import descriptions
from triplestore.ontologies.translate.schema_rules import EQUALITY, vocabulary_rules
from triplestore.ontologies.translate.unfold import unfold
from triplestore.terms import BLANK
from triplestore.terms import Term as OwlTerm

from .profile import outside_of

AnyClause = TypeVar("AnyClause", Rule, Constraint)

NODES = "x-triplestore:node/"
"""Names instead of blank nodes."""

FRESH = "x-triplestore:some/"
"""Names of the constants that stand for values that must exist."""


@data_class
class Bound:
    """A program that is a bound of an ontology.

    upper    whether it is an upper bound: then its conclusions are not answers
    outside  what was left out (of a lower bound) or replaced (in an upper one), and why
    """

    program: Program
    upper: bool
    outside: tuple[Outside, ...] = ()


def lower_bound(ontology: Ontology) -> Bound:
    """Rules whose conclusions are all entailed.

    >>> from pyoxigraph import NamedNode
    >>> p = NamedNode("http://e/p")
    >>> print(lower_bound(Ontology((ax.ReflexiveProperty(p),))).program.rules[0].name)
    L reflexive
    """
    draft = _sound_rules(ontology)
    left = [one for one in outside_of(ontology.axioms) if not _is_covered(one)]
    return _bound(draft, False, left)


def upper_bound(ontology: Ontology) -> Bound:
    """Rules from which all entailed facts of named individuals follow, and more.

    >>> from pyoxigraph import BlankNode, NamedNode
    >>> a, b, p = (NamedNode(f"http://e/{name}") for name in "abp")
    >>> axiom = ax.SubClassOf(a, ex.SomeValuesFrom(p, b, node=BlankNode("n")))
    >>> bound = upper_bound(Ontology((axiom,)))
    >>> made = [rule.name for rule in bound.program.rules if rule.name.startswith("U")]
    >>> bound.upper, "U some, cax-sco" in made
    (True, True)
    """
    draft = _sound_rules(ontology)
    for expression in _all_descriptions(ontology):
        _above(expression, draft)
    _tell_demands_apart(ontology, draft)
    return _bound(draft, True, list(outside_of(ontology.axioms)))


def _bound(draft: RuleDraft, upper: bool, outside: list[Outside]) -> Bound:
    loose = dict.fromkeys(term for rule in draft.rules for term in _blank_classes(rule))
    rules, constraints = unfold(draft.rules, draft.constraints, loose)
    if any(head.terms[1:2] == (SAME_AS,) for rule in rules for head in rule.heads):
        rules += vocabulary_rules(EQUALITY).rules
    program = Program(
        [_named(rule) for rule in (*draft.schema, *rules)],
        [_named(constraint) for constraint in constraints],
    )
    return Bound(program, upper, (*outside, *draft.outside))


def _blank_classes(rule: Rule) -> Iterator[Constant]:
    for atom in (*rule.heads, *rule.atoms):
        if not isinstance(atom, TripleAtom) or atom.p != TYPE:
            continue
        if isinstance(atom.o, Constant) and atom.o.kind == BLANK:
            yield atom.o


def _named(clause: AnyClause) -> AnyClause:
    """A rule or constraint with names instead of blank nodes."""

    def name(term: Term) -> Term:
        if isinstance(term, Constant) and term.kind == BLANK:
            return Constant.iri(NODES + term.key[1:].decode())
        return term

    body = tuple(
        item.map(name) if isinstance(item, TripleAtom | TupleAtom) else item for item in clause.body
    )
    if isinstance(clause, Rule):
        return replace(clause, heads=tuple(head.map(name) for head in clause.heads), body=body)
    return replace(clause, body=body)


def _all_descriptions(ontology: Ontology) -> list[ex.Description]:
    found = dict.fromkeys((*ex.innermost_first(*ontology.axioms), *ontology.expressions))
    return [one for one in found if isinstance(one, ex.Description) and one.node is not None]


# -- what is sound beyond OWL 2 RL ----------------------------------------------------------------


def _sound_rules(ontology: Ontology) -> RuleDraft:
    """The rules that both bounds have."""
    draft = RuleDraft()
    translate_axioms(ontology.axioms, draft, descriptions(ontology))
    for axiom in ontology.axioms:
        _sound_axiom(axiom, draft)
    for expression in _all_descriptions(ontology):
        _sound(expression, draft)
    return draft


def _sound_axiom(axiom: ax.Axiom, draft: RuleDraft) -> None:
    match axiom:
        case ax.ReflexiveProperty(property):
            draft.rule("L reflexive", related(property, X, X), (), axiom.triples)
        case ax.DisjointUnion(union, operands):
            for place, operand in enumerate(operands):
                draft.member("L disjoint union", union, X, is_in(operand, X), axiom.own)
                for other in operands[:place]:
                    draft.constraint(
                        "L disjoint union",
                        f"in {class_of(operand)} and in {class_of(other)}",
                        (*is_in(operand, X), *is_in(other, X)),
                        axiom.own,
                    )
        case ax.PropertyChain(chain, sup) if not chain:
            draft.rule("L chain", related(sup, X, X), (), axiom.triples)


def _sound(expression: ex.Description, draft: RuleDraft) -> None:
    member = is_in(expression, X)
    match expression:
        case ex.HasSelf(property):
            fact = related(property, X, X)
            draft.rule("L self", fact, member, expression.own)
            draft.member("L self", expression, X, (fact,), expression.own)
        case ex.MinCardinality(number, property, filler) if number <= 1:
            inside = () if filler is None else is_in(filler, Y)
            body = (related(property, X, Y), *inside) if number else ()
            draft.member("L minimum", expression, X, body, expression.own)
        case ex.ExactCardinality(number) if number <= 1:
            at_most(expression, draft, ("L exact", "L exact"))


_COVERED = ("disjoint unions", "reflexive properties", "self restrictions")


def _is_covered(outside: Outside) -> bool:
    return any(name in outside.reason for name in _COVERED)


# -- what is above --------------------------------------------------------------------------------


def _tell_demands_apart(ontology: Ontology, draft: RuleDraft) -> None:
    """Conclude nothing from members that are in an expression by its own definition.

    What is in A ⊔ B because it is in A need not be in B. So each expression has two classes: one
    for all members, and one for members that other axioms and expressions demand; conclusions of
    the expression are about the second.
    """
    own: dict[Constant, tuple[TripleAtom, ...] | None] = {}
    for one in _all_descriptions(ontology):
        if isinstance(one.node, BlankNode) and class_of(one) not in draft.kept:
            class_ = class_of(one)  # with two descriptions it is like a name
            own[class_] = None if class_ in own else tuple(map(triple, one.own))
    said = {axioms: class_ for class_, axioms in own.items() if axioms}
    rules: list[Rule] = []
    for rule in draft.rules:
        about = said.get(rule.axioms)
        made = rule if about is None else replace(rule, body=_demanding(rule.body, about))
        rules.append(made)
        head = made.heads[0]
        if not isinstance(head, TripleAtom) or not isinstance(head.o, Constant):
            continue
        if head.p == TYPE and own.get(head.o) not in (None, made.axioms):
            demanded = TripleAtom(head.s, TYPE, _demanded(head.o))
            rules.append(replace(made, heads=(demanded,)))
    draft.rules[:] = rules
    draft.constraints[:] = [
        replace(one, body=_demanding(one.body, said[one.axioms])) if one.axioms in said else one
        for one in draft.constraints
    ]


def _demanded(class_: Constant) -> Constant:
    return Constant(class_.key + b"-demanded")


def _demanding(body: tuple[Item, ...], class_: Constant) -> tuple[Item, ...]:
    return tuple(
        TripleAtom(item.s, TYPE, _demanded(class_))
        if isinstance(item, TripleAtom) and item.p == TYPE and item.o == class_
        else item
        for item in body
    )


def _above(expression: ex.Description, draft: RuleDraft) -> None:
    """More than the expression says, wherever rules cannot say exactly that."""
    member = is_in(expression, X)
    match expression:
        case ex.SomeValuesFrom(property, filler):
            _exists("U some", expression, property, filler, member, draft)
        case ex.MinCardinality(number, property, filler) if number > 0:
            _exists("U minimum", expression, property, filler, member, draft)
            if number > 1:
                inside = () if filler is None else is_in(filler, Y)
                body = (related(property, X, Y), *inside)
                draft.member("U minimum", expression, X, body, expression.own)
        case ex.ExactCardinality(number, property, filler):
            if number > 0:
                _exists("U exact", expression, property, filler, member, draft)
            if number > 1:
                _one(expression, property, filler, member, draft)
            draft.member("U exact", expression, X, (), expression.own)
        case ex.MaxCardinality(number, property, filler):
            if number > 1:
                _one(expression, property, filler, member, draft)
            draft.member("U maximum", expression, X, (), expression.own)
        case ex.UnionOf(operands):
            for operand in operands:
                draft.member("U union", operand, X, member, expression.own)
        case ex.OneOf(members):
            for name in members:
                draft.rule("U one of", _same_as(name), member, expression.own)
        case ex.NarySomeValuesFrom() | ex.DatatypeRestriction() | ex.DatatypeComplementOf():
            draft.member("U data", expression, X, (), expression.own)
        case ex.AllValuesFrom() | ex.ComplementOf() | ex.NaryAllValuesFrom():
            draft.member("U condition", expression, X, (), expression.own)


def _same_as(individual: OwlTerm) -> TripleAtom:
    """?x is the same as an individual."""
    return TripleAtom(X, SAME_AS, constant(individual))


def _exists(
    name: str,
    expression: ex.Description,
    property: ex.PropertyExpression,
    filler: ex.ClassExpression | None,
    member: tuple[Item, ...],
    draft: RuleDraft,
) -> None:
    """A value in the filler: the same one for everything in the expression."""
    assert expression.node is not None
    value = Constant.iri(FRESH + expression.node.value)
    draft.rule(name, related(property, X, value), member, expression.own)
    if filler is not None:
        draft.member(name, filler, value, member, expression.own)


def _one(
    expression: ex.Description,
    property: ex.PropertyExpression,
    filler: ex.ClassExpression | None,
    member: tuple[Item, ...],
    draft: RuleDraft,
) -> None:
    """All values are one, where there may be several but not any number."""

    def value(which: Variable) -> tuple[Item, ...]:
        inside = () if filler is None else is_in(filler, which)
        return (related(property, X, which), *inside)

    body = (*member, *value(Y), *value(Z), different(Y, Z))
    draft.rule("U maximum", same(Y, Z), body, expression.own)
