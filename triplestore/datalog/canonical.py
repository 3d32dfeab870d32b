"""Heads and bodies up to the names of their variables.

Start at `signed` and `renamed`: two clauses have the same signature exactly if their canonical
forms are equal. The names of variables are replaced by numbers in the order of first occurrence;
variables that are local to a negation or an aggregate are numbered there, so that the same name in
two negations does not link them.

Always true: the order of heads and of body items matters. A signature costs about 3 us for
a short rule the first time, a canonical form three times that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from triplestore.datalog.items import (
    Aggregate,
    Atom,
    Bind,
    Filter,
    Item,
    Not,
    Result,
    TripleAtom,
    TupleAtom,
    bound_by,
)
from triplestore.expressions.tree import (
    Call,
    Constant,
    Expression,
    Variable,
    substitute,
    variables_of,
)


def signed(heads: Iterable[Atom], body: Sequence[Item]) -> tuple[Hashable, Hashable]:
    """The signatures of the heads and the body of a clause."""
    names = _Names(body)
    return names.atoms(heads), names.items(body)


def renamed(
    heads: Iterable[Atom], body: Sequence[Item]
) -> tuple[tuple[Atom, ...], tuple[Item, ...]]:
    """The heads and the body of a clause with variables named by their numbers."""
    rename = _Renaming(body)
    return tuple(rename.atom(head) for head in heads), rename.items(body)


class _Names:
    """The numbers of variables, for one body, and the parts of its signature."""

    __slots__ = ("body", "bound", "local", "numbers")

    def __init__(self, body: Sequence[Item]) -> None:
        self.body = body
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
            self.bound = set(bound_by(self.body))
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


class _Renaming:
    """Rewrites a rule with its variables named by numbers."""

    def __init__(self, body: Sequence[Item]) -> None:
        self.names = _Names(body)

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
            item = Not(self.items(item.body))  # local variables follow from where they occur
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
