"""N-Triples and N-Quads: the kernel, the small path and pyoxigraph find the same statements.

The oracle is pyoxigraph's strict parser: the same documents are refused, with an error on the same
line, and the others have the same statements, blank node labels included. Only a byte order mark,
which editors write and pyoxigraph refuses, is taken off first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from tests.loaders import documents_model
from tests.loaders.documents_model import Maker
from tests.loaders.loading_helpers import NQ, NT, lines_of, loaded, scoped
from triplestore.errors import ParseError
from triplestore.loaders.formats import BYTE_ORDER_MARK
from triplestore.loaders.thresholds import LOADING
from triplestore.terms.guards.document_limits import MOST_NESTED

SHORT = 3_000
LONG = 100_000


def oracle(document: bytes, form: ox.RdfFormat) -> tuple[list[str] | None, int]:
    """The statements as lines, or the line of the first error."""
    text = document.removeprefix(BYTE_ORDER_MARK)  # no part of a document, as we read it
    try:
        return scoped(ox.parse(text, form)), 0
    except SyntaxError as error:
        return None, error.lineno or 0


def ours(document: bytes, form: ox.RdfFormat, **how: object) -> tuple[list[str] | None, int]:
    try:
        return lines_of(*loaded(document, format=form, threads=1, **how)), 0  # type: ignore[arg-type]
    except ParseError as error:
        assert error.offset is not None
        assert "expected" in error.msg, error.msg
        return None, error.lineno or 0


def check(seeds: range, **how: object) -> None:
    valid = 0
    for seed in seeds:
        form = NQ if seed % 2 else NT
        document = Maker(seed).document(form == NQ)
        wanted, error_line = oracle(document, form)
        got, line = ours(document, form, **how)
        assert got == wanted, f"seed {seed}: {document!r}"
        # A statement that ends too early is noticed at the beginning of the next line.
        assert line in (error_line, error_line - 1), f"seed {seed}: {document!r}"
        valid += wanted is not None
    assert 0.3 < valid / len(seeds) < 0.9, "the generator makes too few of one kind"


def test_parse_lines__agrees_with_pyoxigraph() -> None:
    check(range(SHORT), large=True)


def test_parse_lines__agrees_when_blocks_are_tiny() -> None:
    check(range(SHORT, SHORT + 300), large=True, block_bytes=64)


def test_small__agrees_with_pyoxigraph() -> None:
    check(range(SHORT), large=False)


@pytest.mark.long
def test_parse_lines__agrees_with_pyoxigraph_on_many() -> None:
    check(range(SHORT, SHORT + LONG), large=True)


@each_seed(range(10000000, 10000100))
def test_lenient__keeps_exactly_the_good_lines(seed: int) -> None:
    document = Maker(seed).document(quads=True)
    good, bad = [], 0
    for line in document.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        lines, _ = oracle(line, NQ)
        good += lines or []
        bad += lines is None
    for large in (True, False):
        result, dictionary = loaded(document, large=large, format=NQ, lenient=True)
        assert lines_of(result, dictionary) == sorted(good)
        assert result.bad == bad == len(result.problems)
        terms = {term for row in (result.s, result.p, result.o, result.g) for term in row.tolist()}
        for run in dictionary.triple_runs():
            terms.update(part for column in run.columns() for part in column.tolist())
        assert terms - {0} == set(range(1, dictionary.size + 1)), "a bad line left a term"


@pytest.mark.slow_kernels
def test_parse_lines__agrees_on_the_real_data(shared_data: Path) -> None:
    files = sorted(shared_data.rglob("*.n[tq]"))
    assert len(files) > 100
    for file in files:
        form = NT if file.suffix == ".nt" else NQ
        document = file.read_bytes()
        wanted, error_line = oracle(document, form)
        got, line = ours(document, form, large=True)
        assert got == wanted, file
        assert line in (error_line, error_line - 1), file


STRANGE = [
    *(f"<a:b> <a:b> <{iri}> ." for iri in documents_model.IRIS),
    *(f'<a:b> <a:b> "x"^^<{iri}> .' for iri in documents_model.IRIS),
    *(f"<a:b> <a:b> _:{label} ." for label in documents_model.LABELS),
    *(f'<a:b> <a:b> "{text}" .' for text in documents_model.TEXTS if text not in "\n\r"),
    *(f'<a:b> <a:b> "x"@{tag} .' for tag in documents_model.TAGS),
    *(f"<a:b> <a:b> {junk} ." for junk in documents_model.JUNK),
]


@pytest.mark.parametrize("dense", [False, True])
def test_parse_lines__each_strange_piece_by_itself(dense: bool) -> None:
    lines = [line.encode() for line in STRANGE]
    if dense:
        lines = [line.replace(b" ", b"") for line in lines]
    good = [line for line in lines if oracle(line, NT)[0] is not None]
    assert 100 < len(good) < len(lines) - 100
    result, dictionary = loaded(b"\n".join(lines), large=True, format=NT, lenient=True)
    assert lines_of(result, dictionary) == scoped(ox.parse(b"\n".join(good), NT))
    assert result.bad == len(lines) - len(good)


def sequences() -> list[bytes]:
    """Every shape that UTF-8 could have, at the borders of each."""
    continuations = (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBE, 0xBF, 0xC0)
    found = [bytes((a, b)) for a in range(0x80, 0x100) for b in continuations]
    third = (0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF)
    found += [bytes((a, b, c)) for a in third for b in continuations for c in continuations]
    fourth = (0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5)
    found += [
        bytes((a, b, c, d))
        for a in fourth
        for b in continuations
        for c in (0x7F, 0x80, 0xBF, 0xC0)
        for d in (0x7F, 0x80, 0xBD, 0xBE, 0xBF, 0xC0)
    ]
    return found


@pytest.mark.parametrize("frame", [b'<a:b> <a:c> "%s" .', b"<a:b> <a:c> <a:%s> ."])
def test_code_point__valid_characters_only(frame: bytes) -> None:
    lines = [frame % sequence for sequence in sequences()]
    good = [line for line in lines if oracle(line, NT)[0] is not None]
    assert 300 < len(good) < len(lines) / 2
    result, dictionary = loaded(b"\n".join(lines), large=True, format=NT, lenient=True)
    assert lines_of(result, dictionary) == scoped(ox.parse(b"\n".join(good), NT))


def test_number_of__equal_bytes_of_another_kind_are_another_term(tune: Callable[..., None]) -> None:
    tune(LOADING, block_terms=12)  # a small table: most searches meet other terms
    document = b"".join(
        b'<u:%d> <u:%d> "u:%d" .\n_:%d <u:%d> "%d" .\n_:x <u:x> "%d\\"@en" .\n_:x <u:x> "%d"@en .\n'
        % ((i % 70,) * 8)
        for i in range(500)
    )
    result, dictionary = loaded(document, large=True, format=NT)
    assert lines_of(result, dictionary) == scoped(ox.parse(document, NT))


@pytest.mark.parametrize("length", range(55, 75))
def test_take__a_block_that_ends_between_cr_and_lf(length: int) -> None:
    # The first block holds no line feed, and its last byte may be the carriage return.
    document = b"#" * length + b"\r\n" + b"<a:b> <a:b> <a:b> .\r\nbad"
    with pytest.raises(ParseError) as caught:
        loaded(document, large=True, format=NT, block_bytes=64)
    assert caught.value.lineno == 3


LINE = b'<http://a/%d> <http://p> "\\u00e9%d"@EN-gb .\n'


@pytest.mark.slow_kernels
def test_parse_lines__lines_longer_than_a_block() -> None:
    long = b'<http://a> <http://p> "' + b"x" * 5_000_000 + b'" .\n'
    document = b"".join(LINE % (i, i) for i in range(50)) + long + LINE % (99, 99)
    result, dictionary = loaded(document, large=True, format=NT, block_bytes=1 << 12)
    assert lines_of(result, dictionary) == scoped(ox.parse(document, NT))


def test_parse_lines__labels_that_do_not_fit_behind_the_text() -> None:
    # Short labels grow by their scope: a block of nothing else needs most room.
    document = b"".join(b"_:%x<a:>_:%x _:%x.\n" % (i, i + 1, i + 2) for i in range(3000))
    result, dictionary = loaded(
        document, large=True, format=NQ, block_bytes=1 << 10, first_file_number=1234567890
    )
    assert lines_of(result, dictionary) == scoped(ox.parse(document, NQ), "f1234567890x")


def test_parse_lines__a_triple_term_of_labels_that_do_not_fit(tune: Callable[..., None]) -> None:
    tune(LOADING, block_slack=256)
    inner = b"_:a"
    for i in range(MOST_NESTED):
        inner = b"<<( _:%x <a:> %s )>>" % (i, inner)
    document = b"<a:> <a:> " + inner + b" .\n"
    result, dictionary = loaded(
        document, large=True, format=NT, block_bytes=1 << 10, first_file_number=1234567890
    )
    assert lines_of(result, dictionary) == scoped(ox.parse(document, NT), "f1234567890x")


@pytest.mark.slow_kernels
def test_parse_lines__more_terms_rows_and_odd_lines_than_one_call_takes() -> None:
    plain = b"".join(b"<a:%x><a:%x><a:%x>.\n" % (i, i + 40_000, i % 7) for i in range(40_000))
    odd = b"".join(b"<a:> <a:> <a://[::1]/%d> .\n" % i for i in range(9_000))
    result, dictionary = loaded(plain + odd, large=True, format=NT)
    assert lines_of(result, dictionary) == scoped(ox.parse(plain + odd, NT))


def test_parse_lines__line_ends_of_every_kind() -> None:
    for end in (b"\n", b"\r", b"\r\n", b" # c\r", b"\n\r\n"):
        document = end.join(LINE.strip() % (i, i) for i in range(2000)) + end + b"oops"
        with pytest.raises(ParseError) as caught:
            loaded(document, large=True, format=NT, block_bytes=1 << 12)
        lines = end.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") * 2000 + 1
        assert caught.value.lineno == lines, end


@pytest.mark.slow_kernels
def test_parse_lines__the_first_of_several_faults_is_reported() -> None:
    lines = [LINE % (i, i) for i in range(20_000)]
    lines[15_000] = lines[4_321] = b"<http://a> <p> <http://b> .\n"
    for threads in (1, 2, 3):
        with pytest.raises(ParseError) as caught:
            loaded(b"".join(lines), large=True, format=NT, block_bytes=1 << 12, threads=threads)
        assert (caught.value.lineno, caught.value.offset) == (4_322, 12)


def test_parse_lines__row_numbers_stay_in_document_order() -> None:
    document = b"".join(LINE % (i, i) for i in range(5_000))
    result, dictionary = loaded(document, large=True, format=NT, block_bytes=1 << 12, threads=2)
    subjects = [dictionary.key(int(i))[1:] for i in result.s]
    assert subjects == [b"http://a/%d" % i for i in range(5_000)]
    assert not result.has_named
    assert not np.any(result.g)
