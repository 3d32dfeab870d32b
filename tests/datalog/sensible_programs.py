"""Random programs that have a meaning: safe, mostly stratifiable, with an end; and facts for them.

Every shape that simplification has to do with occurs often: negations with local variables, with
several atoms, with filters and binds over variables of the body around; aggregates alone, beside
other atoms, with filters and negations inside; several heads; constraints; variable properties.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
)
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.tree import Expression, substitute

XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
OUTER = [Variable(name) for name in "xyzw"]
LOCAL = [Variable(name) for name in "uvt"]
A, B = map(Variable, "ab")


def iri(name: str) -> Constant:
    return Constant.iri(f"http://e/{name}")


def integer(value: int) -> Constant:
    return Constant(f'\x05{value}"^^<{XSD_INTEGER}>'.encode())


VALUES = [iri("a"), iri("b"), iri("c"), integer(1), integer(2), integer(3)]
TESTS = [
    parse_expression(text) for text in ("?a < ?b", "?a != ?b", "?a = ?b", "?a > 1", "ISIRI(?a)")
]
# each has few values, so that recursion through them ends
COMPUTED = [
    parse_expression(text)
    for text in ("IF(?a = ?b, 1, 2)", "IF(?a < 2, ?a + 1, 1)", "STRLEN(STR(?a))", "?a")
]


class Maker:
    """One random program after the other, from one source of chance."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.wild = source.random() < 0.25
        self.negation = source.choice([0.0, 0.3, 0.6])
        self.layered = source.random() < 0.6  # negations and aggregates look at data only

    def program(self) -> Program:
        source = self.source
        rules = [self.rule() for _ in range(source.randint(1, 6))]
        constraints = [
            Constraint(f"c{i}", "", self.body()[0]) for i in range(source.choice([0, 0, 1, 2]))
        ]
        return Program(rules, constraints)

    def facts(self) -> list[Atom]:
        source = self.source

        def fact() -> Atom:
            return self.atom([], 1).map(lambda t: t)

        return [fact() for _ in range(source.randint(3, 14))]

    def rule(self) -> Rule:
        source = self.source
        if source.random() < 0.08:
            return Rule((self.atom([], 1),))
        if source.random() < 0.15:
            return self.aggregate_rule()
        body, bound = self.body()
        count = 2 if source.random() < 0.15 else 1
        return Rule(tuple(self.atom(bound, 0.15, head=True) for _ in range(count)), body)

    def aggregate_rule(self) -> Rule:
        """The shape that is simple already: the head has the groups and results."""
        while True:
            item = self.aggregate()
            columns = [*item.groups, *(one.variable for one in item.results)]
            if len(columns) == 2:
                return Rule((TripleAtom(columns[0], iri("p"), columns[1]),), (item,))
            if len(columns) > 2:
                return Rule((TupleAtom(iri("r"), tuple(columns[:3])),), (item,))

    def body(self) -> tuple[tuple[Item, ...], list[Variable]]:
        source = self.source
        items: list[Item] = [self.atom(OUTER, 0.1) for _ in range(source.randint(1, 3))]
        if source.random() < 0.2:
            items.append(self.aggregate())
        bound = list(dict.fromkeys(bound_by(items)))
        if source.random() < 0.25 and bound:
            made = Variable("made")
            items.append(Bind(self.expression(COMPUTED, bound), made))
            bound.append(made)
        if source.random() < 0.25 and bound:
            items.append(Filter(self.expression(TESTS, bound)))
        while source.random() < self.negation:
            items.append(self.negation_beside(bound))
        source.shuffle(items)
        return tuple(items), bound

    def negation_beside(self, bound: Sequence[Variable]) -> Not:
        """A negation in a body that binds these variables."""
        source = self.source
        if source.random() < 0.3:
            return Not((self.atom(bound, 0.2, low=True),))
        names = [*bound, *LOCAL]
        items: list[Item] = [
            self.atom(names, 0.1, low=True) for _ in range(source.choice([1, 1, 1, 2]))
        ]
        inner = list(dict.fromkeys(bound_by(items)))
        both = list(dict.fromkeys([*inner, *bound]))
        if both and source.random() < 0.5:
            items.append(Filter(self.expression(TESTS, both)))
        if both and source.random() < 0.2:
            items.append(Bind(self.expression(COMPUTED, both), Variable("inside")))
            items.append(Filter(self.expression(TESTS, [*both, Variable("inside")])))
        source.shuffle(items)
        return Not(tuple(items))

    def aggregate(self) -> Aggregate:
        source = self.source
        names = [source.choice(OUTER), *LOCAL]
        items: list[Item] = [
            self.atom(names, 0.1, low=True) for _ in range(source.choice([1, 1, 2]))
        ]
        inner = list(dict.fromkeys(bound_by(items)))
        if inner and source.random() < 0.3:
            items.append(Filter(self.expression(TESTS, inner)))
        if inner and source.random() < 0.4 * bool(self.negation):
            negated = self.atom([*inner, Variable("far")], 0.1, low=True)
            items.append(Not((negated,)))
        groups = tuple(v for v in inner if v in OUTER or source.random() < 0.2)
        rest = [v for v in inner if v not in groups]
        results = [self.result(Variable(f"n{i}"), rest) for i in range(source.choice([1, 1, 2]))]
        return Aggregate(tuple(items), groups, tuple(results))

    def result(self, variable: Variable, inner: Sequence[Variable]) -> Result:
        source = self.source
        if not inner or source.random() < 0.3:
            return Result("count", None, variable)
        function = source.choice(["count", "min", "max", "sum", "sample"])
        return Result(function, source.choice(inner), variable, source.random() < 0.3)

    def expression(self, among: Sequence[Expression], over: Sequence[Variable]) -> Expression:
        source = self.source
        return substitute(source.choice(among), {A: source.choice(over), B: source.choice(over)})

    def atom(
        self, over: Sequence[Variable], constants: float, head: bool = False, low: bool = False
    ) -> Atom:
        """An atom over some variables, or with constants; `low`: inside what has to be complete."""
        source = self.source

        def term() -> Term:
            if not over or source.random() < constants:
                return source.choice(VALUES)
            return source.choice(over)

        def name(derived: str, given: str) -> Constant:
            if self.layered and head:
                return iri(source.choice(derived))
            return iri(source.choice(given if self.layered and low else derived + given))

        way = source.random()
        if self.wild and over and way < 0.1 and not (self.layered and (head or low)):
            return TripleAtom(term(), TYPE if way < 0.04 else source.choice(over), term())
        if way < 0.2:
            return TupleAtom(name("r", "o"), (term(), term(), term()))
        if way < 0.5:
            return TripleAtom(term(), TYPE, name("ABC", "DE"))
        return TripleAtom(term(), name("pq", "st"), term())
