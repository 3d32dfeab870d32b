"""SPARQL in shapes, evaluated for all focus nodes at once: start at `check_query`.

SHACL defines a query for one focus node, whose value is put in place of `$this`. Here `$this` is
bound to all focus nodes: by a seed of the plan where the pattern binds it wherever it is used, and
else by a table that is joined with each part of the pattern. Where that is not the same (a query
with LIMIT, or with groups that do not keep `$this`), the query runs once for each focus node.
Always true: the rows are those of the definition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.errors import ShapesError
from triplestore.expressions.evaluate_columns import Scope
from triplestore.expressions.tree import Constant, Variable
from triplestore.live.reading import Plans, StateReader, distinct_keys, packed
from triplestore.operators.frame import Frame
from triplestore.relations.packed_keys import U32, in_sorted, pack
from triplestore.shacl import model
from triplestore.shacl.evaluate.bound_queries import (
    binds_everywhere,
    check_allowed,
    is_per_node,
    projecting,
    with_table,
)
from triplestore.shacl.evaluate.found import Found
from triplestore.shacl.vocabulary import Key, lexical
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Ask, Node, Select
from triplestore.sparql.algebra.substitute import with_values
from triplestore.sparql.engine import QuerySurroundings, dataset_of, prepared
from triplestore.sparql.plan.planned import Wanted
from triplestore.sparql.plan.query_planner import QueryPlanner
from triplestore.sparql.syntax.parser import parse_query
from triplestore.terms.dictionary import FIRST_QUERY_ID

if TYPE_CHECKING:
    from triplestore.shacl.evaluate.checks import Asked
    from triplestore.shacl.evaluate.data_graph import DataGraph

THIS, VALUE = "this", "value"


@lru_cache(256)
def _parsed(text: str, prefixes: tuple[tuple[str, str], ...]) -> Select | Ask:
    query = parse_query(text, prefixes=dict(prefixes))
    if not isinstance(query, Select | Ask):
        raise ShapesError(f"a query of shapes is a SELECT or an ASK, not: {text}")
    return query


def parsed(text: str, prefixes: Mapping[str, str]) -> Select | Ask:
    """The algebra of a query, not rewritten."""
    return _parsed(text, tuple(sorted(prefixes.items())))


def nodes_of_query(data: DataGraph, target: model.TargetQuery) -> U32:
    """The values of `?this` in a query, increasing."""
    query = parsed(target.text, target.prefixes)
    if not isinstance(query, Select):
        raise ShapesError(f"a target is a SELECT, not: {target.text}")
    if target.values:
        query = _given(query, target.values)
    found = _rows(data, query, query.pattern, (THIS,))
    nodes = np.unique(found[THIS])
    return nodes[nodes > 0]


def check_query(asked: Asked, test: model.QueryTest) -> Iterator[Found]:
    """What a query says about some focus nodes."""
    kept = asked.data.kept
    bound = kept.queries.get(id(test)) if kept is not None else None
    if bound is None:
        bound = _bound(asked, test)
        if kept is not None:
            kept.queries[id(test)] = bound
    if test.asks:
        yield _refused(asked, test, bound)
    else:
        rows = _solutions(asked.data, bound, (asked.focus,))
        yield _results(asked, test, rows, bound.names)


def _bound(asked: Asked, test: model.QueryTest) -> BoundQuery:
    """The query of a constraint, with the values of all variables but `$this` and `$value`."""
    query = parsed(test.text, test.prefixes)
    known = (THIS, VALUE) if test.asks else (THIS,)
    if isinstance(query, Ask):
        query = _as_select(query)
    check_allowed(query.pattern, known, test.text)
    given = {"currentShape": asked.shape.node, "shapesGraph": asked.run.shapes.name, **test.values}
    query = _given(query, {name: key for name, key in given.items() if key})
    return BoundQuery.of(query, known)


def _as_select(query: Ask) -> Select:
    """A SELECT of what an ASK is asked about."""
    pattern = sparql.Project(query.pattern, (Variable(THIS), Variable(VALUE)))
    return Select(
        pattern, dataset=query.dataset, size=query.size, base=query.base, prefixes=query.prefixes
    )


def _given(query: Select, values: Mapping[str, Key]) -> Select:
    constants = {name: Constant(key) for name, key in values.items()}
    made = with_values(query, constants)
    assert isinstance(made, Select)
    return made


def _results(asked: Asked, test: model.QueryTest, rows: Frame, names: tuple[str, ...]) -> Found:
    index = asked.focus.searchsorted(rows[THIS]).astype(np.int64)
    order = np.argsort(index, kind="stable")
    index, rows = index[order], rows.take(order)
    focus = asked.focus[index]
    if VALUE in names:
        values = rows[VALUE]
    else:
        values = focus if asked.shape.path is None else np.zeros(len(index), np.uint32)
    paths = rows["path"] if "path" in names else None
    shape = asked.shape
    if paths is not None and not paths.all() and shape.path is not None:
        paths = None
    found = Found(shape, test, index, focus, values, shape.path, paths, test.messages)
    messages = test.messages or asked.shape.messages
    if "message" in names and rows["message"].any():
        keys = asked.data.terms.keys(rows["message"])
        found.texts = [(key,) if key is not None else () for key in keys]
    elif any(b"{" in message for message in messages):
        found.texts = _filled(asked, test, rows, names, messages)
    return found


_PLACE = re.compile(r"\{[?$](\w+)\}")


def _filled(
    asked: Asked,
    test: model.QueryTest,
    rows: Frame,
    names: tuple[str, ...],
    messages: model.Messages,
) -> list[model.Messages]:
    """The messages of each row, with values in place of variables in braces."""
    terms = asked.data.terms
    columns = {name: terms.keys(rows[name]) for name in names}
    made = []
    for row in range(rows.rows):
        values = {name: column[row] for name, column in columns.items()} | dict(test.values)
        made.append(tuple(filled(message, values) for message in messages))
    return made


def filled(message: Key, values: Mapping[str, Key | None]) -> Key:
    """A message with values in place of variables in braces.

    >>> filled(b"\\x03{?x} is wrong", {"x": b"\\x03it"})
    b'\\x03it is wrong'
    """

    def value(match: re.Match[str]) -> str:
        key = values.get(match[1])
        return match[0] if key is None else lexical(key)

    text = lexical(message)
    rest = message[1 + len(text.encode()) :]
    return message[:1] + _PLACE.sub(value, text).encode() + rest


def _refused(asked: Asked, test: model.QueryTest, bound: BoundQuery) -> Found:
    """Results for the values that an ASK refuses."""
    this = asked.focus[asked.index]
    known = (this, asked.values)
    rows = _solutions(asked.data, bound, known)
    accepted = np.unique(pack(rows[THIS], rows[VALUE]))
    found = asked.wrong_values(test, ~in_sorted(pack(this, asked.values), accepted))
    found.messages = test.messages
    messages = test.messages or asked.shape.messages
    if any(b"{" in message for message in messages):
        terms = asked.data.terms
        keys = zip(terms.keys(found.focus), terms.keys(found.values), strict=True)
        found.texts = [
            tuple(filled(m, {**test.values, THIS: this, VALUE: value}) for m in messages)
            for this, value in keys
        ]
    return found


@data_class(frozen=False, eq=False)
class BoundQuery:
    """A query with variables that are bound before it begins.

    known      these variables
    names      those that it selects
    rewritten  the query that is planned, if the variables become a seed; None otherwise
    plans      its plans, for other states
    """

    query: Select
    known: tuple[str, ...]
    names: tuple[str, ...]
    per_node: bool
    rewritten: Select | None
    plans: Plans

    @classmethod
    def of(cls, query: Select, known: tuple[str, ...]) -> BoundQuery:
        """A query, and what it allows."""
        names = tuple(variable.name for variable in query.variables)
        per_node, rewritten = is_per_node(query, known), None
        pattern = projecting(query.pattern, known)
        if not per_node and binds_everywhere(pattern, known):
            made = prepared(replace(query, pattern=pattern))
            assert isinstance(made, Select)
            rewritten = made
        return cls(query, known, names, per_node, rewritten, Plans())

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns of its solutions."""
        return tuple(dict.fromkeys((*self.known, *self.names)))


def _solutions(data: DataGraph, bound: BoundQuery, columns: tuple[U32, ...]) -> Frame:
    """The solutions of a query for some values of the variables that are bound before."""
    if bound.per_node:
        return _one_by_one(data, bound, columns)
    if bound.rewritten is not None:
        return _seeded(data, bound, bound.rewritten, columns)
    keys = [data.terms.keys(column) for column in columns]
    rows = tuple(
        tuple(Constant(key) for key in row if key is not None) for row in zip(*keys, strict=True)
    )
    table = sparql.Values(tuple(map(Variable, bound.known)), rows)
    pattern = with_table(projecting(bound.query.pattern, bound.known), table)
    return _rows(data, bound.query, pattern, bound.wanted)


def _seeded(data: DataGraph, bound: BoundQuery, query: Select, columns: tuple[U32, ...]) -> Frame:
    """The same by a seed, with a plan that may be kept for the next commit."""
    asked = data.asked._replace(dictionary=data.terms.dictionary)
    reader = StateReader(query, asked, bound.plans, data.context)
    keys = distinct_keys([packed(list(columns))])
    rows = reader.rows(query.pattern, bound.wanted, bound.known, keys)
    if not len(reader.terms):
        return rows
    terms = bound.plans.terms_of_rows()
    settled = [
        np.where(column >= FIRST_QUERY_ID, data.terms.encode_keys(terms.keys(column)), column)
        for column in rows.columns
    ]
    return Frame(bound.wanted, settled, rows.rows)


def _one_by_one(data: DataGraph, bound: BoundQuery, columns: tuple[U32, ...]) -> Frame:
    known, wanted = bound.known, bound.wanted
    parts: list[Frame] = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        data.context.check()
        given = {name: data.terms.key(i) for name, i in zip(known, row, strict=True)}
        made = _given(bound.query, given)
        found = _rows(data, made, made.pattern, wanted)
        own = dict(zip(known, row, strict=True))
        columns_of = [
            np.full(found.rows, own[name], np.uint32) if name in own else found[name]
            for name in wanted
        ]
        parts.append(Frame(wanted, columns_of, found.rows))
    joined = [
        np.concatenate([np.zeros(0, np.uint32), *(p[name] for p in parts)]) for name in wanted
    ]
    return Frame(wanted, joined, len(joined[0]))


def _rows(data: DataGraph, query: Select, pattern: Node, wanted: tuple[str, ...]) -> Frame:
    """The columns `wanted` of the solutions of a pattern."""
    made = prepared(replace(query, pattern=pattern))
    scope = Scope(data.terms, QuerySurroundings(made.base))
    planner = QueryPlanner(dataset_of(made, data.asked), scope, None)
    planner.context = data.context
    planner.size = made.size
    operator = planner.plan_large(made.pattern, Wanted(names=frozenset(wanted))).operator
    found = operator.run(data.context)
    columns = [
        found[name] if name in found.names else np.zeros(found.rows, np.uint32) for name in wanted
    ]
    return Frame(wanted, columns, found.rows)
