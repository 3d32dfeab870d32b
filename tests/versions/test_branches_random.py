"""Branches over random schedules are like copies of their store, whatever happens beside them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed, seeds

from tests.versions.copies import (
    CLASSES,
    GRAPHS,
    NODES,
    PREFIX,
    PROPERTIES,
    RULES,
    SAME_AS,
    SCHEMA,
    TYPE,
    Copy,
    content_of,
    has_conflict,
    made_anew,
)
from triplestore import Store, errors
from triplestore.store.faces.branch import Branch

STEPS = 14


def some_quad(rng: Random) -> ox.Quad:
    graph = rng.choice([*GRAPHS]) if rng.random() < 0.25 else ox.DefaultGraph()
    kind = rng.random()
    if kind < 0.15 and graph == ox.DefaultGraph():
        return rng.choice(SCHEMA)
    if kind < 0.35:
        return ox.Quad(rng.choice(NODES), TYPE, rng.choice(CLASSES), graph)
    object = rng.choice(NODES) if rng.random() < 0.8 else ox.Literal(rng.randrange(40))
    return ox.Quad(rng.choice(NODES), rng.choice(PROPERTIES), object, graph)


def write(rng: Random, target: Store | Branch, copy: Copy) -> None:
    """One random commit of a store or a branch, and of its copy."""
    kind = rng.choices(
        ["add", "remove", "update", "load", "rule", "no rule", "regime", "graph", "clear"],
        [6, 5, 3, 3, 2, 1.5, 1.5, 1.5, 0.2],
    )[0]
    if kind in ("add", "load"):
        quads = [some_quad(rng) for _ in range(rng.choice([1, 1, 3]))]
        if copy.equality and rng.random() < 0.3:
            quads.append(ox.Quad(rng.choice(NODES), SAME_AS, rng.choice(NODES)))
        copy.add(quads)
        if kind == "add":
            target.extend(quads)
        else:
            target.load("".join(f"{quad} .\n" for quad in quads), "nq")
    elif kind == "remove" and copy.quads:
        gone = rng.sample(sorted(copy.quads, key=str), min(len(copy.quads), rng.choice([1, 1, 4])))
        copy.quads -= set(gone)
        target.remove_all(gone)
    elif kind == "update":
        one, other = rng.sample(PROPERTIES, 2)
        plain = ox.DefaultGraph()
        moved = {q for q in copy.quads if q.predicate == one and q.graph_name == plain}
        with target.transaction() as t:
            t.remove_all(moved)
            t.extend(ox.Quad(q.subject, other, q.object, plain) for q in moved)
        copy.quads -= moved
        copy.add(ox.Quad(q.subject, other, q.object, plain) for q in moved)
    elif kind == "rule":
        rule = rng.choice(RULES)
        copy.rules = tuple(dict.fromkeys([*copy.rules, rule]))
        target.add_rules(PREFIX + rule)
    elif kind == "no rule" and copy.rules:
        rule = rng.choice(copy.rules)
        copy.rules = tuple(each for each in copy.rules if each != rule)
        target.remove_rules(PREFIX + rule)
    elif kind == "regime":
        if copy.regimes and rng.random() < 0.5:
            target.reason("none")
            copy.rules, copy.regimes = (), frozenset()
        else:
            target.reason(copy.regime, equality=copy.equality)
            copy.regimes |= {copy.regime}
    elif kind == "graph":
        graph = rng.choice(GRAPHS)
        if rng.random() < 0.5:
            target.remove_graph(graph)
            copy.remove_graph(graph)
        else:
            target.add_graph(graph)
            copy.graphs.add(graph)
    elif kind == "clear":
        target.clear()
        copy.quads, copy.graphs = set(), set()


class Beside:
    """A branch, its copy, and that of the state on which it is based."""

    def __init__(self, branch: Branch, base: Copy) -> None:
        self.branch = branch
        self.base = base.copy()
        self.copy = base.copy()


def check_difference(beside: Beside, store: Store) -> None:
    """The difference is that of the contents, in both directions."""
    ours, theirs = content_of(beside.branch), content_of(store)
    found = beside.branch.diff(store)
    assert set(found.added) == ours.asserted - theirs.asserted
    assert set(found.removed) == theirs.asserted - ours.asserted
    assert set(found.still_entailed) == theirs.asserted & ours.inferred
    held, holds = theirs.asserted | theirs.inferred, ours.asserted | ours.inferred
    assert set(found.inferred_added) == ours.inferred - held
    assert set(found.inferred_removed) == theirs.inferred - holds
    new = set(ours.violations) - set(theirs.violations)
    assert sorted(map(str, found.new_violations)) == sorted(new)
    ended = set(theirs.violations) - set(ours.violations)
    assert sorted(map(str, found.ended_violations)) == sorted(ended)
    rows = {tuple(map(str, row))[1:] for row in found.rows_added}
    assert rows == ours.rows - theirs.rows


def finish(rng: Random, beside: Beside, store: Store, copy: Copy) -> Copy:
    """Commit or discard a branch; the copy of the store then."""
    if rng.random() < 0.25:
        beside.branch.close()
        return copy
    unmoved = not beside.branch.is_stale
    conflict = None if unmoved else has_conflict(beside.base, beside.copy, copy)
    rebase = rng.random() < 0.4
    before, number = content_of(beside.branch), store.commit
    try:
        beside.branch.commit(rebase=rebase)
    except errors.ConflictError:
        assert not unmoved
        assert not rebase
        assert conflict is not False
        assert store.commit == number
        assert content_of(beside.branch) == before
        return copy
    assert rebase or unmoved or not conflict
    assert store.commit <= number + 1
    return beside.copy if unmoved else made_anew(beside.base, beside.copy, copy)


def run(seed: int, path: Path | None = None, copy: Copy | None = None) -> None:
    rng = Random(seed)
    store, copy = Store(path), copy or Copy()
    if rng.random() < 0.4:
        store.reason(tuning={"schemes": "compressed"})
    for _ in range(rng.choice([0, 3, 6])):
        write(rng, store, copy)
    branches: list[Beside] = []
    for _ in range(STEPS):
        kind = rng.random()
        if kind < 0.15 or not branches:
            branches.append(Beside(store.branch(), copy))
        elif kind < 0.5:
            beside = rng.choice(branches)
            write(rng, beside.branch, beside.copy)
            assert content_of(beside.branch) == beside.copy.content()
        elif kind < 0.72:
            write(rng, store, copy)
        elif kind < 0.78:
            check_difference(rng.choice(branches), store)
        elif kind < 0.83:
            beside = rng.choice(branches)
            made = made_anew(beside.base, beside.copy, copy)
            beside.branch.rebase()
            beside.base, beside.copy = copy.copy(), made
            assert content_of(beside.branch) == made.content()
        elif kind < 0.86:
            store.optimize()
        else:
            beside = branches.pop(rng.randrange(len(branches)))
            copy = finish(rng, beside, store, copy)
            assert content_of(store) == copy.content()
    for beside in branches:
        assert content_of(beside.branch) == beside.copy.content()
        check_difference(beside, store)
    assert content_of(store) == copy.content()
    assert store.audit().problems() == []
    store.close()


@each_seed(range(12))
def test_branches__are_like_copies(seed: int) -> None:
    run(seed)


def equal_individuals() -> Copy:
    return Copy(regime="owl-rl", equality="rewrite", regimes=frozenset())


def test_branches_with_representatives__are_like_copies() -> None:
    run(3, None, equal_individuals())


@pytest.mark.long
def test_branches_with_representatives__are_like_copies_over_many_schedules() -> None:
    for seed in seeds(100):
        run(seed, None, equal_individuals())


@pytest.mark.long
def test_branches__are_like_copies_over_many_schedules() -> None:
    for seed in seeds(5000):
        run(seed)
