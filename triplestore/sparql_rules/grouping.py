"""Sub-queries with aggregates as branches: start at `aggregated`."""

from __future__ import annotations

from collections.abc import Callable

import pyoxigraph as ox

from triplestore.datalog.items import Aggregate, Bind, Item, Not, Result
from triplestore.expressions.tree import Constant, Expression, Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql_rules.branches import Branch, renamed
from triplestore.sparql_rules.conditions import ERROR, simplified
from triplestore.sparql_rules.refusals import RefusedError

Names = frozenset[str]

_OF_NOTHING = {
    "count": Constant.of(ox.Literal(0)),
    "sum": Constant.of(ox.Literal(0)),
    "avg": Constant.of(ox.Literal(0)),
    "group_concat": Constant.of(ox.Literal("")),
}
"""The results for a group without solutions; others have no value."""


def aggregated(
    node: sparql.Group,
    found: list[Branch],
    needed: Names,
    required: Names,
    fresh: Callable[[], str],
) -> list[Branch]:
    """The branches of a GROUP BY over the branches of its pattern."""
    if len(found) != 1:
        raise RefusedError(
            "UNION",
            "alternatives (UNION, OPTIONAL, VALUES of several rows) whose solutions are counted",
            "conclude their solutions by rules of their own, and count over that",
        )
    (branch,) = found
    if branch.same:
        raise RefusedError("*", "a path with * or ? whose solutions are counted", "use +")
    items, groups, computed = _grouped(node, branch, needed, required)
    results = [_result(key, branch) for key in node.aggregates if key.variable.name in needed]
    local = (branch.bound | branch.computed.keys()) - set(groups)
    names = {name: fresh() for name in sorted(local)}
    body = renamed(Branch(tuple(items), branch.bound | frozenset(groups)), names).items
    if not results:  # the groups alone
        results = [Result("count", None, Variable(fresh()))]
    made = Aggregate(
        body,
        tuple(map(Variable, groups)),
        tuple(_renamed_result(result, names) for result in results),
    )
    bound = frozenset((*groups, *(result.variable.name for result in results)))
    unsure = frozenset(r.variable.name for r in results if r.function != "count")
    branches = [Branch((made,), bound, computed, unsure=unsure)]
    if not node.keys:
        zeros = {
            key.variable.name: _OF_NOTHING[key.aggregate.function]
            for key in node.aggregates
            if key.aggregate.function in _OF_NOTHING
        }
        # No variable of the pattern is known outside of it.
        branches.append(
            Branch((Not(renamed(branch, _all_new(branch, fresh)).items),), computed=zeros)
        )
    return branches


def _all_new(branch: Branch, fresh: Callable[[], str]) -> dict[str, str]:
    return {name: fresh() for name in sorted(branch.bound)}


def _grouped(
    node: sparql.Group, branch: Branch, needed: Names, required: Names
) -> tuple[list[Item], list[str], dict[str, Constant]]:
    """The items with those that compute keys, and the names of the keys."""
    items: list[Item] = list(branch.items)
    groups: list[str] = []
    constants: dict[str, Constant] = {}
    for key in node.keys:
        name = key.variable.name
        value = simplified(key.expression, branch.value_of)
        if value == ERROR:
            continue  # unbound in all solutions
        if isinstance(value, Constant):
            constants[name] = value
            continue
        if value != Variable(name):
            if not isinstance(value, Variable) and name not in required:
                raise RefusedError(
                    "GROUP",
                    f"GROUP BY with a computed key that no triple of the template has (?{name})",
                    "use the key in the template, or compute it by a rule of its own",
                )
            items.append(_bind(value, name))
        groups.append(name)
    return items, groups, constants


def _bind(value: Expression, name: str) -> Bind:
    return Bind(value, Variable(name))


def _result(key: sparql.AggregateKey, branch: Branch) -> Result:
    aggregate = key.aggregate
    argument = None
    if aggregate.argument is not None:
        argument = simplified(aggregate.argument, branch.value_of)
        if argument == ERROR:
            raise RefusedError(
                aggregate.function.upper(),
                f"{aggregate.function.upper()} of a variable that the pattern does not bind",
                "use a variable of the pattern",
            )
    elif aggregate.distinct:
        raise RefusedError("DISTINCT", "COUNT(DISTINCT *)", "count one variable")
    if ":" in aggregate.function:
        raise RefusedError("GROUP", f"the aggregate <{aggregate.function}>", "use one of SPARQL's")
    return Result(
        aggregate.function, argument, key.variable, aggregate.distinct, aggregate.separator
    )


def _renamed_result(result: Result, names: dict[str, str]) -> Result:
    made = renamed(Branch((Aggregate((), (), (result,)),)), names).items[0]
    assert isinstance(made, Aggregate)
    return made.results[0]
