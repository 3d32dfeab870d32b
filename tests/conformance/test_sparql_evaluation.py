"""The W3C's suites of SPARQL query evaluation, 1.0 and 1.1.

Each test loads its data into a store, asks its query, with and without optimisation, and compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.sparql_evaluation import (
    NO_SUITES,
    ROOT,
    Evaluation,
    cases,
    evaluations,
    expected,
    same_order,
    same_rows,
    same_triples,
)
from triplestore import NamedNode, Store
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.sparql.syntax.parser import parse_query
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query

SUITES = {
    "sparql10": "sparql10/manifest-evaluation.ttl",
    "sparql11": "sparql11/manifest-sparql11-query.ttl",
    "sparql12": "sparql12/manifest.ttl",
}

SKIPPED = {
    "sparql10/open-world/date-2": "compares dates with and without a time zone by XSD 1.0; by XSD "
    "1.1 they are different values, so != is true",
}
"""Name of a test, and why it is not run."""


def run(test: Evaluation, options: PlanOptions) -> None:
    store = Store()
    text = test.query.read_text()
    for path in test.data:
        store.load(path=path, base_iri=path.as_uri())
    graphs = list(test.graphs)
    if not test.data and not graphs:
        dataset = parse_query(text, base=test.query.as_uri()).dataset
        if dataset is not None:
            graphs += [_file(graph.term.value) for graph in (*dataset.default, *dataset.named)]
    for path in dict.fromkeys(graphs):
        store.load(path=path, base_iri=path.as_uri(), to_graph=NamedNode(path.as_uri()))
    result = query(
        store._view(), text, QueryOptions(base_iri=test.query.as_uri(), planning=options)
    )
    wanted = expected(test.result)
    if wanted.truth is not None:
        assert result is wanted.truth
    elif wanted.triples is not None:
        assert same_triples(result, wanted.triples)
    else:
        rows = [solution.as_dict() for solution in result]
        if "REDUCED" in text:
            assert same_rows(distinct(rows), distinct(wanted.rows))
            assert len(rows) <= len(wanted.rows)
            return
        assert same_rows(rows, wanted.rows), f"{rows}\n\nexpected\n{wanted.rows}"
        if "ORDER BY" in text and test.result.suffix != ".ttl":
            assert same_order(rows, wanted.rows)


def distinct(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({str(sorted(row.items(), key=str)): row for row in rows}.values())


def _file(iri: str) -> Path:
    return Path(iri.removeprefix("file://"))


TESTS = [
    test
    for manifest in SUITES.values()
    if (ROOT / manifest).is_file()
    for test in evaluations(ROOT / manifest, ROOT)
]


@pytest.mark.skipif(not TESTS, reason=NO_SUITES)
def test_manifests__all_are_found() -> None:
    assert len([test for test in TESTS if test.name.startswith("sparql10/")]) >= 283
    assert len([test for test in TESTS if test.name.startswith("sparql11/")]) >= 225
    assert {test.name for test in TESTS} >= set(SKIPPED)


@pytest.mark.parametrize("options", [PlanOptions(), ALL_OFF], ids=["optimised", "as written"])
@pytest.mark.parametrize("test", cases(TESTS, SKIPPED))
def test_evaluation__gives_what_the_test_says(test: Evaluation, options: PlanOptions) -> None:
    run(test, options)
