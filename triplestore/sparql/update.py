"""The rows that a DELETE/INSERT with a WHERE removes and adds, as columns of ids.

Start at `changed_rows`. Always true: the WHERE is evaluated to its end on one state before
anything changes; a row that has an unbound value, or is not an RDF triple, is left out; blank nodes
of the INSERT template are new for each solution, with labels that occur nowhere else.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from triplestore.expressions.evaluate_columns import Scope
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.context import Context
from triplestore.operators.distinct import Distinct
from triplestore.operators.frame import Frame
from triplestore.operators.leaves import Values
from triplestore.operators.operator import pack_last
from triplestore.sparql.algebra.nodes import QuadPattern, Select, TermOrVariable
from triplestore.sparql.algebra.updates import Modify
from triplestore.sparql.engine import AskedState, QuerySurroundings, dataset_of, prepared
from triplestore.sparql.plan.planned import Wanted
from triplestore.sparql.plan.query_planner import QueryPlanner
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import BLANK, IRI

_NAMES = ("s", "p", "o", "g")


class QuadRows(NamedTuple):
    """Quads as columns of ids; graph 0 is the default graph."""

    subject: U32
    predicate: U32
    object: U32
    graph: U32


def changed_rows(
    operation: Modify, asked: AskedState, context: Context, base: str | None = None
) -> tuple[QuadRows, QuadRows]:
    """The rows to remove and the rows to add, each once.

    The terms of the added rows are in the dictionary afterwards.
    """
    terms = QueryTerms(asked.dictionary)
    if operation.graph is not None:  # USING takes precedence over WITH
        known = asked.dictionary.lookup_keys([operation.graph.key]).tolist()
        asked = asked._replace(default=tuple(term_id for term_id in known if term_id))
    size = operation.size
    query = prepared(Select(operation.pattern, dataset=operation.dataset, base=base, size=size))
    planner = QueryPlanner(dataset_of(query, asked), Scope(terms, QuerySurroundings(base)))
    planner.context = context
    planner.services = asked.services
    planner.text = asked.text
    planner.size = size
    patterns = (*operation.delete, *operation.insert)
    names = {term.name for quad in patterns for term in quad if isinstance(term, Variable)}
    bag = any(
        isinstance(t, Constant) and t.kind == BLANK for quad in operation.insert for t in quad
    )
    wanted = Wanted(names=frozenset(names), bag=bag)
    plan = planner.plan_large(query.pattern, wanted).operator
    deleted, inserted = _TemplateRows(terms, context), _TemplateRows(terms, context)
    token, numbers = secrets.token_hex(8), count()

    def new_label() -> bytes:
        return b"\x02b%s%d" % (token.encode(), next(numbers))

    for block in plan.stream(context):
        deleted.add(operation.delete, block, new_label)
        inserted.add(operation.insert, block, new_label)
    return deleted.known(), inserted.settled()


class _TemplateRows:
    """The rows of a template for all solutions."""

    def __init__(self, terms: QueryTerms, context: Context) -> None:
        self._terms = terms
        self._context = context
        self._parts: list[list[U32]] = []

    def add(
        self, template: Sequence[QuadPattern], block: Frame, new_label: Callable[[], bytes]
    ) -> None:
        """Add the rows of a template for a block of solutions."""
        if not block.rows:
            return
        blanks: dict[bytes, U32] = {}
        for quad in template:
            rows = block.rows if any(map(_varies, quad)) else 1
            columns = [self._column(term, block, rows, blanks, new_label) for term in quad]
            columns = self._proper(columns, quad.graph is not None)
            self._context.charge(16 * len(columns[0]))
            self._parts.append(columns)
            pack_last(self._parts)

    def _column(
        self,
        term: TermOrVariable | None,
        block: Frame,
        rows: int,
        blanks: dict[bytes, U32],
        new_label: Callable[[], bytes],
    ) -> U32:
        if isinstance(term, Variable):
            has = term.name in block.names
            return block[term.name] if has else np.zeros(rows, np.uint32)
        if term is None:
            return np.zeros(rows, np.uint32)
        if term.kind != BLANK:
            return np.full(rows, self._terms.encode_keys([term.key])[0], np.uint32)
        if term.key not in blanks:
            blanks[term.key] = self._terms.encode_keys([new_label() for _ in range(rows)])
        return blanks[term.key]

    def _proper(self, columns: list[U32], in_graph: bool) -> list[U32]:
        """The rows that are quads of RDF."""
        kinds = self._terms.kinds
        subjects = kinds(columns[0])
        fine = (subjects == IRI) | (subjects == BLANK)
        fine &= (kinds(columns[1]) == IRI) & (columns[2] != 0)
        if in_graph:
            graphs = kinds(columns[3])
            fine &= (graphs == IRI) | (graphs == BLANK)
        return columns if fine.all() else [column[fine] for column in columns]

    def known(self) -> QuadRows:
        """The rows whose terms are all in the dictionary; other rows are not in the store."""
        rows = self._once()
        stored = np.ones(len(rows.subject), np.bool_)
        for column in rows:
            stored &= column < np.uint32(FIRST_QUERY_ID)
        return rows if stored.all() else QuadRows(*(column[stored] for column in rows))

    def settled(self) -> QuadRows:
        """The rows; new terms are added to the dictionary."""
        return QuadRows(*(self._terms.settle(column) for column in self._once()))

    def _once(self) -> QuadRows:
        if not self._parts:
            return QuadRows(*[np.zeros(0, np.uint32)] * 4)
        size = 16 * sum(len(part[0]) for part in self._parts)
        self._context.need(size)  # while they are copied
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        self._parts = []
        frame = Frame(_NAMES, columns, len(columns[0]))
        return QuadRows(*Distinct(Values(frame)).run(self._context).columns)


def _varies(term: TermOrVariable | None) -> bool:
    return isinstance(term, Variable) or (isinstance(term, Constant) and term.kind == BLANK)
