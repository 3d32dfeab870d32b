"""A SELECT as branches, whose bags of rows add up to its own: start at `branches_of`.

The parts of a UNION are branches, so that a fact that one part reads does not concern the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.functions import is_deterministic
from triplestore.expressions.tree import Constant, calls_of
from triplestore.live.reads import Read, joined, reads_of, two_of
from triplestore.live.thresholds import LIVE
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, Select, TriplePattern
from triplestore.sparql.algebra.variables import Variables, exists_in, expressions_of


@data_class(frozen=False, slots=False)
class Branch:
    """A part of a query.

    node      its pattern
    reads     what it reads
    graphs    whether it depends on which named graphs there are
    distinct  whether its rows are a set
    sliced    whether it has a LIMIT or OFFSET: the rows of an answer may not be the only right ones
    """

    node: Node
    reads: list[Read]
    graphs: bool
    distinct: bool = False
    sliced: bool = False

    @cached_property
    def known(self) -> list[tuple[str, ...]]:
        """For each read the variables, at most two, by whose values changed rows are found."""
        return [
            read.lifts[-1].names if read.lifts else two_of(read.names, read.pattern)
            for read in self.reads
        ]

    @cached_property
    def triple(self) -> TriplePattern | None:
        """The only triple pattern of the default graph, if the branch is nothing else."""
        if isinstance(self.node, sparql.Bgp) and len(self.node.patterns) == 1:
            return self.node.patterns[0]
        return None


def branches_of(query: Select) -> list[Branch]:
    """The branches of a query; raises if its answer depends on more than the facts."""
    patterns = list(_patterns(query.pattern))
    _refuse_chance(patterns)
    seen = Variables()
    if any(isinstance(node, sparql.Slice) for node in patterns):
        reads = reads_of(query.pattern, seen)
        whole = [replace(read, names=frozenset(), lifts=(), exact=False) for read in reads.found]
        return [Branch(query.pattern, whole, reads.graphs, sliced=True)]
    top, distinct = query.pattern, False
    while isinstance(top, sparql.Distinct | sparql.Reduced):
        top, distinct = top.pattern, True
    assert isinstance(top, sparql.Project)
    inner = top.pattern
    while isinstance(inner, sparql.OrderBy):
        inner = inner.pattern
    if distinct:
        rows = sparql.Distinct(sparql.Project(inner, top.variables))
        reads = reads_of(rows, seen)
        return [Branch(rows, reads.found, reads.graphs, distinct=True)]
    found = []
    for node in _apart(inner):
        reads = reads_of(node, seen)
        found.append(Branch(node, reads.found, reads.graphs))
    return found


def _apart(node: Node) -> list[Node]:
    """Patterns whose bags of solutions add up to those of a pattern."""
    match node:
        case sparql.Union(parts):
            found = [each for part in parts for each in _apart(part)]
        case sparql.Join(parts):
            apart = [_apart(part) for part in parts]
            if prod(map(len, apart)) > LIVE.branches:
                return [node]
            found = [joined(list(chosen)) for chosen in product(*apart)]
        case sparql.Filter(pattern, _) | sparql.Extend(pattern, _, _):
            found = [replace(node, pattern=each) for each in _apart(pattern)]
        case sparql.LeftJoin(left, _, _) | sparql.Minus(left, _):
            found = [replace(node, left=each) for each in _apart(left)]
        case sparql.Graph(Constant(), pattern):
            found = [replace(node, pattern=each) for each in _apart(pattern)]
        case _:
            found = [node]
    return found if 1 < len(found) <= LIVE.branches else [node]


def _patterns(node: Node) -> Iterator[Node]:
    """All nodes of a pattern, including those in EXISTS."""
    for inner in sparql.walk(node):
        yield inner
        for expression in expressions_of(inner):
            for exists in exists_in(expression):
                yield from _patterns(exists.pattern)


def _refuse_chance(patterns: list[Node]) -> None:
    for node in patterns:
        if isinstance(node, sparql.Service):
            raise UsageError(
                "SERVICE asks another endpoint, whose answers change without a commit: a "
                "subscription cannot follow them; leave it out"
            )
        if isinstance(node, sparql.TextHits):
            raise UsageError(
                "text:query depends on all that is indexed, so the rows of this query may change "
                "with every commit: a subscription cannot follow them; ask it again instead"
            )
        for expression in expressions_of(node):
            for call in calls_of(expression):
                if call == sparql.SOLUTION or not is_deterministic(call.function):
                    name = "BNODE" if call == sparql.SOLUTION else call.function
                    raise UsageError(
                        f"{name}() has another value each time, so the rows of this query change "
                        "without a commit: a subscription cannot follow them; leave it out"
                    )
