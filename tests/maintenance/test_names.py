"""One spelling for each algorithm, the old ones as aliases, and one text over two sets of steps."""

from __future__ import annotations

import pytest

from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.reference.steps import CountedSearch, CountedSteps, SetSearch, SetSteps
from triplestore import Store
from triplestore.errors import UsageError
from triplestore.maintenance.report import Report
from triplestore.maintenance.search.kernel_search import KernelSearch
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps import protocol
from triplestore.maintenance.steps.stratum import StratumUpdate
from triplestore.maintenance.strategies import ALIASES, STRATEGIES, strategy

REACH = ":B[?y] :- :T[?x, ?y], :B[?x] ."


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies__are_called_what_they_are_asked_for_by(name: str) -> None:
    assert strategy(name).name == name


@pytest.mark.parametrize(("old", "name"), ALIASES.items())
def test_strategies__old_names__go_on_working(old: str, name: str) -> None:
    assert strategy(old).name == name
    store = Store()
    report = store.reason(rules=f"PREFIX : <http://e/> {REACH}", tuning={"strategy": old})
    assert report.strategy == name


def test_strategies__an_unknown_name__is_refused_as_it_was_written() -> None:
    with pytest.raises(UsageError, match="strategy 'dred-c'"):
        Store().reason(rules=REACH, tuning={"strategy": "dred-c"})


@pytest.mark.parametrize("name", ["dred", "dred_c", "bf", "bf_c", "fbf", "fbf_c", "counting"])
def test_reports__name_the_algorithm_of_a_stratum(name: str) -> None:
    driver = Driver()
    driver.step(facts("T(a, b) B(a)"), (), program(REACH), strategy(name))
    closure = driver.step((), facts("B(a)"), None, strategy(name))
    text = str(Report(strata=closure.strata))
    assert f"{name}: 0 facts new, 2 gone" in text


def members(of: type) -> set[str]:
    """The functions of a protocol."""
    return {name for one in of.__mro__ for name in vars(one) if not name.startswith("_")}


@pytest.mark.parametrize("made", [StratumUpdate, SetSteps, CountedSteps])
def test_steps__are_all_there_in_both_implementations(made: type) -> None:
    assert members(protocol.Steps) <= set(dir(made))


@pytest.mark.parametrize("made", [BackwardSearch, KernelSearch, SetSearch, CountedSearch])
def test_searches__are_all_there_in_both_implementations(made: type) -> None:
    assert members(protocol.ProofSearch) <= set(dir(made))
