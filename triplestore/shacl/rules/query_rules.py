"""CONSTRUCT queries as rules: start at `bodies_of_pattern`."""

from __future__ import annotations

from itertools import product

from triplestore.datalog.program import Bind, Filter, Item, Not, TripleAtom
from triplestore.errors import ShapesError
from triplestore.expressions.tree import Constant, Exists, Expression, Variable
from triplestore.shacl.rules.rule_parts import RuleParts
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.variables import conjuncts

Body = tuple[Item, ...]


def bodies_of_pattern(node: Node, parts: RuleParts) -> list[Body]:
    """The bodies that together match what a pattern matches: one for each way through UNIONs."""
    match node:
        case sparql.Bgp(patterns):
            return [tuple(TripleAtom(plain(s), plain(p), plain(o)) for s, p, o in patterns)]
        case sparql.Path(subject, path, object_):
            return [tuple(parts.path(path, plain(subject), plain(object_)))]
        case sparql.Join(inner):
            return _joined([bodies_of_pattern(each, parts) for each in inner])
        case sparql.Union(inner):
            return [body for each in inner for body in bodies_of_pattern(each, parts)]
        case sparql.Filter(pattern, condition):
            tests = [_test(each, parts) for each in conjuncts(condition)]
            return _joined([bodies_of_pattern(pattern, parts), *tests])
        case sparql.Extend(pattern, variable, expression):
            bound: Body = (Bind(expression, variable),)
            return _joined([bodies_of_pattern(pattern, parts), [bound]])
        case sparql.Minus(left, right):
            absent: list[Body] = [
                tuple(Not(body) for body in bodies_of_pattern(right, parts)),
            ]
            return _joined([bodies_of_pattern(left, parts), absent])
        case _:
            raise ShapesError(f"its pattern has {type(node).__name__.upper()}")


def _joined(choices: list[list[Body]]) -> list[Body]:
    return [tuple(item for body in chosen for item in body) for chosen in product(*choices)]


def _test(condition: Expression, parts: RuleParts) -> list[Body]:
    if not isinstance(condition, Exists):
        return [(Filter(condition),)]
    bodies = bodies_of_pattern(condition.pattern, parts)
    if condition.negated:
        return [tuple(Not(body) for body in bodies)]
    return bodies


def plain(term: sparql.TermOrVariable) -> Constant | Variable:
    """A term of a pattern, with names of variables as rules have them."""
    if isinstance(term, Variable) and sparql.is_hidden(term):
        return Variable("b_" + "".join(c if c.isalnum() else "_" for c in term.name))
    return term
