"""Groups that only count solutions: as `evaluate.counted.Counted` where the pattern is a tree.

Start at `plan_counting`. The pattern is taken apart into triple patterns and parts that hang on one
variable (OPTIONAL, MINUS, EXISTS, UNION, filters). If two of these never share more than one
variable, and no ring of them closes, everything hangs on one variable, directly or through others:
the key of the groups, the variable of a COUNT(DISTINCT), or that of the smallest part. Other
patterns, and other aggregates, are planned as rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from triplestore.expressions.tree import Expression, Variable
from triplestore.operators.frame import Array, Frame
from triplestore.operators.leaves import Scan
from triplestore.operators.weights import Match
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.variables import conjuncts, names_in
from triplestore.sparql.evaluate.counted import Counted, Either, Part, Rows, Through, Together
from triplestore.sparql.evaluate.pieces import condition_of
from triplestore.sparql.plan.exists import exists_of
from triplestore.sparql.plan.matching import atoms_of
from triplestore.sparql.plan.planned import Atom, Names, Planned, Wanted, Where, trimmed
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.services import has_service
from triplestore.sparql.thresholds import SPARQL

_MOST_PARTS = 100
Condition = Callable[[Frame], Array]


class _UnfitError(Exception):
    """A pattern that is not counted this way."""


def plan_counting(planner: Planner, node: sparql.Group, wanted: Wanted) -> Planned | None:
    """The plan of a group that counts, without rows; None if it needs them."""
    if not planner.options.counting or wanted.seed is not None or isinstance(wanted.graph, str):
        return None
    if has_service(node.pattern):
        return None
    certain = planner.seen.certain(node.pattern)
    root, columns = _asked(node, certain)
    if columns is None:
        return None
    try:
        part = _Tree(planner, wanted.graph).of(node.pattern, root)
    except _UnfitError:
        return None
    by = node.keys[0].variable.name if node.keys else None
    return trimmed(Planned(Counted(part, by, columns, planner.scope.terms)), wanted)


def _asked(node: sparql.Group, certain: Names) -> tuple[str | None, list[tuple[str, bool]] | None]:
    """The variable that must hold the pattern together, and the columns; None if they need rows."""
    if len(node.keys) > 1 or not node.aggregates:
        return None, None
    root = None
    for key in node.keys:
        if key.expression != key.variable or key.variable.name not in certain:
            return None, None
        root = key.variable.name
    columns = []
    for variable, aggregate in node.aggregates:
        argument = aggregate.argument
        if aggregate.function != "count":
            return None, None
        plain = isinstance(argument, Variable) and argument.name in certain
        if argument is not None and not plain:
            return None, None
        if aggregate.distinct:
            if not isinstance(argument, Variable) or node.keys or root not in (None, argument.name):
                return None, None
            root = argument.name
        columns.append((variable.name, aggregate.distinct))
    return root, columns


class _Tree:
    """A pattern taken apart, and put together around one variable."""

    def __init__(self, planner: Planner, graph: Where) -> None:
        self.planner = planner
        self.graph = graph
        self._atoms: list[Atom] = []
        self._hanging: list[tuple[str, Part, Match]] = []
        self._filters: list[tuple[str, Condition]] = []
        self._uses: Counter[str] = Counter()  # by variable
        self._inside: list[Names] = []  # what each hanging part binds besides its variable

    def of(self, node: Node, root: str | None) -> Part:
        """The pattern around a variable; None for that of the smallest part."""
        if isinstance(node, sparql.Union):
            return self._union(node, root)
        self._take(node)
        if len(self._atoms) + len(self._hanging) > _MOST_PARTS:
            raise _UnfitError
        if not self._atoms or not self._are_apart():
            raise _UnfitError
        smallest = min(self._atoms, key=lambda atom: atom.size)
        self._uses = Counter(name for atom in self._atoms for name in atom.names)
        self._uses.update(hanging[0] for hanging in self._hanging)
        self._uses.update(filtered[0] for filtered in self._filters)
        if root is None:
            names = [name for name in smallest.pattern if isinstance(name, str)]
            root = max(names, key=self._uses.__getitem__, default="")
        made = self._around(root, set(), None)
        if self._atoms or self._hanging or self._filters:
            raise _UnfitError  # parts without a variable in common
        if smallest.size * SPARQL.counted_lookup_cost**2 < made.estimate:
            raise _UnfitError  # a few rows, and all that hangs on them is found sooner
        return made

    def _union(self, node: sparql.Union, root: str | None) -> Part:
        parts = [_Tree(self.planner, self.graph).of(part, root) for part in node.parts]
        return Either(root or parts[0].name, parts)

    def _are_apart(self) -> bool:
        """True if no other part has a variable that a hanging part binds."""
        known = frozenset[str]().union(*[atom.names for atom in self._atoms])
        for names in self._inside:
            if not known.isdisjoint(names):
                return False
            known |= names
        return True

    # --- apart ----------------------------------------------------------------------------------

    def _take(self, node: Node) -> None:
        self.planner.check()
        match node:
            case sparql.Bgp():
                atoms = atoms_of(self.planner, node, self.graph)
                if not atoms:
                    raise _UnfitError  # no solutions, or the empty one
                self._atoms += atoms
            case sparql.Join(parts):
                for part in parts:
                    if isinstance(part, sparql.Union):
                        others = [p for p in parts if p is not part]
                        self._hang(part, others, "inner")
                    else:
                        self._take(part)
            case sparql.LeftJoin(left, right, None, absent):
                self._take(left)
                self._hang(right, [left], "left" if absent is None else "anti")
            case sparql.Minus(left, right):
                self._take(left)
                self._hang(right, [left], "anti")
            case sparql.Filter(pattern, condition):
                self._take(pattern)
                for one in conjuncts(condition):
                    self._filter(pattern, one)
            case _:
                raise _UnfitError

    def _hang(self, node: Node, others: list[Node], how: Match) -> None:
        """A part that shares one variable with the others."""
        seen = self.planner.seen
        outside: Names = frozenset().union(*map(seen.in_scope, others))
        certain: Names = frozenset().union(*map(seen.certain, others))
        shared = seen.in_scope(node) & outside
        if len(shared) != 1 or not shared <= seen.certain(node) & certain:
            raise _UnfitError
        (name,) = shared
        if how in ("inner", "left"):
            self._inside.append(seen.in_scope(node) - shared)
        self._hanging.append((name, _Tree(self.planner, self.graph).of(node, name), how))

    def _filter(self, pattern: Node, condition: Expression) -> None:
        exists = exists_of(condition)
        if exists is not None:
            names = self.planner.seen.in_scope(pattern)
            if self.planner.asks_one_by_one(condition, names):
                raise _UnfitError
            negated = exists.negated != (exists is not condition)
            self._hang(exists.pattern, [pattern], "anti" if negated else "semi")
            return
        asked = names_in(condition, self.planner.seen)
        if len(asked) != 1 or not asked <= self.planner.seen.certain(pattern):
            raise _UnfitError
        if self.planner.has_exists(condition):
            raise _UnfitError
        evaluator = self.planner.evaluator(condition, self.graph)
        if not evaluator.is_repeatable:
            raise _UnfitError
        (name,) = asked
        self._filters.append((name, condition_of(evaluator, self.planner.check)))

    # --- together -------------------------------------------------------------------------------

    def _around(self, name: str, visited: set[str], before: Atom | None) -> Part:
        """All that hangs on a variable, which is taken away from the rest.

        before  the triple pattern through which the rest hangs on it
        """
        visited.add(name)
        hanging = [(part, how) for on, part, how in self._hanging if on == name]
        self._hanging = [one for one in self._hanging if one[0] != name]
        filters = [holds for on, holds in self._filters if on == name]
        self._filters = [one for one in self._filters if one[0] != name]
        parts: list[tuple[Part, Match]] = []
        while atom := next((one for one in self._atoms if name in one.names), None):
            self._atoms = [one for one in self._atoms if one is not atom]
            parts.append((self._end(atom, name, visited), "inner"))
        parts += hanging
        if not any(how == "inner" for _, how in parts):
            if before is None:
                raise _UnfitError
            ids = Rows(name, self._scan(before, name), before.distinct(name), once=True)
            parts.append((ids, "inner"))
        if len(parts) == 1 and not filters:
            return parts[0][0]
        return Together(name, parts, filters)

    def _end(self, atom: Atom, name: str, visited: set[str]) -> Part:
        """One triple pattern, with all that hangs on its other end."""
        if atom.pattern.count(name) > 1:
            raise _UnfitError
        others = [other for other in atom.names if other != name]
        if not visited.isdisjoint(others):
            raise _UnfitError  # a ring
        used = [other for other in others if self._uses[other] > 1]
        distinct = atom.distinct(name)
        if not used:
            if len(atom.pattern) > 2 and (atom.constants or len(atom.names) < 3):
                raise _UnfitError
            return Rows(name, self._scan(atom, name), distinct)
        if len(used) > 1 or len(atom.pattern) > 2:
            raise _UnfitError
        behind = self._around(used[0], visited, atom)
        return Through(name, atom.scan(atom.names, atom.place_of(name)), behind, distinct)

    def _scan(self, atom: Atom, name: str) -> Scan:
        """The scan of a triple pattern for one variable."""
        plain = len(atom.pattern) == 2 and not atom.constants
        return atom.scan(frozenset([name]), atom.place_of(name) if plain else None)
