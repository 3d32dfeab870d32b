"""Vectors: the values of an expression for many rows, in one of five forms.

    Ids        ids of terms; 0 without a value
    Coded      a list of term keys, and for each row its place in the list
    Numbers    numbers of one type as a numpy array
    Booleans   truth values
    Texts      texts in buffers, and for each row its place in their list (see `text_columns`)

Start at `Vector`; the functions below convert one form to another. Always true: all rows of
a vector belong to one frame; a row without a value is an error of the expression or an unbound
variable, which SPARQL does not distinguish. Vectors are immutable.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.expressions.compare_terms import FALSE, TRUE, truth
from triplestore.expressions.library.numbers import (
    DATATYPE_OF_RANK,
    DECIMAL,
    FLOAT,
    INTEGER,
    RANKS,
    ExpressionError,
    Number,
    key_of_number,
)
from triplestore.expressions.query_terms import U32, QueryTerms, values_of_keys
from triplestore.expressions.text_columns import Texts, ids_of_texts, keyed, texts_of, texts_of_ids
from triplestore.operators.context import current
from triplestore.operators.frame import BOOLEAN, ID, REAL, Array
from triplestore.operators.frame import INTEGER as INTEGER_TYPE
from triplestore.operators.row_keys import distinct_ids, distinct_integers
from triplestore.terms.term_keys import cache_of_short
from triplestore.terms.values.segment_values import ValueColumn
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    DATATYPES,
    EXACT,
    ZONED_OR_MINUS,
    Class,
    entry_of,
    keys_of_doubles,
)

Mask: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = list[bytes | None]


@data_class
class Ids:
    """Terms by their ids in `QueryTerms`; their values are looked up once."""

    ids: U32
    _values: list[ValueColumn] = field(default_factory=list, compare=False, repr=False)
    _texts: list[Texts | None] = field(default_factory=list, compare=False, repr=False)

    def values(self, terms: QueryTerms) -> ValueColumn:
        """The values of the terms; callers must not change them."""
        if not self._values:
            self._values.append(terms.values(self.ids))
        return self._values[0]

    def texts(self, terms: QueryTerms) -> Texts | None:
        """The texts of the terms; None if they have too many datatypes and languages."""
        if not self._texts:
            self._texts.append(texts_of_ids(self.ids, terms))
        return self._texts[0]

    def __len__(self) -> int:
        return len(self.ids)


@data_class
class Coded:
    """Terms by their places in a list of keys; a constant has one key for all rows.

    A key may be listed twice, for example if a function has the same result for two values. To
    compare codes, use `listed_once` first.
    """

    keys: Keys
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_constant(self) -> bool:
        """True if all rows have the same value."""
        return len(self.keys) == 1


@data_class
class Numbers:
    """Numbers of one rank (see `numbers`).

    values  i64 for integers and decimals, f64 for floats and doubles
    valid   the rows with a value; None for all rows
    scale   of decimals: the number of digits of `values` behind the point
    """

    rank: int
    values: Array
    valid: Mask | None = None
    scale: int = 0

    def __len__(self) -> int:
        return len(self.values)


@data_class
class Booleans:
    """Truth values, and the rows with a value (None: all rows)."""

    values: Mask
    valid: Mask | None = None

    def __len__(self) -> int:
        return len(self.values)


Vector: TypeAlias = Ids | Coded | Numbers | Booleans | Texts


def constant(key: bytes | None, rows: int) -> Coded:
    """The same term in every row."""
    return Coded([key], np.broadcast_to(_ZERO, rows))


_ZERO = np.zeros((), np.int64)


def of_column(column: Array) -> Vector:
    """The vector of a frame's column: of ids, or of typed values (text becomes plain strings)."""
    if column.dtype == ID:
        return Ids(column)
    if column.dtype == INTEGER_TYPE:
        return Numbers(INTEGER, column)
    if column.dtype == REAL:
        return Numbers(4, column)
    if column.dtype == BOOLEAN:
        return Booleans(column)
    codes: dict[Any, int] = {}
    places = np.array([codes.setdefault(value, len(codes)) for value in column], np.int64)
    return Coded([_key_of_object(value) for value in codes], places)


def _key_of_object(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, Decimal):
        return key_of_number(Number(DECIMAL, value))
    if isinstance(value, int):
        return key_of_number(Number(INTEGER, value))
    return b"\x03" + str(value).encode()


# --- what there is -------------------------------------------------------------------------------


def known(vector: Vector) -> Mask:
    """The rows that have a value."""
    if isinstance(vector, Ids):
        has: Mask = vector.ids != 0
        return has
    if isinstance(vector, Coded):
        has = np.array([key is not None for key in vector.keys], np.bool_)[vector.codes]
        return has
    if isinstance(vector, Texts):
        has = (vector.shapes != 0)[vector.codes]
        return has
    return np.ones(len(vector), np.bool_) if vector.valid is None else vector.valid


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    """The rows in both masks; None means all rows."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


# --- terms ---------------------------------------------------------------------------------------


def coded(vector: Vector, terms: QueryTerms) -> Coded:
    """The values of a vector as keys (some may be unused, or listed twice)."""
    if isinstance(vector, Coded):
        return vector
    if isinstance(vector, Ids):
        distinct, places = distinct_ids(vector.ids)
        return Coded(terms.keys(distinct), places)
    if isinstance(vector, Booleans):
        codes = vector.values.astype(np.int64)
        if vector.valid is not None:
            codes[~vector.valid] = 2
        return Coded([FALSE, TRUE, None], codes)
    if isinstance(vector, Texts):
        return Coded(*keyed(vector, terms.shapes))
    return _coded_numbers(vector)


def texts(vector: Vector, terms: QueryTerms) -> Texts | None:
    """The values of a vector as texts; None if they have too many datatypes and languages."""
    if isinstance(vector, Texts):
        return vector
    if isinstance(vector, Ids):
        return vector.texts(terms)
    made = coded(vector, terms)
    return texts_of(made.keys, made.codes, terms.shapes)


_MANY = 1 << 16  # maximum number of values whose memory is not checked
_SORTING = 40  # bytes per value that is sorted and numbered
_KEY = 100  # bytes per key of a value


def _coded_numbers(vector: Numbers) -> Coded:
    values = vector.values
    if len(values) > _MANY:
        current().need(_SORTING * len(values))
    if values.dtype == np.float64:
        bits, places = np.unique(values.view(np.int64), return_inverse=True)
        distinct: Array = bits.view(np.float64)
    else:
        distinct, places = distinct_integers(values)
    if len(distinct) > _MANY:
        current().need(_KEY * len(distinct))
    if vector.rank == INTEGER:
        keys: Keys = [b"\x05%d%s" % (value, _INTEGER_END) for value in distinct.tolist()]
    else:
        keys = [
            key_of_number(Number(vector.rank, _python(vector, value)))
            for value in distinct.tolist()
        ]
    if vector.valid is not None:
        places = np.where(vector.valid, places, len(keys))
        keys.append(None)
    return Coded(keys, places)


def _python(vector: Numbers, value: Any) -> Any:
    return Decimal(value).scaleb(-vector.scale) if vector.rank == DECIMAL else value


def listed_once(made: Coded) -> Coded:
    """The same with each key listed once, so that equal terms have equal codes.

    >>> made = listed_once(Coded([b"\\x03b", b"\\x03a", b"\\x03b"], np.array([0, 1, 2])))
    >>> made.keys, made.codes.tolist()
    ([b'\\x03b', b'\\x03a'], [0, 1, 0])
    """
    places: dict[bytes | None, int] = {}
    numbers = [places.setdefault(key, len(places)) for key in made.keys]
    if len(places) == len(numbers):
        return made
    return Coded(list(places), np.array(numbers, np.int64)[made.codes])


def ids_of(vector: Vector, terms: QueryTerms) -> U32:
    """The ids of the values; terms that are not in the dictionary get query ids."""
    if isinstance(vector, Ids):
        return vector.ids
    if isinstance(vector, Texts):
        found = ids_of_texts(vector, terms)
        if found is not None:
            return found
    made = coded(vector, terms)
    ids: U32 = terms.encode_keys(made.keys)[made.codes]
    return ids


def take(vector: Vector, rows: Array) -> Vector:
    """Some rows, by position or mask."""
    if isinstance(vector, Ids):
        return Ids(vector.ids[rows])
    if isinstance(vector, Coded):
        return Coded(vector.keys, vector.codes[rows])
    if isinstance(vector, Texts):
        return vector.with_codes(vector.codes[rows])
    valid = None if vector.valid is None else vector.valid[rows]
    if isinstance(vector, Booleans):
        return Booleans(vector.values[rows], valid)
    return Numbers(vector.rank, vector.values[rows], valid, vector.scale)


# --- values --------------------------------------------------------------------------------------

_FORM_OF_RANK = [
    0,
    *(entry_of(f'1"^^<{datatype}>'.encode()).mark & ~EXACT for datatype in DATATYPE_OF_RANK[1:]),
]
RANK_OF_FORM = np.array([RANKS.get(datatype, 0) for datatype in DATATYPES] + [0] * 64, np.uint8)
_FORM_BITS = np.uint8(0x3F)
_EXACT_INTEGER = 1 << 53
_EXACT_DECIMAL = 10**15


def is_float_mark(mark: int) -> bool:
    """True for the marks of xsd:float; other numbers are rounded to it for comparisons."""
    return bool(RANK_OF_FORM[mark & 0x3F] == FLOAT)


def values_of(vector: Vector, terms: QueryTerms) -> ValueColumn:
    """Marks and order-preserving keys of the values; mark 0 where only the terms decide."""
    if isinstance(vector, Ids):
        return vector.values(terms)
    if isinstance(vector, Numbers):
        return _values_of_numbers(vector)
    made = coded(vector, terms)
    only = made.keys[0] if len(made.keys) == 1 else None
    found = values_of_keys(made.keys) if only is None else _of_constant(only)
    return ValueColumn(found.marks[made.codes], found.keys[made.codes])


@cache_of_short(1024)
def _of_constant(key: bytes) -> ValueColumn:
    """The value of one term."""
    return values_of_keys([key])


def _values_of_numbers(vector: Numbers) -> ValueColumn:
    form = _FORM_OF_RANK[vector.rank]
    marks = np.full(len(vector), form | EXACT, np.uint8)
    doubles = vector.values.astype(np.float64)
    if vector.rank <= DECIMAL:
        limit = _EXACT_INTEGER if vector.rank == INTEGER else _EXACT_DECIMAL
        marks[np.abs(vector.values) > limit] = form
        if vector.scale:
            doubles = doubles / 10.0**vector.scale
    if vector.valid is not None:
        marks[~vector.valid] = 0
    return ValueColumn(marks, keys_of_doubles(np.ascontiguousarray(doubles)))


def numbers_of(vector: Vector, terms: QueryTerms) -> Numbers | None:
    """The vector as numbers of one rank; rows with other terms have no value. None if that is not
    possible: numbers of several ranks, long numbers, or times, which also have arithmetic."""
    if isinstance(vector, Numbers):
        return vector
    if isinstance(vector, Booleans):
        return None
    values = values_of(vector, terms)
    if len(values.marks) and (values.marks == values.marks[0]).all():
        return _alike_numbers(values, int(values.marks[0]))
    classes = values.classes
    numeric = classes == Class.NUMERIC
    if np.any((classes >= Class.DATETIME_ZONED) & (classes <= Class.DURATION)):
        return None
    ranks = RANK_OF_FORM[values.marks[numeric] & _FORM_BITS]
    if len(ranks) == 0 or (ranks != ranks[0]).any():
        return None
    rank = int(ranks[0])
    valid = None if numeric.all() else numeric
    doubles = values.doubles
    if valid is not None:
        doubles[~numeric] = 0
    if rank >= FLOAT:
        minus = (values.marks & ZONED_OR_MINUS) != 0
        doubles[minus & numeric] = -0.0
        return Numbers(rank, doubles, valid)
    if not values.exact[numeric].all():
        return None
    if rank == INTEGER:
        if (np.abs(doubles) > _EXACT_INTEGER).any():
            return None  # such as 10 to the power of 30, which is exact, but not a 64-bit integer
        return Numbers(rank, doubles.astype(np.int64), valid)
    return _decimals(doubles, valid)


def _alike_numbers(values: ValueColumn, mark: int) -> Numbers | None:
    """Values of one mark as numbers; None for other values, and if only their terms are exact."""
    rank = int(RANK_OF_FORM[mark & 0x3F])
    if CLASS_OF[mark] != Class.NUMERIC:
        return None
    doubles = values.doubles
    if rank >= FLOAT:
        return Numbers(rank, np.full(len(doubles), -0.0) if mark & ZONED_OR_MINUS else doubles)
    if not mark & EXACT:
        return None
    if rank == DECIMAL:
        return _decimals(doubles, None)
    if (np.abs(doubles) > _EXACT_INTEGER).any():
        return None
    return Numbers(rank, doubles.astype(np.int64))


_MOST_DIGITS = 9


def _decimals(doubles: NDArray[np.float64], valid: Mask | None) -> Numbers | None:
    """Decimals from their nearest doubles, which are unique for at most 15 digits."""
    for scale in range(_MOST_DIGITS + 1):
        power = 10.0**scale
        whole = np.rint(doubles * power)
        if (np.abs(whole) >= _EXACT_DECIMAL).any():
            return None
        if (whole / power == doubles).all():
            return Numbers(DECIMAL, whole.astype(np.int64), valid, scale)
    return None


_INTEGER_END = b'"^^<' + DATATYPE_OF_RANK[INTEGER].encode() + b">"


def integers(made: Coded) -> Vector:
    """Canonical integers, or missing values, as numbers if they are small enough."""
    size = len(_INTEGER_END)
    if any(key is not None and len(key) > size + 16 for key in made.keys):
        return made
    values = [0 if key is None else int(key[1:-size]) for key in made.keys]
    has = known(made)
    valid = None if has.all() else has
    return Numbers(INTEGER, np.array(values, np.int64)[made.codes], valid)


# --- truth ---------------------------------------------------------------------------------------


def truths(vector: Vector, terms: QueryTerms) -> Booleans:
    """The effective boolean values."""
    if isinstance(vector, Booleans):
        return vector
    if isinstance(vector, Numbers):
        values = vector.values
        return Booleans((values != 0) & (values == values), vector.valid)
    if isinstance(vector, Ids):
        found = terms.values(vector.ids)
        if len(vector) and (found.classes == Class.BOOLEAN).all():
            return Booleans(found.keys != 0)
    if isinstance(vector, Texts) and terms.shapes.plain()[vector.shapes].all():
        return Booleans((vector.lengths > 0)[vector.codes])
    vector = coded(vector, terms)
    tests = [_truth(key) for key in vector.keys]
    yes = np.array([test is True for test in tests], np.bool_)[vector.codes]
    if None not in tests:
        return Booleans(yes)
    return Booleans(yes, np.array([test is not None for test in tests], np.bool_)[vector.codes])


def _truth(key: bytes | None) -> bool | None:
    if key is None:
        return None
    try:
        return truth(key)
    except ExpressionError:
        return None
