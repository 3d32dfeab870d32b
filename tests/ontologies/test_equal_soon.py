"""Whether equality is foreseen, and that it makes no difference but in the work."""

from __future__ import annotations

import pytest

from tests.ontologies.reading import HEADER, read
from triplestore import Store
from triplestore.reasoning.equality.forecast import will_equate
from triplestore.reasoning.program import in_force

CASES = {
    "two values": (":p a owl:FunctionalProperty . :a :p :b , :c .", True),
    "one value each": (":p a owl:FunctionalProperty . :a :p :b . :d :p :b .", False),
    "a value twice": (":p a owl:InverseFunctionalProperty . :a :p :c . :b :p :c .", True),
    "a literal twice": (":p a owl:InverseFunctionalProperty . :a :p 1 . :b :p 1 .", True),
    "two literals": (":p a owl:FunctionalProperty . :a :p 1 , 2 .", False),
    "a literal and a thing": (":p a owl:FunctionalProperty . :a :p 1 , :b .", False),
    "of a sub-property": (
        ":p a owl:FunctionalProperty . :q rdfs:subPropertyOf :p . :a :p :b ; :q :c .",
        True,
    ),
    "not functional": (":a :p :b , :c .", False),
    "without facts": (":p a owl:FunctionalProperty .", False),
}


@pytest.mark.parametrize("name", CASES)
def test_will_equate__as_the_closure_has_it(name: str) -> None:
    text, expected = CASES[name]
    store = Store()
    store.load(HEADER + text, "turtle")
    state = store._database.state
    assert will_equate(read(text), state.tables, state.dictionary) is expected
    store.reason("owl-rl")
    found = store.query("ASK { ?x owl:sameAs ?y }")
    assert found is (expected or name == "a literal and a thing")


@pytest.mark.parametrize("answer", [True, False])
def test_reason__is_the_same_whatever_is_foreseen(
    answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_force, "will_equate", lambda *_: answer)
    for text, _ in CASES.values():
        store = Store()
        store.load(HEADER + text, "turtle")
        store.reason("owl-rl")
        expected = Store()
        expected.reason("owl-rl")
        expected.load(HEADER + text, "turtle")
        assert set(store) == set(expected)
        assert store.program == expected.program
