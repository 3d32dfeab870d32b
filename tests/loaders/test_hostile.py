"""Documents that attack: each ends in a load or a clear error, never in the end of the process."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from support import fuzzing

from tests.loaders.hostile import ATTACKS, ENDINGS, Worker, mutated
from tests.loaders.loading_helpers import loaded, path_taken
from triplestore.errors import CancelledError, ParseError
from triplestore.loaders import Limits, compression, load, oxi
from triplestore.loaders.scope import Renamer
from triplestore.loaders.thresholds import LOADING
from triplestore.loaders.work import Work
from triplestore.terms.dictionary import Dictionary

pytestmark = pytest.mark.slow_kernels

MEMORY = 1 << 30
DEEP = ATTACKS["triple terms ttl"][1](1_000)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    made = Worker(tmp_path_factory.mktemp("hostile"), MEMORY, 30)
    yield made
    made.close()


LARGE = ("a comment without an end", "a tag without an end", "a number without an end", "lists")
"""Attacks of many megabytes whose kind has a shorter one in `make test`."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in LARGE else n for n in ATTACKS]
)
def test_attack__ends_in_a_load_or_an_error(worker: Worker, name: str) -> None:
    ending, document = ATTACKS[name]
    for size, large in ((90, False), (100_000, True)):
        told = worker.load(document(size), ending, large)
        assert told.startswith(("loaded", "refused")), (size, told)


@pytest.mark.parametrize("large", [False, True], ids=["small", "blocks"])
@pytest.mark.parametrize("refused", [b'<e:z rdf:ID="a b"></e:z>', b"<q:z></q:z>"])
def test_lenient__elements_with_wrong_end_tags_are_counted(
    worker: Worker, refused: bytes, large: bool
) -> None:
    """XML forgets an element at a wrong end tag, RDF does not: it ends with that of another one."""
    begin = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="a:" '
    node = b'<rdf:Description rdf:about="a:s">'
    for count, wrong in ((10, b"</e:x>"), (20_000, b"</e:x>"), (20_000, b"</e:p\x0c>")):
        element = node + b"</e:x>" + b'<e:p rdf:parseType="Triple">' + wrong
        document = begin + b'rdf:version="1.2">' + element * count + node + b"<e:p>1</e:p>"
        document += b"</rdf:Description>" + refused * 2 * count
        told = worker.load(document, "rdf", large, lenient=True)
        assert told.startswith(("loaded", "refused")), (count, told)


@pytest.fixture(scope="module")
def corpus(shared_data: Path) -> dict[str, list[bytes]]:
    """Documents of the suites by ending, and small forms of the attacks."""
    found: dict[str, list[bytes]] = {ending: [] for ending in ENDINGS}
    for path in sorted((shared_data / "w3c-rdf-tests").rglob("*")):
        ending = path.suffix[1:]
        if ending in found and path.is_file() and path.stat().st_size < 20_000:
            found[ending].append(path.read_bytes())
    for ending, document in ATTACKS.values():
        if ending in found:
            found[ending] += [document(3), document(90)]
    found["n3"] += found["ttl"]
    return found


@pytest.mark.fuzz
def test_mutated__end_in_a_load_or_an_error(worker: Worker, corpus: dict[str, list[bytes]]) -> None:
    for seed in fuzzing.seeds(150):
        choose = random.Random(seed)
        ending = choose.choice(ENDINGS)
        data = mutated(choose, corpus[ending])
        large, lenient = choose.random() < 0.5, choose.random() < 0.4
        told = worker.load(data, ending, large, lenient=lenient)
        assert told.startswith(("loaded", "refused")), (ending, large, lenient, told)


# --- limits, waiting and stopping ----------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True], ids=["small", "blocks"])
def test_limits__of_a_term_and_a_line_are_kept(large: bool) -> None:
    document = b'<a:b> <a:c> "short" .\n<a:b> <a:c> "' + b"x" * 500 + b'" .\n'
    for form in ("nt", "ttl"):
        with pytest.raises(ParseError, match=r"at most 100 bytes \(max_term_bytes\).*'xxx"):
            loaded(document, large=large, format=form, limits=Limits(term=100))
        assert len(loaded(document, large=large, format=form, limits=Limits(term=500))[0]) == 2


def test_limits__a_line_without_an_end_is_told_with_its_number() -> None:
    document = b'<a:b> <a:c> "short" .\n' * 3 + b"x" * 100_000
    with pytest.raises(ParseError, match="max_line_bytes") as caught:
        loaded(document, large=True, block_bytes=1 << 10, format="nt", limits=Limits(line=5_000))
    assert caught.value.lineno == 4


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_compressed__little_comes_out_at_once(ending: str, tmp_path: Path) -> None:
    kind = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}[ending]
    packed = io.BytesIO()
    with compression.writer(cast(BinaryIO, packed), kind) as stream:
        for _ in range(1 << 6):
            stream.write(bytes(1 << 20))
    stream = compression.reader(io.BytesIO(packed.getvalue()), kind, "bomb")
    view = memoryview(bytearray(1 << 20))
    for _ in range(8):
        assert stream.readinto(view) > 0
        assert len(stream._ready) <= 33 << 20


def test_pipe__without_a_writer_is_reported_and_can_be_cancelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tune: Callable[..., None]
) -> None:
    tune(LOADING, patience=0.1)
    pipe = tmp_path / "data.nt"
    os.mkfifo(pipe)
    end = time.monotonic() + 0.5
    with pytest.raises(CancelledError):
        load(None, Dictionary(), path=pipe, cancel=lambda: time.monotonic() > end)
    assert f"waiting for {pipe}" in capsys.readouterr().err


def test_stream__that_gives_nothing_does_not_hold_ctrl_c() -> None:
    read, write = os.pipe()
    end = time.monotonic() + 0.3
    with os.fdopen(write, "wb") as to, os.fdopen(read, "rb") as data:
        began = time.monotonic()
        with pytest.raises(CancelledError), path_taken(large=True):
            load(data, Dictionary(), format="nt", cancel=lambda: time.monotonic() > end)
        assert time.monotonic() - began < 5, "generous: half a second on a quiet machine"
        to.close()  # and now the thread that was left behind ends
        for thread in threading.enumerate():
            if thread.name.startswith("load-"):
                thread.join(10)
                assert not thread.is_alive()


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document", [b"<a:b> <a:c> <a:d> .", b"<a:b> .", DEEP], ids=["good", "bad", "deep"]
)
@pytest.mark.parametrize("lenient", [False, pytest.param(True, marks=pytest.mark.long)])
def test_load__keeps_no_parser_and_no_labels(document: bytes, lenient: bool) -> None:
    def feeds() -> int:
        return sum(isinstance(thing, oxi._Feed | Work) for thing in gc.get_objects())

    gc.collect()
    before = feeds()
    for _ in range(3):
        with contextlib.suppress(ParseError):
            loaded(document[:60_000], large=True, format="ttl", lenient=lenient)
    gc.collect()
    assert feeds() == before


def test_load__many_small_files_take_little_memory_each(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.ttl").write_bytes(b"<a:%d> <a:p> [ <a:q> [] ] ." % number)
    renamers: list[Renamer] = []
    forget = Renamer.forget

    def noted(self: Renamer) -> None:
        renamers.append(self)
        forget(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Renamer, "forget", noted)
        result, _ = loaded(None, path=tmp_path, large=True)
    assert len(result) == 400
    assert len(set(map(id, renamers))) == 200
    assert not any(renamer._known or renamer._collector for renamer in renamers)


def test_renamer__many_labels_keep_the_numbers_they_had_as_few() -> None:
    labels = [b"\x02a%023x" % number for number in range(25_000)]
    one, other = Renamer(1, generated=True), Renamer(1, generated=True, many=True)
    for start in range(0, len(labels), 3_000):
        part = [*labels[start : start + 3_000], *labels[:10]]
        assert other.keys(part) == one.keys(part)
