"""The variables of a pattern: those in scope, and those that every solution binds.

Start at `Variables`. Always true: `certain` is a subset of `in_scope`; a variable in scope
that is not certain may be unbound in some solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from triplestore.expressions.tree import (
    MANY,
    Call,
    Exists,
    Expression,
    Variable,
    look,
)
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import (
    Bgp,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    Path,
    Project,
    Reduced,
    Service,
    Slice,
    TermPattern,
    TextHits,
    Union,
    Values,
    children,
    walk,
)

Names = frozenset[str]
NONE: Names = frozenset()


class Variables:
    """The variables of patterns; each pattern is visited once.

    >>> x, y = Variable("x"), Variable("y")
    >>> from triplestore.sparql.algebra.nodes import TriplePattern
    >>> left, right = Bgp((TriplePattern(x, x, x),)), Bgp((TriplePattern(x, x, y),))
    >>> seen = Variables()
    >>> sorted(seen.in_scope(LeftJoin(left, right))), sorted(seen.certain(LeftJoin(left, right)))
    (['x', 'y'], ['x'])
    """

    __slots__ = ("_certain", "_in_scope", "_kept")

    def __init__(self) -> None:
        self._in_scope: dict[int, Names] = {}
        self._certain: dict[int, Names] = {}
        self._kept: list[Node] = []  # so that no other node gets the id of a visited one

    def in_scope(self, node: Node) -> Names:
        """The variables that solutions may bind."""
        return self._known(node, self._in_scope, self._scope_of)

    def certain(self, node: Node) -> Names:
        """The variables that all solutions bind."""
        return self._known(node, self._certain, self._certain_of)

    def _known(
        self, node: Node, known: dict[int, Names], compute: Callable[[Node], Names]
    ) -> Names:
        """The names of a node, computed bottom-up without recursion: chains of nodes are long."""
        found = known.get(id(node))
        if found is not None:
            return found
        stack, missing = [node], []
        while stack:
            one = stack.pop()
            if id(one) not in known:
                missing.append(one)
                stack.extend(children(one))
        for one in reversed(missing):
            known[id(one)] = compute(one)
        self._kept += missing
        return known[id(node)]

    def _scope_of(self, node: Node) -> Names:
        match node:
            case Bgp() | Path() | TermPattern() | Values() | TextHits():
                return own_variables(node)
            case Join(parts) | Union(parts):
                return NONE.union(*map(self.in_scope, parts))
            case LeftJoin(left, right):
                return self.in_scope(left) | self.in_scope(right)
            case Minus(left, _):
                return self.in_scope(left)
            case Extend(pattern, variable, _):
                return self.in_scope(pattern) | {variable.name}
            case Graph(name, pattern) | Service(name, pattern):
                own = {name.name} if isinstance(name, Variable) else NONE
                return self.in_scope(pattern) | own
            case Group(_, keys, aggregates):
                return frozenset([key[0].name for key in (*keys, *aggregates)])
            case Project(_, variables):
                return frozenset([variable.name for variable in variables])
            case Filter() | OrderBy() | Distinct() | Reduced() | Slice():
                return self.in_scope(node.pattern)

    def _certain_of(self, node: Node) -> Names:
        match node:
            case Bgp() | Path() | TermPattern() | TextHits():
                return own_variables(node)
            case Values(variables, rows):
                columns = zip(variables, zip(*rows, strict=True), strict=True) if rows else ()
                return frozenset([v.name for v, column in columns if None not in column])
            case Join(parts):
                return NONE.union(*map(self.certain, parts))
            case Union(parts):
                first, *rest = map(self.certain, parts)
                return first.intersection(*rest)
            case LeftJoin(left, _) | Minus(left, _):
                return self.certain(left)
            case Graph(name, pattern):
                own = {name.name} if isinstance(name, Variable) else NONE
                return self.certain(pattern) | own
            case Group(pattern, keys, aggregates):
                known = self.certain(pattern)
                plain = [k.variable.name for k in keys if _is_bound(k.expression, known)]
                counts = [k.variable.name for k in aggregates if k.aggregate.function == "count"]
                return frozenset(plain + counts)
            case Project(pattern, variables):
                return self.certain(pattern) & {variable.name for variable in variables}
            case Service(name, pattern, silent):
                if silent:  # a failure is a solution without values
                    return NONE
                own = {name.name} if isinstance(name, Variable) else NONE
                return self.certain(pattern) | own
            case Extend() | Filter() | OrderBy() | Distinct() | Reduced() | Slice():
                return self.certain(node.pattern)


def _is_bound(expression: Expression, known: Names) -> bool:
    return isinstance(expression, Variable) and expression.name in known


def own_variables(node: Bgp | Path | TermPattern | Values | TextHits) -> Names:
    """The variables of a leaf."""
    if isinstance(node, Bgp):
        terms = [term for pattern in node.patterns for term in pattern]
    elif isinstance(node, Path):
        terms = [node.subject, node.object]
    elif isinstance(node, TextHits):
        columns = (node.literal, node.score, node.property, node.query)
        terms = [each for each in columns if each is not None]
    elif isinstance(node, TermPattern):
        terms = list(node.terms)
    else:
        terms = list(node.variables)
    return frozenset([term.name for term in terms if isinstance(term, Variable)])


def expressions_of(node: Node) -> Iterator[Expression]:
    """The expressions of a node itself."""
    match node:
        case Filter(_, condition):
            yield condition
        case LeftJoin(_, _, condition):
            if condition is not None:
                yield condition
        case Extend(_, _, expression):
            yield expression
        case OrderBy(_, keys):
            yield from (key.expression for key in keys)
        case Group(_, keys, aggregates):
            yield from (key.expression for key in keys)
            for key in aggregates:
                if key.aggregate.argument is not None:
                    yield key.aggregate.argument
        case _:
            return


def names_in(expression: Expression, seen: Variables) -> Names:
    """The variables that an expression uses, including those in the patterns of EXISTS."""
    current().check()  # called for many conditions, one after the other
    names: set[str] = set()
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            names.add(node.name)
        elif isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            stack.extend(node.arguments)
        elif isinstance(node, Exists):
            names |= mentioned(node.pattern, seen)
    return frozenset(names)


def exists_in(expression: Expression) -> Iterator[Exists]:
    """Every EXISTS of an expression."""
    if isinstance(expression, Exists):
        yield expression
    elif isinstance(expression, Call):
        if len(expression.arguments) > MANY:
            look()
        for part in expression.arguments:
            yield from exists_in(part)


def mentioned(node: Node, seen: Variables) -> Names:
    """All variables of a pattern, including those that only its expressions use."""
    names = set(seen.in_scope(node))
    for inner in walk(node):
        names |= seen.in_scope(inner)
        for expression in expressions_of(inner):
            names |= names_in(expression, seen)
    return frozenset(names)


def conjuncts(expression: Expression) -> list[Expression]:
    """The parts of an `&&`, including nested ones.

    >>> x, y = Variable("x"), Variable("y")
    >>> len(conjuncts(Call("&&", (x, Call("&&", (y, x))))))
    3
    """
    if isinstance(expression, Call) and expression.function == "&&":
        return [part for argument in expression.arguments for part in conjuncts(argument)]
    return [expression]


def conjunction(parts: list[Expression]) -> Expression:
    """The `&&` of at least one part."""
    return parts[0] if len(parts) == 1 else Call("&&", tuple(parts))
