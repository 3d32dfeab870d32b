"""`bench cold`: programs in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.harness import MeasurementError
from bench.workloads.cold import ASK_TEN, OURS, TASKS, TEN, fresh, measure


def test_fresh__runs_a_program_with_names() -> None:
    found = fresh(sys.executable, "print(name * 2)", {"name": "x"})
    assert found.printed == "xx"
    assert found.cpu > 0


def test_fresh__refuses_a_program_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MeasurementError, match="this program failed"):
        fresh(sys.executable, "raise ValueError('wrong')", {})
    assert "wrong" in capfd.readouterr().err


@pytest.mark.parametrize("task", ["ten", "reason"])
def test_tasks__give_the_same_answers(task: str, tmp_path: Path) -> None:
    file = tmp_path / "ten.ttl"
    file.write_text(TEN)
    found = measure(TASKS[task], sys.executable, {"ten": str(file), "query": ASK_TEN}, 1)
    assert OURS in found
    assert len({result.printed for result in found.values()}) == 1
    assert found[OURS].printed == ("1" if task == "ten" else "3")
