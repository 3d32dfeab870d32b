"""Classical programs of the benches have the results of a plain evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.inputs import classical
from bench.reasoners import OURS
from bench.reasoners.program import Clause
from bench.reasoners.task import Task
from bench.workloads import programs

SMALL: dict[str, dict[str, int]] = {
    "reach": {"nodes": 12},
    "generation": {"nodes": 25},
    "andersen": {"variables": 30},
    "aliases": {"variables": 12},
    "triangles": {"edges": 60, "hubs": 2},
    "diamonds": {"edges": 40},
    "star": {"members": 9, "values": 2},
    "fields": {"size": 60},
    "completion": {"classes": 40},
    "history": {"versions": 60},
}


def plain(clauses: list[Clause], held: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """Everything that follows, by trying all facts for all atoms again and again."""
    while True:
        found = set(held)
        for clause in clauses:
            rows: list[dict[str, int]] = [{}]
            for pattern in clause.body:
                facts = [f[1:] for f in held if f[0] == pattern.relation.name]
                terms = [str(term) for term in pattern.terms]  # all are variables
                rows = [
                    {**row, **dict(zip(terms, fact, strict=True))}
                    for row in rows
                    for fact in facts
                    if all(row.get(t, v) == v for t, v in zip(terms, fact, strict=True))
                    and len(set(zip(terms, fact, strict=True))) == len(set(terms))
                ]
            head = clause.head
            found |= {(head.relation.name, *(row[str(t)] for t in head.terms)) for row in rows}
        if found == held:
            return held
        held = found


def stated(task: Task) -> set[tuple[Any, ...]]:
    return {
        (relation.name, *map(int, line.split(",")))
        for relation in task.rows
        for line in task.csv(relation).read_text().split()
    }


def test_small__names_all_programs() -> None:
    assert SMALL.keys() == classical.CLASSICAL.keys()


@pytest.mark.parametrize("name", SMALL)
def test_closures__are_those_of_a_plain_evaluation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "TASKS", tmp_path)
    task = programs.task_of(getattr(classical, name)(**SMALL[name]))
    session = OURS.open(task)
    session.parse()
    session.load()
    session.reason()
    expected = plain(task.clauses(), stated(task))
    assert session.contents() == expected
    assert len(expected) > task.facts
    again = programs.task_of(getattr(classical, name)(**SMALL[name]))
    assert again.folder == task.folder


def test_tasks__of_other_data_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "TASKS", tmp_path)
    one, other = (programs.task_of(classical.reach(nodes)) for nodes in (10, 11))
    assert one.folder != other.folder
