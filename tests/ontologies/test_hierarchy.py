"""Reduced hierarchies have the same closure, and unfolded rules the same conclusions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triplestore.datalog.program import Constant
from triplestore.datalog.text import read
from triplestore.ontologies.translate.hierarchy import Hierarchy, packed, unpacked
from triplestore.ontologies.translate.unfold import MEMBERS, unfold

Pairs = set[tuple[int, int]]


def closed(pairs: Pairs) -> Pairs:
    found = set(pairs)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def proper(pairs: Pairs) -> Pairs:
    return {(a, b) for a, b in pairs if a != b}


@given(st.sets(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=12))
def test_reduced__has_the_same_closure_and_nothing_to_spare(pairs: Pairs) -> None:
    every = closed(pairs)
    least = set(unpacked(Hierarchy(packed(every)).reduced()))
    assert proper(closed(least)) == proper(every)
    for pair in least:
        assert proper(closed(least - {pair})) != proper(every)


def test_unfold__keeps_a_class_that_is_in_its_own_definition() -> None:
    program = read("PREFIX : <http://e/> :n[?y] :- :n[?x], :p[?x, ?y] . :c[?x] :- :n[?x] .")
    made, _ = unfold(program.rules, (), {Constant.iri("http://e/n")})
    member = MEMBERS.key[1:].decode()
    hidden = f"<{member}>[<http://e/n>, ?{{0}}, ?{{0}}]"  # rows of its members, not types
    assert [str(rule) for rule in made] == [
        f"{hidden.format('y')} :- {hidden.format('x')}, <http://e/p>[?x, ?y] .",
        f"<http://e/c>[?x] :- {hidden.format('x')} .",
    ]


def test_unfold__joins_names_and_drops_what_says_nothing() -> None:
    program = read(
        """PREFIX : <http://e/> rule "one" :n[?x] :- :a[?x], :b[?x] .
        rule "two" :c[?x] :- :n[?x] . rule "three" :a[?x] :- :n[?x] ."""
    )
    made, _ = unfold(program.rules, (), {Constant.iri("http://e/n")})
    assert [rule.name for rule in made] == ["two, one"]
