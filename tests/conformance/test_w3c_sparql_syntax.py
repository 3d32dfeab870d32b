"""The W3C syntax tests of SPARQL 1.0 and 1.1, queries and updates, on the parser.

Positive ones are read, written and read again with the same result; negative ones are refused with
line and column. The queries and updates of all evaluation tests are read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import (
    MF,
    NO_SUITES,
    RDF,
    ROOT,
    cases,
    local_path,
    objects,
    read_manifest,
)
from triplestore.errors import QuerySyntaxError
from triplestore.sparql.algebra.nodes import Query
from triplestore.sparql.algebra.updates import Update
from triplestore.sparql.syntax.parser import parse_query, parse_update
from triplestore.sparql.syntax.query_printer import write

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
    store = read_manifest(manifest)
    for action in store:
        if not isinstance(action.object, ox.NamedNode):
            continue
        if not action.object.value.endswith((".rq", ".ru")):
            continue
        types = objects(store, action.subject, RDF + "type")
        kind = "".join(found.value.removeprefix(MF) for found in types)
        file = local_path(action.object)
        name = f"{file.parent.relative_to(ROOT)}/{file.name}"
        yield Text(name, file, kind if "SyntaxTest" in kind else "")


def all_tests() -> list[Text]:
    manifests = [
        manifest
        for version in ("sparql10", "sparql11", "sparql12")
        for manifest in sorted((ROOT / version).rglob("manifest.ttl"))
    ]
    return sorted({text for manifest in manifests for text in texts_of(manifest)}, key=str)


TESTS = all_tests() if ROOT.is_dir() else []
NEGATIVE = [text for text in TESTS if text.kind.startswith("Negative")]
POSITIVE = [text for text in TESTS if text not in NEGATIVE]


@pytest.mark.skipif(not TESTS, reason=NO_SUITES)
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
