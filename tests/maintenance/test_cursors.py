"""Searches with kernels: the same instances, each once, and the same facts as without."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from tests.maintenance.checking import check_case, check_state, engine_takes
from tests.maintenance.driver import Driver
from tests.maintenance.graphs import RULES, random_graph_case
from tests.maintenance.makers import MAKERS
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import random_case
from triplestore import Store
from triplestore.evaluate.binding_frames import Bindings
from triplestore.kernels.rules import fire as loaded
from triplestore.kernels.rules.backward import STEPS
from triplestore.maintenance.search import kernel_cursors, kernel_search
from triplestore.maintenance.search.kernel_cursors import Cursors
from triplestore.maintenance.search.numbered_facts import NumberedFacts
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.backward_rules import BackwardRules
from triplestore.rules.families import LOWER, Family

SEARCHES = [name for name in MAKERS if "b" in name]
Key: TypeAlias = tuple[RelationKey, int, int]
Given: TypeAlias = "Counter[tuple[Key, tuple[Key, ...]]]"
"""Goals, with the facts of the stratum that an instance needs, in order."""


@pytest.fixture(autouse=True)
def met(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Counter[str]:
    """Kernels as if they were loaded; how many instances came from cursors and from pieces."""
    found: Counter[str] = Counter()
    given, others = kernel_search.KernelSearch._meet_given, kernel_search.KernelSearch._meet

    def meet_given(self: kernel_search.KernelSearch, some: kernel_cursors.CursorInstances) -> None:
        found["cursors"] += len(some.goals)
        given(self, some)

    def meet(self: kernel_search.KernelSearch, some: list[tuple[Family, Bindings, int]]) -> int:
        found["pieces"] += sum(n for _, _, n in some)
        return others(self, some)

    tune(RELATIONS, combine_rows=0)  # each step of a schedule is a layer more
    monkeypatch.setattr(kernel_search, "loaded_kernels", lambda: loaded)
    monkeypatch.setattr(kernel_search.KernelSearch, "_meet_given", meet_given)
    monkeypatch.setattr(kernel_search.KernelSearch, "_meet", meet)
    return found


@pytest.fixture(params=["as they are", "little at a time", "copied"])
def limits(request: pytest.FixtureRequest, tune: Callable[..., None]) -> str:
    """Limits as they are; rooms for few instances, and few rows at a time; no layer read where it
    is, or one order of one only."""
    if request.param == "little at a time":
        tune(MAINTENANCE, cursor_instances=3, cursor_looks=1)
    if request.param == "copied":
        tune(MAINTENANCE, cursor_layers=1)
    return str(request.param)


def check_graphs(name: str, seeds: range) -> None:
    for seed in seeds:
        case = random_graph_case(seed)
        driver = Driver("one" if seed % 2 else "levels")
        driver.step(case.facts, (), case.program, MAKERS[name]())
        explicit = set(case.facts)
        for step in case.updates:
            driver.step(step.added, step.deleted, None, MAKERS[name]())
            explicit = (explicit - step.deleted) | step.added
            check_state(driver, case.program, frozenset(explicit), f"{name}, seed {seed}")


@pytest.mark.parametrize("name", SEARCHES)
def test_search_with_kernels__recursive_programs__equals_the_oracle(
    name: str, limits: str, met: Counter[str]
) -> None:
    check_graphs(name, range(len(RULES)))
    assert met["cursors"] > 10 or name.endswith(("always", "facts"))  # no proof, or of one step


MIXED = """
    :B[?y] :- :T[?x, ?y], :B[?x], NOT :N[?y] .  :C[?y] :- :U[?x, ?y], :B[?x] .
    :B[?y] :- :T[?y, ?x], :C[?x], FILTER(?x != ?y) .  :B[?x] :- :C[?x] .
    :w[?x, ?y, ?z] :- :U[?x, ?y], :T[?y, ?z], :B[?z] .  :C[?x] :- :w[?x, ?y, ?z], :C[?y] .
"""


@pytest.mark.parametrize("name", SEARCHES)
def test_search_with_kernels__beside_pieces__equals_the_oracle(
    name: str, limits: str, met: Counter[str]
) -> None:
    rules = program(MIXED)
    for seed in range(6):
        rng, nodes = random.Random(seed), "abcdefg"
        some = [f"{rng.choice('BCN')}({rng.choice(nodes)})" for _ in range(5)]
        some += [f"{rng.choice('TU')}({rng.choice(nodes)}, {rng.choice(nodes)})" for _ in range(20)]
        held, driver = facts(" ".join(some)), Driver("one" if seed % 2 else "levels")
        driver.step(held, (), rules, MAKERS[name]())
        for fact in rng.sample(sorted(held), 6):
            driver.step((), {fact}, None, MAKERS[name]())
            held = held - {fact}
            check_state(driver, rules, frozenset(held), f"{name}, seed {seed}")
    if not name.endswith(("always", "facts", "at once")):
        assert met["cursors"] > 10 and met["pieces"] > 10


@pytest.mark.parametrize("name", ["bf", "bf_c", "fbf soon", "fbf_c beyond two steps"])
def test_search_with_kernels__random_schedules__equals_the_oracle(
    name: str, limits: str, met: Counter[str]
) -> None:
    for seed in range(400, 425):
        case = random_case(seed)
        if engine_takes(case):
            check_case(case, MAKERS[name], "one" if seed % 2 else "levels")
    assert met["cursors"] > 20


@pytest.mark.long
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("part", range(5))
def test_search_with_kernels__many_random_schedules__equals_the_oracle(
    name: str, part: int
) -> None:
    check_graphs(name, range(100 * part, 100 * part + 100))
    for seed in range(2000 + 100 * part, 2100 + 100 * part):
        case = random_case(seed)
        if engine_takes(case):
            check_case(case, MAKERS[name], "one" if seed % 2 else "levels")


# -- the instances that cursors give --------------------------------------------------------------


def by_hand(work: Work, families: list[Family]) -> Given:
    """All instances of some families over what is not gone, one atom after the other."""
    found: Given = Counter()
    held: dict[RelationKey, list[tuple[int, int]]] = {}
    for name in {atom.relation for family in families for atom in family.body}:
        assert isinstance(name, int), "cursors follow relations of two columns"
        keys = work.survivors().pairs(name).keys().tolist()
        held[name] = [divmod(key, 1 << 32) for key in keys]

    def match(family: Family, item: int, known: dict[int, int], own: list[Key]) -> None:
        def value(term: int) -> int:
            return -term if term < 0 else known[term]

        if item == len(family.body):
            head = (family.head.relation, *map(value, family.head.terms))
            found[head, tuple(sorted(own))] += 1
            return
        atom = family.body[item]
        for row in held[atom.relation]:
            more = dict(known)
            if all(
                -term == id_ if term < 0 else more.setdefault(term, id_) == id_
                for term, id_ in zip(atom.terms, row, strict=True)
            ):
                one = [] if atom.own == LOWER else [(atom.relation, *row)]
                match(family, item + 1, more, [*own, *one])

    for family in families:
        table = family.table
        columns = [] if table is None else [column.tolist() for column in table.columns]
        for row in zip(*columns, strict=True) if table is not None else [()]:
            constants = {} if table is None else dict(zip(table.variables, row, strict=True))
            match(family, 0, constants, [])
    return found


def by_cursors(work: Work, rules: BackwardRules, rng: random.Random) -> Given:
    """The same for all facts that are stored, in pieces."""
    facts = NumberedFacts(rules.names)
    one = Cursors(rules, facts, work.stored, work.survivors(), work.gone)
    for name in dict.fromkeys(family.head.relation for family in rules.families):
        assert isinstance(name, int), "cursors follow relations of two columns"
        keys = work.old().pairs(name).keys()
        numbers = facts.find(name, np.sort(keys))  # some have a number: they were needed
        known = np.sort(keys)[numbers < 0]
        numbers[numbers < 0] = facts.add(name, known)
        one.open(numbers)
    absent = [facts.find(name, work.gone.keys_of(name)) for name in rules.names]
    facts.mark(np.concatenate([n[n >= 0] for n in absent]), np.uint8(32))
    goals, found = facts.count, Counter()
    while (facts.waiting[:goals] > 0).any():
        chosen = np.array([n for n in range(goals) if rng.random() < 0.7], dtype=np.int64)
        quota = np.array([rng.choice((0, 1, 1, 3)) for _ in chosen], dtype=np.int64)
        times: Counter[int] = Counter()
        for given in one.pull(chosen, quota.copy()):
            needed = given.facts.reshape(-1, STEPS).tolist()
            times.update(given.goals.tolist())
            for goal, some in zip(given.goals.tolist(), needed, strict=True):
                own = sorted(fact_of(facts, number - 1) for number in some if number)
                found[fact_of(facts, goal), tuple(own)] += 1
        wanted = dict(zip(chosen.tolist(), quota.tolist(), strict=True))
        assert all(times[goal] <= wanted[goal] for goal in times)
    assert not facts.waiting.any()
    for name, keys, numbers in facts.by_relation(np.arange(facts.count)):
        if one._runs._usable[facts.places[name]]:  # status and count, as they are stored
            for got, want in zip(
                one.look_up(numbers), work.stored.of(name).look_up(keys), strict=True
            ):
                assert got.tolist() == want.tolist()
    return found


def fact_of(facts: NumberedFacts, number: int) -> Key:
    return (facts.names[facts.relation[number]], *divmod(int(facts.key[number]), 1 << 32))


def compare(driver: Driver, rng: random.Random) -> int:
    """Compare the instances of all strata while some facts are gone; how many there are."""
    assert driver.compiled is not None
    work = Work(driver.compiled, driver.tables, driver.terms)
    for name in driver.tables.names().tolist():
        keys = np.sort(work.old().pairs(name).keys())
        work.gone.add(name, keys[[rng.random() < 0.15 for _ in keys]])
    compared = 0
    for stratum in driver.compiled.strata.values():
        rules = BackwardRules(stratum.recursive)
        if rules.families:
            wanted = by_hand(work, rules.families)
            assert by_cursors(work, rules, rng) == wanted
            compared += wanted.total()
    return compared


def test_cursors__give_each_instance_once(limits: str) -> None:
    compared = 0
    for seed in range(40):
        case = random_graph_case(seed)
        driver = Driver("one" if seed % 2 else "levels")
        driver.step(case.facts, (), case.program, strategy("dred_c"))
        for step in case.updates:  # each is a layer more
            driver.step(step.added, step.deleted, None, strategy("dred_c"))
        compared += compare(driver, random.Random(seed))
    assert compared > 500


SHAPES = """
    :p[?x, ?x] :- :A[?x], :p[?x, ?y], :p[?y, ?x] .   :A[?x] :- :p[?x, ?x], :A[:a] .
    :p[:a, ?y] :- :p[:b, ?y], :q[?z, ?z] .           :p[?x, :b] :- :p[?x, :a], :A[?x] .
    :A[:a] :- :p[?x, ?y], :q[?y, ?z], :p[?z, ?x] .   :q[?x, ?y] :- :p[?y, ?x], :q[:a, :b] .
    :q[?x, ?y] :- :A[?x], :A[?y], :p[?y, ?z], :q[?z, ?x] .
    :B[?x] :- :A[?x] . :C[?x] :- :B[?x] . :A[?x] :- :C[?x] . :A[?x] :- :B[?x], :C[?x] .
"""


def test_cursors__rules_of_many_shapes(limits: str) -> None:
    compared = 0
    for seed in range(12):
        rng = random.Random(seed)
        driver = Driver()
        some = [f"{rng.choice('ABC')}({rng.choice('abcd')})" for _ in range(3)]
        some += [
            f"{rng.choice('pq')}({rng.choice('abcd')}, {rng.choice('abcd')})" for _ in range(8)
        ]
        held = facts(" ".join(some))
        driver.step(held, (), program(SHAPES), strategy("dred_c"))
        compared += compare(driver, rng)
        for taken in sorted(held)[:4]:
            driver.step((), {taken}, None, strategy("bf_c"))
            held = held - {taken}
            check_state(driver, program(SHAPES), frozenset(held), f"seed {seed}")
            compared += compare(driver, rng)
    assert compared > 500


def test_cursors__families_that_they_cannot_follow_are_left_to_pieces() -> None:
    rules = """
        :A[?x] :- :p[?x, ?y], :A[?y], NOT :N[?x] .      :A[?x] :- :B[?x], FILTER(?x != :a) .
        :B[?x] :- :A[?x] .                              :B[?x] :- :w[?x, ?y, ?z], :A[?z] .
        :A[?x] :- :p[?x, ?a], :p[?a, ?b], :p[?b, ?c], :p[?c, ?d], :B[?d] .
    """
    driver = Driver("one")
    driver.step(facts("p(a, b) p(b, c) A(c) w(d, a, b)"), (), program(rules), strategy("dred_c"))
    assert driver.compiled is not None
    (stratum,) = driver.compiled.strata.values()
    made = BackwardRules(stratum.recursive)
    assert len(made.families) == 1
    assert len(made.others) == len(stratum.recursive) - 1 == 4


@pytest.mark.parametrize("name", ["bf", "bf_c", "fbf_c by share"])
def test_search_with_kernels__relations_that_are_not_read__equals_the_oracle(
    name: str, met: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cursors._Runs, "_can_read", lambda self, place: place % 2 == 0)
    check_graphs(name, range(2 * len(RULES)))
    assert met["pieces"] > 20


def test_search_with_kernels__in_files__equals_rematerialising(
    tmp_path: Path, met: Counter[str]
) -> None:
    prefix = "@prefix : <http://ex.org/> .\n"
    edges = "".join(f":n{i} :e :n{(i + step) % 40} .\n" for i in range(40) for step in (1, 3))
    rules = prefix + ":B[?y] :- :e[?x, ?y], :B[?x] . :B[?x] :- :A[?x] . :C[?x] :- :B[?x] ."
    text = prefix + edges + ":n0 a :A . :n7 a :A .\n"
    other, fewer = Store(), Store()
    other.load(text, "ttl")
    fewer.load(text.replace(":n0 a :A . ", "").replace(":n3 :e :n4 .\n", ""), "ttl")
    gone = set(other) - set(fewer)
    assert len(gone) == 2
    with Store(tmp_path / "store") as store:
        store.load(text, "ttl")
        store.reason(rules=rules, tuning={"strategy": "bf_c", "modules": "off"})
    with Store(tmp_path / "store") as store, store.transaction() as transaction:
        transaction.remove_all(gone)
    fewer.reason(rules=rules)
    with Store(tmp_path / "store") as store:
        assert set(store) == set(fewer)
    assert met["cursors"]
