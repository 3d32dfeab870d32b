"""The algebra of SPARQL 1.1 as data: graph patterns, paths, queries and update operations.

Start at `Node` (what a pattern is made of), `Query` and `Update`. Names and meaning are those of
section 18 of the specification, except where it says otherwise here.

What is always true:

- Nodes are frozen, hashable and compare by structure. A term in a pattern is a `Constant` or a
  `Variable` of `expressions.tree`; in the data of INSERT DATA and DELETE DATA it is pyoxigraph's.
- Blank nodes of patterns, and the variables that the translation needs (steps of paths, aggregates,
  keys of groups without a name), are variables whose name has a colon in it, which no text can
  name: `is_hidden`. A blank node that stands in a template is a constant, and means a new blank
  node for each solution.
- `Join` and `Union` have two parts or more, none of which is of the same kind; parts keep the order
  of the text. What matches nothing in particular, such as `{}`, is `UNIT`, and no part of a join.
- A variable of a sub-query that it does not project has nothing to do with one of the same name
  outside. The pattern of an EXISTS is asked with the variables of the solution it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Literal, NamedTuple, TypeAlias

import pyoxigraph as ox

from triplestore.expressions.tree import Call, Constant, Expression, Variable

TermOrVariable: TypeAlias = Variable | Constant


def is_hidden(variable: Variable) -> bool:
    """True for variables that the translation made: they are never part of an answer.

    >>> is_hidden(Variable("_:b")), is_hidden(Variable("x"))
    (True, False)
    """
    return ":" in variable.name


# --- triple patterns and paths -------------------------------------------------------------------


class TriplePattern(NamedTuple):
    """Subject, predicate and object."""

    subject: TermOrVariable
    predicate: TermOrVariable
    object: TermOrVariable


class QuadPattern(NamedTuple):
    """A triple of a template and the graph it is for; None is the default graph."""

    subject: TermOrVariable
    predicate: TermOrVariable
    object: TermOrVariable
    graph: TermOrVariable | None = None


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`."""

    path: PathExpression


@dataclass(frozen=True, slots=True)
class Sequence:
    """`a/b/...`, two parts or more; only inside other paths, because those outside are joins."""

    parts: tuple[PathExpression, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """`a|b|...`, two parts or more."""

    parts: tuple[PathExpression, ...]


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """`path*`."""

    path: PathExpression


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """`path+`."""

    path: PathExpression


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """`path?`."""

    path: PathExpression


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """`!(a|b|...)`: any property but these. `!(a|^b)` is `!(a)|^!(b)`."""

    iris: tuple[Constant, ...]


PathExpression: TypeAlias = (
    Constant | Inverse | Sequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedSet
)


# --- graph patterns ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bgp:
    """A basic graph pattern; without triples it has one solution, which is empty."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A property path that is more than a predicate."""

    subject: TermOrVariable
    path: PathExpression
    object: TermOrVariable


@dataclass(frozen=True, slots=True)
class Join:
    """All parts together."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """The solutions of all parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL; the condition, of the FILTERs in it, sees the variables of both sides.

    absent  a variable that `right` alone binds, if only the solutions without it are wanted (made
            by `rewrites.use_antijoins`): an anti-join
    """

    left: Node
    right: Node
    condition: Expression | None = None
    absent: Variable | None = None


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Filter:
    """FILTER and HAVING; several of one group are one `&&`."""

    pattern: Node
    condition: Expression


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND and `(expression AS ?v)`; where the expression has no value the variable is unbound."""

    pattern: Node
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Graph:
    """GRAPH."""

    name: TermOrVariable
    pattern: Node


@dataclass(frozen=True, slots=True)
class Service:
    """SERVICE."""

    name: TermOrVariable
    pattern: Node
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES: a table; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]


class GroupKey(NamedTuple):
    """What a group has in common: `expression` is the variable itself in `GROUP BY ?x`."""

    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate: `function` as in `expressions.functions.AGGREGATES`, or an IRI.

    argument  None for COUNT(*)
    """

    function: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None


class AggregateKey(NamedTuple):
    """The (hidden) variable that has the value of an aggregate."""

    variable: Variable
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class Group:
    """GROUP BY with its aggregates. The solutions have the variables of both and no others.

    Without keys there is one group, even of no solutions.
    """

    pattern: Node
    keys: tuple[GroupKey, ...]
    aggregates: tuple[AggregateKey, ...]


class OrderKey(NamedTuple):
    """What to order by."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """ORDER BY."""

    pattern: Node
    keys: tuple[OrderKey, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """The variables of SELECT; those that the pattern does not have are unbound."""

    pattern: Node
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """SELECT DISTINCT."""

    pattern: Node


@dataclass(frozen=True, slots=True)
class Reduced:
    """SELECT REDUCED: duplicates may go or stay."""

    pattern: Node


@dataclass(frozen=True, slots=True)
class Slice:
    """OFFSET and LIMIT; None is no limit."""

    pattern: Node
    offset: int = 0
    limit: int | None = None


Node: TypeAlias = (
    Bgp
    | Path
    | Join
    | Union
    | LeftJoin
    | Minus
    | Filter
    | Extend
    | Graph
    | Service
    | Values
    | Group
    | OrderBy
    | Project
    | Distinct
    | Reduced
    | Slice
)
"""A graph pattern or what is made of one. EXISTS is an expression: `expressions.tree.Exists`."""

SOLUTION = Call("SOLUTION")
"""The number of a solution in an `Extend`: no text has it (see `rewrites.number_solutions`)."""

UNIT = Bgp(())
"""The empty pattern `{}`: one solution without variables."""


def children(node: Node) -> tuple[Node, ...]:
    """The patterns right below a node, those in EXISTS left out.

    >>> children(Minus(UNIT, Values((), ())))
    (Bgp(patterns=()), Values(variables=(), rows=()))
    """
    if isinstance(node, Join | Union):
        return node.parts
    if isinstance(node, LeftJoin | Minus):
        return (node.left, node.right)
    if isinstance(node, Bgp | Path | Values):
        return ()
    return (node.pattern,)


def with_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each child changed; itself, if nothing is."""
    if isinstance(node, Bgp | Path | Values):
        return node
    if isinstance(node, Join | Union):
        parts = tuple([change(part) for part in node.parts])
        same = all(map(is_, parts, node.parts))
        return node if same else replace(node, parts=parts)
    if isinstance(node, LeftJoin | Minus):
        left, right = change(node.left), change(node.right)
        same = left is node.left and right is node.right
        return node if same else replace(node, left=left, right=right)
    pattern = change(node.pattern)
    return node if pattern is node.pattern else replace(node, pattern=pattern)


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, from the top and the left; patterns in EXISTS are left out."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(children(found)))


# --- queries -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DatasetClause:
    """FROM and FROM NAMED, or USING and USING NAMED: the default graph is a merge of graphs."""

    default: tuple[Constant, ...]
    named: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    pattern: Node
    dataset: DatasetClause | None = field(default=None, kw_only=True)
    size: int = field(default=0, compare=False, repr=False, kw_only=True)
    base: str | None = field(default=None, kw_only=True)
    prefixes: Mapping[str, str] = field(
        default_factory=dict, compare=False, repr=False, kw_only=True
    )


@dataclass(frozen=True, slots=True)
class Select(_Form):
    """SELECT: `pattern` is a `Project`, with `Distinct`, `Reduced` and `Slice` above it.

    The fields of every form: `pattern`; `dataset`, None if the query names none; `size`, how many
    tokens its text had; `base`, what IRI() resolves against; `prefixes` that were in force.
    `size` and `prefixes` do not count in comparisons.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What is selected, in order."""
        node = self.pattern
        while not isinstance(node, Project):
            (node,) = children(node)
        return node.variables


@dataclass(frozen=True, slots=True)
class Ask(_Form):
    """ASK."""


@dataclass(frozen=True, slots=True)
class Construct(_Form):
    """CONSTRUCT: blank nodes of the template are constants, new for each solution."""

    template: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Describe(_Form):
    """DESCRIBE: of IRIs, and of what the variables have as values."""

    targets: tuple[TermOrVariable, ...]


Query: TypeAlias = Select | Ask | Construct | Describe


# --- updates -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InsertData:
    """INSERT DATA. Blank nodes are labels: each execution makes new ones, one for each label."""

    quads: tuple[ox.Quad, ...]


@dataclass(frozen=True, slots=True)
class DeleteData:
    """DELETE DATA: without blank nodes."""

    quads: tuple[ox.Quad, ...]


@dataclass(frozen=True, slots=True)
class Modify:
    """DELETE {} INSERT {} WHERE {}, and DELETE WHERE {}. WITH is part of the templates already.

    size     how many tokens the text of the request had
    graph    of WITH: the default graph of the WHERE, if `dataset` (of USING) is None; the named
             graphs are then those of the store
    """

    delete: tuple[QuadPattern, ...]
    insert: tuple[QuadPattern, ...]
    pattern: Node
    dataset: DatasetClause | None = None
    graph: Constant | None = None
    size: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """LOAD source [INTO GRAPH graph]."""

    source: Constant
    graph: Constant | None = None
    silent: bool = False


GraphTarget: TypeAlias = Constant | Literal["DEFAULT", "NAMED", "ALL"]


@dataclass(frozen=True, slots=True)
class Clear:
    """CLEAR."""

    target: GraphTarget
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """DROP."""

    target: GraphTarget
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    """CREATE GRAPH."""

    graph: Constant
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Add:
    """ADD source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """MOVE source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """COPY source TO target; None is the default graph."""

    source: Constant | None
    target: Constant | None
    silent: bool = False


Operation: TypeAlias = (
    InsertData | DeleteData | Modify | Load | Clear | Drop | Create | Add | Move | Copy
)


@dataclass(frozen=True, slots=True)
class Update:
    """A request: operations in their order; each sees what those before it did."""

    operations: tuple[Operation, ...]
    base: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
