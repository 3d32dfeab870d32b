"""Rules but for the names of their variables.

Start at `signature`: two rules have the same one exactly if their `canonical` forms are equal. The
names of variables are replaced by numbers in the order in which they come; those that are local to
a negation or an aggregate are numbered there, so that the same name in two negations is no link
between them. `apart` gives such variables names of their own.

What is always true: the order of heads and of body items counts. A signature costs about 3 us for
a short rule the first time, a canonical form three times that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from triplestore.datalog.rules import (
    Aggregate,
    Atom,
    Bind,
    Clause,
    Constraint,
    Filter,
    Item,
    Not,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    bound_by,
    variables_in,
)
from triplestore.expressions.tree import (
    Call,
    Constant,
    Expression,
    Variable,
    substitute,
    variables_of,
)


def signature(clause: Rule | Constraint) -> Hashable:
    """What is the same for two rules (or constraints) if only names of variables differ.

    Computed once for each rule object.
    """
    if isinstance(clause, Rule):
        if clause.signed is None:
            names = _Names(clause)
            made = (names.atoms(clause.heads), names.items(clause.body))
            object.__setattr__(clause, "signed", made)
        return clause.signed
    names = _Names(clause)
    return (clause.id, clause.message, names.items(clause.body))


class _Names:
    """The numbers of variables, for one rule, and the parts of its signature."""

    __slots__ = ("bound", "clause", "local", "numbers")

    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        self.numbers: dict[str, int] = {}
        self.bound: set[Variable] | None = None
        self.local: dict[str, int] | None = None

    def term(self, term: Variable | Constant) -> bytes | int:
        if isinstance(term, Constant):
            return term.key
        return self.name(term)

    def name(self, variable: Variable) -> int:
        if self.local is None or variable in self._bound():
            return self.numbers.setdefault(variable.name, len(self.numbers))
        return -1 - self.local.setdefault(variable.name, len(self.local))

    def _bound(self) -> set[Variable]:
        if self.bound is None:
            self.bound = set(bound_by(self.clause.body))
        return self.bound

    def atoms(self, atoms: Iterable[Atom]) -> Hashable:
        return tuple([self.atom(atom) for atom in atoms])

    def atom(self, atom: Atom) -> Hashable:
        term = self.term
        if isinstance(atom, TripleAtom):
            return (term(atom.s), term(atom.p), term(atom.o))
        return ("tuple", atom.name.key, *[term(arg) for arg in atom.args])

    def items(self, items: Iterable[Item]) -> Hashable:
        return tuple([self.item(item) for item in items])

    def item(self, item: Item) -> Hashable:
        if isinstance(item, TripleAtom | TupleAtom):
            return self.atom(item)
        if isinstance(item, Filter):
            return ("filter", self.expression(item.expression))
        if isinstance(item, Bind):
            return ("bind", self.expression(item.expression), self.name(item.variable))
        outer, self.local = self.local, self.local if self.local is not None else {}
        made: Hashable
        if isinstance(item, Not):
            made = ("not", self.items(item.body))
        else:
            groups = tuple([self.name(variable) for variable in item.groups])
            body = self.items(item.body)
            made = ("aggregate", body, groups, tuple([self.result(one) for one in item.results]))
        self.local = outer
        return made

    def result(self, result: Result) -> Hashable:
        argument = None if result.argument is None else self.expression(result.argument)
        name = self.name(result.variable)
        return (result.function, argument, name, result.distinct, result.separator)

    def expression(self, expression: Expression) -> Hashable:
        if isinstance(expression, Call):
            parts = [self.expression(part) for part in expression.arguments]
            return (expression.function, *parts)
        if isinstance(expression, Variable | Constant):
            return self.term(expression)
        return ("other", expression)


# --- canonical forms -----------------------------------------------------------------------------


def canonical_rule(rule: Rule) -> Rule:
    """See `Rule.canonical`."""
    rename = _Renaming(rule)
    return Rule(tuple(rename.atom(head) for head in rule.heads), rename.items(rule.body))


def canonical_constraint(constraint: Constraint) -> Constraint:
    """See `Constraint.canonical`."""
    return Constraint(
        constraint.id, constraint.message, _Renaming(constraint).items(constraint.body)
    )


class _Renaming:
    """Writes a rule anew with its variables named by their numbers."""

    def __init__(self, clause: Clause) -> None:
        self.names = _Names(clause)

    def variable(self, variable: Variable) -> Variable:
        number = self.names.name(variable)
        return Variable(f"v{number}" if number >= 0 else f"local{-1 - number}")

    def atom(self, atom: Atom) -> Any:
        return atom.map(lambda t: t if isinstance(t, Constant) else self.variable(t))

    def items(self, items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple([self.item(item) for item in items])

    def item(self, item: Item) -> Item:
        if isinstance(item, TripleAtom | TupleAtom):
            made: Item = self.atom(item)
            return made
        if isinstance(item, Filter):
            return Filter(self.expression(item.expression))
        if isinstance(item, Bind):
            return Bind(self.expression(item.expression), self.variable(item.variable))
        names = self.names
        outer, names.local = names.local, names.local if names.local is not None else {}
        if isinstance(item, Not):
            item = Not(self.items(item.body))  # which are local follows from where they occur
        else:
            groups = tuple([self.variable(variable) for variable in item.groups])
            item = Aggregate(self.items(item.body), groups, tuple(map(self.result, item.results)))
        names.local = outer
        return item

    def result(self, result: Result) -> Result:
        argument = None if result.argument is None else self.expression(result.argument)
        return replace(result, argument=argument, variable=self.variable(result.variable))

    def expression(self, expression: Expression) -> Expression:
        by = {variable: self.variable(variable) for variable in variables_of(expression)}
        return substitute(expression, by)


# --- local names ---------------------------------------------------------------------------------


def apart(rule: Rule) -> Rule:
    """The rule with variables local to one negation or aggregate named as no others are.

    >>> from triplestore.datalog.text import read
    >>> rule, = read("PREFIX : <http://e/> :a[?x] :- :b[?x], NOT :p[?x, ?y], NOT :q[?x, ?y] .")
    >>> [sorted({str(v) for v in variables_in(item)}) for item in apart(rule).nots]
    [['?x', '?y'], ['?x', '?y_2']]
    """
    if not any(isinstance(item, Not | Aggregate) for item in rule.body):
        return rule
    bound = set(bound_by(rule.body))
    taken = bound.copy()
    body: list[Item] = []
    for item in rule.body:
        if isinstance(item, Not | Aggregate):
            local = dict.fromkeys(v for v in variables_in(item) if v not in bound)
            by = {variable: _fresh(variable, taken) for variable in local}
            taken.update(by.values())
            item = _renamed(item, by)
        body.append(item)
    return replace(rule, body=tuple(body))


def _fresh(variable: Variable, taken: set[Variable]) -> Variable:
    made, number = variable, 1
    while made in taken:
        number += 1
        made = Variable(f"{variable.name}_{number}")
    return made


def _renamed(item: Item, by: dict[Variable, Variable]) -> Item:
    if isinstance(item, TripleAtom | TupleAtom):
        made: Item = item.map(lambda t: by.get(t, t) if isinstance(t, Variable) else t)
        return made
    if isinstance(item, Filter):
        return Filter(substitute(item.expression, by))
    if isinstance(item, Bind):
        return Bind(substitute(item.expression, by), by.get(item.variable, item.variable))
    body = tuple(_renamed(part, by) for part in item.body)
    if isinstance(item, Not):
        return Not(body, tuple(by.get(variable, variable) for variable in item.exists))
    results = tuple(
        replace(
            one,
            argument=None if one.argument is None else substitute(one.argument, by),
            variable=by.get(one.variable, one.variable),
        )
        for one in item.results
    )
    return Aggregate(body, tuple(by.get(v, v) for v in item.groups), results)
