"""The constraints of SHACL Core over columns of ids: start at `check`.

Each kind of constraint has a function that gets the focus nodes and the pairs of these with their
values, and yields what is wrong. Conditions on values are computed once for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import I64, U32, Bools, in_sorted
from triplestore.shacl import model
from triplestore.shacl.evaluate.check_pairs import check_pairs, check_unique_lang
from triplestore.shacl.evaluate.found import Found
from triplestore.terms.term_keys import LANG, STRING, TYPED
from triplestore.terms.values import xsd
from triplestore.terms.vocabulary import RDF_DIR_LANG_STRING, RDF_LANG_STRING, XSD_STRING

if TYPE_CHECKING:
    from triplestore.shacl.evaluate.data_graph import DataGraph
    from triplestore.shacl.evaluate.validation import Validation


@data_class(frozen=False, eq=False)
class Asked:
    """One shape and the nodes that it is asked about.

    focus   the focus nodes
    index   the place of the focus node of each value, increasing
    values  each value of each focus node once
    """

    run: Validation
    shape: model.Shape
    focus: U32
    index: I64
    values: U32
    _distinct: tuple[U32, I64] | None = None

    @property
    def data(self) -> DataGraph:
        """The data."""
        return self.run.data

    def distinct(self) -> tuple[U32, I64]:
        """The distinct values, increasing, and the place of each value in these."""
        if self._distinct is None:
            if len(self.values) < 2:
                self._distinct = self.values, np.zeros(len(self.values), np.int64)
            else:
                self._distinct = np.unique(self.values, return_inverse=True)
        return self._distinct

    def wrong_values(self, constraint: model.Constraint, wrong: Bools) -> Found:
        """Results for some of the values."""
        rows = wrong.nonzero()[0]
        index = self.index[rows]
        return Found(
            self.shape, constraint, index, self.focus[index], self.values[rows], self.shape.path
        )

    def wrong_nodes(
        self, constraint: model.Constraint, index: I64, values: U32 | None = None
    ) -> Found:
        """Results for some of the focus nodes, with values that the constraint is about."""
        none = np.zeros(len(index), np.uint32) if values is None else values
        return Found(self.shape, constraint, index, self.focus[index], none, self.shape.path)

    def of_each(self, test: Callable[[U32], Bools]) -> Bools:
        """What a test says about each value, asked once for each distinct one."""
        distinct, places = self.distinct()
        return test(distinct)[places]

    def counts(self, chosen: Bools | None = None) -> I64:
        """The number of values of each focus node."""
        index = self.index if chosen is None else self.index[chosen]
        return np.bincount(index, minlength=len(self.focus))


def check(asked: Asked, constraint: model.Constraint) -> Iterator[Found]:
    """What is wrong with the values by one constraint."""
    yield from _CHECKS[type(constraint)](asked, constraint)


# -- values one by one ----------------------------------------------------------------------------


def _value_test(asked: Asked, test: model.ValueTest) -> Iterator[Found]:
    fine = asked.of_each(lambda values: asked.data.meet(test.condition, values))
    yield asked.wrong_values(test, ~fine)


_KIND_OF = {
    XSD_STRING: STRING,
    RDF_LANG_STRING: LANG,
    RDF_DIR_LANG_STRING: LANG,
}


def _datatype(asked: Asked, test: model.DatatypeTest) -> Iterator[Found]:
    iri = test.datatype[1:].decode()
    terms = asked.data.terms

    def fine(values: U32) -> Bools:
        kinds = terms.kinds(values)
        kind = _KIND_OF.get(iri, TYPED)
        mask: Bools = kinds == kind
        if kind == STRING:
            return mask
        rows = mask.nonzero()[0]
        mask[rows] = asked.data.meet(test.condition, values[rows])
        if kind == TYPED and xsd.is_known(iri):
            rows = mask.nonzero()[0]
            mask[rows] = terms.values(values[rows]).marks != 0
        return mask

    yield asked.wrong_values(test, ~asked.of_each(fine))


def _class(asked: Asked, test: model.ClassTest) -> Iterator[Found]:
    fine = asked.of_each(lambda values: asked.data.are_instances(values, test.of))
    yield asked.wrong_values(test, ~fine)


def _in(asked: Asked, test: model.InTest) -> Iterator[Found]:
    fine = asked.of_each(lambda values: asked.data.are_among(values, test.members))
    yield asked.wrong_values(test, ~fine)


def _closed(asked: Asked, test: model.ClosedTest) -> Iterator[Found]:
    distinct, places = asked.distinct()
    data = asked.data
    allowed = data.ids(tuple(test.allowed))
    index, (predicates, objects) = data.dataset.facts().probe((0,), (distinct,), data.dataset.where)
    wrong = (~in_sorted(predicates, allowed)).nonzero()[0]
    inner = Found(
        asked.shape,
        test,
        index[wrong],
        distinct[index[wrong]],
        objects[wrong],
        paths=predicates[wrong],
    )
    found = inner.spread(asked.index, places)
    found.focus = asked.focus[found.index]
    yield found


# -- all values -----------------------------------------------------------------------------------


def _has_value(asked: Asked, test: model.HasValueTest) -> Iterator[Found]:
    wanted = asked.counts(asked.values == np.uint32(asked.data.id(test.value)))
    yield asked.wrong_nodes(test, (wanted == 0).nonzero()[0])


def _count(asked: Asked, test: model.CountTest) -> Iterator[Found]:
    counts = asked.counts()
    wrong = counts < test.number if test.at_least else counts > test.number
    yield asked.wrong_nodes(test, wrong.nonzero()[0])


# -- other shapes ---------------------------------------------------------------------------------


def _logical(asked: Asked, test: model.Logical) -> Iterator[Found]:
    def fine(values: U32) -> Bools:
        numbers = np.zeros(len(values), np.int64)
        for shape in test.shapes:
            numbers += asked.run.conforming(shape, values)
        wanted = {"not": 0, "xone": 1}.get(test.kind, len(test.shapes))
        mask: Bools = numbers > 0 if test.kind == "or" else numbers == wanted
        return mask

    yield asked.wrong_values(test, ~asked.of_each(fine))


def _property(asked: Asked, test: model.PropertyOf) -> Iterator[Found]:
    run, shape = asked.run, asked.run.shapes.shapes[test.shape]
    if run.is_settling and shape.node in run.shapes.recursive:
        fine = asked.of_each(lambda values: run.conforming(test.shape, values))
        yield asked.wrong_values(test, ~fine)
        return
    if asked.shape.path is None:  # a node is its only value
        yield from run.results(shape, asked.focus)
        return
    distinct, places = asked.distinct()
    for inner in run.results(shape, distinct):
        yield inner.spread(asked.index, places)


def _qualified(asked: Asked, test: model.Qualified) -> Iterator[Found]:
    def counted(values: U32) -> Bools:
        mask = asked.run.conforming(test.shape, values)
        for sibling in test.siblings:
            rows = mask.nonzero()[0]
            mask[rows] = ~asked.run.conforming(sibling, values[rows])
        return mask

    counts = asked.counts(asked.of_each(counted))
    wrong = counts < test.number if test.at_least else counts > test.number
    yield asked.wrong_nodes(test, wrong.nonzero()[0])


def _query(asked: Asked, test: model.QueryTest) -> Iterator[Found]:
    # Late: few shapes have queries.
    from triplestore.shacl.evaluate.run_queries import check_query

    yield from check_query(asked, test)


_CHECKS: dict[type, Callable[[Asked, Any], Iterator[Found]]] = {
    model.ValueTest: _value_test,
    model.DatatypeTest: _datatype,
    model.ClassTest: _class,
    model.InTest: _in,
    model.ClosedTest: _closed,
    model.HasValueTest: _has_value,
    model.CountTest: _count,
    model.UniqueLang: check_unique_lang,
    model.PairTest: check_pairs,
    model.Logical: _logical,
    model.PropertyOf: _property,
    model.Qualified: _qualified,
    model.QueryTest: _query,
}
