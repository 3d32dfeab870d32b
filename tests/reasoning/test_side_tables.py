"""Recursive counters and traces of a store: right for its last commit, used, dropped in time."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.programs import random_case
from tests.reasoning.reasoned import check, check_tables, is_rdf, text_of
from tests.reasoning.test_reasoning import sensible, write
from triplestore import Change, NamedNode, Quad, Store
from triplestore.datalog.program import Program
from triplestore.errors import BudgetError, UsageError

PREFIX = "@prefix : <http://e/> .\n"
REACH = PREFIX + ":T[?x, ?y] :- :p[?x, ?y] . :T[?x, ?z] :- :T[?x, ?y], :p[?y, ?z] ."
COUNTERS = {"recursive_counters": True, "strategy": "dred_c"}
COUNTING = {"strategy": "counting"}


def edge(pair: str, name: str = "p") -> Quad:
    return Quad(*(NamedNode(f"http://e/{part}") for part in (pair[0], name, pair[1])))


def edges(*pairs: str) -> list[Quad]:
    return [edge(pair) for pair in pairs]


def reaching(tuning: dict[str, Any], path: Path | None = None) -> Store:
    """A cycle of four with a way across, closed."""
    store = Store() if path is None else Store(path, durability="flush")
    store.extend(edges("ab", "bc", "cd", "da", "ac"))
    store.reason(rules=REACH, tuning={"modules": "off", **tuning})
    return store


def derivations(store: Store, *taken: str, added: tuple[str, ...] = ()) -> dict[str, int]:
    """Take edges away, and bring others; the rule instances that this looked at."""
    with store.transaction() as t:
        t.remove_all(edges(*taken))
        t.extend(edges(*added))
        report = t.report
    assert report is not None
    return dict(report.derivations)


# -- along schedules ------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["dred_c", "fbf_c", "counting", "auto"])
def test_tables__along_random_schedules_are_those_made_from_the_start(strategy: str) -> None:
    compared = [0, 0]
    for seed in range(40, 60):
        case, rng = random_case(seed), random.Random(seed)
        if not sensible(case):
            continue
        store = Store()
        explicit = {fact for fact in case.facts if is_rdf(fact)}
        store.load(text_of(explicit), "nt")
        tuning = {"strategy": strategy, "recursive_counters": True, "traces": True}
        store.reason(rules=case.program, tuning=tuning)
        program = case.program
        for number, step in enumerate(case.steps):
            where = f"seed {seed} after step {number}"
            rules_too = number % 3 == 2  # else traces would hardly live
            with store.transaction() as t:
                additions = sorted(fact for fact in step.additions if is_rdf(fact))
                deletions = sorted(fact for fact in step.deletions if is_rdf(fact))
                write(t, rng, additions, deletions)
                if rules_too:
                    t.remove_rules(step.removed)
                    t.add_rules(step.added)
                    program = program - step.removed + step.added
            explicit = (explicit - set(deletions)) | set(additions)
            if rng.random() < 0.3:
                with pytest.raises(ZeroDivisionError), store.transaction() as t:
                    write(t, rng, deletions, additions)
                    len(t)
                    raise ZeroDivisionError
            check(store, program, explicit, where)
            counters, traces = check_tables(store, where)
            compared[0] += counters
            compared[1] += traces
    if strategy != "auto":  # which may rematerialise, and then there are none
        assert compared[0] > 20
    if strategy == "counting":
        assert compared[1] > 10


@pytest.mark.parametrize("tuning", [COUNTERS, COUNTING])
def test_tables__transaction_of_several_runs__chain(tuning: dict[str, Any]) -> None:
    store = reaching(tuning)
    store.add(edge("db"))
    before = store.snapshot()
    with store.transaction() as t:
        for pair in ("ab", "cd", "ac"):
            t.remove(edge(pair))
            len(t)
        t.add(edge("ab"))
        assert len(t) < len(before)
    assert check_tables(store, "after three runs") != (False, 0)


# -- they are used --------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["dred_c", "fbf_c"])
def test_recursive_counters__rederivation_looks_at_no_instances(strategy: str) -> None:
    def phases(counters: bool) -> dict[str, int]:
        store = Store()
        # More ways than a search may look at before it is given up.
        store.extend(edges(*(x + y for x in "abcdefgh" for y in "abcdefgh" if x != y)))
        tuning = {"strategy": strategy, "recursive_counters": counters, "modules": "off"}
        store.reason(rules=REACH, tuning=tuning)
        return derivations(store, "ab", "bc", "cd", "de", "ef")

    without, given = phases(False), phases(True)
    if strategy == "dred_c":
        assert without["rederivation"] > 0
    assert given.get("rederivation", 0) == 0


def test_recursive_counters__wanted_from_the_start__are_made_on_the_way() -> None:
    assert check_tables(reaching(COUNTERS), "first materialised") == (True, 0)


def test_recursive_counters__wanted_as_rules_change__are_made_later() -> None:
    store = reaching({"strategy": "dred_c"})
    store.reason(rules=PREFIX + ":T[?y, ?x] :- :T[?x, ?y] .", tuning=COUNTERS)
    assert check_tables(store, "with other rules") == (False, 0)
    store.remove(edge("ac"))
    assert check_tables(store, "after the next update") == (True, 0)


def test_recursive_counters__opened_again__are_made_by_one_evaluation(tmp_path: Path) -> None:
    reaching(COUNTERS, tmp_path / "s").close()
    store = Store(tmp_path / "s", durability="flush")
    assert check_tables(store, "opened") == (False, 0)
    assert derivations(store, "ac").get("rederivation", 0) == 0
    assert check_tables(store, "after one update") == (True, 0)


def test_traces__of_counting__consider_just_what_differs() -> None:
    store = reaching(COUNTING)
    assert derivations(store, "ac")["trace"] == 20  # 4 x 4 facts, and 5 edges
    kept = derivations(store, added=("ac",))
    assert "trace" not in kept
    assert check_tables(store, "kept") == (False, 1)
    # Only what comes in another round, or not at all: the same, whichever way it goes.
    back = derivations(store, "ac")
    assert (kept["insertion"], kept["deletion"]) == (back["deletion"], back["insertion"])
    assert sum(back.values()) < 20


def test_traces__other_strategy_between__are_kept_where_it_did_nothing() -> None:
    store = reaching(COUNTING)
    store.remove(edge("ac"))
    store.reason(tuning={"strategy": "dred_c", "traces": True})
    store.add(edge("xy", "other"))
    assert check_tables(store, "another relation") == (False, 1)
    store.remove(edge("ab"))
    assert check_tables(store, "the same relation") == (False, 0)


# -- they go --------------------------------------------------------------------------------------


def _turn_off(store: Store) -> None:
    store.reason(tuning={"recursive_counters": False, "strategy": None, "traces": None})


def _optimize(store: Store) -> None:
    store.optimize()


def _no_rules(store: Store) -> None:
    store.reason("none")


@pytest.mark.parametrize("what", [_turn_off, _optimize, _no_rules])
@pytest.mark.parametrize("tuning", [COUNTERS, COUNTING])
def test_tables__what_makes_them_wrong__drops_them(
    what: Callable[[Store], Change | None], tuning: dict[str, Any]
) -> None:
    store = reaching(tuning)
    store.remove(edge("ac"))
    assert check_tables(store, "before") != (False, 0)
    assert store.info().table_bytes > 0
    what(store)
    assert check_tables(store, "after") == (False, 0)
    assert store.info().table_bytes == 0


@pytest.mark.parametrize("tuning", [COUNTERS, COUNTING])
def test_tables__store_that_is_cleared_and_filled_again__are_of_what_is_there(
    tuning: dict[str, Any],
) -> None:
    store = reaching(tuning)
    store.remove(edge("ac"))
    with store.transaction() as t:
        t.clear()
        t.extend(edges("ab", "bc"))
        len(t)
        t.clear()
        t.extend(edges("ab", "bc", "ca"))
    check_tables(store, "cleared")
    store.remove(edge("ab"))
    check_tables(store, "and changed")
    assert store.info().table_bytes > 0


def test_tables__store_that_is_cleared_for_other_facts__have_none_of_before() -> None:
    store = reaching({**COUNTERS, **COUNTING})
    store.remove(edge("ac"))
    assert check_tables(store, "before") == (True, 1)
    with store.transaction() as t:
        t.clear()
        t.add(edge("xy", "other"))
    check_tables(store, "cleared")
    assert store.info().table_bytes == 0


def test_tables__other_rules__counters_stay_right_and_traces_go() -> None:
    store = reaching({**COUNTERS, **COUNTING})
    store.remove(edge("ac"))
    assert check_tables(store, "before") == (True, 1)
    store.add_rules(PREFIX + ":T[?y, ?x] :- :T[?x, ?y] . :U[?x] :- :T[?x, ?x] .")
    assert check_tables(store, "more rules") == (True, 0)
    store.remove_rules(PREFIX + ":T[?y, ?x] :- :T[?x, ?y] .")
    store.remove(edge("ab"))
    assert check_tables(store, "fewer rules") == (True, 1)


@pytest.mark.parametrize("tuning", [COUNTERS, COUNTING])
def test_tables__update_or_commit_that_fails__leaves_them(
    tuning: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reaching(tuning)
    store.remove(edge("ac"))
    before = check_tables(store, "before")
    with store.transaction() as t:
        t.remove(edge("ab"))
        len(t)
        t.add(edge("dx"))
        t.add(edge("xy"))
        with pytest.raises(BudgetError):
            t.reason(rules=PREFIX + ":U[?x, ?y] :- :T[?x, ?y] .", tuning={"max_facts": 1})
    after = check_tables(store, "a run that failed")
    assert after == before
    with pytest.raises(OSError), store.transaction() as t:
        t.remove(edge("bc"))

        def refuse(*_: object, **__: object) -> None:
            raise OSError

        monkeypatch.setattr(store._database, "commit", refuse)
    monkeypatch.undo()
    assert check_tables(store, "a commit that failed") == before
    store.remove(edge("cd"))
    assert check_tables(store, "the next commit") == before


def test_tables__rows_of_graphs_and_nothing_at_all__stay() -> None:
    store = reaching({**COUNTERS, **COUNTING})
    store.remove(edge("ac"))
    store.add(Quad(*edge("ab").triple, NamedNode("http://e/g")))
    store.remove(edge("zz"))
    with store.transaction() as t:
        t.add(edge("cz"))
        len(t)
        t.remove(edge("cz"))
    assert check_tables(store, "after") == (True, 1)


def test_tables__commit_of_somebody_else__are_made_anew() -> None:
    store = reaching({**COUNTERS, **COUNTING})
    store.remove(edge("ac"))
    with store._database.writing():
        store._database.commit(meta={"other": b"1"})
    assert check_tables(store, "as in another process") == (False, 0)
    store.remove(edge("ab"))
    assert check_tables(store, "after the next update") == (True, 1)


def test_tables__no_rules_at_all__are_none() -> None:
    store = Store()
    store.reason(rules=Program(), tuning={"recursive_counters": True, "traces": True})
    store.add(edge("ab"))
    assert check_tables(store, "no rules") == (False, 0)


def test_tuning__tables__are_yes_or_no() -> None:
    with pytest.raises(UsageError, match="traces is True, False or None"):
        Store().reason(tuning={"traces": 1})
