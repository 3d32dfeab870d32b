"""The page's own tests of its logic, which run in Node: `npm test` in `ui/`."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from ui.browser import REPOSITORY, build

FOLDER = REPOSITORY / "ui"
VITEST = FOLDER / "node_modules" / "vitest" / "vitest.mjs"


def test_logic__vitest_passes() -> None:
    build()
    path = os.pathsep.join([str(REPOSITORY / ".venv" / "bin"), os.environ["PATH"]])
    node = shutil.which("node", path=path)
    if node is None or not VITEST.is_file():
        pytest.skip("needs Node 20.19 or later, and `make ui`")
    done = subprocess.run(
        [node, VITEST, "run", "--no-color"], cwd=FOLDER, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
