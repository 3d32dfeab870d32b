"""What stores and their results look like in a notebook, and in one line."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.html_output import read_html

from triplestore import Store

PREFIXES = "@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
LOOPS = (
    ":before a owl:TransitiveProperty, owl:IrreflexiveProperty . :a :before :b . :b :before :a ."
)
EVIL = '"</td><script>alert(1)</script>"'


def shown(thing: Any) -> str:
    """The text of an output, which must be well-formed and harmless."""
    return read_html(thing._repr_html_()).text


@pytest.fixture
def store() -> Store:
    store = Store()
    store.load(PREFIXES + LOOPS, "turtle")
    store.reason("owl-rl")
    return store


def test_store__shows_figures_prefixes_and_the_first_quads(store: Store) -> None:
    text = shown(store)
    assert text.startswith("store in memoryquads6 (4 explicit, 2 inferred)regimesowl-rl")
    assert "prefixes (2)" in text
    assert "owl:TransitiveProperty" in text
    assert text.endswith("6 quads")


def test_store__with_many_graphs_and_quads_says_what_is_left_out() -> None:
    store = Store()
    facts = "".join(f"<x:s{i}> <x:p> {EVIL} <x:g{i}> .\n" for i in range(30))
    store.load(facts, "nq")
    text = shown(store)
    assert "named graphs30: <x:g0>" in text
    assert "and 20 more" in text
    assert text.endswith("showing 10 of 30 quads")


def test_store__of_a_directory_names_it(tmp_path: Path) -> None:
    with Store(tmp_path / "<b>") as store:
        assert shown(store) == f"store {tmp_path}/<b>quads0"


def test_snapshot__shows_its_commit(store: Store) -> None:
    snapshot = store.snapshot()
    store.clear()
    assert shown(snapshot).startswith("snapshot of commit 2quads6")


def test_solutions__are_a_table_of_their_first_rows() -> None:
    store = Store()
    store.load("".join(f"<http://ex.org/n{i}> <x:p> {i} .\n" for i in range(50)), "turtle")
    query = "PREFIX ex: <http://ex.org/> SELECT ?s ?o ?none { ?s <x:p> ?o } ORDER BY ?o"
    solutions = store.query(query)
    read = read_html(solutions._repr_html_())  # type: ignore[union-attr]
    assert read.text.endswith("showing 20 of 50 solutions")
    assert read.cells[:6] == ["ex:n0", "0", "", "ex:n1", "1", ""]
    assert "http://ex.org/n0" in read.titles
    assert repr(solutions) == "<solutions ?s ?o ?none>"


def test_solutions__are_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    store.load("".join(f"<http://ex.org/n{i}> <x:p> {i} .\n" for i in range(50)), "turtle")
    for most, text in ((49, "showing 20 of more than 49 solutions"), (50, "showing 20 of 50")):
        monkeypatch.setattr("triplestore.sparql.results.solutions.COUNTED_ROWS", most)
        assert text in shown(store.select("SELECT * { ?s <x:p> ?o }"))


def test_triples__are_a_table(store: Store) -> None:
    triples = store.query("CONSTRUCT { ?y :after ?x } WHERE { ?x :before ?y . ?x a ?none }")
    assert shown(triples) == "0 triples"
    triples = store.query("CONSTRUCT { ?y :after ?x } WHERE { ?x :before ?y FILTER(?x != ?y) }")
    assert shown(triples) == "subjectpredicateobject:b:after:a:a:after:b2 triples"


def test_explain__is_a_text_and_a_table(store: Store) -> None:
    explained = store.query("SELECT ?x { ?x :before ?y . ?x :bfore ?z }").explain()  # type: ignore[union-attr]
    assert "warning: " in explained
    assert shown(explained).startswith("warning: ")
    assert repr(explained) == str(explained)
    again = pickle.loads(pickle.dumps(explained))
    assert (again, again.plan) == (explained, explained.plan)
    described = store.query("DESCRIBE :a").explain()  # type: ignore[union-attr]
    assert shown(described) == "no plan: nothing was matched"


def test_report__is_the_table_that_it_prints(store: Store) -> None:
    store.reason("none")
    report = store.reason("owl-rl")
    for name, value in report.rows():
        assert f"{name.strip()}{value}" in shown(report)
    assert f"strata ({len(report.strata)})stratum 1" in shown(report)
    assert repr(report) == f"<report: {report.rules:,} rules; 4 explicit, 2 inferred>"


def test_change__shows_what_is_not_zero(store: Store) -> None:
    change = store.load(PREFIXES + ":b :before :c . :a :before :b .", "turtle")
    assert shown(change) == "added1already there1inferred added1commit 3"
    assert repr(change) == "Change(added=1, already_there=1, inferred_added=1, commit=3)"
    assert shown(store.extend([])) == "nothing changed"


def test_change__of_a_lenient_load_lists_what_was_skipped(store: Store) -> None:
    change = store.load(f"<x:a> <x:b> <x:c> .\n<x:a> {EVIL} .", "nt", lenient=True)
    assert "skipped1" in shown(change)
    assert "input:2:7" in shown(change)


def test_difference__shows_quads_and_violations(store: Store) -> None:
    with store.transaction() as transaction:
        assert shown(transaction.diff()) == "nothing changed"
        assert repr(transaction.diff()) == "<difference: no quads>"
        transaction.load(PREFIXES + ":b :before :b .", "turtle")
        transaction.load(PREFIXES + f":c :before :c . :c :p {EVIL} .", "turtle")
        difference = transaction.diff()
    text = shown(difference)
    assert text.startswith("added: 3subjectpredicateobject")
    assert "new violations: 1" in text
    assert "?x = :c" in text
    assert repr(difference).startswith("<difference: added 3")


def test_difference__shows_rows_of_relations() -> None:
    store = Store()
    store.reason(rules="@prefix : <http://ex.org/> . :r[?x, ?y, ?y] :- :p[?x, ?y] .")
    with store.transaction() as transaction:
        transaction.load(f"<http://ex.org/a> <http://ex.org/p> {EVIL} .", "nt")
        text = shown(transaction.diff())
    assert "rows of relations added: 1" in text


def test_inconsistencies__shows_some_of_each(store: Store) -> None:
    found = store.inconsistencies
    assert shown(found).startswith("prp-irp: 2constraintmessagevaluesprp-irp")
    assert "?x = :a" in shown(found)
    assert repr(found) == "<inconsistencies: prp-irp 2>"
    empty = Store().inconsistencies
    assert (shown(empty), repr(empty)) == ("no inconsistencies", "<inconsistencies: none>")


def test_proofs__are_short_in_one_line(store: Store) -> None:
    proof, absent = store.why(":a :before :a"), store.why(":a :before :c")
    assert repr(proof) == "<proof of :before[:a, :a]: 3 facts, 1 level>"
    assert repr(absent).startswith("<:before[:a, :c] does not hold: it is not asserted, and ")
    assert "by rule prp-trp" in shown(proof)
    assert "no match: " in shown(absent)


def test_info_audit_and_program__show_what_they_print(store: Store) -> None:
    assert "quads6 (4 explicit, 2 inferred)" in shown(store.info())
    audit = store.audit()
    assert shown(audit) == str(audit)
    assert repr(audit) == f"<audit: {audit}>"
    assert shown(store.program).startswith("@prefix owl: ")
