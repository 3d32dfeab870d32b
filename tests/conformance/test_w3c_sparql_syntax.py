"""The W3C syntax tests of SPARQL 1.0 and 1.1, queries and updates, on the parser.

Positive ones are read, written and read again with the same result; negative ones are refused with
line and column. The queries and updates of all evaluation tests are read as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

from triplestore.errors import QuerySyntaxError
from triplestore.sparql.algebra import Query, Update
from triplestore.sparql.parser import parse_query, parse_update
from triplestore.sparql.printer import write

ROOT = (
    Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "w3c-rdf-tests"
    / "sparql"
).resolve()

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
PUBLISHED = "https://w3c.github.io/rdf-tests/sparql/"


@dataclass(frozen=True, slots=True)
class Text:
    """A query or update to read."""

    name: str
    file: Path
    kind: str  # of a syntax test; "" where it is the query of another one

    @property
    def is_update(self) -> bool:
        return self.file.suffix == ".ru"

    def parsed(self) -> Query | Update:
        text = self.file.read_bytes().decode()
        base = PUBLISHED + self.file.relative_to(ROOT).as_posix()
        return (parse_update if self.is_update else parse_query)(text, base=base)


def texts_of(manifest: Path) -> Iterator[Text]:
    """The syntax tests of a manifest, and each query and update that another test is about."""
    store = ox.Store()
    store.load(path=str(manifest), format=ox.RdfFormat.TURTLE, base_iri=manifest.as_uri())
    for action in store:
        if not isinstance(action.object, ox.NamedNode):
            continue
        if not action.object.value.endswith((".rq", ".ru")):
            continue
        types = store.quads_for_pattern(action.subject, ox.NamedNode(RDF + "type"), None)
        kind = "".join(quad.object.value.removeprefix(MF) for quad in types)
        file = Path(unquote(urlsplit(action.object.value).path))
        name = f"{file.parent.relative_to(ROOT)}/{file.name}"
        yield Text(name, file, kind if "SyntaxTest" in kind else "")


def all_tests() -> list[Text]:
    manifests = [
        manifest
        for version in ("sparql10", "sparql11")
        for manifest in sorted((ROOT / version).rglob("manifest.ttl"))
    ]
    return sorted({text for manifest in manifests for text in texts_of(manifest)}, key=str)


TESTS = all_tests() if ROOT.is_dir() else []
NEGATIVE = [text for text in TESTS if text.kind.startswith("Negative")]
POSITIVE = [text for text in TESTS if text not in NEGATIVE]
needs_suites = pytest.mark.skipif(not TESTS, reason=f"no W3C suites at {ROOT}")


def cases(chosen: list[Text]) -> list[object]:
    return [pytest.param(text, id=text.name) for text in chosen]


@needs_suites
def test_manifests__all_are_found() -> None:
    # On 2026-08-07: 257 positive and 110 negative tests of syntax, 657 texts of other tests
    assert len([text for text in POSITIVE if text.kind]) >= 257
    assert len(NEGATIVE) >= 110
    assert len(POSITIVE) >= 914


@pytest.mark.parametrize("text", cases(POSITIVE))
def test_positive__is_read_written_and_read_again(text: Text) -> None:
    found = text.parsed()
    read = parse_update if isinstance(found, Update) else parse_query
    assert read(write(found)) == found


@pytest.mark.parametrize("text", cases(NEGATIVE))
def test_negative__is_refused_with_its_place(text: Text) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        text.parsed()
    assert caught.value.lineno
    assert caught.value.offset
