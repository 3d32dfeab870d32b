"""The rules of shapes as a program: start at `rules_of_shapes`.

A `sh:TripleRule` is one rule: its body binds `?this` to the focus nodes of the shape, and what
its node expressions need. A `sh:SPARQLRule` is one rule for each way through the UNIONs of its
pattern. Always true: a rule that cannot be translated is an error that says why, and nothing is
translated approximately; `sh:order` has no meaning, since rules are applied until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.datalog.program import Constant, Item, Program, Rule, Term, TripleAtom
from triplestore.errors import ShapesError
from triplestore.shacl.model import Shape, ShapeSet
from triplestore.shacl.reading.read_paths import read_path
from triplestore.shacl.reading.read_queries import read_prefixes
from triplestore.shacl.reading.read_shapes import read_shapes
from triplestore.shacl.reading.shapes_graph import ShapesGraph, in_order, shown
from triplestore.shacl.rules.query_rules import bodies_of_pattern, plain
from triplestore.shacl.rules.rule_parts import THIS, RuleParts, refused
from triplestore.shacl.vocabulary import Key, lexical, sh
from triplestore.sparql.algebra.nodes import Construct
from triplestore.sparql.syntax.parser import parse_query
from triplestore.terms.term_keys import BLANK


def rules_of_shapes(graph: ShapesGraph) -> Program:
    """The program of all `sh:rule` of a shapes graph."""
    conditions = [c for _, found in graph.with_predicate(sh("condition")) for c in found]
    return _Translation(graph, read_shapes(graph, conditions)).program()


class _Translation:
    def __init__(self, graph: ShapesGraph, shapes: ShapeSet) -> None:
        self._graph = graph
        self._shapes = shapes
        self._parts = RuleParts(shapes)

    def program(self) -> Program:
        rules: list[Rule] = []
        for node in self._shapes.roots:
            shape = self._shapes.shapes[node]
            if shape.deactivated:
                continue
            for rule in in_order(self._graph.objects(node, sh("rule"))):
                if not self._graph.is_true(rule, sh("deactivated")):
                    rules += self._rules(shape, rule)
        return Program([*rules, *self._parts.helpers()])

    def _rules(self, shape: Shape, rule: Key) -> list[Rule]:
        try:
            return list(self._translated(shape, rule))
        except ShapesError as error:
            raise refused(rule, error) from error

    def _translated(self, shape: Shape, rule: Key) -> Iterator[Rule]:
        graph, parts = self._graph, self._parts
        conditions: list[Item] = []
        for condition in in_order(graph.objects(rule, sh("condition"))):
            conditions += parts.condition(condition, THIS)
        construct = graph.one(rule, sh("construct"))
        name = f"sh:rule of {shown(shape.node)}"
        for target in shape.targets:
            start = [*parts.target(target), *conditions]
            if construct is not None:
                yield from self._of_query(rule, lexical(construct), start, name)
                continue
            items: list[Item] = []
            s, p, o = (self._term(rule, each, items) for each in ("subject", "predicate", "object"))
            yield Rule((TripleAtom(s, p, o),), (*start, *items), name)

    def _of_query(self, rule: Key, text: str, start: list[Item], name: str) -> Iterator[Rule]:
        query = parse_query(text, prefixes=read_prefixes(self._graph, rule))
        if not isinstance(query, Construct):
            raise ShapesError("sh:construct is not a CONSTRUCT")
        heads = tuple(TripleAtom(plain(s), plain(p), plain(o)) for s, p, o in query.template)
        if any(isinstance(t, Constant) and t.kind == BLANK for head in heads for t in head.terms):
            raise ShapesError("its template has blank nodes")
        for body in bodies_of_pattern(query.pattern, self._parts):
            yield Rule(heads, (*start, *body), name)

    # -- node expressions -------------------------------------------------------------------------

    def _term(self, rule: Key, name: str, items: list[Item]) -> Term:
        value = self._graph.one(rule, sh(name))
        if value is None:
            raise ShapesError(f"it lacks sh:{name}")
        return self._expression(value, items)

    def _expression(self, node: Key, items: list[Item]) -> Term:
        """The term that a node expression stands for; items that bind it are added."""
        if node == sh("this"):
            return THIS
        if node[0] != BLANK:
            return Constant(node)
        path = self._graph.one(node, sh("path"))
        if path is None:
            raise ShapesError(
                "it has a node expression other than sh:this, a term, or one with sh:path"
            )
        inner = self._graph.one(node, sh("nodes"))
        start = THIS if inner is None else self._expression(inner, items)
        value = self._parts.new()
        items += self._parts.path(read_path(self._graph, path), start, value)
        return value
