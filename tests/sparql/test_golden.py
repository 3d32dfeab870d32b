"""Golden cases of the rewrites: `golden/NAME.rq`, and beside it what is expected.

    NAME.algebra  what is parsed, and what it becomes by each pass that changes it
    NAME.answers  its answers over `golden/data.ttl`, sorted

A case needs no Python. `python -m tests.sparql.test_golden` writes what is expected anew; look at
the difference before you commit it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sparql.algebra_text import algebra_text
from triplestore import Store
from triplestore.sparql.plan.planner import ALL_OFF
from triplestore.sparql.rewrites import PASSES, rewrite
from triplestore.sparql.syntax.parser import parse_query
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query as ask

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(FOLDER.glob("*.rq"))


def algebra(case: Path) -> str:
    """The algebra as it is parsed, and after each pass that changes it."""
    query = parse_query(case.read_text())
    found, before = [], ""
    for number, name in enumerate(["parse", *(one.rewrite.__name__ for one in PASSES)]):
        text = algebra_text(rewrite(query.pattern, PASSES[:number]), query.prefixes)
        if text != before:
            found.append(f"== {name}\n{text}")
        before = text
    return "\n".join(found)


def answers(case: Path, *, optimised: bool) -> str:
    """The variables, and the solutions in the order of their texts."""
    store = Store()
    store.load(path=FOLDER / "data.ttl")
    if "text:query" in case.read_text():
        pytest.importorskip("tantivy")
        store.index_text(languages=[])
    options = QueryOptions(planning=None if optimised else ALL_OFF)
    lines = ask(store._view(), case.read_text(), options).serialize(format="tsv").decode()
    head, *rows = lines.splitlines()
    return "\n".join([head, *sorted(rows)]) + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_rewrites__each_pass_gives_the_algebra_that_is_expected(case: Path) -> None:
    assert algebra(case) == case.with_suffix(".algebra").read_text()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_rewrites__answers_are_the_same_with_and_without(case: Path) -> None:
    expected = case.with_suffix(".answers").read_text()
    assert answers(case, optimised=True) == expected
    assert answers(case, optimised=False) == expected


def test_rewrites__each_pass_changes_a_case() -> None:
    every = "".join(map(algebra, CASES))
    assert [p.rewrite.__name__ for p in PASSES if f"== {p.rewrite.__name__}\n" not in every] == []


if __name__ == "__main__":
    for one in CASES:
        one.with_suffix(".algebra").write_text(algebra(one))
        one.with_suffix(".answers").write_text(answers(one, optimised=False))
