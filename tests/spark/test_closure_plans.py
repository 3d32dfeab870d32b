"""Rules as rows of numbers, and their number of joins; nothing here needs Spark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.maintenance.notation import program
from triplestore.datalog.program import TYPE
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.loaders.spark.closure.copy_rules import with_longer_steps
from triplestore.loaders.spark.closure.expressions import condition_on_ids
from triplestore.loaders.spark.closure.phases import phases_of
from triplestore.loaders.spark.closure.plans import Match, steps_of, tracks_of
from triplestore.loaders.spark.closure.shapes import Shape, constants_of, shapes_of
from triplestore.rules.compiled_program import Compiled
from triplestore.terms import Dictionary


def shapes(text: str) -> tuple[list[Shape], dict[bytes, int]]:
    rules = program(text).rules
    ids = {key: number for number, key in enumerate([TYPE.key, *constants_of(rules)], 1)}
    return shapes_of(enumerate(rules), ids), ids


def tracks(text: str, pivot: int | None = 0) -> list[Any]:
    found, _ = shapes(text)
    return tracks_of([(one, steps_of(one.form, pivot, lambda atom: 1)) for one in found])


def test_shapes__rules_over_a_thousand_classes_and_properties_are_five_joins() -> None:
    text = "".join(
        f""":D{i}[?x] :- :C{i}[?x] . :q{i}[?x, ?y] :- :p{i}[?x, ?y] .
        :r{i}[?y, ?x] :- :p{i}[?x, ?y] . :D{i}[?y] :- :C{i}[?x], :p{i}[?x, ?y] .
        :s{i}[?x, ?z] :- :p{i}[?x, ?y], :q{i}[?y, ?z] ."""
        for i in range(200)
    )
    found, _ = shapes(text)
    assert sorted(len(one) for one in found) == [200] * 5
    joins = [step for track in tracks(text) for step in track.steps]
    assert len(joins) == 6
    assert len(tracks(text)) == 4, "a copy and its inverse are one"


def test_tracks__an_atom_with_a_constant_is_bound_by_it() -> None:
    (track,) = tracks(":D[?x] :- :C[?x] .")
    assert track.steps[0].bound == (0, 2), "name and class"


def test_steps__before_the_pivot_only_old_facts_count() -> None:
    found, _ = shapes(":s[?x, ?u] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?u] .")
    steps = steps_of(found[0].form, 1, lambda atom: 1)
    said = [(step.atom, step.old) for step in steps if isinstance(step, Match)]
    body = found[0].form.body
    assert said[0] == (body[1], False)
    assert {(body[0], True), (body[2], False)} == set(said[1:])


def test_steps__small_connected_atoms_come_first() -> None:
    found, _ = shapes(":s[?x] :- :p[?x, ?y], :q[?y, ?z], :r[?z, ?u] .")
    form = found[0].form
    weights = dict(zip(form.body, (100.0, 50.0, 1.0), strict=True))
    steps = steps_of(form, None, weights.__getitem__)
    assert [step.atom for step in steps if isinstance(step, Match)] == [*form.body[::-1]]


def test_copies__reach_the_end_of_a_hierarchy_in_one_step() -> None:
    text = "".join(f":C{i + 1}[?x] :- :C{i}[?x] ." for i in range(20))
    found, ids = shapes(text + ":q[?y, ?x] :- :p[?x, ?y] . :r[?y, ?x] :- :q[?x, ?y] .")
    longer = with_longer_steps(found, ids[TYPE.key], 1000)
    classes = next(one for one in longer if one.form.width == 4)
    assert len(classes) == 20 * 21 // 2
    pairs = {tuple(one.form.head.slots[1:]) for one in longer if one.form.width == 2}
    assert pairs == {(2, 3), (3, 2)}, "turned twice is not turned"


@pytest.mark.parametrize("most", [3, 209])
def test_copies__are_left_as_they_are_where_pairs_would_be_too_many(most: int) -> None:
    found, ids = shapes("".join(f":C{i + 1}[?x] :- :C{i}[?x] ." for i in range(20)))
    (left,) = with_longer_steps(found, ids[TYPE.key], most)
    assert len(left) == 20


def phases(text: str) -> list[tuple[list[int], int]]:
    compiled = Compiled(program(text), Dictionary().encode_keys)
    return [(phase.rules, len(phase.groups)) for phase in phases_of(compiled)]


def test_phases__a_hierarchy_is_one() -> None:
    assert phases("".join(f":C{i + 1}[?x] :- :C{i}[?x] ." for i in range(9))) == [([*range(9)], 0)]


def test_phases__what_is_negated_or_closed_comes_before_who_looks_at_it() -> None:
    found = phases(
        """:b[?x] :- :a[?x] . :c[?x] :- :d[?x], NOT :b[?x] .
        :p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :e[?x] :- :p[?x, ?x] . :f[?x] :- :c[?x], :e[?x] ."""
    )
    assert found == [([0], 1), ([1, 3, 4], 0)]


def test_phases__closures_and_regular_chains_are_taken_from_the_rules() -> None:
    union = """:p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :q[?x, ?z] :- :q[?x, ?y], :q[?y, ?z] .
        :u[?x, ?y] :- :p[?x, ?y] . :u[?x, ?y] :- :q[?x, ?y] . :u[?x, ?y] :- :r[?x, ?y] ."""
    assert phases(union) == [([], 2), ([2, 3, 4], 0)]
    assert phases(":p[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .") == [([], 1)]
    assert phases(":p[?x, ?u] :- :q[?x, ?y], :p[?y, ?z], :q[?z, ?u] .") == [([0], 0)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SAMETERM(?v0, ?v1)", "(v0 = v1)"),
        ("?v0 = <x:a>", "(v0 = 0)"),
        ("?v0 != <x:a> || !(?v0 IN (<x:a>, <x:b>))", "((v0 <> 0) OR (NOT (v0 IN (0, 0))))"),
        ("?v0 = 1", None),
        ("?v0 = ?v1", None),
        ("?v0 IN (<x:a>, 2)", None),
        ("STR(?v0) = <x:a>", None),
    ],
)
def test_conditions__on_ids_ask_for_no_values(text: str, wanted: str | None) -> None:
    assert condition_on_ids(parse_expression(text), None) == wanted
