"""Contents with right checksums that make no sense: each way to read them ends in a StorageError
that names the value or file and says what to do.

Checksums find what changed on disk (`tests/storage/test_bitflips.py`). A faulty memory or program
can write nonsense with a right checksum; that is what is made here.
"""

from __future__ import annotations

import json
import random
import shutil
import zlib
from pathlib import Path

import pytest
from support.fuzzing import seeds

from triplestore import NamedNode, Quad, Store
from triplestore.errors import StorageError
from triplestore.storage import Database
from triplestore.storage.files.journal import Journal, journal_path, read_journals
from triplestore.storage.files.manifest import NAME, read_manifest
from triplestore.storage.files.sections import _HEADER, SectionFile
from triplestore.storage.files.system import RealFiles

ONTOLOGY = """
    @prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    :p a owl:TransitiveProperty . :a :p :b . :b :p :c . :a owl:sameAs :z ."""
RULES = "@prefix : <http://e/> . :q[?x, ?y] :- :p[?x, ?y], NOT :r[?x, ?y] ."
FACT = Quad(NamedNode("http://e/n"), NamedNode("http://e/p"), NamedNode("http://e/a"))


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """A store that keeps a value of each name but `stale`, some of them in a file."""
    path = tmp_path_factory.mktemp("damaged") / "store"
    with Store(path) as store:
        store.load(ONTOLOGY, format="turtle")
        store.load(
            "<http://e/g> <http://e/p> [] .", format="turtle", replace_graph=NamedNode("http://e/g")
        )
        store.reason("owl-rl", rules=RULES, equality="rewrite", tuning={"schemes": "compressed"})
        store.optimize()
        store.bind("ex", "http://e/")
        names = set(store._database.state.meta)
    assert names >= {"prefixes", "files", "graph-files", "program", "regimes", "tuning"}
    return path


def use(path: Path, read_only: bool) -> None:
    """All that reads what a store keeps."""
    with Store.read_only(path) if read_only else Store(path) as store:
        assert len(list(store)) == len(store)
        store.query("SELECT * { ?s ?p ?o }")
        _ = store.prefixes, store.info(), store.digest()
        if not read_only:
            store.add(FACT)
            store.reason(rules="@prefix : <http://e/> . :u[?x, ?y] :- :q[?x, ?y] .")


def nonsense(value: bytes, rng: random.Random) -> bytes:
    """Another value in the place of this one, that does not look like one."""
    start, stop = sorted(rng.randrange(len(value) + 1) for _ in range(2))
    made = rng.choice(
        [
            b"",
            b"\xff\xfe\x00",
            b"[]",
            b"{}",
            b"null",
            b"7",
            b'"text"',
            b'{"a": 1}',
            b"[[1]]",
            value[:start],
            value[:start] + value[stop:],
            value[:start] + rng.randbytes(3) + value[start:],
            value.replace(b'"', b"'", 1),
            b"[" * 100_000,
            value.replace(b"0", b"x").replace(b"1", b"[]"),
        ]
    )
    return b"\xff" + value if looks_alike(value, made) else made


def looks_alike(value: bytes, other: bytes) -> bool:
    """Whether a change went unseen, as in a name: no reader can know that it was another."""
    try:
        one, two = json.loads(value), json.loads(other)
    except (ValueError, RecursionError):
        return False
    return type(one) is type(two) and (not isinstance(one, list | dict) or len(one) == len(two))


@pytest.mark.fuzz
def test_nonsense_in_a_value__ends_in_an_error_of_the_storage(original, tmp_path):
    refused = 0
    for seed in seeds(24):
        rng = random.Random(seed)
        path = tmp_path / "store"
        shutil.copytree(original, path)
        with Database.open(path) as database:
            names = sorted(database.state.meta)
            name = names[seed % len(names)]
            database.commit([], meta={name: nonsense(database.state.meta[name], rng)})
        for read_only in (True, False):
            try:
                use(path, read_only)
            except StorageError as error:
                refused += 1
                assert repr(name) in str(error), (name, error)
                assert "restore" in str(error) or "upgrade" in str(error), error
        shutil.rmtree(path)
    assert refused


def test_unreadable_rules__are_found_by_verify(original, tmp_path):
    shutil.copytree(original, tmp_path / "store")
    with Database.open(tmp_path / "store") as database:
        database.commit([], meta={"program": b'{"format": 1, "text": "?", "places": []}'})
    with Store.read_only(tmp_path / "store") as store:
        assert any("'program'" in problem for problem in store.verify())


def forge_manifest(path: Path, rng: random.Random) -> Path:
    body = json.loads((path / NAME).read_bytes().split(b"\n", 1)[1])
    name = rng.choice(sorted(body))
    body[name] = rng.choice([None, "x", [], {}, -1, 1.5, [["layer", 1]]])
    if rng.random() < 0.2:
        del body[name]
    text = json.dumps(body).encode() if rng.random() < 0.9 else b"\xff{"
    check = zlib.crc32(text, zlib.crc32(b"1"))
    (path / NAME).write_bytes(b"triplestore manifest, format 1, crc32 %08x\n" % check + text)
    return path / NAME


def forge_journal(path: Path, rng: random.Random) -> Path:
    """One more commit, of nonsense."""
    files, manifest = RealFiles(), read_manifest(RealFiles(), path)
    chain = read_journals(files, path, manifest.store, manifest.journal, manifest.commit)
    last = chain.scans[-1]
    journal = Journal(files, last.path, last.number, chain.commit, last.end, last.check)
    record = chain.records[-1].payload if chain.records else b"\0" * 40
    journal.append(chain.commit + 1, nonsense(record, rng)[:5000] or b"\0")
    journal.close()
    return journal_path(path, last.number)


def forge_sections(path: Path, rng: random.Random) -> Path:
    """The directory of a section file, with its checksum and that of the header made right."""
    file = rng.choice(sorted(path.glob("*.seg")))
    data = bytearray(file.read_bytes())
    magic, version, check, start, length, size, _ = _HEADER.unpack(data[: _HEADER.size])
    text = bytes(data[start : start + length])
    forged = nonsense(text, rng)[:length].ljust(length)
    data[start : start + length] = forged
    header = _HEADER.pack(magic, version, zlib.crc32(forged), start, length, size, 0)[:-4]
    data[: _HEADER.size] = header + zlib.crc32(header).to_bytes(4, "little")
    file.write_bytes(data)
    manifest = (path / NAME).read_bytes().split(b"\n", 1)[1]
    manifest = manifest.replace(b"%d" % check, b"%d" % zlib.crc32(forged))
    own = zlib.crc32(manifest, zlib.crc32(b"1"))
    (path / NAME).write_bytes(b"triplestore manifest, format 1, crc32 %08x\n" % own + manifest)
    return file


@pytest.mark.fuzz
@pytest.mark.parametrize("forge", [forge_manifest, forge_journal, forge_sections])
def test_nonsense_with_right_checksums__ends_in_an_error_of_the_storage(original, tmp_path, forge):
    refused = 0
    for seed in seeds(10):
        path = tmp_path / "store"
        shutil.copytree(original, path)
        forge(path, random.Random(seed))
        for read_only in (True, False):
            try:
                use(path, read_only)
            except StorageError as error:
                refused += 1
                assert str(path) in str(error), error
        shutil.rmtree(path)
    assert refused


def test_column_of_an_impossible_type__is_an_error_that_names_the_file(original, tmp_path):
    shutil.copytree(original, tmp_path / "store")
    file = next((tmp_path / "store").glob("layer*.seg"))
    opened = SectionFile(RealFiles(), file)
    name = opened.names()[0]
    opened._sections[name]["dtype"] = "<u7"
    with pytest.raises(StorageError, match=file.name):
        opened.column(name)
