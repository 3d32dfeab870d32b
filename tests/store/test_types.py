"""The types of the public interface, as mypy sees them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_types__of_the_public_interface() -> None:
    calls = Path(__file__).with_name("typed_calls.py")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(calls)], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
