"""`triplestore warm-up`; that it compiles is said by `tests/kernels/test_jit.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from triplestore.cli import main
from triplestore.kernels import warm_up


def test_warm_up__says_how_many_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []

    def compile_all(processes: int | None) -> Iterator[str]:
        asked.append(processes)
        yield from warm_up.our_kernels()

    monkeypatch.setattr(warm_up, "compile_all", compile_all)
    done = CliRunner().invoke(main, ["warm-up", "--processes", "3"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{len(warm_up.our_kernels())} kernels in ")
    assert "compiling" in done.stderr
    assert asked == [3]
    quiet = CliRunner().invoke(main, ["warm-up", "--quiet"])
    assert (quiet.exit_code, quiet.stderr) == (0, "")
