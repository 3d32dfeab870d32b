"""The 14 queries of LUBM over LUBM(1) under OWL 2 RL: as many answers as their makers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from triplestore import Store

ANSWERS = [4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916]


@pytest.fixture(scope="module")
def store(shared_data: Path) -> Iterator[Store]:
    with Store() as store:
        store.load(path=shared_data / "lubm" / "univ-bench.owl")
        store.load(path=shared_data / "lubm" / "lubm1" / "lubm1.nt.gz")
        store.reason("owl-rl")
        yield store


@pytest.mark.parametrize("number", range(1, len(ANSWERS) + 1))
def test_query__has_so_many_answers(store: Store, shared_data: Path, number: int) -> None:
    text = (shared_data / "lubm" / "lubm.sparql").read_text()
    _, *parts = re.split(r"\^\[query\d+\]", text)
    assert len(list(store.query(parts[number - 1]))) == ANSWERS[number - 1]
