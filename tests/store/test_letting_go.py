"""What a store keeps alive: nothing of a state that is gone, so that no file stays mapped.

What is mapped is asked of a process of its own: in one that has run thousands of tests, bounded
caches and objects of other tests may still know an older state.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from triplestore import Store

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is mapped")


def mapped(folder: Path) -> list[str]:
    """The files of a folder that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split(maxsplit=5)[5] for line in lines if str(folder) in line})


def unmapped_soon(folder: Path, word: str = "") -> list[str]:
    """The files with this word that are still mapped after some seconds, in which threads end."""
    for _ in range(50):
        gc.collect()
        found = [name for name in mapped(folder) if word in name]
        if not found:
            break
        time.sleep(0.1)
    return found


def used(folder: Path) -> Store:
    """A store on disk that has been reasoned over, asked and explained in every way that keeps
    something for the next time."""
    store = Store(folder)
    facts = "".join(f":a{i} :p :b{i} ; a :C .\n" for i in range(500))
    axioms = ":C rdfs:subClassOf :D . :p rdfs:range :R . :R owl:disjointWith :C . :b1 a :C .\n"
    store.load(PREFIXES + facts + axioms, "turtle")
    store.load(PREFIXES + ":g { :x :p :y }", "trig")
    store.reason("owl-rl")
    list(store.query("SELECT * { ?s ?p ?o }"))
    list(store.query("SELECT * { ?s ?p ?o }", use_default_graph_as_union=True))
    assert list(store.violations())
    assert store.why("<http://ex.org/a1> a <http://ex.org/D> .")
    return store


def optimize(folder: Path) -> None:
    store = used(folder)
    store.optimize()
    for number in range(2):
        assert not unmapped_soon(folder, "deleted")
        store.load(PREFIXES + f":x :p :b{number} .", "turtle")
        list(store.query("SELECT * { ?s ?p ?o }", use_default_graph_as_union=True))
        store.optimize()


def close(folder: Path) -> None:
    store = used(folder)
    store.optimize()
    list(store.query("SELECT * { ?s ?p ?o }", use_default_graph_as_union=True))
    store.close()
    del store
    assert unmapped_soon(folder) == []


@pytest.mark.parametrize("action", [optimize, close])
def test_store__leaves_no_file_mapped_that_is_not_in_use(
    tmp_path: Path, action: Callable[[Path], None]
) -> None:
    command = [sys.executable, __file__, action.__name__, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_merge_of_graphs__is_shared_by_queries_of_one_state() -> None:
    from triplestore.sparql.evaluate import dataset

    store = Store()
    store.load(PREFIXES + ":a :p :b . :g { :a :p :c }", "trig")
    text = "SELECT ?o { <http://ex.org/a> <http://ex.org/p> ?o }"
    assert len(list(store.query(text, use_default_graph_as_union=True))) == 2
    last = dataset._last_merge
    assert last is not None and len(last[2]) == 1
    list(store.query(text + " # again", use_default_graph_as_union=True))
    assert dataset._last_merge is last
    store.load(PREFIXES + ":a :p :d .", "trig")
    assert len(list(store.query(text, use_default_graph_as_union=True))) == 3


if __name__ == "__main__":
    {"optimize": optimize, "close": close}[sys.argv[1]](Path(sys.argv[2]))
