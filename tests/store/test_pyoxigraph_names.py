"""`import triplestore as ox` serves code that was written for pyoxigraph."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest

import triplestore
import triplestore as ox

OURS = {
    "Store": "the store of this package",
    "QuerySolutions": "`Solutions`: what our queries return; its `variables` are names",
    "QuerySolution": "`Solution`: an unknown name is a KeyError instead of None",
    "QueryTriples": "`Triples`: what our queries return",
    "QueryBoolean": "`bool`: an ASK returns True or False, which has no `serialize`",
    "__version__": "the version of this package",
}
"""The names of pyoxigraph that stand for something of our own here, with the reason."""

MISSING: dict[str, str] = {}
"""The names of pyoxigraph that this package does not have, with the reason."""

STORE_MISSING: dict[str, str] = {}
"""The methods of pyoxigraph's store that ours does not have, with the reason."""


def test_names__of_pyoxigraph_are_here_or_listed() -> None:
    for name in pyoxigraph.__all__:
        if name in MISSING:
            assert not hasattr(ox, name)
        elif name in OURS:
            assert getattr(ox, name) is not getattr(pyoxigraph, name)
        else:
            assert getattr(ox, name) is getattr(pyoxigraph, name), name
    assert OURS.keys() | MISSING.keys() <= set(pyoxigraph.__all__)


def test_store__has_the_methods_of_pyoxigraphs() -> None:
    names = {name for name in dir(pyoxigraph.Store) if not name.startswith("_")}
    assert {name for name in names if not hasattr(ox.Store, name)} == set(STORE_MISSING)


def test_names__are_all_there_and_sorted() -> None:
    assert triplestore.__all__ == sorted(triplestore.__all__)
    for name in triplestore.__all__:
        assert getattr(triplestore, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = triplestore.Nonsense  # type: ignore[attr-defined]


def test_names__are_known_to_type_checkers() -> None:
    text = (Path(triplestore.__file__).parent / "__init__.py").read_text()
    imports = text[text.index("if TYPE_CHECKING:") : text.index("_HOMES")]
    for name in triplestore.__all__:
        assert name == "__version__" or name in imports.replace(",", " ").split(), name


def test_code_for_pyoxigraph__runs() -> None:
    store = ox.Store()
    text = b'<http://ex.org/a> <http://ex.org/p> "1" .'
    store.extend(ox.parse(text, format=ox.RdfFormat.TURTLE))
    store.bulk_load(text.replace(b"/a", b"/b"), format=ox.RdfFormat.TURTLE)
    solutions = store.query("SELECT ?s WHERE { ?s ?p ?o } ORDER BY ?s")
    assert isinstance(solutions, ox.QuerySolutions)
    (first, _) = solutions
    assert isinstance(first, ox.QuerySolution)
    assert first[ox.Variable("s")] == first["s"] == first[0] == ox.NamedNode("http://ex.org/a")
    assert solutions.serialize(format=ox.QueryResultsFormat.CSV) == (
        b"s\r\nhttp://ex.org/a\r\nhttp://ex.org/b\r\n"
    )
    triples = store.query("CONSTRUCT WHERE { ?s ?p ?o }")
    assert isinstance(triples, ox.QueryTriples)
    assert ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) == (
        text + b"\n" + text.replace(b"/a", b"/b") + b"\n"
    )
    answer = store.query("ASK { ?s ?p 5 }")
    assert isinstance(answer, ox.QueryBoolean)
    assert not answer
    dataset = ox.Dataset(iter(store))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert len(dataset) == 2
    read = ox.parse_query_results(
        solutions.serialize(format=ox.QueryResultsFormat.JSON), format=ox.QueryResultsFormat.JSON
    )
    assert [row["s"] for row in read] == [row["s"] for row in solutions]  # type: ignore[union-attr]


def test_module__is_the_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "triplestore", "--version"], capture_output=True, text=True
    )
    assert run.returncode == 0
    assert run.stdout.startswith("triplestore, version ")
    run = subprocess.run(
        [sys.executable, "-m", "triplestore", "--help"], capture_output=True, text=True
    )
    assert run.stdout.startswith("Usage: triplestore ")
