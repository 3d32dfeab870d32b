"""Triples made of solutions: templates of CONSTRUCT, and descriptions.

Start at `constructed` and `described`. Both work on columns of ids, and give each triple once.
Always true: rows that are not RDF triples (an unbound value, a literal as subject) are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.context import Context, current
from triplestore.operators.distinct import Distinct
from triplestore.operators.frame import Frame
from triplestore.operators.leaves import Values
from triplestore.operators.operator import Operator, pack_last
from triplestore.relations.lookup import few_facts
from triplestore.relations.views.virtual import AllFacts
from triplestore.sparql.algebra.nodes import TermOrVariable, TriplePattern
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.plan.planned import Planned
from triplestore.terms.term_keys import BLANK, IRI

_NAMES = ("s", "p", "o")
_MOST = 1000  # number of triples above which descriptions are not made one by one
_FEW = 8  # maximum number of subjects that are looked up one by one


def constructed(
    template: Sequence[TriplePattern], plan: Operator, terms: QueryTerms, context: Context
) -> list[U32]:
    """The triples of a template for all solutions; blank nodes are new for each solution."""
    ground = [t for t in template if not any(_varies(term) for term in t)]
    varying = [t for t in template if any(_varies(term) for term in t)]
    parts: list[list[U32]] = []
    nodes = count()
    any_rows = False
    for block in plan.stream(context):
        any_rows = True
        blanks: dict[bytes, U32] = {}
        for triple in varying:
            context.check()
            columns = [_column(term, block, blanks, terms, nodes) for term in triple]
            parts.append(_proper(columns, terms))
            context.charge(12 * len(parts[-1][0]))
            pack_last(parts)
    if any_rows:
        for triple in ground:
            context.check()
            columns = [_one(term, terms) for term in triple]
            parts.append(_proper(columns, terms))
    return _once(parts, context)


def _varies(term: TermOrVariable) -> bool:
    return isinstance(term, Variable) or term.kind == BLANK


def _one(term: TermOrVariable, terms: QueryTerms) -> U32:
    assert isinstance(term, Constant)
    return terms.encode_keys([term.key])


def _column(
    term: TermOrVariable,
    block: Frame,
    blanks: dict[bytes, U32],
    terms: QueryTerms,
    nodes: count[int],
) -> U32:
    if isinstance(term, Variable):
        if term.name in block.names:
            return block[term.name]
        return np.zeros(block.rows, np.uint32)
    if term.kind != BLANK:
        return np.full(block.rows, terms.encode_keys([term.key])[0], np.uint32)
    if term.key not in blanks:
        keys = [b"\x02c%d" % next(nodes) for _ in range(block.rows)]
        current().check()
        blanks[term.key] = new_terms(keys, terms)
    return blanks[term.key]


def new_terms(keys: Sequence[bytes], terms: QueryTerms) -> U32:
    """Ids of new blank nodes: their labels are changed if the store has them already."""
    taken = terms.dictionary.lookup_keys(list(keys))
    current().check()
    fresh = [
        key + b"x" * 8 if known else key for key, known in zip(keys, taken.tolist(), strict=True)
    ]
    return terms.encode_keys(fresh)


def _proper(columns: Sequence[U32], terms: QueryTerms) -> list[U32]:
    """The rows that are triples of RDF."""
    subjects, predicates, objects = columns
    kinds = terms.kinds(subjects)
    fine = ((kinds == IRI) | (kinds == BLANK)) & (terms.kinds(predicates) == IRI) & (objects != 0)
    return list(columns) if fine.all() else [column[fine] for column in columns]


def _once(parts: Sequence[Sequence[U32]], context: Context) -> list[U32]:
    """Each row once, in the order of first appearance."""
    if not parts:
        return [np.zeros(0, np.uint32)] * 3
    size = 12 * sum(len(part[0]) for part in parts)
    context.need(size)  # while they are copied
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    rows = Values(Frame(_NAMES, columns, len(columns[0])))
    return list(Distinct(rows).run(context).columns)


def described(
    ids: Sequence[int],
    plan: Planned | None,
    dataset: Dataset,
    terms: QueryTerms,
    context: Context,
) -> list[U32]:
    """The concise bounded descriptions of resources.

    These are their triples, and in turn those of blank nodes that are objects there.
    """
    if plan is None and len(ids) <= _FEW and dataset.is_store_alone:
        few = _described_few(ids, dataset, terms)
        if few is not None:
            return few
    wanted = np.unique(np.array(ids, np.uint32))
    if plan is not None:
        for block in plan.operator.stream(context):
            for column in block.columns:
                wanted = np.union1d(wanted, np.unique(column))
            context.need(3 * wanted.nbytes)
    wanted = wanted[wanted != 0]
    facts = dataset.facts()
    seen = wanted
    parts: list[list[U32]] = []
    while len(wanted):
        blanks = []
        for subjects, predicates, objects in _about(wanted, facts, dataset.where):
            context.check()
            context.charge(12 * len(objects))
            parts.append(_proper([subjects, predicates, objects], terms))
            objects = np.unique(objects)
            blanks.append(objects[terms.kinds(objects) == BLANK])
        new = np.unique(np.concatenate(blanks)) if blanks else wanted[:0]
        wanted = np.setdiff1d(new, seen)
        seen = np.union1d(seen, wanted)
    return _once(parts, context)


def _described_few(ids: Sequence[int], dataset: Dataset, terms: QueryTerms) -> list[U32] | None:
    """The same for a few resources with few triples, one by one; None if there are more."""
    wanted = [i for i in dict.fromkeys(ids) if i]
    seen, rows = set(wanted), list[tuple[int, int, int]]()
    while wanted:
        subject = wanted.pop()
        found = few_facts(dataset.tables, subject, 0, dataset.where)
        if found is None or len(rows) > _MOST:
            return None
        for predicate, objects in found:
            rows += [(subject, predicate, one) for one in objects]
            new = [
                one for one in objects if one not in seen and terms.dictionary.kind(one) == BLANK
            ]
            wanted += new
            seen.update(new)
    columns = np.array(rows, np.uint32).reshape(len(rows), 3).T
    return [np.ascontiguousarray(column) for column in columns]


def _about(subjects: U32, facts: AllFacts, where: int) -> Iterator[Sequence[U32]]:
    """The triples of some subjects."""
    if len(subjects) <= _FEW:
        for subject in subjects.tolist():
            yield from facts.scan(where, order=0, first=subject)
        return
    for index, (predicates, objects) in facts.probe_blocks((0,), (subjects,), where):
        yield subjects[index], predicates, objects
