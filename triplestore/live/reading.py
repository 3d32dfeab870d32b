"""The rows of a pattern in one state, if some of its variables have some values.

Start at `StateReader.rows`. The values are a seed of the plan, so that only rows with them are
looked up. Plans that consist of look-ups in relations are kept for the next commit, whose relations
are put in place of those of the last one.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.evaluate_columns import Scope
from triplestore.expressions.query_terms import QueryTerms
from triplestore.live.thresholds import LIVE
from triplestore.operators.context import Context, running
from triplestore.operators.distinct import Distinct
from triplestore.operators.frame import Frame
from triplestore.operators.joins.hash_join import HashJoin
from triplestore.operators.joins.merge_join import MergeJoin
from triplestore.operators.joins.probe import Probe
from triplestore.operators.leaves import Scan, Values
from triplestore.operators.operator import Operator
from triplestore.operators.row_operators import Extend, FilterRows, Limit, Project, Union
from triplestore.relations.packed_keys import U32, U64, distinct, high, in_sorted, low, pack
from triplestore.relations.views.plain import PlainRelation
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, Select
from triplestore.sparql.engine import AskedState, QuerySurroundings, dataset_of
from triplestore.sparql.evaluate.compatible import CompatibleJoin
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.evaluate.grouped import Grouped
from triplestore.sparql.evaluate.seeded import Seeded, empty_values
from triplestore.sparql.plan.planned import Wanted
from triplestore.sparql.plan.query_planner import QueryPlanner

_MOVABLE = (
    Scan,
    Probe,
    Values,
    Project,
    FilterRows,
    Extend,
    Limit,
    Union,
    Distinct,
    HashJoin,
    MergeJoin,
    CompatibleJoin,
    Seeded,
    Grouped,
)
"""Operators that hold nothing of a state, except the relations of `Scan` and `Probe`."""


def packed(columns: list[U32]) -> U64:
    """One or two columns as keys that compare alike."""
    if len(columns) == 1:
        return columns[0].astype(np.uint64)
    return pack(columns[0], columns[1])


def unpacked(keys: U64, count: int) -> list[U32]:
    """The columns of such keys."""
    return [keys.astype(np.uint32)] if count == 1 else [high(keys), low(keys)]


def distinct_keys(parts: list[U64]) -> U64:
    """The keys of some arrays, increasing."""
    if len(parts) == 1 and len(parts[0]) < 2:
        return parts[0]
    keys = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
    return distinct(keys)


def column_of(frame: Frame, name: str) -> U32:
    """A column of ids; unbound everywhere if the frame does not have it."""
    if name in frame.names:
        return frame[name]
    return np.zeros(frame.rows, np.uint32)


@data_class(frozen=False)
class _KeptPlan:
    """A plan, its leaf for known values, and the operators that read relations, with these."""

    operator: Operator
    seed: Values | None
    readers: list[tuple[Scan | Probe, int]]
    uses: int = 0

    def move_to(self, dataset: Dataset) -> None:
        """Read the relations of another state."""
        for reader, name in self.readers:
            reader.relation = dataset.tables.relation(name)
        self.operator.clear_statistics()
        self.uses += 1


class Plans:
    """The plans of one query, from commit to commit, and the terms that they make."""

    def __init__(self) -> None:
        self.kept: dict[Hashable, _KeptPlan] = {}
        self.terms: QueryTerms | None = None

    def terms_of(self, asked: AskedState) -> QueryTerms:
        """The terms of the query; one object as long as the dictionary is the same."""
        terms = self.terms
        if terms is None or terms.dictionary is not asked.dictionary:
            self.kept.clear()
            self.terms = terms = QueryTerms(asked.dictionary)
        elif len(terms):  # a run has failed
            terms.detached()
        return terms

    def terms_of_rows(self) -> QueryTerms:
        """The terms of the rows of the last runs, which no later run changes."""
        assert self.terms is not None
        return self.terms.detached() if len(self.terms) else self.terms


class StateReader:
    """One state, ready for the patterns of one query.

    asked    the state, with the terms of both states around a commit
    """

    def __init__(self, query: Select, asked: AskedState, plans: Plans, context: Context) -> None:
        self.dataset = dataset_of(query, asked)
        self.context = context
        self.terms = plans.terms_of(asked)
        self._query = query
        self._plans = plans
        self._plain = self.dataset.default == (0,) and self.dataset.is_stored

    @property
    def is_plain(self) -> bool:
        """Whether the default graph is that of the store, with nothing hidden."""
        return self._plain

    def rows(
        self,
        node: Node,
        names: tuple[str, ...],
        known: tuple[str, ...] = (),
        keys: U64 | None = None,
        *,
        bag: bool = True,
    ) -> Frame:
        """The columns `names` of the rows of a pattern.

        known, keys  only the rows with these values of some variables that all rows bind
        """
        if keys is not None and len(keys) == 0:
            return Frame(names, [np.zeros(0, np.uint32)] * len(names), 0)
        plan = self.plan(node, names, known, bag)
        if plan.seed is not None and keys is not None:
            plan.seed.frame = Frame(known, unpacked(keys, len(known)), len(keys))
        with running(self.context):
            found = plan.operator.run(self.context)
        if keys is not None:
            mask = in_sorted(packed([column_of(found, name) for name in known]), keys)
            if not mask.all():
                found = found.where(mask)
        return Frame(names, [column_of(found, name) for name in names], found.rows)

    def plan(
        self, node: Node, names: tuple[str, ...], known: tuple[str, ...], bag: bool
    ) -> _KeptPlan:
        """The plan for `rows`, kept if another state can use it."""
        names = (*names, *(name for name in known if name not in names))
        key = (id(node), names, known, bag)
        kept = self._plans.kept.get(key) if self._plain else None
        if kept is not None and (kept.uses < LIVE.plan_uses or len(self.terms)):
            kept.move_to(self.dataset)
            return kept
        planner = self._planner()
        seed = empty_values(known, 1.0) if known else None
        with running(self.context):
            operator = planner.plan_large(
                node, Wanted(names=frozenset(names), bag=bag, seed=seed)
            ).operator
        made = _KeptPlan(operator, seed, [])
        fixed = len(self.terms) > 0  # ids of this run, one of which the plan may have as a constant
        if self._plain and not fixed and self._is_movable(planner, node, made):
            self._plans.kept[key] = made
        return made

    def _planner(self) -> QueryPlanner:
        scope = Scope(self.terms, QuerySurroundings(self._query.base))
        planner = QueryPlanner(self.dataset, scope, None)
        planner.context = self.context
        planner.size = self._query.size
        return planner

    def _is_movable(self, planner: QueryPlanner, node: Node, made: _KeptPlan) -> bool:
        """Whether a plan can read another state."""
        if not planner.repeatable or any(atom is None for _, atom in planner.atoms.values()):
            return False
        if any(isinstance(each, sparql.Path | sparql.Graph) for each in sparql.walk(node)):
            return False
        tables = self.dataset.tables
        for operator in made.operator.nodes():
            if not isinstance(operator, _MOVABLE):
                return False
            if isinstance(operator, Scan | Probe):
                relation = operator.relation
                if not isinstance(relation, PlainRelation):
                    return False
                if tables.relation(relation.name) is not relation:
                    return False
                made.readers.append((operator, relation.name))
        return True
