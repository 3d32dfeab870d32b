"""What a query reads, and which of its rows a changed fact can change.

Start at `reads_of`. A triple pattern that matches a changed fact binds variables to its terms. Only
rows with the same values of these variables can change (the `names` of a `Read`), as far as the
variables are seen where the rows are. If none of them is (`OPTIONAL { ?x :knows ?y . ?y :name ?n }`
with a changed name), the values of others follow from a part of the pattern that has both: `Lift`.

Always true: rows that differ from each of the changed facts in one of the names are the same before
and after the commit. So to compare only the other rows is exact, however many they are, and a read
without names means that all rows are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant, Expression, Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import (
    UNIT,
    Node,
    PathExpression,
    TermOrVariable,
    TriplePattern,
)
from triplestore.sparql.algebra.variables import (
    Names,
    Variables,
    exists_in,
    expressions_of,
    own_variables,
)

NONE: Names = frozenset()


@data_class
class Lift:
    """Finds values of other variables: those in the solutions of `pattern` with known values.

    known, names  the variables whose values are known, and those that are found
    """

    pattern: Node
    known: tuple[str, ...]
    names: tuple[str, ...]


@data_class
class Read:
    """One place of a query that reads facts.

    pattern  what it reads; a predicate that is a variable stands for all
    graph    the name in GRAPH; None for the default graph
    path     the path that it is part of; a changed fact then concerns all nodes that lead there
    names    the variables whose values a row must share with a changed fact to be changed by it
    lifts    how their values are found, if they are not in the fact
    exact    whether a fact that came can only make rows, and one that went only remove some
    frame    a pattern that holds in all rows that a fact can change; for `Lift`
    nodes    whether it reads the nodes of the graph, for paths of length zero
    """

    pattern: TriplePattern
    graph: TermOrVariable | None
    names: Names
    frame: Node
    path: sparql.Path | None = None
    lifts: tuple[Lift, ...] = ()
    exact: bool = True
    nodes: bool = False

    def loosely(self) -> Read:
        """The same where a fact may also do the opposite."""
        return replace(self, exact=False)


@data_class(frozen=False)
class Reads:
    """The reads of one pattern; `graphs` if it also depends on which graphs there are."""

    found: list[Read]
    graphs: bool = False


def reads_of(node: Node, seen: Variables) -> Reads:
    """What a pattern reads, each with the names of the rows of that pattern."""
    reads = Reads([])
    reads.found += _Reader(seen, reads).reads(node, None)
    return reads


class _Reader:
    """Walks over a pattern."""

    def __init__(self, seen: Variables, reads: Reads) -> None:
        self._seen = seen
        self._reads = reads

    def reads(self, node: Node, graph: TermOrVariable | None) -> list[Read]:
        """The reads of a pattern, with the names of its rows."""
        match node:
            case sparql.Bgp(patterns):
                return [self._triple(node, pattern, graph) for pattern in patterns]
            case sparql.Path():
                return self._path(node, graph)
            case sparql.Join(parts):
                return self._join(parts, graph)
            case sparql.Union(parts):
                found = [read for part in parts for read in self.reads(part, graph)]
                return self._kept(found, self._seen.certain(node), exact=False)
            case sparql.LeftJoin(left, right, _):
                return [
                    *self.reads(left, graph),
                    *self._beside(left, self.reads(right, graph)),
                    *self._tests(node, left, graph),
                ]
            case sparql.Minus(left, right):
                return [*self.reads(left, graph), *self._beside(left, self.reads(right, graph))]
            case sparql.Filter(pattern, _) | sparql.Extend(pattern, _, _):
                return [*self.reads(pattern, graph), *self._tests(node, pattern, graph)]
            case sparql.Graph(name, pattern):
                return self._graph(name, pattern)
            case sparql.Group(pattern, keys, _):
                plain = frozenset(
                    [k.variable.name for k in keys if k.expression == k.variable]
                ) & self._seen.certain(pattern)
                inside = [*self.reads(pattern, graph), *self._tests(node, pattern, graph)]
                return self._within(self._kept(inside, plain, exact=False), plain)
            case sparql.Project(pattern, variables):
                shown = frozenset([v.name for v in variables]) & self._seen.certain(pattern)
                return self._within(self._kept(self.reads(pattern, graph), shown), shown)
            case sparql.Distinct(pattern) | sparql.Reduced(pattern):
                return [read.loosely() for read in self.reads(pattern, graph)]
            case sparql.OrderBy(pattern, _):
                return [*self.reads(pattern, graph), *self._tests(node, pattern, graph)]
            case sparql.Slice(pattern, _, _):
                return [_of_all(read) for read in self.reads(pattern, graph)]
            case _:  # a table
                return []

    # -- leaves -----------------------------------------------------------------------------------

    def _triple(
        self, node: sparql.Bgp, pattern: TriplePattern, graph: TermOrVariable | None
    ) -> Read:
        return Read(pattern, graph, own_variables(sparql.Bgp((pattern,))), node)

    def _path(self, node: sparql.Path, graph: TermOrVariable | None) -> list[Read]:
        ends = [end for end in (node.subject, node.object) if isinstance(end, Variable)]
        names = frozenset([ends[0].name]) if ends else NONE
        if isinstance(graph, Variable):  # it is asked graph by graph
            names = NONE
        found = []
        s, o = Variable(" subject"), Variable(" object")
        for predicate in dict.fromkeys(predicates_in(node.path)):
            pattern = TriplePattern(s, predicate or Variable(" predicate"), o)
            found.append(Read(pattern, graph, names, node, node, exact=False))
        if len(ends) == 2 and may_be_empty(node.path):
            every = TriplePattern(s, Variable(" predicate"), o)
            found.append(Read(every, graph, names, node, node, exact=False, nodes=True))
        return found

    # -- nodes with several parts -----------------------------------------------------------------

    def _join(self, parts: tuple[Node, ...], graph: TermOrVariable | None) -> list[Read]:
        found = []
        frames = [frame_of(part) for part in parts]
        for place, part in enumerate(parts):
            others = [frame for at, frame in enumerate(frames) if at != place]
            found += [
                replace(read, frame=joined([read.frame, *others]))
                for read in self.reads(part, graph)
            ]
        return found

    def _beside(self, left: Node, right: list[Read]) -> list[Read]:
        """Reads of the right side of OPTIONAL and MINUS, with names of the left side."""
        certain = self._seen.certain(left)
        frame = frame_of(left)
        return [replace(r, frame=frame) for r in self._kept(right, certain, exact=False)]

    def _tests(self, node: Node, pattern: Node, graph: TermOrVariable | None) -> list[Read]:
        """Reads of EXISTS in the expressions of a node."""
        found = []
        for expression in expressions_of(node):
            found += self._exists(expression, pattern, graph)
        return found

    def _exists(
        self, expression: Expression, pattern: Node, graph: TermOrVariable | None
    ) -> list[Read]:
        return [
            read
            for exists in exists_in(expression)
            for read in self._beside(pattern, self.reads(exists.pattern, graph))
        ]

    def _graph(self, name: TermOrVariable, pattern: Node) -> list[Read]:
        if _has_solutions_of_nothing(pattern):
            self._reads.graphs = True
        found = self.reads(pattern, name)
        return [
            replace(
                read,
                exact=read.exact and isinstance(name, Constant),
                frame=sparql.Graph(name, read.frame) if read.frame != UNIT else UNIT,
                lifts=tuple(
                    replace(lift, pattern=sparql.Graph(name, lift.pattern)) for lift in read.lifts
                ),
            )
            for read in found
        ]

    # -- names ------------------------------------------------------------------------------------

    def _kept(self, reads: list[Read], names: Names, exact: bool = True) -> list[Read]:
        """The reads as they are seen where only some names are."""
        return [self._seen_as(read, names, exact) for read in reads]

    def _seen_as(self, read: Read, names: Names, exact: bool) -> Read:
        kept = read.names & names
        if kept == read.names:
            return read if exact else read.loosely()
        if kept or not read.names:
            return replace(read, names=kept, exact=False)
        known = two_of(read.names & self._seen.certain(read.frame), read.pattern)
        linked = linked_part(read.frame, frozenset(known))
        reached = self._seen.certain(linked) & names
        if not (reached and known):
            return _of_all(read)
        found = tuple(sorted(reached)[:2])
        lift = Lift(linked, known, found)
        return replace(read, names=frozenset(found), lifts=(*read.lifts, lift), exact=False)

    def _within(self, reads: list[Read], names: Names) -> list[Read]:
        """The reads of a sub-query, whose other variables are its own."""
        shown = tuple(Variable(name) for name in sorted(names))
        return [
            replace(read, frame=sparql.Project(read.frame, shown) if shown else UNIT)
            for read in reads
        ]


def _of_all(read: Read) -> Read:
    """The read, if it may change any row."""
    return replace(read, names=NONE, lifts=(), exact=False)


def two_of(names: Names, pattern: TriplePattern) -> tuple[str, ...]:
    """At most two of some names; those of the ends of a pattern first.

    >>> x, y, z = (Variable(name) for name in "xyz")
    >>> two_of(frozenset("xyz"), TriplePattern(x, y, z))
    ('x', 'z')
    """
    places = (pattern.subject, pattern.object, pattern.predicate)
    first = [term.name for term in places if isinstance(term, Variable) and term.name in names]
    return tuple(dict.fromkeys([*first, *sorted(names)]))[:2]


# -- frames ---------------------------------------------------------------------------------------


def frame_of(node: Node) -> Node:
    """A pattern of which every solution of another pattern has one: only its triples and paths.

    >>> x = Variable("x")
    >>> triple = sparql.Bgp((TriplePattern(x, Constant.iri("http://p"), x),))
    >>> frame_of(sparql.LeftJoin(triple, UNIT)) == triple
    True
    """
    match node:
        case sparql.Bgp() | sparql.Path() | sparql.TermPattern() | sparql.Values():
            return node
        case sparql.Join(parts):
            return joined(map(frame_of, parts))
        case sparql.Filter(pattern, _) | sparql.Extend(pattern, _, _):
            return frame_of(pattern)
        case sparql.LeftJoin(left, _, _) | sparql.Minus(left, _):
            return frame_of(left)
        case _:
            return UNIT


def joined(parts: Iterator[Node] | list[Node]) -> Node:
    """The join of patterns, of which some may be joins or the empty pattern."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, sparql.Join) else [part])
    flat = [part for part in flat if part != UNIT]
    if len(flat) < 2:
        return flat[0] if flat else UNIT
    return sparql.Join(tuple(flat))


def linked_part(node: Node, names: Names) -> Node:
    """The triples and paths of a frame that are linked with some variables, directly or not."""
    match node:
        case sparql.Graph(name, pattern):
            inner = linked_part(pattern, names)
            return inner if inner == UNIT else sparql.Graph(name, inner)
        case sparql.Project(pattern, variables):
            shown = names & {v.name for v in variables}
            return sparql.Project(linked_part(pattern, shown), variables) if shown else UNIT
    waiting: list[Node] = []
    for part in node.parts if isinstance(node, sparql.Join) else (node,):
        if isinstance(part, sparql.Bgp):
            waiting += [sparql.Bgp((triple,)) for triple in part.patterns]
        else:
            waiting.append(part)
    own = [frozenset(Variables().in_scope(part)) for part in waiting]
    linked: list[Node] = []
    reached = names
    while True:
        near = [at for at, names_of in enumerate(own) if names_of & reached]
        if not near:
            return joined(linked)
        for at in reversed(near):
            linked.append(waiting.pop(at))
            reached |= own.pop(at)


def _has_solutions_of_nothing(node: Node) -> bool:
    """Whether a pattern may have solutions in a graph without triples."""
    match node:
        case sparql.Bgp(patterns):
            return not patterns
        case sparql.Path(_, path, _):
            return may_be_empty(path)
        case sparql.Join(parts):
            return all(map(_has_solutions_of_nothing, parts))
        case sparql.Filter(pattern, _) | sparql.Extend(pattern, _, _):
            return _has_solutions_of_nothing(pattern)
        case sparql.LeftJoin(left, _, _) | sparql.Minus(left, _):
            return _has_solutions_of_nothing(left)
        case _:
            return True


# -- paths ----------------------------------------------------------------------------------------


def predicates_in(path: PathExpression) -> Iterator[Constant | None]:
    """The predicates that a path follows; None for any."""
    match path:
        case Constant():
            yield path
        case sparql.Sequence(parts) | sparql.Alternative(parts):
            for part in parts:
                yield from predicates_in(part)
        case sparql.NegatedSet():
            yield None
        case _:
            yield from predicates_in(path.path)


def may_be_empty(path: PathExpression) -> bool:
    """Whether a path may have length zero.

    >>> p = Constant.iri("http://p")
    >>> may_be_empty(sparql.Sequence((p, sparql.ZeroOrOne(p))))
    False
    """
    match path:
        case sparql.ZeroOrMore() | sparql.ZeroOrOne():
            return True
        case sparql.Sequence(parts):
            return all(map(may_be_empty, parts))
        case sparql.Alternative(parts):
            return any(map(may_be_empty, parts))
        case sparql.Inverse(inner) | sparql.OneOrMore(inner):
            return may_be_empty(inner)
        case _:
            return False


def steps_in(path: PathExpression) -> PathExpression:
    """Any step that a path may take, in its direction, any number of times."""
    found = dict.fromkeys(_steps(path, lambda step: step))
    return sparql.ZeroOrMore(sparql.Alternative(tuple(found)))


def _steps(
    path: PathExpression, turned: Callable[[PathExpression], PathExpression]
) -> Iterator[PathExpression]:
    match path:
        case Constant():
            yield turned(path)
        case sparql.NegatedSet():
            every = sparql.NegatedSet(())
            yield every
            yield sparql.Inverse(every)
        case sparql.Inverse(inner):
            yield from _steps(inner, lambda step: turned(_inverse(step)))
        case sparql.Sequence(parts) | sparql.Alternative(parts):
            for part in parts:
                yield from _steps(part, turned)
        case _:
            yield from _steps(path.path, turned)


def _inverse(step: PathExpression) -> PathExpression:
    return step.path if isinstance(step, sparql.Inverse) else sparql.Inverse(step)
