"""Compiled programs: all rules but a few are what they are when they are compiled by themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.maintenance.programs import random_case
from triplestore.datalog.program import TYPE, Constant, Program, Rule, TripleAtom, Variable
from triplestore.errors import ProgramError
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.strata import Strata
from triplestore.terms import Dictionary


def compiled(program: Program) -> Compiled:
    dictionary = Dictionary()
    return Compiled(program, lambda keys: dictionary.encode_keys(list(keys)))


def contents(strata: Strata) -> tuple[Any, Any]:
    """Families and hierarchies, in the order of their rules, as comparable values."""
    families = [
        (f.stratum, f.recursive, f.head, f.body, f.nots, f.computations, f.summary, f.rules,
         None if f.table is None else (f.table.variables, [c.tolist() for c in f.table.columns]))
        for f in strata.families
    ]  # fmt: skip
    hierarchies = [
        (n, h.ids.tolist(), h.starts.tolist(), h.heads.tolist(), sorted(h.rules))
        for n, h in sorted(strata.hierarchies.items())
    ]
    return sorted(families, key=lambda family: family[7]), hierarchies


def taxonomy(levels: int, width: int) -> Program:
    x = Variable("x")

    def class_(level: int, number: int) -> TripleAtom:
        return TripleAtom(x, TYPE, Constant.iri(f"http://e/C{level}_{number % width}"))

    return Program(
        Rule((class_(level + 1, number + step),), (class_(level, number),))
        for level in range(levels)
        for number in range(width)
        for step in (0, 1)
    )


def check_without(made: Compiled, left: Sequence[int]) -> None:
    some = made.strata_of(left)
    assert contents(some) == contents(made._strata_of(sorted(left)))
    numbers = [family.number for family in some.families]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("part", range(3))
def test_strata_of__all_rules_but_a_few__is_as_if_compiled_alone(part: int) -> None:
    for seed in range(part * 40, part * 40 + 40):
        rng = random.Random(seed)
        try:
            made = compiled(random_case(seed).program)
        except ProgramError:
            continue
        every = range(len(made.rules))
        for few in (0, 1, 2, 3):
            check_without(made, rng.sample(every, max(0, len(every) - few)))


def test_strata_of__hierarchy_without_some_rules__has_the_others() -> None:
    made = compiled(taxonomy(6, 5))
    assert made.strata.hierarchies
    assert not made.strata.families
    every = range(len(made.rules))
    check_without(made, every)
    check_without(made, every[1:])
    check_without(made, [i for i in every if i % 3])
    assert made.strata_of(every).hierarchies == made.strata.hierarchies  # the same objects
