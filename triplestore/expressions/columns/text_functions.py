"""SPARQL's functions of strings on columns of texts, by kernels.

Start at `on_texts`. Always true: the values are those of the functions of keys in `library`, row by
row; a part of a text is a span of the same buffer, and bytes are only written where they change.
Each distinct text of a variable is looked at once, unless texts of two variables are combined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from triplestore.expressions.library.builtins import STRICT
from triplestore.expressions.library.numbers import INTEGER, ExpressionError
from triplestore.expressions.library.strings import split_string
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.shapes import NOTHING, TEXT, U16, Shapes
from triplestore.expressions.text_columns import I64, U8, Texts
from triplestore.expressions.vectors import (
    Booleans,
    Coded,
    Mask,
    Numbers,
    Vector,
    numbers_of,
    texts,
)
from triplestore.operators.context import Budget, current
from triplestore.terms.spans import copy_texts, pieces
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED

Spans: TypeAlias = tuple[U8, I64, I64]
Function: TypeAlias = Callable[[str, "list[Vector]", QueryTerms, Budget], "Vector | None"]

_WRITTEN = 34  # bytes per text of a new list of spans


def on_texts(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """The value of one of `TEXT_FUNCTIONS`, charged to `held`; None if it needs the terms
    themselves."""
    return TEXT_FUNCTIONS[name](name, arguments, terms, held)


# --- what depends on the shape only --------------------------------------------------------------


def _of_shape(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """LANG, DATATYPE, ...: computed once per language or datatype."""
    made = texts(arguments[0], terms)
    if made is None:
        return None
    function = STRICT[name]
    held.charge(8 * len(made))
    shapes = made.shapes[made.codes].astype(np.int64)
    keys = terms.shapes.mapped(name, lambda key: _value(function, key), np.object_)
    return Coded(keys.tolist(), shapes)


def _value(function: Callable[..., bytes], key: bytes) -> bytes | None:
    try:
        return function(key)
    except ExpressionError:
        return None


def _text(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """STR."""
    made = texts(arguments[0], terms)
    if made is None:
        return None
    into = terms.shapes.mapped(
        "text", lambda key: TEXT if key[0] in (IRI, STRING, LANG, TYPED) else NOTHING, np.uint16
    )
    return made.with_shapes(into[made.shapes])


# --- one string ----------------------------------------------------------------------------------


def only_strings(vector: Vector, terms: QueryTerms) -> Texts | None:
    """The strings of a vector; other terms have no value."""
    made = texts(vector, terms)
    if made is None:
        return None
    fit = terms.shapes.strings()[made.shapes]
    return made if fit.all() else made.with_shapes(np.where(fit, made.shapes, 0).astype(np.uint16))


def _length(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """STRLEN."""
    from triplestore.kernels.terms.text_parts import count_characters

    made = only_strings(arguments[0], terms)
    if made is None:
        return None
    found = np.empty(made.size, np.int64)
    for part in in_pieces(made.lengths):
        count_characters(made.buf, made.starts[part], made.lengths[part], found[part])
    return Numbers(INTEGER, found[made.codes], present(made))


def present(made: Texts) -> Mask | None:
    """The rows with a value; None for all rows."""
    has = made.shapes != NOTHING
    return None if has.all() else has[made.codes]


def in_pieces(lengths: I64) -> Iterator[slice]:
    """Texts of these lengths in pieces for one kernel call each; checks the limits in between."""
    for lo, hi in pieces(lengths):
        current().check()
        yield slice(lo, hi)


def _cut(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """SUBSTR, from and to positions that are the same in all rows."""
    from triplestore.kernels.terms.text_parts import cut_characters

    given = [_whole(vector, terms) for vector in arguments[1:]]
    if None in given:
        return None
    made = only_strings(arguments[0], terms)
    if made is None:
        return None
    first = (given[0] or 0) - 1
    last = _FAR if len(given) == 1 else max(first + (given[1] or 0), 0)
    held.charge(_WRITTEN * made.size)
    starts, lengths = made.starts.copy(), made.lengths.copy()
    for part in in_pieces(lengths):
        here = starts[part], lengths[part]
        cut_characters(made.buf, *here, max(first, 0), last)
    return Texts(made.buf, starts, lengths, made.shapes, made.codes)


_FAR = 1 << 40


def _whole(vector: Vector, terms: QueryTerms) -> int | None:
    """The integer that a vector has in all rows; None if it is something else."""
    if not isinstance(vector, Coded) or not vector.is_constant:
        return None
    numbers = numbers_of(Coded(vector.keys, vector.codes[:1]), terms)
    if numbers is None or numbers.rank != INTEGER or numbers.valid is not None:
        return None
    value = int(numbers.values[0])
    return value if abs(value) < _FAR else None


def _change_case(
    name: str, arguments: list[Vector], terms: QueryTerms, held: Budget
) -> Vector | None:
    """UCASE and LCASE: by kernel in ASCII, else by Python."""
    made = only_strings(arguments[0], terms)
    if made is None:
        return None
    lower = name == "LCASE"
    changed, others = in_other_case(made, lower, held)
    if not others.any():
        return changed
    return _change_others(made, changed, np.flatnonzero(others), lower, held)


def in_other_case(made: Texts, lower: bool, held: Budget) -> tuple[Texts, Mask]:
    """The texts in capitals or in lower case as far as they are ASCII, and those that are not."""
    from triplestore.kernels.terms.text_parts import change_case

    places = np.cumsum(made.lengths) - made.lengths
    size = int(made.lengths.sum())
    held.charge(size + _WRITTEN * made.size)
    out, others = np.empty(size, np.uint8), np.empty(made.size, np.uint8)
    for part in in_pieces(made.lengths):
        spans = made.starts[part], made.lengths[part], places[part]
        change_case(made.buf, *spans, int(lower), out, others[part])
    return Texts(out, places, made.lengths, made.shapes, made.codes), others.view(np.bool_)


def _change_others(made: Texts, changed: Texts, rows: I64, lower: bool, held: Budget) -> Texts:
    """The same with other letters than ASCII's, changed one text after the other."""
    change: Callable[[str], str] = str.lower if lower else str.upper
    written, buf = [], made.buf
    spans = zip(made.starts[rows].tolist(), made.lengths[rows].tolist(), strict=True)
    current().need(5 * int(made.lengths[rows].sum()) + 100 * len(rows))
    for number, (start, length) in enumerate(spans):
        if number % 1024 == 0 or length > _LONG:
            current().check()
        written.append(change(buf[start : start + length].tobytes().decode()).encode())
    lengths, starts = changed.lengths.copy(), changed.starts.copy()
    lengths[rows] = [len(text) for text in written]
    starts[rows] = np.cumsum(lengths[rows]) - lengths[rows] + len(changed.buf)
    more = np.frombuffer(b"".join(written), np.uint8)
    held.charge(len(more) + _WRITTEN * made.size)
    buf = np.concatenate([changed.buf, more])
    return Texts(buf, starts, lengths, made.shapes, made.codes)


_LONG = 1 << 16


# --- two strings ---------------------------------------------------------------------------------


def _pair(arguments: list[Vector], terms: QueryTerms) -> tuple[Texts, Spans] | None:
    """The texts of the first argument, without a value where the second does not fit to it, and
    the second's, one for each of these."""
    made = only_strings(arguments[0], terms)
    if made is None:
        return None
    second = arguments[1]
    if isinstance(second, Coded) and second.is_constant:
        return _with_constant(made, second.keys[0], terms.shapes)
    other = only_strings(second, terms)
    if other is None:
        return None
    if made.codes is not other.codes:
        current().need(2 * _WRITTEN * len(made))
        made, other = made.by_row(), other.by_row()
    fit = (other.shapes == TEXT) | (other.shapes == made.shapes)
    shapes = np.where(fit, made.shapes, 0).astype(np.uint16)
    return made.with_shapes(shapes), (other.buf, other.starts, other.lengths)


def _with_constant(made: Texts, key: bytes | None, shapes: Shapes) -> tuple[Texts, Spans]:
    text, tag = b"", b""
    fits = np.zeros(made.size, np.bool_)
    if key is not None and key[0] in (STRING, LANG):
        whole, tag = split_string(key)
        text = whole.encode()
        fits = made.shapes != 0
        if tag:
            fits = made.shapes == shapes.of_key(key)[0]
    if not fits.all():
        made = made.with_shapes(np.where(fits, made.shapes, 0).astype(np.uint16))
    zeros = np.zeros(made.size, np.int64)
    return made, (np.frombuffer(text, np.uint8), zeros, zeros + len(text))


def found_in(made: Texts, other: Spans) -> I64:
    """Where the other text occurs in each text; -1 if nowhere."""
    from triplestore.kernels.terms.text_parts import find_parts

    buf, starts, lengths = other
    found = np.empty(made.size, np.int64)
    for part in in_pieces(made.lengths):
        ours = made.buf, made.starts[part], made.lengths[part]
        find_parts(*ours, buf, starts[part], lengths[part], found[part])
    return found


def _contains(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """CONTAINS."""
    pair = _pair(arguments, terms)
    if pair is None:
        return None
    made, other = pair
    return Booleans((found_in(made, other) >= 0)[made.codes], present(made))


def _ends(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """STRSTARTS and STRENDS."""
    pair = _pair(arguments, terms)
    if pair is None:
        return None
    made, other = pair
    return Booleans(has_ends(made, other, name == "STRENDS")[made.codes], present(made))


def has_ends(made: Texts, other: Spans, behind: bool) -> Mask:
    """Which texts begin, or end, with the other text."""
    buf, starts, lengths = other
    longer = made.lengths >= lengths
    ours = made.starts + (made.lengths - lengths) if behind else made.starts
    sizes = np.where(longer, lengths, 0)
    found: Mask = longer & (ordered_parts(made.buf, (ours, sizes), buf, (starts, sizes)) == 0)
    return found


def ordered_parts(buf: U8, spans: tuple[I64, I64], other: U8, others: tuple[I64, I64]) -> I64:
    """-1, 0 or 1 for each pair of texts, given by their starts and lengths."""
    from triplestore.kernels.terms.text_parts import compare_parts

    found = np.empty(len(spans[0]), np.int64)
    for part in in_pieces(spans[1]):
        there = others[0][part], others[1][part]
        compare_parts(buf, spans[0][part], spans[1][part], other, *there, found[part])
    return found


def _around(name: str, arguments: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """STRBEFORE and STRAFTER: "" without a tag where the part does not occur."""
    pair = _pair(arguments, terms)
    if pair is None:
        return None
    made, other = pair
    at = found_in(made, other)
    held.charge(_WRITTEN * made.size)
    lost = at < 0
    starts, lengths = made.starts, at
    if name == "STRAFTER":
        behind = at + other[2]
        starts, lengths = made.starts + behind, made.lengths - behind
    lengths = np.where(lost, 0, lengths)
    starts = np.where(lost, 0, starts)
    shapes = np.where(lost & (made.shapes != 0), np.uint16(TEXT), made.shapes)
    return Texts(made.buf, starts, lengths, shapes, made.codes)


# --- several strings -----------------------------------------------------------------------------


def _concatenate(
    name: str, arguments: list[Vector], terms: QueryTerms, held: Budget
) -> Vector | None:
    """CONCAT."""
    parts = []
    for argument in arguments:
        strings = only_strings(argument, terms)
        if strings is None:
            return None
        parts.append(strings)
    if not parts:
        return None
    parts = aligned(parts)
    size = parts[0].size
    lengths = sum((part.lengths for part in parts[1:]), parts[0].lengths)
    lacks = np.logical_or.reduce([part.shapes == NOTHING for part in parts])
    lengths = np.where(lacks, 0, lengths)
    starts = np.cumsum(lengths) - lengths
    held.charge(int(lengths.sum()) + _WRITTEN * size)
    out = np.empty(int(lengths.sum()), np.uint8)
    at = starts.copy()
    for part in parts:
        taken = np.where(lacks, 0, part.lengths)
        copy_texts(part.buf, part.starts, taken, out, at)
        at += taken
    return Texts(out, starts, lengths, _common([p.shapes for p in parts], lacks), parts[0].codes)


def _common(shapes: Sequence[U16], lacks: Mask) -> U16:
    """The shape that all have, else that of plain strings."""
    same = np.logical_and.reduce([one == shapes[0] for one in shapes])
    made: U16 = np.where(lacks, np.uint16(0), np.where(same, shapes[0], np.uint16(TEXT)))
    return made


def aligned(made: list[Texts]) -> list[Texts]:
    """The same texts with the same codes: per distinct text if only one of them varies."""
    varying = [one for one in made if one.size > 1]
    codes = varying[0].codes if varying else made[0].codes
    if all(one.codes is codes for one in varying):
        size = varying[0].size if varying else 1
        return [one if one.codes is codes else _repeated(one, size, codes) for one in made]
    current().need(_WRITTEN * len(codes) * len(made))
    return [one.by_row() for one in made]


def _repeated(one: Texts, size: int, codes: I64) -> Texts:
    """A text that all rows have, once for each of as many texts."""
    first = np.zeros(size, np.int64)
    return Texts(one.buf, one.starts[first], one.lengths[first], one.shapes[first], codes)


TEXT_FUNCTIONS: Mapping[str, Function] = {
    **dict.fromkeys(("LANG", "LANGDIR", "DATATYPE", "HASLANG", "HASLANGDIR"), _of_shape),
    "STR": _text,
    "STRLEN": _length,
    "SUBSTR": _cut,
    **dict.fromkeys(("UCASE", "LCASE"), _change_case),
    "CONTAINS": _contains,
    **dict.fromkeys(("STRSTARTS", "STRENDS"), _ends),
    **dict.fromkeys(("STRBEFORE", "STRAFTER"), _around),
    "CONCAT": _concatenate,
}
"""Functions with a form for columns of texts."""
