"""The W3C syntax tests through the loaders alone, small path and blocks alike."""

from __future__ import annotations

import os
from pathlib import Path

import pyoxigraph as ox
import pytest
from conformance.manifests import Entry, read_manifest

from tests.loaders.loading_helpers import canonical, loaded, quads_of
from triplestore.errors import ParseError
from triplestore.loaders.formats import LINE_FORMATS, split_name

ROOT = (
    Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "w3c-rdf-tests"
    / "rdf"
).resolve()
ABOUT_ENTAILMENT = ("rdf-mt", "az-tests", "rdf-semantics")


def entries() -> list[Entry]:
    manifests = [
        path for path in sorted(ROOT.rglob("manifest.ttl"))
        if path.parent.name not in ABOUT_ENTAILMENT
    ]  # fmt: skip
    return [entry for path in manifests for entry in read_manifest(path, ROOT)]


ENTRIES = entries() if ROOT.is_dir() else []
pytestmark = pytest.mark.skipif(not ENTRIES, reason=f"no W3C suites at {ROOT}")


def base_of(entry: Entry) -> str | None:
    form = split_name(entry.action)[0]
    return None if form in LINE_FORMATS else entry.base


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("kind", ["NTriples", "NQuads", "Turtle", "Trig", "XML"])
def test_positive__same_dataset_as_pyoxigraph(kind: str, large: bool) -> None:
    chosen = [entry for entry in ENTRIES if entry.positive and f"Test{kind}" in entry.kind]
    assert len(chosen) > 80
    for entry in chosen:
        result, dictionary = loaded(None, path=entry.action, large=large, base_iri=base_of(entry))
        form = split_name(entry.action)[0]
        wanted = ox.parse(entry.action.read_bytes(), form, base_iri=base_of(entry))
        assert canonical(quads_of(result, dictionary)) == canonical(wanted), entry.name


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("kind", ["NTriples", "NQuads", "Turtle", "Trig", "XML"])
def test_negative__refused_with_file_and_line(kind: str, large: bool) -> None:
    chosen = [entry for entry in ENTRIES if not entry.positive and f"Test{kind}" in entry.kind]
    assert len(chosen) > 40
    for entry in chosen:
        lines = entry.action.read_bytes().count(b"\n") + 1
        with pytest.raises(ParseError) as caught:
            loaded(None, path=entry.action, large=large, base_iri=base_of(entry))
        error = caught.value
        assert error.filename == str(entry.action)
        assert error.lineno is not None and 1 <= error.lineno <= lines, entry.name
