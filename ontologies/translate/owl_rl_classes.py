"""OWL 2 RL, the rules about class expressions (cls-*), and what scm-int and scm-uni say of them.

Start reading at `translate_expression`. Each expression is a class, namely its node, as in the
public rules: `C ⊑ ∃p.D` is `C ⊑ _:n` with rules about `_:n`. `unfold` removes these
classes again.
"""

from __future__ import annotations

from functools import singledispatch

from triplestore.datalog.program import TYPE, Constant, Item, TripleAtom, Variable
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.translate.draft import (
    RuleDraft,
    X,
    Y,
    base_of,
    class_of,
    constant,
    different,
    equal_to,
    is_everything,
    is_in,
    is_literal,
    related,
    same,
)
from triplestore.terms.vocabulary import RDFS_SUB_CLASS_OF

SUB_CLASS = Constant.iri(RDFS_SUB_CLASS_OF)


@singledispatch
def translate_expression(expression: ex.Expression, draft: RuleDraft) -> None:
    """Put the rules about one expression (not those inside it) into a draft.

    >>> from pyoxigraph import BlankNode, NamedNode
    >>> p, c = NamedNode("http://e/p"), NamedNode("http://e/C")
    >>> draft = RuleDraft()
    >>> translate_expression(ex.SomeValuesFrom(p, c, node=BlankNode("n")), draft)
    >>> print(draft.rules[0].name, draft.rules[0].heads[0].o, len(draft.rules[0].body))
    cls-svf1 _:n 2
    """
    raise TypeError(f"no class expression: {expression!r}")


@translate_expression.register
def _intersection(expression: ex.IntersectionOf, draft: RuleDraft) -> None:
    body = [item for operand in expression.operands for item in is_in(operand, X)]
    draft.member("cls-int1", expression, X, body, expression.own)
    for operand in expression.operands:
        draft.member("cls-int2", operand, X, is_in(expression, X), expression.own)
        _below("scm-int", expression, operand, expression, draft)


@translate_expression.register
def _union(expression: ex.UnionOf, draft: RuleDraft) -> None:
    for operand in expression.operands:
        draft.member("cls-uni", expression, X, is_in(operand, X), expression.own)
        _below("scm-uni", operand, expression, expression, draft)


def _below(
    name: str,
    sub: ex.ClassExpression,
    sup: ex.ClassExpression,
    said: ex.Expression,
    draft: RuleDraft,
) -> None:
    edge = TripleAtom(class_of(sub), SUB_CLASS, class_of(sup))
    draft.schema_rule(name, edge, said.own)


@translate_expression.register
def _complement(expression: ex.ComplementOf, draft: RuleDraft) -> None:
    body = (*is_in(expression, X), *is_in(expression.operand, X))
    message = f"in {class_of(expression.operand)} and in its complement"
    draft.constraint("cls-com", message, body or _anything(), expression.own)


@translate_expression.register
def _one_of(expression: ex.OneOf, draft: RuleDraft) -> None:
    """A literal is in it by its value, in any spelling."""
    for member in map(constant, expression.members):
        if is_literal(member):
            draft.member("cls-oo", expression, Y, equal_to(Y, member), expression.own)
        else:
            draft.member("cls-oo", expression, member, (), expression.own)


@translate_expression.register
def _some(expression: ex.SomeValuesFrom, draft: RuleDraft) -> None:
    name = "cls-svf2" if is_everything(expression.filler) else "cls-svf1"
    body = (related(expression.property, X, Y), *is_in(expression.filler, Y))
    draft.member(name, expression, X, body, ex.premises_of(expression))


@translate_expression.register
def _all(expression: ex.AllValuesFrom, draft: RuleDraft) -> None:
    body = (*is_in(expression, X), related(expression.property, X, Y))
    draft.member("cls-avf", expression.filler, Y, body, ex.premises_of(expression))


@translate_expression.register
def _has_value(expression: ex.HasValue, draft: RuleDraft) -> None:
    fact = related(expression.property, X, constant(expression.value))
    draft.rule("cls-hv1", fact, is_in(expression, X), ex.premises_of(expression))
    body: tuple[Item, ...] = (fact,)
    if is_literal(constant(expression.value)):
        body = (related(expression.property, X, Y), *equal_to(Y, constant(expression.value)))
    draft.member("cls-hv2", expression, X, body, ex.premises_of(expression))


@translate_expression.register
def _at_most(expression: ex.MaxCardinality, draft: RuleDraft) -> None:
    if expression.number > 1:
        return
    if expression.filler is None:
        at_most(expression, draft, ("cls-maxc1", "cls-maxc2"))
    elif is_everything(expression.filler):
        at_most(expression, draft, ("cls-maxqc2", "cls-maxqc4"))
    else:
        at_most(expression, draft, ("cls-maxqc1", "cls-maxqc3"))


def at_most(
    expression: ex.MaxCardinality | ex.ExactCardinality, draft: RuleDraft, names: tuple[str, str]
) -> None:
    """The rules for none, or one, by their names."""
    filler = expression.filler

    def value(which: Variable) -> tuple[Item, ...]:
        inside = () if filler is None else is_in(filler, which)
        return (related(expression.property, X, which), *inside)

    member = is_in(expression, X)
    if expression.number == 0:
        message = f"a value of {base_of(expression.property)} where there may be none"
        draft.constraint(names[0], message, (*member, *value(Y)), ex.premises_of(expression))
        return
    other = Variable("z")
    body = (*member, *value(Y), *value(other), different(Y, other))
    draft.rule(names[1], same(Y, other), body, ex.premises_of(expression))


def _anything() -> tuple[Item, ...]:
    return (TripleAtom(X, TYPE, Y),)


@translate_expression.register(ex.HasSelf)
@translate_expression.register(ex.MinCardinality)
@translate_expression.register(ex.ExactCardinality)
@translate_expression.register(ex.DatatypeComplementOf)
@translate_expression.register(ex.DatatypeRestriction)
@translate_expression.register(ex.NarySomeValuesFrom)
@translate_expression.register(ex.NaryAllValuesFrom)
def _outside(expression: ex.Expression, draft: RuleDraft) -> None:
    """`profile` says of which axioms they are a part."""


@translate_expression.register(ex.Facet)
@translate_expression.register(ex.InverseOf)
def _no_class(expression: ex.Expression, draft: RuleDraft) -> None:
    """Parts of others: `DatatypeRestriction`, and wherever a property stands."""
