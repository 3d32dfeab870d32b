"""Branches: parts of the solutions of a pattern, each as the body of a rule.

Start at `Branch`. Always true: all solutions of a branch bind the same variables, except for
computed ones, which are unbound where their expression is an error; the solutions of a pattern are
those of all its branches together. As sets, since rules conclude a fact once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace

from triplestore.data_classes import data_class
from triplestore.datalog.items import (
    Aggregate,
    Bind,
    Filter,
    Item,
    Not,
    Term,
    TripleAtom,
    TupleAtom,
    variables_in,
)
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.sparql_rules.conditions import TRUE
from triplestore.sparql_rules.refusals import RefusedError


@data_class
class Branch:
    """A conjunction of items.

    bound     the variables that the items bind
    computed  expressions of other variables, over bound ones
    same      pairs of variables that paths of length zero make equal; a node of the graph must be
              known for one of them
    unsure    results of aggregates, which SPARQL leaves unbound after an error, where a rule has no
              match: they may only be used where that is the same
    """

    items: tuple[Item, ...] = ()
    bound: frozenset[str] = frozenset()
    computed: Mapping[str, Expression] = field(default_factory=dict)
    same: tuple[tuple[str, str], ...] = ()
    unsure: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The variables that every solution binds."""
        return self.bound.union(*self.same) if self.same else self.bound

    def value_of(self, name: str) -> Expression | None:
        """What stands for a variable in an expression; None if it is not bound."""
        return Variable(name) if name in self.names else self.computed.get(name)

    def with_items(self, *items: Item) -> Branch:
        """The branch with tests added."""
        return replace(self, items=(*self.items, *items))


def joined(left: Branch, right: Branch) -> Branch | None:
    """The join of two branches; None if it is empty."""
    for one, other in ((left, right), (right, left)):
        if not one.unsure.isdisjoint(other.names | other.computed.keys()):
            raise unsure_result("a join on")
    for name, value in (*left.computed.items(), *right.computed.items()):
        if isinstance(value, Constant):  # of VALUES, or BIND
            left, right = _with_constant(left, name, value), _with_constant(right, name, value)
    items = [*left.items, *right.items]
    bound = left.bound | right.bound
    computed: dict[str, Expression] = {}
    for name in sorted(left.computed.keys() | right.computed.keys()):
        values = [b.computed[name] for b in (left, right) if name in b.computed]
        value = values[0]
        if len(values) == 2 and value != values[1]:
            if isinstance(value, Constant) and isinstance(values[1], Constant):
                return None
            items.append(Filter(agree(*values)))
            value = Call("COALESCE", tuple(values))
        if name in bound:
            items.append(Filter(agree(value, Variable(name))))
        else:
            computed[name] = value
    same, unsure = (*left.same, *right.same), left.unsure | right.unsure
    return _settled(Branch(tuple(items), bound, computed, same, unsure))


def unsure_result(use: str) -> RefusedError:
    """The refusal of a use of an aggregate's result that depends on its errors."""
    return RefusedError(
        "SELECT",
        f"{use} the result of an aggregate other than COUNT, which is unbound after an error,",
        "conclude it by a rule of its own, and use that",
    )


def agree(one: Expression, other: Expression) -> Expression:
    """Whether two values are the same term, or one of them is unbound."""
    return Call("COALESCE", (Call("SAMETERM", (one, other)), TRUE))


def _with_constant(branch: Branch, name: str, value: Constant) -> Branch:
    """A branch that binds a variable by atoms only, with a constant instead."""
    if name not in branch.bound or any(_holds(item, name) for item in branch.items):
        return branch
    if any(name in pair for pair in branch.same):
        return branch  # a value is not always a node of the graph

    def change(term: Term) -> Term:
        return value if term == Variable(name) else term

    items = tuple(changed(item, change) for item in branch.items)
    computed = {n: in_expression(e, change) for n, e in branch.computed.items()}
    return replace(
        branch, items=items, bound=branch.bound - {name}, computed={**computed, name: value}
    )


def _holds(item: Item, name: str) -> bool:
    """Whether an item has a variable in a place that cannot be a constant."""
    if isinstance(item, Aggregate):
        return True
    if isinstance(item, Bind):
        return item.variable.name == name
    return isinstance(item, Not) and any(_holds(part, name) for part in item.body)


def _settled(branch: Branch) -> Branch:
    """A branch in which paths of length zero from known nodes make variables equal."""
    left: list[tuple[str, str]] = []
    for one, other in branch.same:
        if one == other:  # any node
            left += [] if is_node(branch, one) else [(one, other)]
            continue
        known = next((name for name in (one, other) if is_node(branch, name)), None)
        if known is None:
            left.append((one, other))
            continue
        new = other if known == one else one
        if new in branch.computed:
            branch = branch.with_items(Filter(agree(branch.computed[new], Variable(known))))
            computed = {n: e for n, e in branch.computed.items() if n != new}
            branch = replace(branch, computed=computed)
        branch = _renamed_to(branch, new, known)
    return replace(branch, same=tuple(left))


def _renamed_to(branch: Branch, name: str, other: str) -> Branch:
    """A branch in which a variable is another one."""

    def change(term: Term) -> Term:
        return Variable(other) if term == Variable(name) else term

    items = tuple(changed(item, change) for item in branch.items)
    computed = {n: in_expression(e, change) for n, e in branch.computed.items()}
    same = tuple((other if a == name else a, other if b == name else b) for a, b in branch.same)
    bound, computed = branch.bound - {name}, {**computed, name: Variable(other)}
    return Branch(items, bound, computed, same, branch.unsure)


def is_node(branch: Branch, name: str) -> bool:
    """Whether a variable is the subject or object of a triple in every solution."""
    variable = Variable(name)
    return any(
        isinstance(item, TripleAtom) and variable in (item.s, item.o) for item in branch.items
    )


# --- changes of variables ------------------------------------------------------------------------


def changed(item: Item, change: Callable[[Term], Term]) -> Item:
    """An item with each of its terms changed."""
    if isinstance(item, TripleAtom | TupleAtom):
        return item.map(change)
    if isinstance(item, Filter):
        return Filter(in_expression(item.expression, change))
    if isinstance(item, Not):
        exists = tuple(_variable(change(one)) for one in item.exists)
        return Not(tuple(changed(part, change) for part in item.body), exists)
    if isinstance(item, Bind):
        return Bind(in_expression(item.expression, change), _variable(change(item.variable)))
    return Aggregate(
        tuple(changed(part, change) for part in item.body),
        tuple(_variable(change(one)) for one in item.groups),
        tuple(
            replace(
                result,
                argument=None
                if result.argument is None
                else in_expression(result.argument, change),
                variable=_variable(change(result.variable)),
            )
            for result in item.results
        ),
    )


def in_expression(expression: Expression, change: Callable[[Term], Term]) -> Expression:
    """An expression with each of its variables and constants changed."""
    if isinstance(expression, Call):
        parts = tuple(in_expression(part, change) for part in expression.arguments)
        return Call(expression.function, parts)
    if isinstance(expression, Variable | Constant):
        return change(expression)
    return expression


def renamed(branch: Branch, names: Mapping[str, str]) -> Branch:
    """A branch with other names for some variables."""
    if not names:
        return branch

    def change(term: Term) -> Term:
        if isinstance(term, Variable) and term.name in names:
            return Variable(names[term.name])
        return term

    def name_of(name: str) -> str:
        return names.get(name, name)

    return Branch(
        tuple(changed(item, change) for item in branch.items),
        frozenset(map(name_of, branch.bound)),
        {name_of(n): in_expression(e, change) for n, e in branch.computed.items()},
        tuple((name_of(a), name_of(b)) for a, b in branch.same),
        frozenset(map(name_of, branch.unsure)),
    )


def _variable(term: Term) -> Variable:
    assert isinstance(term, Variable)
    return term


def names_of(items: Iterable[Item]) -> set[str]:
    """All variables of some items."""
    return {variable.name for item in items for variable in variables_in(item)}
