"""Random ontologies of OWL 2 EL, changed one axiom at a time, against the oracle."""

from __future__ import annotations

import pytest

from tests.ontologies.el.checking import follow


@pytest.mark.parametrize("seed", range(8))
def test_owl_el__changed_axiom_by_axiom_is_what_the_oracle_says(seed: int) -> None:
    follow(seed, most=6)


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_owl_el__ten_thousand_ontologies_are_what_the_oracle_says(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        follow(seed)
