"""Closures that are not written out: a store shows no difference, whatever is done with it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.engine.closures import closure_case
from tests.store.test_reasoning import bounds, random_tuning, run_case
from triplestore.engine.sets import differences

__all__ = ["bounds"]

CASES = 20


def tuning(rng: random.Random) -> dict[str, Any]:
    """Closures as rows, compressed, or by rules alone; in turn, and each differently."""
    schemes = rng.choice(
        ["plain", "compressed", "compressed", {"http://e/p": "plain", "": "compressed"}]
    )
    return {
        **random_tuning(rng),
        "modules": rng.choice(["auto", "on", "on", "off"]),
        "schemes": schemes,
    }


@pytest.mark.parametrize("part", range(4))
def test_store__with_closures_equals_the_oracle(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "LARGE", (0, 2, 1 << 21)[part % 3])
    for seed in range(part * CASES, (part + 1) * CASES):
        run_case(seed, None, closure_case, tuning)


def test_durable_store__with_closures_equals_the_oracle(tmp_path: Path) -> None:
    for seed in range(500, 500 + CASES):
        run_case(seed, tmp_path / str(seed), closure_case, tuning)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_store__with_many_closures_equals_the_oracle(part: int, tmp_path: Path) -> None:
    for seed in range(1000 + part * 200, 1200 + part * 200):
        run_case(seed, tmp_path / str(seed) if seed % 3 == 0 else None, closure_case, tuning)
