"""The judge of odd lines: pyoxigraph decides which are valid, and this module says why not.

Start at `judged`. The kernel hands over every line that is not certainly a usual statement. Valid
lines come back as canonical N-Quads, which the kernel trusts; invalid ones with a column and the
expected text. Always true: a line loads exactly if pyoxigraph's strict parser accepts it (no token
of a valid document crosses a line). Costs 0.6 microseconds per good line, and 2 more in a batch
with a bad line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.terms.guards.document_limits import TOO_DEEP, Chain

from .report import shortened


@data_class
class Fault:
    """A bad line: its index among the judged lines, the column (from 1), and the reason."""

    index: int
    column: int
    message: str
    text: str


def judged(lines: Sequence[bytes], form: ox.RdfFormat, lenient: bool) -> tuple[bytes, list[Fault]]:
    """The good lines as N-Quads, and the faults of the others.

    Unless `lenient`, lines after the first fault are not judged.
    """
    text = b"\n".join(lines)
    nested = Chain().too_deep(text) is not None
    try:
        if not nested:
            return _rewritten(text, form), []
    except (SyntaxError, MemoryError):
        pass
    faults = []
    good = []
    for index, line in enumerate(lines):
        at = Chain().too_deep(line) if nested else None
        if at is not None:
            shown = shortened(line.decode(errors="replace"))
            column = len(line[:at].decode(errors="replace")) + 1
            faults.append(Fault(index, column, f"expected {TOO_DEEP}", shown))
            if not lenient:
                break
            continue
        try:
            _rewritten(line, form)
        except SyntaxError as error:
            faults.append(fault_of(line, index, form, error))
            if not lenient:
                break
        except MemoryError as error:
            if _TOO_LONG not in str(error):
                raise
            shown = shortened(line[:1000].decode(errors="replace"))
            faults.append(
                Fault(index, 1, "expected terms of less than 16 MB, or usual ones", shown)
            )
            if not lenient:
                break
        else:
            good.append(line)
    return _rewritten(b"\n".join(good), form), faults


def _rewritten(text: bytes, form: ox.RdfFormat) -> bytes:
    return cast(bytes, ox.serialize(ox.parse(text, form), format=ox.RdfFormat.N_QUADS))


# --- what was expected --------------------------------------------------------------------------

_GRAPH = "a graph name (an IRI or a blank node) or '.'"
_AFTER = "the end of the line or a comment, one statement a line"

# For each place of a statement: a description, and how its term may begin.
_NODE = re.compile(r"<(?!<)|_:")
_PLACES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an IRI <...> or a blank node _:... as the subject", _NODE),
    ("an IRI <...> as the predicate", re.compile(r"<(?!<)")),
    (
        'an IRI <...>, a blank node _:..., a literal "..." or a triple term <<( ... )>> as the '
        "object",
        re.compile(r'<(?!<(?!\())|_:|"'),
    ),
)

# Expected terms, by their beginning.
_INSIDE = {
    "<": "an IRI",
    "_": "a blank node label",
    '"': "a literal with a closing quote on the same line",
    "<<": "a triple term <<( subject predicate object )>>",
}

_BLANKS = re.compile(r"[ \t]*")
_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_IRI = rf'<(?:[^\x00-\x20<>"{{}}|^`\\]|{_ESCAPE})*>'
_LABEL = r"_:[\w](?:[\w.·-]*[\w·-])?"
_STRING = rf'"(?:[^"\\]|\\[tbnrf"\'\\]|{_ESCAPE})*"'
_LITERAL = rf"{_STRING}(?:[ \t]*\^\^[ \t]*{_IRI}|[ \t]*@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*(?:--[a-z]+)?)?"
_TERM = re.compile(rf"{_IRI}|{_LABEL}|{_LITERAL}")
_FLAT_TRIPLE = re.compile(rf"<<\([ \t]*(?:(?:{_IRI}|{_LABEL}|{_LITERAL})[ \t]*){{3}}\)>>")

_TOO_LONG = "buffer maximal size"  # pyoxigraph's message for a term that is too long
_HEADING = re.compile(r"Parser error [^:]*: ")
_TOKEN = re.compile(r"\S{1,40}")


def fault_of(line: bytes, index: int, form: ox.RdfFormat, error: SyntaxError) -> Fault:
    """The fault of a line that the parser refused with this error."""
    try:
        text = line.decode()
    except UnicodeDecodeError as broken:
        column = len(line[: broken.start].decode(errors="replace")) + 1
        shown = shortened(line.decode(errors="replace"))
        message = f"expected UTF-8, found byte 0x{line[broken.start]:02X} ({broken.reason})"
        return Fault(index, column, message, shown)
    column, expected = _walk(text, form == ox.RdfFormat.N_QUADS)
    if column:
        message = f"expected {expected}, {_found(text, column - 1)}"
    else:
        column = error.offset or 1
        message = _told(message_of(error), expected)
    return Fault(index, column, message, shortened(text))


def message_of(error: SyntaxError) -> str:
    """pyoxigraph's message without the place, which our message has."""
    return _HEADING.sub("", str(cast(Any, error).msg), count=1)


def _told(message: str, expected: str) -> str:
    """What was expected, followed by the parser's message about the inside of a term."""
    for part, meant in _EXPECTED.items():
        if part in message:
            expected = meant
            break
    return f"expected {expected}: {message}"


#: Parts of the parser's messages, and what was expected, in our words.
_EXPECTED: dict[str, str] = {
    "rdf:langString": "a language tag, or another datatype",
    "rdf:dirLangString": "a language tag with --ltr or --rtl, or another datatype",
    "No scheme found": "an absolute IRI (such as http://...)",
    "Invalid IRI": "a valid IRI",
    "Invalid host": "a valid IRI",
    "Invalid character": "a valid IRI",
    "Invalid port": "a valid IRI",
    "subtag": "a language tag (BCP 47)",
    "language": "a language tag (BCP 47)",
    "base direction": "--ltr or --rtl",
    "escape": "an escape \\t \\b \\n \\r \\f \\\" \\' \\\\ \\uXXXX or \\UXXXXXXXX of a character",
    "end of file": "a closing > or \" on the same line",
}  # fmt: skip


def _walk(text: str, quads: bool) -> tuple[int, str]:
    """The column of the first unexpected text, and what was expected there.

    The column is 0 if a term begins correctly but is wrong inside: then the parser's message is
    better.
    """
    at = _skip(text, 0)
    places = [*_PLACES, (_GRAPH, _NODE)] if quads else _PLACES
    for expected, begins in places:
        if not begins.match(text, at):
            if expected is not _GRAPH or not text.startswith(".", at):
                return at + 1, expected
            break
        term = _FLAT_TRIPLE.match(text, at) or _TERM.match(text, at)
        if term is None:
            return 0, _INSIDE["<<" if text.startswith("<<", at) else text[at]]
        at = _skip(text, term.end())
    if not text.startswith(".", at):
        return at + 1, "'.' at the end of the statement"
    at = _skip(text, at + 1)
    if at < len(text) and text[at] != "#":
        return at + 1, _AFTER
    return 0, "a statement"


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found is not None
    return found.end()


def _found(text: str, at: int) -> str:
    token = _TOKEN.match(text, at)
    if token is not None:
        return f"found {token.group()}"
    return "found the end of the line" if at >= len(text) else f"found {text[at]!r}"
