"""Peers for reasoning: each computes the right closure, from the same files."""

from __future__ import annotations

import doctest
import json
import time
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyoxigraph
import pytest

from bench.harness import Case, MeasurementError, run_once
from bench.reasoners import OURS, REASONERS, Reasoner, base, missing
from bench.reasoners.duckdb_engine import MAX_CLAUSES
from bench.reasoners.ours import columns_of_arrays, state_columns, state_csv, store_of_terms
from bench.reasoners.owl import OWLRL, OwlPeer, OwlrlSession
from bench.reasoners.program import (
    TYPE_NUMBER,
    Clause,
    Pattern,
    Relation,
    UnsupportedError,
    number_constants,
    strata,
    translate,
)
from bench.reasoners.sql import closing, select
from bench.reasoners.task import Columns, Task, columns_of_file, make_task, tables_of
from triplestore.datalog.text import read

HEAD = "@prefix : <http://e/> . "

# program, data in Turtle, layout
EXAMPLES = {
    "nonlinear": (
        ":p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .",
        ":a :p :b . :b :p :c . :c :p :a, :d .",
        "split",
    ),
    "linear": (
        ":t[?x, ?y] :- :e[?x, ?y] . :t[?x, ?z] :- :t[?x, ?y], :e[?y, ?z] .",
        ":a :e :b . :b :e :c . :c :e :d . :d :e :b .",
        "split",
    ),
    "two relations that need each other": (
        ":odd[?x, ?y] :- :e[?x, ?y] . :even[?x, ?z] :- :odd[?x, ?y], :e[?y, ?z] ."
        ":odd[?x, ?z] :- :even[?x, ?y], :e[?y, ?z] . :Seen[?x] :- :even[?x, ?x] .",
        ":a :e :b . :b :e :c . :c :e :a . :d :e :a .",
        "split",
    ),
    "derived and stated": (
        ":C[?x] :- :D[?x] . :C[?y] :- :p[?x, ?y], :C[?x] .",
        ":a a :D ; :p :b . :b :p :c . :e a :C ; :p :e .",
        "split",
    ),
    "negation in strata": (
        ":Parent[?x] :- :child[?x, ?y] . :Leaf[?x] :- :Node[?x], NOT :Parent[?x] ."
        ":Inner[?x] :- :Node[?x], NOT :Leaf[?x] .",
        ":a a :Node ; :child :b, :c . :b a :Node . :c a :Node ; :child :d . :d a :Node .",
        "split",
    ),
    "constants": (
        ":C[?x] :- :p[?x, :a] . :p[:a, ?x] :- :C[?x] . :D[:z] :- :p[:a, :a] .",
        ":a :p :a . :b :p :a . :c :p :b .",
        "split",
    ),
    "a fact": (":C[:k] . :D[?x] :- :C[?x] .", ":a a :C .", "split"),
    "repeated variables": (
        ":Loop[?x] :- :p[?x, ?x] . :both[?x, ?x] :- :Loop[?x] .",
        ":a :p :a, :b . :b :p :a .",
        "split",
    ),
    "product": (":r[?x, ?y] :- :C[?x], :D[?y] .", ":a a :C . :b a :C, :D . :c a :D .", "split"),
    "nothing follows": (
        ":C[?x] :- :absent[?x, ?y] . :D[?x] :- :C[?x] .",
        ":a a :E .",
        "split",
    ),
    "classes as values": (
        "[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], :sub[?c, ?d] .",
        ":a a :C . :b a :D . :C :sub :D . :D :sub :E .",
        "typed",
    ),
    "properties as values": (
        "[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, :sub, ?q] ."
        "[?x, ?p, ?z] :- [?p, rdf:type, :T], [?x, ?p, ?y], [?y, ?p, ?z] .",
        ":p :sub :q . :q a :T . :a :p :b . :b :p :c . :c :q :d .",
        "triples",
    ),
    "a relation of three": (
        ":r[?x, ?y, ?z] :- :p[?x, ?y], :p[?y, ?z] ."
        ":far[?x, ?z] :- :r[?x, ?y, ?z], NOT :p[?x, ?z] .",
        ":a :p :b . :b :p :c . :c :p :d . :a :p :c .",
        "split",
    ),
}


def task_of(folder: Path, name: str) -> Task:
    rules, data, layout = EXAMPLES[name]
    return task(folder, rules, data, layout)


def task(folder: Path, rules: str, turtle: str, layout: Any = "split", **files: Path) -> Task:
    source = folder / "source.ttl"
    source.write_text(HEAD + turtle)
    columns = columns_of_file(source, "turtle", read(HEAD + rules))
    return make_task(folder / "task", "example", HEAD + rules, columns, layout, **files)


def naive(task: Task) -> set[tuple[Any, ...]]:
    """Rounds of plain substitution, stratum by stratum."""
    facts: set[tuple[Any, ...]] = set()
    for relation in task.rows:
        table = np.loadtxt(task.csv(relation), np.int64, delimiter=",", ndmin=2)
        facts |= {(relation.name, *row) for row in table.tolist()}
    for _, clauses in strata(task.clauses()):
        while True:
            new = {head for clause in clauses for head in heads(clause, facts)} - facts
            if not new:
                break
            facts |= new
    return facts


def heads(clause: Clause, facts: set[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    found: list[dict[str, int]] = [{}]
    for pattern in clause.body:
        found = [
            extended
            for known in found
            for fact in facts
            if (extended := match(pattern, fact, known)) is not None
        ]
    for known in found:
        if not any(filled(pattern, known) in facts for pattern in clause.nots):
            yield filled(clause.head, known)


def match(pattern: Pattern, fact: tuple[Any, ...], known: dict[str, int]) -> dict[str, int] | None:
    if fact[0] != pattern.relation.name:
        return None
    extended = dict(known)
    for term, value in zip(pattern.terms, fact[1:], strict=True):
        if (term if isinstance(term, int) else extended.setdefault(term, value)) != value:
            return None
    return extended


def filled(pattern: Pattern, known: dict[str, int]) -> tuple[Any, ...]:
    terms = (term if isinstance(term, int) else known[term] for term in pattern.terms)
    return (pattern.relation.name, *terms)


def use(reasoner: Reasoner, task: Task) -> Reasoner:
    reason = missing(reasoner) or reasoner.refuses(task)
    if reason:
        pytest.skip(f"{reasoner.name}: {reason}")
    return reasoner


OVER_INTEGERS = [reasoner for reasoner in REASONERS.values() if not reasoner.rdf]


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("reasoner", OVER_INTEGERS, ids=lambda reasoner: reasoner.name)
def test_reasoner__computes_the_closure(reasoner: Reasoner, example: str, tmp_path: Path) -> None:
    given = task_of(tmp_path, example)
    session = use(reasoner, given).open(given)
    session.parse()
    session.load()
    session.reason()
    session.inside()
    expected = naive(given)
    assert len(expected) > given.facts or example == "nothing follows"
    assert session.contents() == expected
    assert session.count() == len(expected)


@pytest.mark.parametrize("name", ["reasonable", "owlrl"])
def test_owl_reasoner__derives_what_the_ontology_says(name: str, tmp_path: Path) -> None:
    ontology = tmp_path / "ontology.ttl"
    ontology.write_text(
        HEAD + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
        ":C rdfs:subClassOf :D . :p a owl:TransitiveProperty ."
    )
    data = tmp_path / "data.ttl"
    data.write_text("".join(f"<http://e/{s}> <{p}> <http://e/{o}> .\n" for s, p, o in STATEMENTS))
    given = task(tmp_path, ":D[?x] :- :C[?x] .", ":a a :C .", data=data, ontology=ontology)
    session = use(REASONERS[name], given).open(given)
    session.parse()
    session.load()
    session.reason()
    contents = {tuple(term.strip("<>") for term in triple) for triple in session.contents()}
    assert ("http://e/a", RDF_TYPE, "http://e/D") in contents
    assert ("http://e/a", "http://e/p", "http://e/c") in contents
    assert session.count() == len(session.contents())


RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
STATEMENTS = [("a", RDF_TYPE, "C"), ("a", "http://e/p", "b"), ("b", "http://e/p", "c")]


def test_owl_peers__refuse_tasks_without_rdf_and_large_ones(tmp_path: Path) -> None:
    plain = task_of(tmp_path, "linear")
    assert OWLRL.refuses(plain) == "the task has no statements in RDF"
    rows = {Relation("p1", 2): 1_000_000}
    assert "minutes" in str(OWLRL.refuses(Task(tmp_path, "", "split", rows, 9, rdf=True)))


def test_missing__names_the_module() -> None:
    absent = replace(OWLRL, packages=("rdflib", "no_such_module"))
    assert missing(absent) == "no_such_module not installed"


# -- the task ----------------------------------------------------------------------------------


def test_task__says_the_same_in_every_file(tmp_path: Path) -> None:
    for layout in ("split", "typed", "triples"):
        folder = tmp_path / layout
        folder.mkdir()
        given = task(folder, *EXAMPLES["derived and stated"][:2], layout)
        stores = [store_of_terms(given.program(), given.terms) for _ in range(2)]
        state_csv(stores[0], given)
        state_columns(stores[1], *columns_of_arrays(given))
        rows = [
            {
                row
                for part in store.rows_for_pattern()
                for row in zip(*map(np.ndarray.tolist, part[:3]), strict=True)
            }
            for store in stores
        ]
        assert rows[0] == rows[1] and len(rows[0]) == given.facts == 5
        logic = (given.folder / "facts.lp").read_text().split()
        table = {
            f"{relation.name}({line})."
            for relation in given.rows
            for line in given.csv(relation).read_text().split()
        }
        assert set(logic) == table


def test_task__numbers_the_constants_of_the_program_first(tmp_path: Path) -> None:
    given = task_of(tmp_path, "constants")
    names = [key[1:].decode() for key in number_constants(given.program())]
    assert names == [RDF_TYPE, *(f"http://e/{name}" for name in "CpazD")]
    subjects = np.loadtxt(given.csv(Relation("p3", 2)), int, delimiter=",")[:, 0]
    assert subjects.tolist() == [4, 7, 8]  # :a, which the program names, and others


def test_task__is_not_made_twice(tmp_path: Path) -> None:
    first = task_of(tmp_path, "linear")
    made = (first.folder / "task.json").stat().st_mtime_ns
    assert task_of(tmp_path, "linear") == first
    assert (first.folder / "task.json").stat().st_mtime_ns == made


def test_task__of_a_file_that_is_incomplete_is_made_again(tmp_path: Path) -> None:
    first = task_of(tmp_path, "linear")
    (first.folder / "task.json").unlink()
    assert task_of(tmp_path, "linear").facts == first.facts


def test_tables_of__are_sorted_and_complete() -> None:
    s, p, o = (np.array(column, np.uint32) for column in ([9, 3, 3, 5], [7, 7, 1, 1], [4, 4, 8, 8]))
    tables = dict(tables_of(Columns(s, p, o, {}), "split"))
    assert {r.name: t.tolist() for r, t in tables.items()} == {
        "c8": [[3], [5]],
        "p7": [[3, 4], [9, 4]],
    }


def test_store_of_terms__states_rows_under_their_numbers() -> None:
    program = read(HEAD + ":C[?x] :- :p[?x, ?y] .")
    store = store_of_terms(program, 12)
    s, p, o = (np.array(column, np.uint32) for column in ([10, 11], [3, 3], [11, 12]))
    state_columns(store, s, p, o)
    (rows,) = store.rows_for_pattern(predicate=pyoxigraph.NamedNode("http://e/p"))
    assert (rows.subject.tolist(), rows.object.tolist()) == ([10, 11], [11, 12])
    assert len({str(quad) for quad in store}) == 2


# -- the program -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "layout", "why"),
    [
        ("[?x, ?p, ?x] :- :p[?x, ?p] .", "split", "variable property"),
        ("[?x, rdf:type, ?c] :- :p[?x, ?c] .", "split", "variable class"),
        (":C[?x] :- :p[?x, ?y], FILTER(?y > 1) .", "split", "filter"),
        (":C[?x] :- :D[?x], NOT :p[?x, ?y] .", "split", "no atom of the body binds"),
        (":C[?x] :- :D[?x], NOT (:E[?x], :F[?x]) .", "split", "not in a body"),
        ('constraint "a" :- :C[?x] .', "split", "constraints"),
    ],
)
def test_translate__refuses_what_it_cannot_say(rules: str, layout: Any, why: str) -> None:
    program = read(HEAD + rules)
    with pytest.raises(UnsupportedError, match=why):
        translate(program, number_constants(program), layout)


def test_strata__come_after_what_they_need() -> None:
    program = read(HEAD + ":D[?x] :- :C[?x], NOT :B[?x] . :C[?x] :- :A[?x] . :A[?x] :- :C[?x] .")
    clauses = translate(program, number_constants(program))
    assert [len(members) for _, members in strata(clauses)] == [2, 1]


def test_strata__refuse_negation_on_a_cycle() -> None:
    program = read(HEAD + ":A[?x] :- :C[?x], NOT :B[?x] . :B[?x] :- :A[?x] .")
    with pytest.raises(UnsupportedError, match="cycle"):
        strata(translate(program, number_constants(program)))


def test_select__joins_compares_and_negates() -> None:
    p, c = Relation("p", 2), Relation("c", 1)
    clause = Clause(
        Pattern(p, ("x1", 7)),
        (Pattern(p, ("x1", "x1")), Pattern(p, (3, "x1"))),
        (Pattern(c, ("x1",)),),
    )
    assert select(clause) == (
        "SELECT b0.a0, 7 FROM p b0, p b1 WHERE b0.a1 = b0.a0 AND b1.a0 = 3 AND b1.a1 = b0.a0 "
        "AND NOT EXISTS (SELECT 1 FROM c n0 WHERE n0.a0 = b0.a0)"
    )


def test_closing__uses_with_recursive_where_it_can() -> None:
    program = read(HEAD + EXAMPLES["linear"][0])
    ((defined, clauses),) = strata(translate(program, number_constants(program)))
    assert "WITH RECURSIVE" in closing(defined, clauses).once[1]
    program = read(HEAD + EXAMPLES["nonlinear"][0])
    ((defined, clauses),) = strata(translate(program, number_constants(program)))
    (queries,) = closing(defined, clauses).derive.values()
    assert [query.count("_delta") for _, query in queries] == [1, 1]


def test_duckdb__refuses_statements_that_are_too_large(tmp_path: Path) -> None:
    rules = " ".join(
        f"[?x, rdf:type, :C{i + 1}] :- [?x, rdf:type, :C{i}] ." for i in range(MAX_CLAUSES + 1)
    )
    given = task(tmp_path, rules, ":a a :C0 .", "typed")
    assert "too large" in str(REASONERS["duckdb"].refuses(given))


# -- one run -----------------------------------------------------------------------------------


def test_measure__times_the_steps_apart(tmp_path: Path) -> None:
    given = task_of(tmp_path, "linear")
    reasoner = next((r for r in OVER_INTEGERS if not missing(r) and not r.refuses(given)), None)
    if reasoner is None:
        pytest.skip("no reasoner is installed")
    found = base.measure(reasoner.name, str(given.folder))
    assert found["facts"] == len(naive(given))
    steps = [found[f"{step} s"] for step in base.STEPS]
    assert found["total s"] == pytest.approx(sum(steps))
    assert found["reasoning peak bytes"] > 1_000_000
    json.dumps(found)


def test_measure__moves_what_was_done_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Session:
        def nothing(self) -> None: ...

        parse = load = nothing

        def reason(self) -> None:
            time.sleep(0.05)

        def inside(self) -> dict[str, float]:
            return {"import": 0.04}

        def count(self) -> int:
            return 7

    class FakePeer(OwlPeer):
        def start(self) -> None: ...

        def open(self, task: Task) -> Any:
            return Session()

    monkeypatch.setitem(REASONERS, "fake", FakePeer("fake", (), OwlrlSession))
    found = base.measure("fake", str(task_of(tmp_path, "linear").folder))
    assert found["import s"] >= 0.04
    assert found["reason wall s"] >= 0.05
    assert found["reason s"] == pytest.approx(found["reason wall s"] - 0.04)
    assert found["facts"] == 7


def sleep_with_a_limit() -> dict[str, Any]:
    base.limit(0.2)
    time.sleep(20)
    return {}


def test_limit__ends_the_child_and_says_so() -> None:
    case = Case("tests.bench.test_reasoners:sleep_with_a_limit", {}, "sleeper")
    with pytest.raises(MeasurementError) as failed:
        run_once(case)
    assert base.why_it_ended(failed.value, 0.2) == "over 0.2 s"
    assert base.why_it_ended(MeasurementError("x failed (1):\nE: a\nlast"), 1) == "failed: last"


def test_ours__refuses_while_the_store_does_not_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triplestore import Store

    given = task_of(tmp_path, "linear")
    assert OURS.refuses(given) is None
    monkeypatch.delattr(next(kind for kind in Store.__mro__ if "reason" in vars(kind)), "reason")
    assert OURS.refuses(given) == "this version does not reason"
    assert TYPE_NUMBER == 1


@pytest.mark.parametrize("module", ["program", "sql"])
def test_examples_in_docstrings(module: str) -> None:
    tested = doctest.testmod(import_module(f"bench.reasoners.{module}"))
    assert tested.attempted and not tested.failed
