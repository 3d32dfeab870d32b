"""REGEX on columns of texts: by kernels what a pattern says in plain letters, the rest by RE2.

Start at `matches`. A pattern such as `com`, `^Com` or `com$` is a search for a text; of any other
one, the letters that a match needs (`^http://e/[0-9]+`) select the texts that RE2 looks at. Always
true: the answers are those of `library.regex.matches`, and each distinct text is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from triplestore.expressions.columns.text_functions import (
    Spans,
    found_in,
    has_ends,
    in_other_case,
    only_strings,
    present,
)
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.regex import BETWEEN, Pattern, compiled
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.shapes import NOTHING
from triplestore.expressions.text_columns import I64, Texts
from triplestore.expressions.tree import Call, Constant
from triplestore.expressions.vectors import Booleans, Coded, Mask, Vector
from triplestore.operators.context import Budget, current
from triplestore.terms.spans import copy_texts
from triplestore.terms.term_keys import STRING


class Letters(NamedTuple):
    """What a pattern says about the texts that it matches.

    prefix, suffix  what they begin and end with
    inside          what they contain
    alone           whether all texts with these match
    """

    prefix: str = ""
    suffix: str = ""
    inside: tuple[str, ...] = ()
    alone: bool = False


_PIECES = re.compile(
    r"(?P<letter>[^\\^$.|?*+(){}\[\]]|\\[\\|.?*+(){}\-\[\]^$])"
    r"|(?P<other>\.|\\[pP]\{[^}]*\}|\\.|\[(?:[^\\\]]|\\.)*\])"
    r"|(?P<count>[?*+]|\{[^}]*\})",
    re.DOTALL,
)


def letters_of(pattern: str) -> Letters:
    r"""What a match needs, as far as a pattern without groups says it in plain letters.

    >>> letters_of("^Com"), letters_of("a.*bc")[2:]
    (Letters(prefix='Com', suffix='', inside=(), alone=True), (('a', 'bc'), False))
    """
    first, last = pattern.startswith("^"), pattern.endswith("$")
    body = pattern[int(first) : len(pattern) - int(last)]
    if last and (len(body) - len(body.rstrip("\\"))) % 2:
        return Letters()  # an escaped dollar sign
    runs = list(_runs(body))
    if None in runs:
        return Letters()
    whole = [run for run in runs if run is not None]
    prefix = whole[0] if first else ""
    suffix = whole[-1] if last and not (first and len(whole) == 1) else ""
    inside = whole[int(first) : len(whole) - int(last)]
    alone = len(whole) == 1 and not (first and last)
    return Letters(prefix, suffix, tuple(filter(None, inside)), alone)


def _runs(body: str) -> Iterator[str | None]:
    """The letters between all that is not a letter; None if the pattern is beyond this."""
    run, at = "", 0
    while at < len(body):
        found = _PIECES.match(body, at)
        if found is None:
            yield None
            return
        at = found.end()
        if found["letter"] is not None:
            run += found["letter"][-1]
            continue
        if found["count"] is not None and found["count"] != "+":
            run = run[:-1]  # the last letter may not occur
        yield run
        run = ""
    yield run


def prefix_of(node: Call) -> bytes | None:
    """The text with which a text must begin, and no more, so that the call is true.

    >>> from triplestore.expressions.tree import Variable
    >>> prefix_of(Call("REGEX", (Variable("x"), Constant(b"\\x03^ab"))))
    b'ab'
    """
    keys = [part.key for part in node.arguments[1:] if isinstance(part, Constant)]
    if len(keys) != 1 or len(node.arguments) != 2 or keys[0][0] != STRING:
        return None
    if node.function == "STRSTARTS":
        return keys[0][1:]
    if len(keys[0]) > _LONG:
        return None
    needed = letters_of(keys[0][1:].decode())
    return needed.prefix.encode() if needed.alone and needed.prefix else None


_LONG = 1000


def matches(name: str, given: list[Vector], terms: QueryTerms, held: Budget) -> Vector | None:
    """REGEX with a pattern and flags that are the same in all rows."""
    options = [_constant(vector) for vector in given[1:]]
    if None in options:
        return None
    pattern, flags = (*(text or "" for text in options), "")[:2]
    try:
        regex = compiled(pattern, flags)
    except ExpressionError:
        return None
    made = only_strings(given[0], terms)
    if made is None:
        return None
    needed = _needed(pattern, flags)
    if "i" in flags:
        found = _in_any_case(made, needed, regex, held)
    else:
        found = _selected(made, needed if needed.alone else _selective(needed))
        if not needed.alone:
            _try(made, np.flatnonzero(found), regex, found)
    return Booleans(found[made.codes], present(made))


def _constant(vector: Vector) -> str | None:
    if not isinstance(vector, Coded) or not vector.is_constant:
        return None
    key = vector.keys[0]
    return key[1:].decode() if key is not None and key[0] == STRING else None


def _needed(pattern: str, flags: str) -> Letters:
    if "q" in flags:
        return Letters(inside=(pattern,), alone=True)
    if "x" in flags:
        return Letters()
    needed = letters_of(pattern)
    if "m" in flags and (needed.prefix or needed.suffix):  # of lines, not of the text
        return Letters(inside=(needed.prefix, *needed.inside, needed.suffix))
    return needed


def _selective(needed: Letters) -> Letters:
    """What is worth a search before RE2's: most texts have a single letter."""
    inside = tuple(part for part in needed.inside if len(part) > 1)
    return Letters(needed.prefix, needed.suffix, inside)


def _selected(made: Texts, needed: Letters) -> Mask:
    """The texts that have the letters."""
    found: Mask = made.shapes != NOTHING
    for part, behind in ((needed.prefix, False), (needed.suffix, True)):
        if part:
            found &= has_ends(made, _span(made, part), behind)
    for part in needed.inside:
        if part:
            found &= found_in(made, _span(made, part)) >= 0
    return found


def _span(made: Texts, part: str) -> Spans:
    text = np.frombuffer(part.encode(), np.uint8)
    zeros = np.zeros(made.size, np.int64)
    return text, zeros, zeros + len(text)


def _in_any_case(made: Texts, needed: Letters, regex: Pattern, held: Budget) -> Mask:
    """The matches of a pattern with the flag i: by kernels in ASCII texts."""
    found: Mask = made.shapes != NOTHING
    parts = (needed.prefix, needed.suffix, *needed.inside)
    if not "".join(parts).isascii() or not any(parts):
        _try(made, np.flatnonzero(found), regex, found)
        return found
    lower, others = in_other_case(made, True, held)
    small = [part.lower() for part in parts]
    selected = _selected(lower, Letters(small[0], small[1], tuple(small[2:])))
    tried = found & others
    if not needed.alone:
        tried |= selected
    found &= selected
    _try(made, np.flatnonzero(tried), regex, found)
    return found


def _try(made: Texts, rows: I64, regex: Pattern, found: Mask) -> None:
    """Write whether RE2 finds the pattern in these texts: in many at once, if few have it."""
    hits = 0
    for start in range(0, len(rows), _TRIED):
        current().check()
        part = rows[start : start + _TRIED]
        if regex.is_local and len(part) > 1 and 2 * hits <= start:
            found[part] = _found_together(made, part, regex)
        else:
            found[part] = _found_singly(made, part, regex)
        hits += int(found[part].sum())


_TRIED = 2048


def _found_singly(made: Texts, rows: I64, regex: Pattern) -> list[bool]:
    buf, occurs = made.buf, regex.occurs_in
    starts, stops = made.starts[rows], made.starts[rows] + made.lengths[rows]
    spans = zip(starts.tolist(), stops.tolist(), strict=True)
    return [occurs(buf[start:stop].tobytes()) for start, stop in spans]


def _found_together(made: Texts, rows: I64, regex: Pattern) -> Mask | list[bool]:
    """The same by a search in all texts, one after the other: 0.1 us a text, and 1 us a match."""
    lengths = made.lengths[rows]
    stops = np.cumsum(lengths + 1)
    if not regex.is_quick(int(stops[-1])):
        return _found_singly(made, rows, regex)
    current().need(2 * int(stops[-1]))
    joined = np.full(int(stops[-1]), BETWEEN, np.uint8)
    copy_texts(made.buf, made.starts[rows], lengths, joined, stops - lengths - 1)
    found = np.zeros(len(rows), np.bool_)
    found[np.searchsorted(stops, regex.first_matches(joined.tobytes()), "right")] = True
    return found
