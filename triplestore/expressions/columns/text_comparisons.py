"""Comparisons of strings and IRIs on columns of texts.

Start at `compare_texts`, and for IRIs at `compare_resources`. Always true: the answers are those of
`compare_terms`. Comparisons that depend on datatypes return None.
"""

from __future__ import annotations

import numpy as np

from triplestore.expressions.columns.text_functions import aligned, ordered_parts
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.shapes import NOTHING, Shapes
from triplestore.expressions.text_columns import I64, Texts, worth_texts
from triplestore.expressions.vectors import Booleans, Coded, Ids, Mask, Vector, texts
from triplestore.terms.term_keys import BLANK, LANG, STRING, TRIPLE, TYPED

_IS_TRUE = {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (1, 0)}


def compare_texts(sign: str, left: Vector, right: Vector, terms: QueryTerms) -> Booleans | None:
    """left = right, left < right, ...; None if one of them is better compared by value."""
    if not _is_asked(sign, left, right) or not worth_texts(len(left)):
        return None
    one, other = texts(left, terms), texts(right, terms)
    if one is None or other is None:
        return None
    ordered = sign not in ("=", "!=")
    kinds = terms.shapes.kinds()
    for made in (one, other):
        among = kinds[made.shapes]
        if (among == TYPED).any() or (not ordered and (among == TRIPLE).any()):
            return None
    one, other = aligned([one, other])
    if ordered:
        has = (one.shapes == other.shapes) & _ordered_shapes(terms.shapes)[one.shapes]
        found = np.isin(_order(one, other), _IS_TRUE[sign])
    else:
        has = (one.shapes != NOTHING) & (other.shapes != NOTHING)
        same = _same(one, other)
        found = same if sign == "=" else ~same
    codes = one.codes
    return Booleans(found[codes], None if has.all() else has[codes])


def _ordered_shapes(shapes: Shapes) -> Mask:
    """The shapes whose terms have an order: of plain strings, and of those of one language."""
    return shapes.mapped(
        "ordered",
        lambda key: key[0] == STRING or (key[0] == LANG and b"--" not in key),
        np.bool_,
    )


def _is_asked(sign: str, left: Vector, right: Vector) -> bool:
    """True if a side is a text already; a stored term is ordered beside a constant string."""
    if isinstance(left, Texts) or isinstance(right, Texts):
        return True
    return sign not in ("=", "!=") and (_is_string(left) or _is_string(right))


def _is_string(vector: Vector) -> bool:
    if not isinstance(vector, Coded) or not vector.is_constant:
        return False
    key = vector.keys[0]
    return key is not None and key[0] in (STRING, LANG)


def _same(one: Texts, other: Texts) -> Mask:
    found: Mask = (one.shapes == other.shapes) & (one.lengths == other.lengths)
    rows = np.flatnonzero(found)
    found[rows] = _order(one, other, rows) == 0
    return found


def _order(one: Texts, other: Texts, rows: I64 | None = None) -> I64:
    """-1, 0 or 1 for each text, or for some of them."""
    here, there = (one.starts, one.lengths), (other.starts, other.lengths)
    if rows is not None:
        here, there = (here[0][rows], here[1][rows]), (there[0][rows], there[1][rows])
    return ordered_parts(one.buf, here, other.buf, there)


def compare_resources(left: Vector, right: Vector, terms: QueryTerms) -> Booleans | None:
    """Equality if one side has only IRIs and blank nodes, which equal only themselves; else None.

    Rows without a value do not matter: comparing them is an error.
    """
    if not (isinstance(left, Ids) and isinstance(right, Ids)):
        return None
    if not (_are_resources(left.ids, terms) or _are_resources(right.ids, terms)):
        return None
    valid = (left.ids != 0) & (right.ids != 0)
    return Booleans(left.ids == right.ids, None if valid.all() else valid)


def _are_resources(ids: U32, terms: QueryTerms) -> bool:
    """True if none of these is a literal; often seen without a look at each."""
    kinds = terms.dictionary.stretches.between(ids)
    if all(0 < kind <= BLANK for kind in kinds):
        return True
    if len(kinds) == 1 and kinds[0]:
        return False
    return bool((terms.kinds(ids) <= BLANK).all())
