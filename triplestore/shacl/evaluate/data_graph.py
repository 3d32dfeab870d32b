"""The data that is validated, as columns of ids: start at `DataGraph`.

Always true: ids are those of `terms`, so a term of a shape that the data lack has an id as well;
nodes are given distinct and increasing; pairs are (place in the nodes, value), each once, sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from triplestore.expressions.column_evaluation import Scope
from triplestore.expressions.compare_terms import truth
from triplestore.expressions.evaluate_columns import Evaluator
from triplestore.expressions.evaluate_scalar import Scalar, compile_scalar
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Constant, Expression
from triplestore.operators.context import Context
from triplestore.operators.frame import Frame
from triplestore.relations.packed_keys import I64, NO_IDS, U32, Bools, high, in_sorted, low, pack
from triplestore.shacl.model import (
    Target,
    TargetClass,
    TargetNodes,
    TargetObjects,
    TargetQuery,
    TargetSubjects,
)
from triplestore.shacl.thresholds import SHACL
from triplestore.shacl.vocabulary import SUB_CLASS_OF, TYPE, Key
from triplestore.sparql.algebra.nodes import Inverse, PathExpression, ZeroOrMore
from triplestore.sparql.engine import AskedState, QuerySurroundings
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.evaluate.steps import PathStep
from triplestore.sparql.plan.path_plans import make_step

if TYPE_CHECKING:
    from triplestore.shacl.evaluate.run_queries import BoundQuery

Pairs: TypeAlias = tuple[I64, U32]


class Kept:
    """What does not depend on the state: it is kept from commit to commit.

    queries  the queries of constraints with their plans, by the identity of the constraint
    sets     lists of terms as sets, by the identity of the list
    scalars  functions that compute conditions for one value, by the identity of the condition
    """

    def __init__(self) -> None:
        self.queries: dict[int, BoundQuery] = {}
        self.scalars: dict[int, tuple[Expression, Scalar]] = {}
        self.sets: dict[int, tuple[tuple[Key, ...], frozenset[Key]]] = {}

    def set_of(self, keys: tuple[Key, ...]) -> frozenset[Key]:
        """The terms of a list as a set."""
        found = self.sets.get(id(keys))
        if found is None:
            found = self.sets[id(keys)] = keys, frozenset(keys)
        return found[1]

    def scalar(self, condition: Expression) -> Scalar:
        """The function that computes a condition about `?value`."""
        found = self.scalars.get(id(condition))
        if found is None:
            made = compile_scalar(condition, {"value": 0})
            found = self.scalars[id(condition)] = condition, made
        return found[1]


class DataGraph:
    """The graphs of one state that are validated.

    asked    the state, and which part of it
    context  the limits
    kept     what is kept for another state; None if there will be none
    """

    def __init__(self, asked: AskedState, context: Context, kept: Kept | None = None) -> None:
        kinds = asked.dictionary.kinds if asked.hidden else None
        self.asked = asked
        self.context = context
        self.kept = kept
        self.terms = QueryTerms(asked.dictionary)
        self.dataset = Dataset(asked.tables, asked.default, asked.named, asked.where, kinds)
        self._steps: dict[PathExpression, PathStep] = {}
        self._classes: dict[Key, U32] = {}
        self._of_few: dict[tuple[object, bytes], Pairs] = {}
        self._targets: dict[tuple[Target, bytes], Bools] = {}
        self._instances: dict[tuple[Key, bytes], Bools] = {}
        self._scope = Scope(self.terms, QuerySurroundings(None))

    def id(self, key: Key) -> int:
        """The id of a term."""
        return self.terms.encode_key(key)

    def ids(self, keys: tuple[Key, ...]) -> U32:
        """The ids of terms, increasing."""
        return np.unique(self.terms.encode_keys(keys))

    def are_among(self, nodes: U32, keys: tuple[Key, ...]) -> Bools:
        """Which of some nodes are in a list, which may be long."""
        if len(nodes) > SHACL.few_nodes:
            return in_sorted(nodes, self.ids(keys))
        kept = self.kept = self.kept or Kept()
        wanted = kept.set_of(keys)
        return np.array([key in wanted for key in self.terms.keys(nodes)], np.bool_)

    # -- paths ----------------------------------------------------------------------------------

    def step(self, path: PathExpression) -> PathStep:
        """A path, ready to be followed."""
        found = self._steps.get(path)
        if found is None:
            found = self._steps[path] = make_step(
                path, self.dataset, None, lambda constant: self.id(constant.key)
            )
        return found

    def values(self, path: PathExpression, nodes: U32) -> Pairs:
        """The values of a path for some nodes."""
        if len(nodes) == 0:
            return np.zeros(0, np.int64), NO_IDS
        if len(nodes) > SHACL.few_nodes:
            return self._values(path, nodes)
        known = path, nodes.tobytes()
        found = self._of_few.get(known)
        if found is None:
            found = self._of_few[known] = self._values(path, nodes)
        return found

    def _values(self, path: PathExpression, nodes: U32) -> Pairs:
        index, values = self.step(path).expand(nodes, False, self.context)
        return (index, values) if isinstance(path, Constant) else distinct_pairs(index, values)

    def reaching(self, path: PathExpression, values: U32) -> U32:
        """The nodes from which a path leads to one of some values."""
        return unique(self.values(Inverse(path), values)[1])

    def relation_pairs(self, predicate: Key, nodes: U32) -> Pairs:
        """The objects of a predicate for some subjects."""
        return self.values(Constant(predicate), nodes)

    # -- classes --------------------------------------------------------------------------------

    def sub_classes(self, of: Key) -> U32:
        """A class and all of its sub-classes in the data, increasing."""
        found = self._classes.get(of)
        if found is None:
            start = np.array([self.id(of)], np.uint32)
            path = ZeroOrMore(Inverse(Constant(SUB_CLASS_OF)))
            found = self._classes[of] = np.unique(self.values(path, start)[1])
        return found

    def take_classes(self, known: Mapping[Key, U32]) -> None:
        """Take the sub-classes of classes as known."""
        self._classes.update(known)

    def are_instances(self, nodes: U32, of: Key) -> Bools:
        """Which of some nodes are instances of a class or of its sub-classes."""
        if len(nodes) > SHACL.few_nodes:
            return self._are_instances(nodes, of)
        known = of, nodes.tobytes()
        found = self._instances.get(known)
        if found is None:
            found = self._instances[known] = self._are_instances(nodes, of)
        return found

    def _are_instances(self, nodes: U32, of: Key) -> Bools:
        classes = self.sub_classes(of)
        relation = self.dataset.graph().relation(self.id(TYPE))
        if len(classes) == 1:
            one = np.full(len(nodes), classes[0], np.uint32)
            return relation.contains((nodes, one), self.dataset.where)
        mask = np.zeros(len(nodes), np.bool_)
        index, (found,) = relation.probe((0,), (nodes,), self.dataset.where)
        mask[index[in_sorted(found, classes)]] = True
        return mask

    def members(self, classes: U32) -> U32:
        """The nodes with one of some types, increasing."""
        relation = self.dataset.graph().relation(self.id(TYPE))
        _, (found,) = relation.probe((1,), (classes,), self.dataset.where)
        return np.unique(found)

    # -- targets --------------------------------------------------------------------------------

    def target_nodes(self, target: Target) -> U32:
        """The focus nodes of a target, increasing."""
        where = self.dataset.where
        match target:
            case TargetNodes(nodes):
                return self.ids(nodes)
            case TargetClass(of):
                return self.members(self.sub_classes(of))
            case TargetSubjects(predicate) | TargetObjects(predicate):
                column = int(isinstance(target, TargetObjects))
                return self.dataset.graph().relation(self.id(predicate)).distinct(column, where)
            case TargetQuery():
                # Late: few shapes need queries.
                from triplestore.shacl.evaluate.run_queries import nodes_of_query

                return nodes_of_query(self, target)

    def are_targets(self, nodes: U32, target: Target) -> Bools:
        """Which of some nodes are focus nodes of a target."""
        if len(nodes) > SHACL.few_nodes or isinstance(target, TargetQuery | TargetNodes):
            return self._are_targets(nodes, target)
        known = target, nodes.tobytes()
        found = self._targets.get(known)
        if found is None:
            found = self._targets[known] = self._are_targets(nodes, target)
        return found

    def _are_targets(self, nodes: U32, target: Target) -> Bools:
        match target:
            case TargetClass(of):
                return self.are_instances(nodes, of)
            case TargetSubjects(predicate) | TargetObjects(predicate):
                column = int(isinstance(target, TargetObjects))
                relation = self.dataset.graph().relation(self.id(predicate))
                return relation.semijoin(column, nodes, self.dataset.where)
            case TargetNodes(keys):
                return self.are_among(nodes, keys)
            case _:
                return in_sorted(nodes, self.target_nodes(target))

    # -- expressions ----------------------------------------------------------------------------

    def meet(self, condition: Expression, values: U32) -> Bools:
        """Which of some values make a condition about `?value` true."""
        if len(values) <= SHACL.few_nodes:
            kept = self.kept = self.kept or Kept()
            scalar = kept.scalar(condition)
            return np.array([_is_true(scalar, key) for key in self.terms.keys(values)], np.bool_)
        return Evaluator(condition, self._scope).condition(Frame(("value",), [values], len(values)))

    def pairs_meet(self, condition: Expression, values: U32, others: U32) -> Bools:
        """Which pairs make a condition about `?value` and `?other` true."""
        frame = Frame(("value", "other"), [values, others], len(values))
        return Evaluator(condition, self._scope).condition(frame)


def _is_true(scalar: Scalar, key: Key | None) -> bool:
    try:
        return truth(scalar((key,)))
    except ExpressionError:
        return False


def unique(values: U32) -> U32:
    """The distinct values, increasing."""
    return values if len(values) < 2 else np.unique(values)


def distinct_pairs(index: I64, values: U32) -> Pairs:
    """Pairs sorted, each once."""
    if len(index) < 2:
        return index, values
    keys = np.unique(pack(index.astype(np.uint32), values))
    return high(keys).astype(np.int64), low(keys)
