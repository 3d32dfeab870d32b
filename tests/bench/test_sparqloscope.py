"""The workload `sparqloscope`: templates are filled from the graph, and answers are compared."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from bench.harness import Case, MeasurementError, Result
from bench.queries import answers, asking, bibliography, engines, sparqloscope
from bench.queries.answers import answer_of, same
from bench.report import BenchReport
from bench.workloads import sparqloscope as workload

# The shape of the suite's file, in our own words.
TEMPLATES = """
precomputed_queries:
  - name: SIZES
    query: SELECT ?p (COUNT(?p) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n)
placeholders:
  - name: BIG
    query: SELECT ?p { %SIZES% } LIMIT 1
  - name: PAIR
    children: [{suffix: _1, variable: "?p"}, {suffix: _2, variable: "?q"}]
    query: |
      SELECT ?p ?q { %SIZES% BIND(?p AS ?q) } ORDER BY ?n LIMIT 3
    argmax: |
      SELECT (COUNT(*) AS ?count) { ?s %PAIR_1% ?o }
  - name: SOME
    multiplaceholder: true
    query: SELECT ?p { %SIZES% FILTER(?n <= 2) } ORDER BY ?n
  - name: HALF
    query: SELECT (FLOOR(COUNT(*) * 0.5) AS ?half) { ?s %BIG% ?o }
  - name: MIDDLE
    query: SELECT ?o { ?s %BIG% ?o } ORDER BY ?o LIMIT 1 OFFSET %HALF%
queries:
  - name: one
    group: join
    query: SELECT (COUNT(*) AS ?n) { ?s %BIG% ?o . ?s %PAIR_2% %MIDDLE% }
  - name: loop
    query: |
      SELECT * {
       %begin-foreach:SOME%
        ?s %SOME_%#i%% ?o%#i% .
       %end-foreach:SOME%
      } LIMIT %LIMIT%
"""
FACTS = """<a> <big> 1 . <b> <big> 2 . <c> <big> 3 . <a> <twice> "x"@en . <b> <twice> _:b .
<a> <other> <b> . <b> <other> <c> ."""


def test_examples_in_docstrings() -> None:
    for module in (answers, asking, bibliography, engines, sparqloscope, workload):
        assert not doctest.testmod(module).failed


def asker() -> sparqloscope.Ask:
    from triplestore import Store

    store = Store()
    store.load(FACTS, "ttl", base_iri="http://e/")

    def ask(text: str) -> sparqloscope.Rows:
        result: Any = store.query(text)
        return list(result.variables), [[str(term) for term in row] for row in result]

    return ask


def test_filled__takes_every_placeholder_from_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "templates.yaml"
    path.write_text(TEMPLATES)
    one, loop = sparqloscope.filled(asker(), path)
    big = "<http://e/big>"
    # Of the three predicates with the fewest facts, the argmax query takes the one with most.
    assert one.text == f"SELECT (COUNT(*) AS ?n) {{ ?s {big} ?o . ?s {big} 2 }}"
    assert (one.group, loop.group) == ("join", "str-functions")
    # Equal counts: the order of the terms decides, so that every run takes the same.
    assert "?s <http://e/other> ?o0 .\n" in loop.text
    assert "?s <http://e/twice> ?o1 .\n" in loop.text
    assert loop.text.endswith("LIMIT 10")


def test_templates_path__says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLESTORE_DATA", "/nowhere")
    with pytest.raises(
        MeasurementError, match=r"/nowhere/sparqloscope/.*: put query-templates\.yaml of https"
    ):
        sparqloscope.templates_path()


def test_answers__compare_only_what_a_text_determines() -> None:
    counted = "SELECT ?x (COUNT(*) AS ?n) { } GROUP BY ?x ORDER BY DESC(?n) LIMIT 2"
    one = answer_of(counted, ["x", "n"], [("a", 2.0), ("b", 1.0)])
    assert same(one, answer_of(counted, ["x", "n"], [("a", 2.0), ("c", 1.0)]))
    assert not same(one, answer_of(counted, ["x", "n"], [("a", 2.0), ("c", 2.0)]))
    whole = counted.replace("LIMIT 2", "LIMIT 3")
    cut, other = ([("a", 2.0), (last, 1.0)] for last in "bc")
    assert not same(answer_of(whole, ["x", "n"], cut), answer_of(whole, ["x", "n"], other))
    sample = "SELECT (SAMPLE(?x) AS ?y) (SUM(?z) AS ?s) { }"
    rows = answer_of(sample, ["y", "s"], [("a", 0.1 + 0.2)])
    assert same(rows, answer_of(sample, ["y", "s"], [("b", 0.3)]))
    assert same(rows, answer_of(sample, ["y", "s"], [("b", 0.3)], terms=False))
    assert not same(rows, answer_of(sample, ["y", "s"], [("b", 0.4)], terms=False))
    least = [answer_of("", ["x"], [(one,)], terms=False) for one in ("a", None)]
    assert not same(*least)


def test_in_a_copy__ends_what_takes_too_long() -> None:
    assert asking.in_a_copy(lambda: {"a": 1}, 10) == {"a": 1}

    def forever() -> dict[str, Any]:
        while True:
            pass

    assert asking.in_a_copy(forever, 1) == {"error": "over 1 s"}


def times(name: str, folder: Path, endpoint: str = "") -> Result:
    result = Result(Case("", {}, name), "load cpu s")
    result.runs.append(asking.ask_all(name, str(folder), 0.0, 60.0, endpoint=endpoint))
    return result


QUERIES = [
    ("count", "join", "SELECT (COUNT(*) AS ?n) { ?s a ?c ; ?p ?o }"),
    ("broken", "join", "SELECT (1 / 0 AS ?x) { FILTER }"),
]


def test_workload__reports_means_ratios_and_differences(tmp_path: Path) -> None:
    (tmp_path / asking.GRAPH).write_text(
        "".join(bibliography.lines(1))[:200_000].rpartition("\n")[0]
    )
    (tmp_path / asking.QUERIES).write_text(json.dumps(QUERIES))
    results = [times(name, tmp_path) for name in ("triplestore", "pyoxigraph")]
    found = {result.case.label: workload.least(result) for result in results}
    assert "error" in found["triplestore"]["broken"] and "error" in found["pyoxigraph"]["broken"]
    groups = {name: group for name, group, _ in QUERIES}
    for table in (workload.worst(found, groups), workload.every(found, groups)):
        assert table.rows[0][0] == "count"
    assert [row[:2] for row in workload.means("", found, groups).rows] == [["join", 2], ["all", 2]]
    report = BenchReport("x", "")
    workload.claims(found, report)
    assert report.claims[0].measured == "1 of 1; broken" and not report.claims[0].holds
    found["pyoxigraph"]["count"]["answer"] = answer_of("", ["n"], [(1.0,)])
    assert workload.rivals(found, "count") == {}
    assert "answers differ" in str(workload.every(found, groups).rows[0][-1])


@pytest.mark.long
@pytest.mark.usefixtures("shared_data")
def test_suite__all_answers_equal_those_of_pyoxigraph(tmp_path: Path) -> None:
    asking.prepare(1, str(tmp_path))
    ours, peer = (workload.least(times(name, tmp_path)) for name in ("triplestore", "pyoxigraph"))
    assert len(ours) > 100
    for query, found in ours.items():
        if "answer" in peer[query]:
            assert same(found["answer"], peer[query]["answer"]), query
