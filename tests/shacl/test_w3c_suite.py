"""The W3C's tests of SHACL Core and SHACL-SPARQL: reports are isomorphic to the expected ones."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from support.data_folders import data_folder

from shacl.w3c_suite import MESSAGE, SH, Validate, canonical, entries
from triplestore import Store
from triplestore.errors import ShapesError
from triplestore.shacl.reports.report import ValidationReport

SUITE = data_folder() / "shacl" / "tests"
TESTS = list(entries(SUITE)) if SUITE.is_dir() else []


# Without the data nothing can be checked, and the reason says how to get it; CI has them.
@pytest.mark.skipif(
    not TESTS, reason="no tests of SHACL: set TRIPLESTORE_DATA to the folder with shacl (make data)"
)
def test_suite__is_read_whole() -> None:
    assert len(TESTS) == 121


@pytest.mark.parametrize("test", TESTS, ids=[test.name for test in TESTS])
def test_report__is_the_expected_one(test: Validate) -> None:
    if test.expected is None:
        with pytest.raises(ShapesError):
            validated(test)
        return
    report = validated(test)
    found = frozenset(report.to_graph())
    # Implementations may add messages; those of shapes must be kept where the test has them.
    if not any(triple.predicate == MESSAGE for triple in test.expected):
        found = frozenset(triple for triple in found if triple.predicate != MESSAGE)
    assert canonical(found) == canonical(test.expected)
    conforms = ox.NamedNode(SH + "conforms")
    (stated,) = (triple.object for triple in test.expected if triple.predicate == conforms)
    assert report.conforms == (stated.value in ("true", "1"))


def validated(test: Validate) -> ValidationReport:
    with Store() as store:
        store.load(path=test.data, base_iri=test.data.as_uri())
        return store.validate(None if test.shapes == test.data else test.shapes)
