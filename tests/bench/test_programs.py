"""Generated programs, statements and samples: their counts, their shapes, and that they stay."""

from __future__ import annotations

import doctest
import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest

from bench.inputs import programs, random_numbers, recursive, samples
from bench.inputs.programs import HIERARCHIES, Setting, deep_taxonomy, hierarchy, iri, lubm_program
from bench.inputs.recursive import Shape, highly_recursive
from bench.inputs.samples import random_walk, uniform
from bench.reasoners.program import TYPE_NUMBER, number_constants
from tests.datalog.test_stratify import lubm_rules
from tests.maintenance.naive import naive
from triplestore.datalog.check import check
from triplestore.datalog.program import TYPE, Program
from triplestore.datalog.stratify import stratify
from triplestore.datalog.text import show
from triplestore.terms.term_keys import key_of

SMALL = Shape(classes=8, properties=4, compositions=1, rules=40, block=6)


def facts_of(setting: Setting) -> list[tuple[str | bytes, ...]]:
    keys = [b"\x01" + term[1:-1].encode() for term in setting.terms]
    rows = zip(setting.s.tolist(), setting.p.tolist(), setting.o.tolist(), strict=True)
    return [("t", keys[s], keys[p], keys[o]) for s, p, o in rows]


def rows_of(setting: Setting) -> list[tuple[int, int, int]]:
    return list(zip(setting.s.tolist(), setting.p.tolist(), setting.o.tolist(), strict=True))


@pytest.mark.parametrize("module", [programs, random_numbers, recursive, samples])
def test_docstrings__examples_are_true(module: object) -> None:
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0  # type: ignore[arg-type]


def made_of_each() -> list[Setting]:
    return [deep_taxonomy(5, 2, 30), highly_recursive(100, 200, shape=SMALL)]


@pytest.mark.parametrize("number", range(2))
def test_setting__numbers_and_files_agree(number: int, tmp_path: Path) -> None:
    setting = made_of_each()[number]
    assert setting.numbers == number_constants(setting.program)
    assert not check(setting.program)
    assert len(set(rows_of(setting))) == len(setting)
    setting.write(tmp_path / "data.nt")
    quads = list(ox.parse(path=tmp_path / "data.nt", format=ox.RdfFormat.N_TRIPLES))
    read = [("t", *(key_of(term) for term in quad.triple)) for quad in quads]
    assert read == facts_of(setting)
    free = set(setting.s.tolist()) - set(setting.numbers.values())
    assert free == set(setting.s.tolist())  # individuals are not constants of the program


# --- LUBM ----------------------------------------------------------------------------------------


def test_lubm__has_93_rules_of_which_5_are_recursive() -> None:
    program = lubm_program()
    strata = stratify(program)
    assert (len(program), sum(sum(stratum.recursive) for stratum in strata)) == (93, 5)
    assert not check(program)


def test_lubm__rules_are_those_of_the_ontology(shared_data: Path) -> None:
    assert lubm_program() == Program(lubm_rules(shared_data, necessary=False))


# --- hierarchies ---------------------------------------------------------------------------------


def types_of(setting: Setting, individual: int) -> set[bytes]:
    closure = naive(setting.program, facts_of(setting)).facts
    key = setting.terms[individual][1:-1].encode()
    return {fact[3] for fact in closure if fact[1:3] == (b"\x01" + key, TYPE.key)}


def test_deep_taxonomy__gives_its_instance_three_types_a_level() -> None:
    setting = deep_taxonomy(levels=12)
    names = {"N0", "Goal"} | {f"{kind}{level}" for kind in "NIJ" for level in range(1, 13)}
    assert types_of(setting, int(setting.s[0])) == {iri(name).key for name in names}
    assert len(stratify(setting.program)) == 13


def test_deep_taxonomy__what_is_unrelated_changes_nothing() -> None:
    setting = deep_taxonomy(levels=3, instances=2, unrelated=2500)
    assert len(setting) == 2502
    assert len(naive(setting.program, facts_of(setting)).facts) == 2502 + 2 * (3 * 3 + 1)
    assert len(set(setting.o.tolist())) == 1001


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Shared data with one small hierarchy."""
    path = tmp_path / HIERARCHIES["go"][0]
    path.parent.mkdir()
    text = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix : <http://example.org/> .
        :a rdfs:subClassOf :b . :a rdfs:subClassOf :b, :c ; rdfs:label "a" ; :partOf :x .
        :b rdfs:subClassOf :d . :c rdfs:subClassOf :d ."""
    path.write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_hierarchy__has_a_rule_for_each_edge_and_a_type_for_each_instance(folder: Path) -> None:
    setting = hierarchy("go", 200, folder=folder)
    assert setting is not None
    assert [str(rule.heads[0].terms[2])[-2] for rule in setting.program] == ["b", "c", "d", "d"]
    assert len(set(setting.s.tolist())) == 200 and set(setting.p.tolist()) == {TYPE_NUMBER}
    counts = Counter(setting.o.tolist())
    assert counts.keys() == set(setting.numbers.values()) - {TYPE_NUMBER}
    assert min(counts.values()) > 25
    of_a = setting.s[setting.o == setting.numbers[iri("a").key]]
    assert types_of(setting, int(of_a[0])) == {iri(name).key for name in "abcd"}


def test_hierarchy__grows_by_instances_and_rules_and_differs_by_seed(folder: Path) -> None:
    small, large, other, few = (
        hierarchy("go", count, seed=seed, rules=rules, folder=folder)
        for count, seed, rules in ((50, 0, None), (90, 0, None), (50, 1, None), (50, 0, 2))
    )
    assert small and large and other and few
    assert rows_of(large)[:50] == rows_of(small) != rows_of(other)
    assert few.program.rules == small.program.rules[:2]


def test_hierarchy__is_none_without_data(tmp_path: Path) -> None:
    assert hierarchy("chebi", 1, folder=tmp_path) is None


@pytest.mark.parametrize(("name", "rules"), [("go", 70_058), ("fbbt", 75_682)])
def test_hierarchy__of_real_data(shared_data: Path, name: str, rules: int) -> None:
    setting = hierarchy(name, 1000, folder=shared_data)
    assert setting is not None
    assert len(setting.program) == rules
    assert not any(any(stratum.recursive) for stratum in stratify(setting.program))


# --- highly recursive ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "facts", "shape"), [(1500, 3000, Shape()), (130, 500, SMALL), (300, 0, SMALL)]
)
def test_recursive__all_rules_are_of_one_component(rules: int, facts: int, shape: Shape) -> None:
    setting = highly_recursive(rules, facts, shape=shape)
    assert (len(setting.program), len(setting)) == (rules, facts)
    (stratum,) = stratify(setting.program)
    assert all(stratum.recursive) and all(stratum.cyclic)
    assert len(set(stratum.components)) == 1
    assert not any(rule.heads[0] in rule.body for rule in setting.program)


def test_recursive__has_every_shape_of_rule() -> None:
    shapes = Counter(
        (
            len(rule.atoms),
            rule.heads[0].terms[1] == TYPE,
            sum(a.terms[1] == TYPE for a in rule.atoms),
        )
        for rule in highly_recursive(600, 10).program
    )
    assert shapes.keys() == {
        (1, True, 1),  # class above class
        (1, False, 0),  # property above property, inverse
        (1, True, 0),  # domain
        (2, False, 0),  # composition
        (2, True, 1),  # range, definition
        (2, False, 1),  # subproperty under a condition
        (3, True, 2),
        (3, False, 2),
    }


def test_recursive__fewer_statements_are_the_beginning_of_more() -> None:
    small, large, other = (
        highly_recursive(1500, facts, seed) for facts, seed in ((700, 0), (2000, 0), (700, 1))
    )
    assert rows_of(large)[:700] == rows_of(small)
    assert small.program == large.program != other.program
    assert rows_of(small) != rows_of(other)


def test_recursive__is_the_same_on_every_machine() -> None:
    setting = highly_recursive(500, 500)
    assert show(setting.program.rules[-1], {"": programs.NAMESPACE}) == EXPECTED_RULE
    assert rows_of(setting)[-1] == EXPECTED_ROW


EXPECTED_RULE = ":C4_18[?x] :- :R4_6[?x, ?y], :C4_24[?y] ."
EXPECTED_ROW = (377, 90, 369)


def test_recursive__the_closure_stays_in_its_blocks() -> None:
    setting = highly_recursive(40, 90, shape=SMALL)
    first = len(setting.numbers) + 1
    number = {"\x01" + term[1:-1]: i for i, term in enumerate(setting.terms)}
    closure = naive(setting.program, facts_of(setting)).facts
    assert len(closure) > 2 * len(setting)
    for _, s, p, o in closure:
        if p != TYPE.key:
            ends = [(number[key.decode()] - first) // SMALL.block for key in (s, o)]
            assert ends[0] == ends[1]


def test_recursive__too_few_rules_for_its_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="80 rules are too few"):
        highly_recursive(80, 100)


# --- random numbers and samples ------------------------------------------------------------------


def test_rolls__any_part_can_be_made_alone() -> None:
    whole = random_numbers.rolls("seed", 100)
    assert np.array_equal(random_numbers.rolls("seed", 40, first=30), whole[30:70])
    assert len(np.unique(whole)) == 100
    assert not np.isin(random_numbers.rolls("deed", 100), whole).any()


def test_below__is_even() -> None:
    counts = np.bincount(random_numbers.below(10, "dice", 100_000), minlength=10)
    assert len(counts) == 10 and abs(counts - 10_000).max() < 400


def test_uniform__is_stable_under_growth() -> None:
    parts = [uniform(500, size, seed=3).tolist() for size in (0, 1, 50, 499, 500)]
    for smaller, larger in pairwise(parts):
        assert larger[: len(smaller)] == smaller
    assert sorted(parts[-1]) == list(range(500))
    assert uniform(500, 50, seed=4).tolist() != parts[2]


def test_uniform__has_every_fact_as_often() -> None:
    counts = Counter(fact for seed in range(2000) for fact in uniform(20, 5, seed).tolist())
    assert len(counts) == 20
    assert all(400 < count < 600 for count in counts.values())


def graph(nodes: int, edges: int) -> tuple[samples.U32, samples.U32]:
    s, o = (random_numbers.below(nodes, name, edges).astype(np.uint32) for name in "so")
    return s, o


def test_random_walk__goes_from_objects_to_subjects() -> None:
    s, o = graph(300, 2000)
    walk = random_walk(s, o, 200)
    linked = sum(o[one] == s[other] for one, other in pairwise(walk))
    assert linked > 150  # the others follow a restart, or a fact that was met before
    scattered = uniform(2000, 200)
    assert sum(o[one] == s[other] for one, other in pairwise(scattered)) < 10


def test_random_walk__begins_anew_at_dead_ends_in_the_order_of_the_uniform_sample() -> None:
    path = np.arange(30, dtype=np.uint32)  # fact i leads to fact i + 1
    expected: dict[int, None] = {}
    for start in uniform(30, 30, seed=2).tolist():
        if start not in expected:
            expected.update(dict.fromkeys(range(start, 30)))
    assert random_walk(path, path + 1, 30, seed=2).tolist() == list(expected)


@pytest.mark.parametrize(
    "edges",
    [
        graph(40, 300),
        graph(1000, 100),  # nearly all ends are dead
        (np.array([1, 2], np.uint32), np.array([2, 1], np.uint32)),  # a cycle, and nothing else
        (np.arange(50, dtype=np.uint32), np.arange(50, dtype=np.uint32)),  # loops
        (np.array([], np.uint32), np.array([], np.uint32)),
    ],
)
def test_random_walk__is_stable_and_reaches_everything(
    edges: tuple[samples.U32, samples.U32],
) -> None:
    s, o = edges
    whole = random_walk(s, o, len(s), seed=1).tolist()
    assert sorted(whole) == list(range(len(s)))
    for size in (0, len(s) // 3, len(s) - len(s) // 10):
        assert random_walk(s, o, size, seed=1).tolist() == whole[:size]


def test_random_walk__takes_each_way_as_often() -> None:
    s = np.array([1, 1, 1, 2, 3, 4], np.uint32)
    o = np.array([2, 3, 4, 9, 9, 9], np.uint32)
    second = Counter(int(random_walk(s, o, 2, seed)[1]) for seed in range(3000))
    first = Counter(int(random_walk(s, o, 1, seed)[0]) for seed in range(3000))
    assert first.keys() == set(range(6)) and min(first.values()) > 400
    assert min(second[fact] for fact in (3, 4, 5)) > 450


def test_samples__cannot_have_more_than_all() -> None:
    with pytest.raises(ValueError, match="6 from 5"):
        uniform(5, 6)
    with pytest.raises(ValueError, match="4 from 3"):
        random_walk(*graph(3, 3), 4)
