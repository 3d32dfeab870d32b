"""The W3C syntax and evaluation tests of N-Triples, N-Quads, Turtle, TriG and RDF/XML, on a store.

Every positive test loads, holds what the test's result says, and dumps back isomorphic in N-Quads
and in the format it came in; every negative one is refused with a line number and leaves the store
empty.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from conformance.manifests import Entry, read_manifest
from triplestore import Store
from triplestore.errors import ParseError

ROOT = (
    Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "w3c-rdf-tests"
    / "rdf"
).resolve()

FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
}

# Tests whose result is compared with pyoxigraph's reading of the input, not with the file that the
# test names: the parser of RDF/XML writes an XML literal's text with all namespaces in scope, the
# result files in canonical XML with those in use. The values of both texts are equal; the terms of
# the graphs are not. All else of these tests (loading, dumping, reloading) is checked.
XML_LITERALS = {
    "rdf11/rdf-xml/xml-canon/xml-canon-test001",
    "rdf11/rdf-xml/xml-canon/xml-canon-test002",
    "rdf12/rdf-xml/eval/rdf12-xml-an-13",
    "rdf12/rdf-xml/eval/rdf12-xml-an-14",
}


def entries() -> list[Entry]:
    manifests = [
        path
        for path in sorted(ROOT.rglob("manifest.ttl"))
        if path.parent.name not in ("rdf-mt", "az-tests", "rdf-semantics")  # about entailment
    ]
    return [entry for path in manifests for entry in read_manifest(path, ROOT)]


ENTRIES = entries() if ROOT.is_dir() else []
POSITIVE = [entry for entry in ENTRIES if entry.positive]
NEGATIVE = [entry for entry in ENTRIES if not entry.positive]

needs_suites = pytest.mark.skipif(not ENTRIES, reason=f"no W3C suites at {ROOT}")


def cases(chosen: list[Entry]) -> list[object]:
    return [pytest.param(entry, id=entry.name) for entry in chosen]


def canonical(quads: object) -> list[str]:
    """The quads as sorted lines in which blank nodes are named by their place in the graph."""
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(str(quad) for quad in dataset)


def parsed(path: Path, base: str) -> list[str]:
    return canonical(ox.parse(path=str(path), format=FORMATS[path.suffix], base_iri=base))


def reloaded(dump: bytes, form: ox.RdfFormat) -> list[str]:
    with Store() as store:
        store.load(dump, form)
        return canonical(store)


@needs_suites
def test_manifests__all_are_found() -> None:
    # 1,390 on 2026-08-07 (rdf11 and rdf12 without their semantics); fewer means a manifest is lost.
    assert len(ENTRIES) > 1300


@pytest.mark.parametrize("entry", cases(POSITIVE))
def test_positive__loads_and_dumps_back_isomorphic(entry: Entry) -> None:
    form = FORMATS[entry.action.suffix]
    with Store() as store:
        store.load(path=entry.action, base_iri=entry.base)
        held = canonical(store)
        compared = entry.action if entry.name in XML_LITERALS else entry.result
        assert held == parsed(compared or entry.action, entry.base)
        assert reloaded(store.dump(format=ox.RdfFormat.N_QUADS), ox.RdfFormat.N_QUADS) == held
        graph = None if form.supports_datasets else ox.DefaultGraph()
        assert reloaded(store.dump(format=form, from_graph=graph), form) == held


@pytest.mark.parametrize("entry", cases(NEGATIVE))
def test_negative__is_refused_with_a_line_number(entry: Entry) -> None:
    with Store() as store:
        with pytest.raises(ParseError) as caught:
            store.load(path=entry.action, base_iri=entry.base)
        assert caught.value.filename is not None
        assert caught.value.lineno is not None, str(caught.value)
        assert len(store) == 0


@pytest.mark.parametrize("entry", cases([e for e in POSITIVE if e.kind.endswith("C14N")]))
def test_c14n__dump_is_in_canonical_form(entry: Entry) -> None:
    assert entry.result is not None
    with Store() as store:
        store.load(path=entry.action)
        output = io.BytesIO()
        store.dump(output, FORMATS[entry.action.suffix], from_graph=_whole(entry))
        assert _lines(output.getvalue()) == _lines(entry.result.read_bytes())


def _whole(entry: Entry) -> ox.DefaultGraph | None:
    return ox.DefaultGraph() if entry.action.suffix == ".nt" else None


def _lines(text: bytes) -> list[bytes]:
    """The lines; blank nodes belong to a file, so that their labels may differ, numbered anew."""
    numbers: dict[bytes, bytes] = {}

    def number(label: re.Match[bytes]) -> bytes:
        return numbers.setdefault(label.group(), b"_:%d" % len(numbers))

    lines = sorted(line for line in text.splitlines() if line)
    return [re.sub(rb"_:[^ >]+", number, line) for line in lines]
