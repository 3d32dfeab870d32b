"""Rules that are kept as text grow by what is new, and always read back as what they are."""

from __future__ import annotations

import gc
import random

import pytest

from tests.maintenance.programs import random_case
from tests.reasoning.test_reasoning import sensible
from triplestore import Store
from triplestore.datalog.check import Checked, check
from triplestore.datalog.program import Program, Rule
from triplestore.datalog.text import read
from triplestore.errors import ProgramError, UsageError
from triplestore.reasoning.program import program_text
from triplestore.reasoning.program.stored_rules import Rules, read_rules, remember, rules_of


def grown(rules: Rules, text: str) -> Rules:
    return rules.with_added(read_rules(text, {}))


def test_rules__grown_and_shrunk_at_random__read_back_as_they_are() -> None:
    for seed in range(60):
        case, rng = random_case(seed), random.Random(seed)
        if not sensible(case):
            continue
        rules, program, checked = Rules(), Program(), Checked()
        states = [state for state, _ in case.states()]
        for number, wanted in enumerate([*states, *reversed(states)]):
            more, less = wanted - program, program - wanted
            rules = rules.with_added(read_rules(more, {})).without(read_rules(less, {}))
            program = wanted
            where = f"seed {seed}, step {number}"
            assert rules.program == wanted, where
            kept = Rules(rules.data)
            assert kept.program == wanted, where
            assert list(map(str, kept.program)) == list(map(str, rules.program)), where
            assert check(rules.program, None, checked) == check(rules.program), where
            if rng.random() < 0.4:
                rules = kept


def test_rules__prefix_of_a_text_that_means_something_else_later__keep_their_terms() -> None:
    first = '@prefix : <http://a/> . :p[?x, "1"^^xsd:byte] :- :q[?x, ?y] .'
    other = "@prefix : <http://b/> . @prefix xsd: <http://mine/> . :p[?x, xsd:a] :- :q[?x, ?y] ."
    rules = grown(grown(Rules(), first), other)
    assert Rules(rules.data).program == read(first) + read(other)
    again = grown(Rules(rules.data), "@prefix xsd: <http://yet/> . xsd:c[?x] :- xsd:d[?x] .")
    assert len(Rules(again.data).program) == 3
    assert Rules(again.data).program - read(first) - read(other) == read(
        "@prefix y: <http://yet/> . y:c[?x] :- y:d[?x] ."
    )


def test_rules__only_new_ones_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = []
    write = program_text.write

    def noting(program: Program) -> str:
        printed.extend(program.rules)
        return write(program)

    monkeypatch.setattr(program_text, "write", noting)
    rules = grown(Rules(), "<http://a>[?x] :- <http://b>[?x] .")
    rules = grown(Rules(rules.data), "<http://c>[?x] :- <http://b>[?x] .")
    rules = grown(rules, "<http://d>[?x] :- <http://b>[?x] .")
    assert len(printed) == len(rules) == 3


def test_rules__long_rule_and_names_and_messages__stand_in_several_lines() -> None:
    body = ", ".join(f"<http://example.org/a{n}>[?x, ?y{n}]" for n in range(9))
    text = (
        f'rule "a\\n b" <http://c>[?x] :- {body} .\n'
        f'constraint "c" "line\\n  and line" :- {body} .\n'
        "<http://d>[?x] :- <http://c>[?x] ."
    )
    rules = grown(Rules(), text)
    kept = Rules(rules.data).program
    assert kept == read(text)
    assert kept.rules[0].name == "a\n b"
    assert grown(Rules(rules.data), text).program == read(text)


def test_rules__made_in_python_and_not_readable__are_refused_when_they_come() -> None:
    program = read("<http://a>[?x] :- <http://b>[?x] .")
    odd = Program([Rule(rule.heads, rule.body, "odd") for rule in program], prefixes={"a b": "u:"})
    assert Rules(Rules.of(odd).data).program == odd
    with pytest.raises(UsageError, match="cannot be written"):
        Rules.of(Program([Rule((), rule.body) for rule in program]))


def test_rules_of__what_was_committed__is_the_same_object() -> None:
    rules = grown(Rules(), "<http://a>[?x] :- <http://remembered>[?x] .")
    assert remember(rules) is rules
    assert rules_of({"program": bytes(rules.data)}) is rules
    for number in range(20):
        remember(grown(Rules(), f"<http://a>[?x] :- <http://b{number}>[?x] ."))
    assert rules_of({"program": rules.data}) is not rules


def test_rules_given__collector_is_as_it_was(store_of_rules: Store) -> None:
    assert gc.isenabled()
    with pytest.raises(ProgramError):
        store_of_rules.reason(rules="<http://a>[?x] :- <http://b>[?y] .")
    assert gc.isenabled()
    gc.disable()
    try:
        store_of_rules.reason(rules="<http://a>[?x] :- <http://c>[?x] .")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.fixture
def store_of_rules() -> Store:
    store = Store()
    store.reason(rules="<http://a>[?x] :- <http://b>[?x] .")
    return store
