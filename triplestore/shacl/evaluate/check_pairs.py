"""Constraints that compare the values of a focus node with each other, or with other values.

Start at `check_pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.expressions.tree import Call, Variable
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, U32, Bools, high, in_sorted, low, pack
from triplestore.shacl import model
from triplestore.shacl.evaluate.found import Found
from triplestore.terms.term_keys import LANG

if TYPE_CHECKING:
    from triplestore.shacl.evaluate.checks import Asked

_SIGNS = {"lessThan": "<", "lessThanOrEquals": "<="}


def check_pairs(asked: Asked, test: model.PairTest) -> Iterator[Found]:
    """`sh:equals`, `sh:disjoint`, `sh:lessThan`, `sh:lessThanOrEquals`."""
    index, others = asked.data.relation_pairs(test.predicate, asked.focus)
    if test.kind in _SIGNS:
        yield _not_less(asked, test, index, others)
        return
    own = pack(asked.index.astype(np.uint32), asked.values)
    other = np.sort(pack(index.astype(np.uint32), others))
    both = in_sorted(own, other)
    if test.kind == "disjoint":
        yield asked.wrong_values(test, both)
        return
    yield asked.wrong_values(test, ~both)
    missing = other[~in_sorted(other, np.sort(own))]
    if len(missing):
        yield asked.wrong_nodes(test, high(missing).astype(np.int64), low(missing))


def _not_less(asked: Asked, test: model.PairTest, index: I64, others: U32) -> Found:
    """Each value beside each value of the other property of its focus node."""
    starts = index.searchsorted(asked.index)
    sizes = index.searchsorted(asked.index, side="right") - starts
    left = np.repeat(np.arange(len(asked.index)), sizes)
    right = others[ranges(starts, sizes)]
    keys, places = np.unique(pack(asked.values[left], right), return_inverse=True)
    signs = Call(_SIGNS[test.kind], (Variable("value"), Variable("other")))
    fine = asked.data.pairs_meet(signs, high(keys), low(keys))[places]
    rows = left[~fine]
    places = asked.index[rows]
    return Found(
        asked.shape, test, places, asked.focus[places], asked.values[rows], asked.shape.path
    )


def check_unique_lang(asked: Asked, test: model.UniqueLang) -> Iterator[Found]:
    """`sh:uniqueLang`: one result for each language that several values of a focus node have."""
    distinct, places = asked.distinct()
    tagged: Bools = asked.data.terms.kinds(distinct) == LANG
    if not tagged.any():
        return
    tags = np.zeros(len(distinct), np.uint32)
    numbers: dict[bytes, int] = {}
    keys = asked.data.terms.keys(distinct[tagged])
    tags[tagged] = [
        numbers.setdefault(key.rpartition(b'"@')[2], len(numbers) + 1) for key in keys if key
    ]
    of_values = tags[places]
    rows = of_values > 0
    pairs, counts = np.unique(
        pack(asked.index[rows].astype(np.uint32), of_values[rows]), return_counts=True
    )
    repeated = pairs[counts > 1]
    if len(repeated) == 0:
        return
    names = sorted(numbers, key=lambda tag: numbers[tag])
    found = asked.wrong_nodes(test, high(repeated).astype(np.int64))
    found.texts = [
        (b'\x03Language "%s" is used by more than one value' % names[number - 1],)
        for number in low(repeated).tolist()
    ]
    yield found
