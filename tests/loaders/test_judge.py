"""The message about a bad line: the column, and the expected text."""

from __future__ import annotations

import pytest

from tests.loaders.loading_helpers import NQ, NT
from triplestore.loaders.judge import judged

SUBJECT = "an IRI <...> or a blank node _:... as the subject"
OBJECT = (
    'an IRI <...>, a blank node _:..., a literal "..." or a triple term <<( ... )>> as the object'
)
END = "'.' at the end of the statement"

CASES = [
    ("nonsense", 1, f"{SUBJECT}, found nonsense"),
    ('"a" <a:b> <a:c> .', 1, f'{SUBJECT}, found "a"'),
    ("<<( <a:b> <a:b> <a:b> )>> <a:b> <a:b> .", 1, f"{SUBJECT}, found <<("),
    ("  <a:b>", 8, "an IRI <...> as the predicate, found the end of the line"),
    ("<a:b> _:p <a:c> .", 7, "an IRI <...> as the predicate, found _:p"),
    ("<a:b> <a:c> .", 13, f"{OBJECT}, found ."),
    ("<a:b> <a:c> 'x' .", 13, f"{OBJECT}, found 'x'"),
    ("<a:b> <a:c> <a:d>", 18, f"{END}, found the end of the line"),
    ("<a:b> <a:c> <a:d> <a:e> .", 19, f"{END}, found <a:e>"),
    ('<a:b> <a:c> "é"@en "x" .', 20, f'{END}, found "x"'),
    ("<a:b> <a:c> <a:d> . <a:e> .", 21, "the end of the line or a comment, one statement a line"),
    ("<a:b> <a:c> <d> .", 13, "an absolute IRI (such as http://...): No scheme found"),
    ("<a:b> <a:c> <a:d e> .", 13, "a valid IRI: Invalid IRI code point ' '"),
    ("<a:b> <a:c> <a:%zz> .", 13, "a valid IRI: Invalid IRI percent encoding '%zz'"),
    ('<a:b> <a:c> "x\\y" .', 15, "an escape \\t \\b"),
    ('<a:b> <a:c> "\\ud800" .', 14, "an escape"),
    ('<a:b> <a:c> "x', 13, 'a closing > or " on the same line'),
    ('<a:b> <a:c> "x"@abcdefghi .', 17, "a language tag (BCP 47): A subtag may be eight"),
    ('<a:b> <a:c> "x"@en--up .', 21, "--ltr or --rtl: The allowed base directions"),
    ("<a:b> <a:c> <<( <a:b> <a:c> )>> .", 29, "a triple term <<( subject predicate object )>>"),
    ("<a:b> <a:c> _:-x .", 13, "a blank node label"),
    (
        '<a:b> <a:c> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .',
        18,
        "a language tag, or another datatype",
    ),
]


@pytest.mark.parametrize(("line", "column", "message"), CASES)
def test_fault_of__column_and_what_was_expected(line: str, column: int, message: str) -> None:
    text, (fault,) = judged([line.encode()], NT, False)
    assert text == b""
    assert fault.message.startswith(f"expected {message}"), fault.message
    assert fault.column == column
    assert fault.text == line


def test_fault_of__quads_may_have_a_graph() -> None:
    _, (fault,) = judged([b"<a:b> <a:c> <a:d> 7 ."], NQ, False)
    assert fault.message == "expected a graph name (an IRI or a blank node) or '.', found 7"
    _, (fault,) = judged([b"<a:b> <a:c> <a:d> <a:g> <a:g> ."], NQ, False)
    assert fault.message == f"expected {END}, found <a:g>"


def test_fault_of__bytes_that_are_no_utf8() -> None:
    _, (fault,) = judged(['<a:b> <a:c> "é'.encode() + b'\xff" .'], NT, False)
    assert fault.message == "expected UTF-8, found byte 0xFF (invalid start byte)"
    assert fault.column == 15


def test_fault_of__long_lines_are_shortened() -> None:
    _, (fault,) = judged([b"<a:b> <a:c> " + b"x" * 10_000], NT, False)
    assert len(fault.text) < 300
    assert len(fault.message) < 300


def test_judged__good_lines_come_back_and_faults_have_their_index() -> None:
    lines = [b"<a:b> <a:c> <a:d> .", b"bad", b'<a:b><a:c>"\\u0041".', b"bad", b""]
    text, faults = judged(lines, NT, True)
    assert text == b'<a:b> <a:c> <a:d> .\n<a:b> <a:c> "A" .\n'
    assert [fault.index for fault in faults] == [1, 3]
    _, faults = judged(lines, NT, False)
    assert [fault.index for fault in faults] == [1]
