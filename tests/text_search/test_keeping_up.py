"""The text index of a store that is written to: exact in every state, after every crash.

The index is compared with facts: the answers of some queries must be those of the oracle over the
literals that are in facts of the indexed properties.
"""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from tests.text_search.oracle import matching, some_text
from triplestore import Store
from triplestore.errors import StorageError
from triplestore.text_search.index_folder import IndexFolder
from triplestore.text_search.thresholds import TEXT

EX = "http://ex.org/"
INDEXED = ("label", "note")
QUERIES = ("sun", "win*", "+wind -roof", '"sun wind"', "panel OR roof")
PREFIXES = f"PREFIX text: <http://jena.apache.org/text#> PREFIX : <{EX}> "
MOST = 1500
"""Number of quads that a store may have before half of them are removed."""
SUB = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"


def facts_of(store: Any, properties: tuple[str, ...] | None) -> dict[object, str]:
    """The facts whose literals are indexed, as pairs of subject and text; by reading all facts."""
    return {
        (quad.subject.value, quad.object.value): quad.object.value
        for quad in store.quads_for_pattern(None, None, None, None)
        if isinstance(quad.object, Literal)
        and quad.object.datatype.value.endswith(("#string", "#langString"))
        and (properties is None or quad.predicate.value.removeprefix(EX) in properties)
    }


def found_by(store: Any, query: str) -> set[object]:
    hits = "(?x ?s ?l) text:query ?q"
    asked = f"{PREFIXES} SELECT ?x ?l {{ {{ {hits} }} UNION {{ GRAPH ?g {{ {hits} }} }} }}"
    rows = store.select(asked, substitutions={"q": Literal(query)})
    return {(row["x"].value, row["l"].value) for row in rows}


def assert_exact(store: Any, properties: tuple[str, ...] | None = INDEXED) -> None:
    facts = facts_of(store, properties)
    for query in QUERIES:
        assert found_by(store, query) == matching(query, facts), query


def some_quad(random: Random) -> Quad:
    text = some_text(random)
    literal = random.choice(
        [Literal(text), Literal(text, language="fr"), Literal(random.randrange(99))]
    )
    name = random.choice([*INDEXED, "other"])
    subject = NamedNode(f"{EX}{random.randrange(30)}")
    graph = [] if random.random() < 0.8 else [NamedNode(f"{EX}g{random.randrange(2)}")]
    return Quad(subject, NamedNode(f"{EX}{name}"), literal, *graph)


def write(store: Any, random: Random) -> None:
    """Some quads, added and removed."""
    quads = [some_quad(random) for _ in range(random.choice([1, 1, 2, 30]))]
    too_many = len(store) - MOST
    if random.random() < 0.3 or too_many > 0:
        known = list(store.quads_for_pattern(None, None, None, None))
        random.shuffle(known)
        gone = too_many + MOST // 2 if too_many > 0 else random.randrange(1, 10)
        store.remove_all(known[:gone])
    if len(quads) == 1:
        store.add(quads[0])
    else:
        store.extend(quads)


class StopError(Exception):
    pass


def step(store: Store, random: Random, properties: tuple[str, ...] | None) -> None:
    """One thing that happens to a store."""
    kind = random.choice(
        ["write"] * 5 + ["rollback", "transaction", "snapshot", "optimize", "wait"]
    )
    if kind == "write":
        write(store, random)
    elif kind in ("rollback", "transaction"):
        try:
            with store.transaction() as t:
                t.extend([some_quad(random) for _ in range(5)])
                if random.random() < 0.7:
                    assert_exact(t, properties)
                t.extend([some_quad(random) for _ in range(2)])
                if random.random() < 0.3:
                    assert_exact(t, properties)
                if kind == "rollback":
                    raise StopError
        except StopError:
            pass
    elif kind == "snapshot":
        before = store.snapshot()
        write(store, random)
        if random.random() < 0.5:
            assert_exact(store, properties)
        if random.random() < 0.2:
            store.optimize()
        assert_exact(before, properties)
    elif kind == "optimize" and random.random() < 0.3:
        store.optimize()
    elif kind == "wait":
        time.sleep(0.02)  # for the background


@pytest.fixture(autouse=True)
def _quick(tune: Callable[..., None]) -> None:
    tune(TEXT, quiet_seconds=0.005)


@pytest.mark.parametrize("seed", range(4))
def test_index__is_exact_after_everything_that_happens(
    seed: int, tmp_path: Path, tune: Callable[..., None]
) -> None:
    live_through(seed, 20, tmp_path, tune)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_index__is_exact_after_much_that_happens(
    seed: int, tmp_path: Path, tune: Callable[..., None]
) -> None:
    live_through(seed, 80, tmp_path, tune)


def live_through(seed: int, turns: int, tmp_path: Path, tune: Callable[..., None]) -> None:
    random = Random(seed)
    tune(TEXT, recent=random.choice([0, 20, 20_000]), batch=random.choice([7, 100_000]))
    tune(TEXT, in_memory=random.choice([0, 200_000]))
    path = None if seed % 3 == 2 else tmp_path / "store"
    properties = None if seed == 3 else INDEXED
    store = Store(path)
    store.extend([some_quad(random) for _ in range(20)])
    names = None if properties is None else [EX + name for name in properties]
    store.index_text(names, languages=[])
    reader = None if path is None else Store.read_only(path)
    for turn in range(turns):
        step(store, random, properties)
        if random.random() < 0.4:
            assert_exact(store, properties)
        if reader is not None and random.random() < 0.2:
            reader.refresh()
            assert_exact(reader, properties)
        if path is not None and random.random() < 0.1:
            store.close()
            harm(path, random, tmp_path / f"kept{turn}")
            store = Store(path)
    assert_exact(store, properties)
    assert store.verify() == []
    store.close()


def harm(path: Path, random: Random, kept: Path) -> None:
    """What people and crashes do to the folder of the index of a closed store."""
    folders = [each for each in path.iterdir() if each.name.startswith("text-")]
    for folder in folders:
        kind = random.choice(["nothing", "remove", "note", "cut", "flip", "ids", "stale", "lost"])
        files = sorted(folder.rglob("*.*"))
        segments = [each for each in files if each.suffix in (".idx", ".term", ".pos", ".fast")]
        if kind == "remove":
            shutil.rmtree(folder)
        elif kind == "note":
            (folder / "note").write_bytes(b"{")
        elif kind == "cut" and segments:
            chosen = random.choice(segments)
            chosen.write_bytes(chosen.read_bytes()[:-3])
        elif kind == "flip" and segments:
            chosen = random.choice(segments)
            data = bytearray(chosen.read_bytes())
            data[random.randrange(len(data))] ^= 0x40
            chosen.write_bytes(data)
        elif kind == "lost" and segments:
            random.choice(segments).unlink()
        elif kind == "ids":
            (folder / "ids").write_bytes((folder / "ids").read_bytes()[:-1])
        elif kind == "stale":
            shutil.copytree(folder, kept)
            with Store(path) as store:
                store.extend([some_quad(random) for _ in range(5)])
                found_by(store, "sun")
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)


@pytest.mark.parametrize("seed", range(2))
def test_index__is_exact_in_copies_made_while_it_is_written(seed: int, tmp_path: Path) -> None:
    """A copy is what a crash leaves: the store as of some commit, the index of any other one."""
    random = Random(seed)
    store = Store(tmp_path / "store")
    store.index_text([EX + name for name in INDEXED], languages=[])
    for turn in range(4):
        write(store, random)
        found_by(store, "sun")
        time.sleep(0.03 if random.random() < 0.5 else 0)
        copy = tmp_path / f"copy{turn}"
        backup = tmp_path / f"backup{turn}"
        store.backup(backup)
        for _ in range(random.randrange(3)):
            write(store, random)
            found_by(store, "sun")
            time.sleep(0.02)
        folder = next((p for p in store.path.iterdir() if p.name.startswith("text-")), None)
        shutil.copytree(backup, copy)
        if folder is not None:
            with suppress(shutil.Error):  # files that a merge has just removed
                shutil.copytree(folder, copy / folder.name)
        with Store(copy) as crashed:
            for _ in range(random.randrange(3)):
                write(crashed, random)
            assert_exact(crashed)
            assert crashed.verify() == []
    store.close()


def test_notes__that_cannot_be_written_are_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(3)
    store = Store(tmp_path / "store")
    store.index_text([EX + name for name in INDEXED], languages=[])
    write(store, random)
    store.complete_text_index()
    put = IndexFolder._put

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for _ in range(3):
        monkeypatch.setattr(IndexFolder, "_put", full)
        store.extend([some_quad(random) for _ in range(20)])
        with pytest.raises(StorageError):
            store.complete_text_index()
        assert_exact(store)
        monkeypatch.setattr(IndexFolder, "_put", put)
        store.extend([some_quad(random) for _ in range(20)])
        store.complete_text_index()
        assert_exact(store)
    store.close()
    with Store(tmp_path / "store") as store:
        (info,) = store.text_indexes
        assert_exact(store)
        assert store.text_indexes[0].literals == info.literals


def test_index__has_what_rules_infer(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.load(
        f"@prefix : <{EX}> . :title {SUB} :label . :a :title 'sun' . :b :label 'wind' .", "ttl"
    )
    store.index_text([EX + "label"], languages=[])
    assert_exact(store, ("label",))
    store.reason("rdfs")
    assert found_by(store, "sun") == {(EX + "a", "sun")}
    assert_exact(store, ("label",))
    store.load(f"@prefix : <{EX}> . :c :title 'sun wind' .", "ttl")
    assert_exact(store, ("label",))
    store.load(f"@prefix : <{EX}> . :d :name 'sunset' . :e :name 'window' .", "ttl")
    assert_exact(store, ("label",))
    store.load(f"@prefix : <{EX}> . :name {SUB} :title .", "ttl")
    assert (EX + "e", "window") in found_by(store, "win*")
    assert_exact(store, ("label",))
    store.update(f"PREFIX : <{EX}> DELETE DATA {{ :title {SUB} :label }}")
    assert_exact(store, ("label",))
    asserted = store.select(f'{PREFIXES} SELECT ?x {{ ?x text:query "wind" }}', facts="inferred")
    assert len(asserted) == 0


def test_index__has_what_rules_infer_in_compressed_closures(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.reason(
        rules=f"@prefix : <{EX}> . :label[?x, ?z] :- :next[?x, ?y], :label[?y, ?z] ."
        ":next[?x, ?z] :- :next[?x, ?y], :next[?y, ?z] .",
        tuning={"schemes": "compressed"},
    )
    store.index_text([EX + "label"], languages=[])
    store.load(f"@prefix : <{EX}> . :a :next :b . :b :next :c . :c :label 'sun' .", "ttl")
    assert {x for x, _ in found_by(store, "sun")} == {EX + "a", EX + "b", EX + "c"}
    assert_exact(store, ("label",))


def test_index__is_changed_seen_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = Store(path)
    store.load(f"@prefix : <{EX}> . :a :label 'sun'@en ; :note 'wind' .", "ttl")
    assert store.text_indexes == ()
    before = store.index_text([NamedNode(EX + "label")], languages=["en"]).commit
    assert before
    assert not store.index_text(f"<{EX}label>", languages={"en": "English"}).commit
    assert found_by(store, "suns") == {(EX + "a", "sun")}
    (info,) = store.text_indexes
    assert (info.properties, info.languages) == ((EX + "label",), {"en": "english"})
    assert info.literals == 1
    old = store.snapshot()
    store.index_text([":note"], languages=[])
    assert found_by(store, "sun OR wind") == {(EX + "a", "wind")}
    assert found_by(old, "sun OR wind") == {(EX + "a", "sun")}
    folders = [each.name for each in path.iterdir() if each.name.startswith("text-")]
    assert len(folders) == 1
    store.close()
    store = Store(path)
    assert [info.properties for info in store.text_indexes] == [(EX + "note",)]
    assert found_by(store, "sun OR wind") == {(EX + "a", "wind")}
    store.drop_text_index()
    assert store.text_indexes == ()
    assert not [each for each in path.iterdir() if each.name.startswith("text-")]
    store.close()


def test_index__of_a_store_without_new_literals_is_not_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.load(f"@prefix : <{EX}> . :a :label 'sun' .", "ttl")
    store.index_text([EX + "label"])
    found_by(store, "sun")
    folder = next(p for p in store.path.iterdir() if p.name.startswith("text-"))
    before = (folder / "note").read_bytes()
    for n in range(5):
        store.add(Quad(NamedNode(EX + "a"), NamedNode(EX + "other"), Literal(f"text {n}")))
        found_by(store, "sun")
        time.sleep(0.02)
    assert (folder / "note").read_bytes() == before
    store.close()


def test_stores_without_an_index__load_nothing_of_it() -> None:
    code = (
        "import sys; from triplestore import Store; s = Store();"
        "s.load('<http://e/a> <http://e/p> \"x\" .', 'ttl'); s.query('SELECT * { ?s ?p ?o }');"
        "s.close(); print([m for m in sys.modules if 'text_search' in m or 'tantivy' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['triplestore.store.faces.text_searching']"


def test_missing_library__is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(ImportError, match=r"needs tantivy.*pip install 'entailstore\[text\]'"):
        Store().index_text()


def test_other_stores_of_a_process__have_their_own(tmp_path: Path) -> None:
    stores = [Store(tmp_path / "one"), Store(tmp_path / "two"), Store()]
    for number, store in enumerate(stores):
        store.index_text()
        store.load(f"@prefix : <{EX}> . :a :label 'sun {number}' .", "ttl")
    for number, store in enumerate(stores):
        assert found_by(store, "sun") == {(EX + "a", f"sun {number}")}
        store.close()


def test_forks__read_and_do_not_write(tmp_path: Path) -> None:
    code = f"""
import os, sys
from triplestore import Store
store = Store({str(tmp_path / "store")!r})
store.index_text()
store.load("<http://e/a> <http://e/p> 'sun' .", "ttl")
ask = "PREFIX text: <http://jena.apache.org/text#> SELECT ?x {{ ?x text:query 'sun' }}"
assert len(store.query(ask)) == 1
store.load("<http://e/b> <http://e/p> 'sun b' .", "ttl")
child = os.fork()
if child == 0:
    os._exit(0 if len(store.query(ask)) == 2 else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
store.load("<http://e/c> <http://e/p> 'sun c' .", "ttl")
assert len(store.query(ask)) == 3
store.close()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


WRITER = """
import sys
from pathlib import Path
from random import Random
sys.path[:0] = {paths!r}
from tests.text_search.test_keeping_up import EX, INDEXED, assert_exact, found_by, write
from triplestore import Store
from triplestore.text_search.thresholds import TEXT
path, seed, commits = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
random = Random(seed)
TEXT.quiet_seconds, TEXT.recent = 0.01, 50
store = Store(path, durability="flush")
store.index_text([EX + name for name in INDEXED], languages=[])
print("ready", flush=True)
for turn in range(commits):
    write(store, random)
    if turn % 40 == 0:
        found_by(store, "sun")
print(store.commit, flush=True)
store.close()
"""


def run_writer(path: Path, seed: int, commits: int, seconds: float) -> None:
    """Another process writes; it is killed after some time, unless it is done."""
    root = Path(__file__).resolve().parent.parent.parent
    code = WRITER.format(paths=[str(root), str(root / "tests")])
    command = [sys.executable, "-c", code, str(path), str(seed), str(commits)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        assert process.wait() in (0, -signal.SIGKILL)


def kill_and_compare(path: Path, rounds: int, commits: int, random: Random) -> int:
    """Rounds of commits that end with a kill; then the index must be equal to a fresh one."""
    for _ in range(rounds):
        run_writer(path, random.randrange(10**6), commits, random.uniform(0.05, commits / 300))
        with Store(path) as store:
            assert_exact(store)
            assert store.verify() == []
            kept = {query: found_by(store, query) for query in QUERIES}
            total = store.commit
        folder = next(p for p in path.iterdir() if p.name.startswith("text-"))
        if random.random() < 0.5:
            shutil.rmtree(folder)
            with Store(path) as store:
                assert {query: found_by(store, query) for query in QUERIES} == kept
    return total


def test_killed_writers__leave_what_is_exact_again(tmp_path: Path) -> None:
    kill_and_compare(tmp_path / "store", 2, 300, Random(1))


@pytest.mark.long
def test_killed_writers__leave_what_is_exact_again_after_100_000_commits(tmp_path: Path) -> None:
    random = Random(7)
    while kill_and_compare(tmp_path / "store", 5, 3000, random) < 100_000:
        pass
