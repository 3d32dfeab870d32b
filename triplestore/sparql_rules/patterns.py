"""Patterns of SPARQL as branches of rules.

Start at `PatternReader.branches`. Each kind of node has a method. What rules cannot say with the
meaning of SPARQL is refused (`RefusedError`), with the keyword by which its place is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count, product
from typing import Any

from triplestore.datalog.items import Aggregate, Filter, Item, Not, TripleAtom, bound_by
from triplestore.expressions.tree import Call, Exists, Expression, Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, is_hidden
from triplestore.sparql.algebra.variables import Variables, conjuncts, names_in
from triplestore.sparql_rules.branches import (
    Branch,
    agree,
    joined,
    names_of,
    renamed,
    unsure_result,
)
from triplestore.sparql_rules.closures import PathReader
from triplestore.sparql_rules.conditions import ERROR, FALSE, TRUE, simplified, uses_lazily
from triplestore.sparql_rules.grouping import aggregated
from triplestore.sparql_rules.refusals import RefusedError

MOST_BRANCHES = 1000
"""Maximum number of branches of one pattern."""

Names = frozenset[str]


class PatternReader:
    """Reads the patterns of one statement.

    required  the variables without which nothing is concluded
    """

    def __init__(self, paths: PathReader, required: Iterable[str]) -> None:
        self.paths = paths
        self.required = frozenset(required)
        self.seen = Variables()
        self._numbers = count()
        self._bag = 0  # depth of patterns whose solutions are counted
        self._asking = 0  # depth of EXISTS
        self._outer = Branch()  # what is known around the current EXISTS

    def fresh(self) -> str:
        """A name that no text has."""
        return f"own:{next(self._numbers)}"

    def branches(self, node: Node, needed: Names) -> list[Branch]:
        """The branches of a pattern.

        needed  the variables whose values matter; for others solutions may be merged, unless they
                are counted
        """
        found = _READERS[type(node)](self, node, needed)
        if len(found) > MOST_BRANCHES:
            raise RefusedError(
                "UNION",
                f"a pattern of more than {MOST_BRANCHES:,} alternatives",
                "split it into several CONSTRUCTs",
            )
        return found

    # --- leaves and joins ------------------------------------------------------------------------

    def _bgp(self, node: sparql.Bgp, needed: Names) -> list[Branch]:
        atoms = tuple(TripleAtom(*triple) for triple in node.patterns)
        return [Branch(atoms, frozenset(names_of(atoms)))]

    def _path(self, node: sparql.Path, needed: Names) -> list[Branch]:
        return self.paths.branches(node.subject, node.path, node.object, self.fresh, self._bag > 0)

    def _join(self, node: sparql.Join, needed: Names) -> list[Branch]:
        found = [Branch()]
        for part in node.parts:
            others = [self.seen.in_scope(p) for p in node.parts if p is not part]
            inside = needed.union(*others)
            found = self._product(found, self.branches(part, inside))
        return found

    def _product(self, left: list[Branch], right: list[Branch]) -> list[Branch]:
        if len(left) * len(right) > MOST_BRANCHES:
            raise RefusedError(
                "UNION",
                f"a pattern of more than {MOST_BRANCHES:,} alternatives",
                "split it into several CONSTRUCTs",
            )
        made = [joined(one, other) for one, other in product(left, right)]
        return [branch for branch in made if branch is not None]

    def _union(self, node: sparql.Union, needed: Names) -> list[Branch]:
        return [branch for part in node.parts for branch in self.branches(part, needed)]

    def _values(self, node: sparql.Values, needed: Names) -> list[Branch]:
        names = [variable.name for variable in node.variables]
        rows = [dict(zip(names, row, strict=True)) for row in node.rows]
        return [
            Branch(computed={name: value for name, value in row.items() if value is not None})
            for row in rows
        ]

    # --- conditions ------------------------------------------------------------------------------

    def _filter(self, node: sparql.Filter, needed: Names) -> list[Branch]:
        names = names_in(node.condition, self.seen)
        found = self.branches(node.pattern, needed | names)
        return self._filtered(found, node.condition)

    def _filtered(self, found: list[Branch], condition: Expression) -> list[Branch]:
        for part in conjuncts(condition):
            exists, negated = _exists_of(part)
            if exists is not None:
                found = [b for one in found for b in self._existing(one, exists, negated)]
            else:
                found = [b for one in found if (b := self._tested(one, part)) is not None]
        return found

    def _tested(self, branch: Branch, condition: Expression) -> Branch | None:
        """The solutions of a branch for which a condition is true; None if there are none."""
        found = self._simplified(branch, condition)
        if found in (ERROR, FALSE):
            return None
        return branch if found == TRUE else branch.with_items(Filter(found))

    def _simplified(self, branch: Branch, expression: Expression) -> Expression:
        """An expression for a branch, which may be within an EXISTS."""

        if branch.unsure and uses_lazily(expression, branch.unsure):
            raise unsure_result("a condition that may be true without")

        def value_of(name: str) -> Expression | None:
            own = branch.value_of(name)
            return self._outer.value_of(name) if own is None else own

        return simplified(expression, value_of)

    def _existing(self, branch: Branch, exists: Exists, negated: bool) -> list[Branch]:
        """The branches in which an EXISTS is true (false, if it is negated)."""
        around = _beside(self._outer, branch)
        before, self._outer = self._outer, around
        bag, self._bag = self._bag, 0
        self._asking += 1
        known = around.names | around.computed.keys()
        inner = self.branches(exists.pattern, known & self.seen.in_scope(exists.pattern))
        self._asking -= 1
        self._bag, self._outer = bag, before
        found = [self._local_items(around, self._inside(around, one)) for one in inner]
        if negated:
            return self._without(branch, found)
        if self._bag and found:
            raise RefusedError(
                "EXISTS",
                "EXISTS in a pattern whose solutions are counted",
                "conclude it by a rule of its own, and count over that",
            )
        return [branch.with_items(*items) for items in found]

    def _inside(self, outer: Branch, inner: Branch) -> Branch:
        """The join of two branches as items beside those of the first one."""
        if inner.same:
            raise unanchored(inner.same[0])
        if not (inner.unsure | outer.unsure).isdisjoint(self._shared(outer, inner)):
            raise unsure_result("EXISTS, OPTIONAL or MINUS with")
        clash = {name: self.fresh() for name in sorted(inner.bound & outer.computed.keys())}
        own = renamed(inner, clash)
        tests = [agree(outer.computed[name], Variable(new)) for name, new in clash.items()]
        computed = dict(outer.computed)
        for name, value in own.computed.items():
            if name in outer.names:
                tests.append(agree(value, Variable(name)))
            elif name in outer.computed:
                tests.append(agree(value, outer.computed[name]))
            else:
                computed[name] = value
        items = (*own.items, *map(Filter, tests))
        return Branch(items, outer.names | own.bound, computed)

    def _without(self, branch: Branch, alternatives: list[tuple[Item, ...]]) -> list[Branch]:
        """The solutions of a branch for which none of some bodies has a match."""
        for items in alternatives:
            if not items:
                return []  # an empty body always has a match
            conditions = [item.expression for item in items if isinstance(item, Filter)]
            if len(conditions) == len(items):
                holds = Call("COALESCE", (Call("&&", (*conditions, TRUE)), FALSE))
                branch = branch.with_items(Filter(Call("!", (holds,))))
            elif any(isinstance(item, Not | Aggregate) for item in items):
                branch = branch.with_items(Not((self._named(branch, items),)))
            else:
                branch = branch.with_items(Not(items))
        return [branch]

    def _named(self, branch: Branch, items: tuple[Item, ...]) -> Item:
        """A body as an atom of a relation of its own, since negations cannot be nested."""
        shared = sorted(names_of(items) & (branch.names | self._outer.names))
        body = items
        if not _binds(body, shared):  # what only its conditions use is bound as in the branch
            body = (*branch.items, *items)
        if not _binds(body, shared):
            raise RefusedError(
                "EXISTS",
                "a condition of a nested EXISTS on a variable of the outermost pattern",
                "conclude the inner pattern by a rule of its own",
            )
        return self.paths.relation(body, shared)

    def _shared(self, one: Branch, other: Branch) -> Names:
        return (one.names | one.computed.keys()) & (other.names | other.computed.keys())

    def _local_items(self, outer: Branch, inside: Branch) -> tuple[Item, ...]:
        """Items whose variables are unknown outside, except for those of the outer branch."""
        local = names_of(inside.items) - outer.names
        made = Branch(inside.items, frozenset(local))
        return renamed(made, {name: self.fresh() for name in sorted(local)}).items

    # --- OPTIONAL, MINUS, BIND -------------------------------------------------------------------

    def _left_join(self, node: sparql.LeftJoin, needed: Names) -> list[Branch]:
        optional = self.seen.in_scope(node.right) - self.seen.certain(node.left)
        if not self._bag and optional.isdisjoint(needed):
            return self.branches(node.left, needed)
        asked: Names = frozenset()
        if node.condition is not None:
            asked = names_in(node.condition, self.seen)
        shared = self.seen.in_scope(node.right) & self.seen.in_scope(node.left)
        left = self.branches(node.left, needed | shared | asked)
        right = self.branches(node.right, needed | shared | asked)
        found = []
        for one in left:
            matched = self._product([one], right)
            if node.condition is not None:
                matched = self._filtered(matched, node.condition)
            found += matched
            found += self._unmatched(one, right, node.condition)
        return found

    def _unmatched(
        self, branch: Branch, right: list[Branch], condition: Expression | None
    ) -> list[Branch]:
        """The solutions of a branch for which an OPTIONAL has none."""
        inside = [self._inside(branch, one) for one in right]
        if condition is not None:
            inside = self._filtered(inside, condition)
        return self._without(branch, [self._local_items(branch, one) for one in inside])

    def _minus(self, node: sparql.Minus, needed: Names) -> list[Branch]:
        shared = self.seen.in_scope(node.left) & self.seen.in_scope(node.right)
        left = self.branches(node.left, needed | shared)
        if not shared:
            return left
        if self._asking:
            raise RefusedError("MINUS", "MINUS in EXISTS", "write it as FILTER NOT EXISTS")
        self._bag, bag = 0, self._bag
        right = self.branches(node.right, shared)
        self._bag = bag
        return [self._taken_away(one, right, shared) for one in left]

    def _taken_away(self, branch: Branch, right: list[Branch], shared: Names) -> Branch:
        for other in right:
            if not shared.isdisjoint(branch.computed.keys() | other.computed.keys()):
                raise RefusedError(
                    "MINUS",
                    "MINUS on a variable that BIND or VALUES computes",
                    "write it as FILTER NOT EXISTS",
                )
            if other.same:
                raise unanchored(other.same[0])
            if branch.names & other.bound & shared:
                (branch,) = self._without(branch, [self._local_items(branch, other)])
        return branch

    def _extend(self, node: sparql.Extend, needed: Names) -> list[Branch]:
        name = node.variable.name
        if not self._bag and name not in needed:
            return self.branches(node.pattern, needed)
        inside = (needed - {name}) | names_in(node.expression, self.seen)
        found = []
        for branch in self.branches(node.pattern, inside):
            value = self._simplified(branch, node.expression)
            if value != ERROR:
                unsure = branch.unsure
                if not unsure.isdisjoint(names_in(node.expression, self.seen)):
                    unsure |= {name}
                computed = {**branch.computed, name: value}
                branch = replace(branch, computed=computed, unsure=unsure)
            found.append(branch)
        return found

    # --- sub-queries -----------------------------------------------------------------------------

    def _project(self, node: sparql.Project, needed: Names) -> list[Branch]:
        shown = frozenset(variable.name for variable in node.variables)
        found = []
        before, self._outer = self._outer, _only(self._outer, shown)  # others are its own
        for branch in self.branches(node.pattern, needed & shown):
            own = (branch.names | branch.computed.keys()) - shown
            found.append(renamed(branch, {name: self.fresh() for name in sorted(own)}))
        self._outer = before
        return found

    def _distinct(self, node: sparql.Distinct, needed: Names) -> list[Branch]:
        if self._bag:
            raise RefusedError(
                "DISTINCT",
                "a SELECT DISTINCT whose solutions are counted",
                "count DISTINCT values, or conclude the sub-query by a rule of its own",
            )
        return self.branches(node.pattern, needed)

    def _ordered(self, node: sparql.OrderBy, needed: Names) -> list[Branch]:
        return self.branches(node.pattern, needed)

    def _group(self, node: sparql.Group, needed: Names) -> list[Branch]:
        self._bag += 1
        found = self.branches(node.pattern, self.seen.in_scope(node.pattern))
        self._bag -= 1
        return aggregated(node, found, needed, self.required, self.fresh)

    # --- refused ---------------------------------------------------------------------------------

    def _refused(self, node: Node, needed: Names) -> list[Branch]:
        raise RefusedError(*_REFUSED[type(node)])


def _exists_of(condition: Expression) -> tuple[Exists | None, bool]:
    negated = False
    while isinstance(condition, Call) and condition.function == "!":
        condition, negated = condition.arguments[0], not negated
    if isinstance(condition, Exists):
        return condition, condition.negated != negated
    return None, False


def _binds(items: Iterable[Item], names: Iterable[str]) -> bool:
    return {variable.name for variable in bound_by(items)}.issuperset(names)


def _only(branch: Branch, names: Names) -> Branch:
    computed = {name: e for name, e in branch.computed.items() if name in names}
    return Branch((), branch.names & names, computed)


def _beside(outer: Branch, branch: Branch) -> Branch:
    """What is known within an EXISTS of a branch."""
    computed = {n: e for n, e in outer.computed.items() if n not in branch.names}
    bound = outer.names - branch.computed.keys()
    computed = {**computed, **branch.computed}
    return Branch((), bound | branch.names, computed, unsure=outer.unsure | branch.unsure)


def unanchored(pair: tuple[str, str]) -> RefusedError:
    """The refusal of a path of length zero between two variables of which none is known."""
    shown = " and ".join(f"?{n}" if not is_hidden(Variable(n)) else "a blank node" for n in pair)
    return RefusedError(
        "*",
        f"a path with * or ? between {shown}, of which no triple pattern beside it binds one",
        "bind one end by a triple pattern, or use +",
    )


_GRAPHS = (
    "rules see the graphs of their scope as one: leave GRAPH out, and choose the graphs by "
    "reason(scope=[...])"
)
_REFUSED: dict[type, tuple[str, str, str]] = {
    sparql.Graph: ("GRAPH", "GRAPH", _GRAPHS),
    sparql.Service: (
        "SERVICE",
        "SERVICE",
        "the answers of other endpoints change without a commit: load them first",
    ),
    sparql.TermPattern: (
        "<<(",
        "a triple term with variables in a pattern",
        "write it in the rule language: [?r, rdf:reifies, <<( ?s ?p ?o )>>]",
    ),
    sparql.Slice: (
        "LIMIT",
        "LIMIT or OFFSET",
        "which solutions are left depends on their order: use MIN or MAX, or a FILTER",
    ),
}

_READERS: dict[type, Callable[[PatternReader, Any, Names], list[Branch]]] = {
    sparql.Bgp: PatternReader._bgp,
    sparql.Path: PatternReader._path,
    sparql.Join: PatternReader._join,
    sparql.Union: PatternReader._union,
    sparql.Values: PatternReader._values,
    sparql.Filter: PatternReader._filter,
    sparql.LeftJoin: PatternReader._left_join,
    sparql.Minus: PatternReader._minus,
    sparql.Extend: PatternReader._extend,
    sparql.Project: PatternReader._project,
    sparql.Distinct: PatternReader._distinct,
    sparql.Reduced: PatternReader._distinct,
    sparql.OrderBy: PatternReader._ordered,
    sparql.Group: PatternReader._group,
    **dict.fromkeys(_REFUSED, PatternReader._refused),
}
