"""Whether the triple terms that a rule makes are finitely many.

Start at `unlimited_triples`. Only the object of a triple term may be a triple term again, so a rule
that uses its own conclusions ends if it makes triple terms of objects that are none: a constant, or
a variable that a FILTER limits. Then there are at most as many as there are triples of the terms of
the data and the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from triplestore.datalog.items import Bind, Term
from triplestore.datalog.rules import Rule
from triplestore.expressions.tree import Call, Constant, Expression, Variable

_PARTS = ("SUBJECT", "PREDICATE", "OBJECT")
_OTHERS = ("ISIRI", "ISBLANK", "ISLITERAL", "ISNUMERIC")
"""Tests that no triple term passes."""


def is_part(expression: Expression) -> bool:
    """True for a part of a triple term, which is not a new value.

    >>> is_part(Call("SUBJECT", (Variable("t"),)))
    True
    """
    return (
        isinstance(expression, Call)
        and expression.function in _PARTS
        and all(isinstance(part, Variable) or is_part(part) for part in expression.arguments)
    )


def unlimited_triples(rule: Rule, settled: Collection[Term]) -> Bind | None:
    """A BIND of a triple term that is made of any object; None if there is none.

    settled  terms of atoms that do not depend on the rule
    """
    limited = _limited(rule).union(term for term in settled if isinstance(term, Variable))
    for bind in _made_triples(rule):
        assert isinstance(bind.expression, Call)
        inner = bind.expression.arguments[2]
        if isinstance(inner, Variable) and inner not in limited:
            return bind
    return None


def limited_triples(rule: Rule) -> set[Variable]:
    """The variables for triple terms of terms that are not computed."""
    computed = {bind.variable for bind in rule.binds if not is_part(bind.expression)}
    found: set[Variable] = set()
    for bind in _made_triples(rule):
        assert isinstance(bind.expression, Call)
        parts = bind.expression.arguments
        if all(isinstance(p, Variable | Constant) and p not in computed for p in parts):
            found.add(bind.variable)
    return found


def _made_triples(rule: Rule) -> Iterator[Bind]:
    for bind in rule.binds:
        if isinstance(bind.expression, Call) and bind.expression.function == "TRIPLE":
            yield bind


def _limited(rule: Rule) -> set[Variable]:
    """The variables that do not nest without end: by a FILTER they are not triple terms, or they
    are made of such variables."""
    limited: set[Variable] = set()
    for item in rule.filters:
        for one in _conjuncts(item.expression):
            if not isinstance(one, Call):
                continue
            inner = one.arguments[0] if one.arguments else None
            if one.function == "!" and isinstance(inner, Call) and inner.function == "ISTRIPLE":
                limited.update(part for part in inner.arguments if isinstance(part, Variable))
            if one.function in _OTHERS and isinstance(inner, Variable):
                limited.add(inner)
    for bind in rule.binds:
        expression = bind.expression
        if isinstance(expression, Call) and expression.function in ("SUBJECT", "PREDICATE"):
            limited.add(bind.variable)
    for bind in _made_triples(rule):  # in their order: inner ones come first
        assert isinstance(bind.expression, Call)
        inner = bind.expression.arguments[2]
        if not isinstance(inner, Variable) or inner in limited:
            limited.add(bind.variable)
    return limited


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "&&":
        for part in expression.arguments:
            yield from _conjuncts(part)
    else:
        yield expression
