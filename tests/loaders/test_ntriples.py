"""N-Triples and N-Quads: the kernel, the small path and pyoxigraph agree on what a document says.

The oracle is pyoxigraph's strict parser: the same documents are refused, with an error on the same
line, and the others have the same statements, blank node labels included.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest

from tests.loaders.documents_model import Maker
from tests.loaders.loading_helpers import NQ, NT, lines_of, loaded, scoped
from triplestore.errors import ParseError

SHORT = 3_000
LONG = 100_000


def oracle(document: bytes, form: ox.RdfFormat) -> tuple[list[str] | None, int]:
    """The statements as lines, or the line of the first error."""
    try:
        return scoped(ox.parse(document, form)), 0
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


@pytest.mark.parametrize("seed", range(10_000_000, 10_000_100))
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


def test_parse_lines__a_triple_term_of_labels_that_do_not_fit() -> None:
    inner = b"_:a"
    for i in range(400):
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
