"""The algebra of SPARQL as data: graph patterns, paths and queries (updates are in `updates`).

Start at `Node`, the kinds of patterns, and at `Query`. Names and meaning are those of section 18 of
the specification, unless stated otherwise.

Always true:

- Nodes are frozen, hashable and compare by structure. A term in a pattern is a `Constant` or a
  `Variable` of `expressions.tree`; in the data of INSERT DATA and DELETE DATA it is pyoxigraph's.
- Blank nodes of patterns, and variables added by the translation (steps of paths, aggregates, keys
  of groups without a name), are variables with a colon in their name, which cannot occur in a text:
  `is_hidden`. A blank node in a template is a constant, and means a new blank node for each
  solution.
- `Join` and `Union` have at least two parts, none of the same kind; parts keep the order of the
  text. A pattern without triples, such as `{}`, is `UNIT`, and never a part of a join.
- A variable that a sub-query does not project is distinct from one of the same name outside. The
  pattern of an EXISTS is evaluated with the values of the current solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from operator import is_
from typing import NamedTuple, TypeAlias

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Call, Constant, Expression, Variable

TermOrVariable: TypeAlias = Variable | Constant


def is_hidden(variable: Variable) -> bool:
    """True for variables added by the translation: they are never part of an answer.

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
    """A triple of a template, and its graph; None is the default graph."""

    subject: TermOrVariable
    predicate: TermOrVariable
    object: TermOrVariable
    graph: TermOrVariable | None = None


@data_class
class Inverse:
    """`^path`."""

    path: PathExpression


@data_class
class Sequence:
    """`a/b/...`, at least two parts; only inside of other paths, because others become joins."""

    parts: tuple[PathExpression, ...]


@data_class
class Alternative:
    """`a|b|...`, at least two parts."""

    parts: tuple[PathExpression, ...]


@data_class
class ZeroOrMore:
    """`path*`."""

    path: PathExpression


@data_class
class OneOrMore:
    """`path+`."""

    path: PathExpression


@data_class
class ZeroOrOne:
    """`path?`."""

    path: PathExpression


@data_class
class NegatedSet:
    """`!(a|b|...)`: any property but these. `!(a|^b)` is `!(a)|^!(b)`."""

    iris: tuple[Constant, ...]


PathExpression: TypeAlias = (
    Constant | Inverse | Sequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedSet
)


# --- graph patterns ------------------------------------------------------------------------------


@data_class
class Bgp:
    """A basic graph pattern; without triples it has one solution, which is empty."""

    patterns: tuple[TriplePattern, ...]


@data_class
class Path:
    """A property path other than a single predicate."""

    subject: TermOrVariable
    path: PathExpression
    object: TermOrVariable


@data_class
class TermPattern:
    """A triple term and its parts, in the same solutions as the triples around it.

    term  a variable for it, which is the subject or object of a triple or path beside this, or a
          part of another such term
    """

    term: Variable
    subject: TermOrVariable
    predicate: TermOrVariable
    object: TermOrVariable

    @property
    def terms(self) -> tuple[TermOrVariable, ...]:
        """The term and its parts."""
        return self.term, self.subject, self.predicate, self.object


@data_class
class Join:
    """The join of all parts."""

    parts: tuple[Node, ...]


@data_class
class Union:
    """The solutions of all parts."""

    parts: tuple[Node, ...]


@data_class
class LeftJoin:
    """OPTIONAL; its condition, from the FILTERs in it, sees the variables of both sides.

    absent  a variable that only `right` binds, if only the solutions without it are wanted (set by
            `rewrites.use_antijoins`): an anti-join
    """

    left: Node
    right: Node
    condition: Expression | None = None
    absent: Variable | None = None


@data_class
class Minus:
    """MINUS."""

    left: Node
    right: Node


@data_class
class Filter:
    """FILTER and HAVING; the conditions of one group are joined by `&&`."""

    pattern: Node
    condition: Expression


@data_class
class Extend:
    """BIND and `(expression AS ?v)`; where the expression has no value the variable is unbound."""

    pattern: Node
    variable: Variable
    expression: Expression


@data_class
class Graph:
    """GRAPH."""

    name: TermOrVariable
    pattern: Node


@data_class
class Service:
    """SERVICE."""

    name: TermOrVariable
    pattern: Node
    silent: bool = False


@data_class
class Values:
    """VALUES: a table; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]


@data_class
class TextHits:
    """The literals that match a text query; like VALUES, it does not depend on facts.

    literal, score  variables for the literal and how well it matches
    property        a variable for each of the indexed properties; None if that is not wanted
    query           the text query
    properties      the indexed properties that are meant; empty for all
    language        only literals in this language; empty for all
    enough          hits may be left out if this number of rows of the join with facts have higher
                    scores; None to have all
    """

    literal: Variable
    score: Variable | None
    property: Variable | None
    query: TermOrVariable
    properties: tuple[Constant, ...] = ()
    language: str = ""
    enough: int | None = None


class GroupKey(NamedTuple):
    """One key of GROUP BY; in `GROUP BY ?x` the expression is the variable itself."""

    variable: Variable
    expression: Expression


@data_class
class Aggregate:
    """An aggregate: `function` as in `expressions.functions.AGGREGATES`, or an IRI.

    argument  None for COUNT(*)
    """

    function: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None


class AggregateKey(NamedTuple):
    """An aggregate, and the hidden variable that gets its value."""

    variable: Variable
    aggregate: Aggregate


@data_class
class Group:
    """GROUP BY with its aggregates. The solutions have the variables of both and no others.

    Without keys there is one group, even of no solutions.
    """

    pattern: Node
    keys: tuple[GroupKey, ...]
    aggregates: tuple[AggregateKey, ...]


class OrderKey(NamedTuple):
    """One key of ORDER BY."""

    expression: Expression
    descending: bool = False


@data_class
class OrderBy:
    """ORDER BY."""

    pattern: Node
    keys: tuple[OrderKey, ...]


@data_class
class Project:
    """The variables of SELECT; those that the pattern does not have are unbound."""

    pattern: Node
    variables: tuple[Variable, ...]


@data_class
class Distinct:
    """SELECT DISTINCT."""

    pattern: Node


@data_class
class Reduced:
    """SELECT REDUCED: duplicates may be removed."""

    pattern: Node


@data_class
class Slice:
    """OFFSET and LIMIT; None is no limit."""

    pattern: Node
    offset: int = 0
    limit: int | None = None


Node: TypeAlias = (
    Bgp
    | Path
    | TermPattern
    | Join
    | Union
    | LeftJoin
    | Minus
    | Filter
    | Extend
    | Graph
    | Service
    | Values
    | TextHits
    | Group
    | OrderBy
    | Project
    | Distinct
    | Reduced
    | Slice
)
"""A graph pattern, or a solution modifier above one. EXISTS is an expression:
`expressions.tree.Exists`."""

SOLUTION = Call("SOLUTION")
"""The number of a solution, in an `Extend` of `rewrites.number_solutions`; not in any text."""

UNIT = Bgp(())
"""The empty pattern `{}`: one solution without variables."""


# As tuples: `Join | Union` would be made anew for each call.
LEAVES = (Bgp, Path, TermPattern, Values, TextHits)
LISTS = (Join, Union)
PAIRS = (LeftJoin, Minus)


def children(node: Node) -> tuple[Node, ...]:
    """The patterns directly below a node, without those in EXISTS.

    >>> children(Minus(UNIT, Values((), ())))
    (Bgp(patterns=()), Values(variables=(), rows=()))
    """
    if isinstance(node, LEAVES):
        return ()
    if isinstance(node, LISTS):
        return node.parts
    if isinstance(node, PAIRS):
        return (node.left, node.right)
    return (node.pattern,)


def with_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each child changed; the node itself if no child changes.

    The pattern of a SERVICE stays as it is written: another engine evaluates it.
    """
    if isinstance(node, (*LEAVES, Service)):
        return node
    if isinstance(node, LISTS):
        parts = tuple([change(part) for part in node.parts])
        same = all(map(is_, parts, node.parts))
        return node if same else replace(node, parts=parts)
    if isinstance(node, PAIRS):
        left, right = change(node.left), change(node.right)
        same = left is node.left and right is node.right
        return node if same else replace(node, left=left, right=right)
    pattern = change(node.pattern)
    return node if pattern is node.pattern else replace(node, pattern=pattern)


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes below it, in preorder, without patterns in EXISTS."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(children(found)))


# --- queries -------------------------------------------------------------------------------------


@data_class
class DatasetClause:
    """FROM and FROM NAMED, or USING and USING NAMED: the default graph is a merge of graphs."""

    default: tuple[Constant, ...]
    named: tuple[Constant, ...]


@data_class
class _Form:
    pattern: Node
    dataset: DatasetClause | None = field(default=None, kw_only=True)
    size: int = field(default=0, compare=False, repr=False, kw_only=True)
    base: str | None = field(default=None, kw_only=True)
    prefixes: Mapping[str, str] = field(
        default_factory=dict, compare=False, repr=False, kw_only=True
    )


@data_class
class Select(_Form):
    """SELECT: `pattern` is a `Project`, with `Distinct`, `Reduced` and `Slice` above it.

    The fields of every form: `pattern`; `dataset`, None without FROM; `size`, the number of tokens
    of its text; `base`, the IRI that IRI() resolves against; `prefixes` in force. `size` and
    `prefixes` are not compared.
    """

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The selected variables, in order."""
        node = self.pattern
        while not isinstance(node, Project):
            (node,) = children(node)
        return node.variables


@data_class
class Ask(_Form):
    """ASK."""


@data_class
class Construct(_Form):
    """CONSTRUCT: blank nodes of the template are constants, new for each solution."""

    template: tuple[TriplePattern, ...]


@data_class
class Describe(_Form):
    """DESCRIBE: of IRIs, and of the values of variables."""

    targets: tuple[TermOrVariable, ...]


Query: TypeAlias = Select | Ask | Construct | Describe
