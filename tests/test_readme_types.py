"""The Python examples of the README pass strict type checking."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = [REPOSITORY / "README.md"]


def code_of(document: Path) -> str:
    """The Python examples of a document as one module; values that only doctests name go unused."""
    blocks = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)
    examples = [one for block in blocks for one in doctest.DocTestParser().get_examples(block)]
    return "".join(re.sub("^_ = ", "", one.source) for one in examples)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_examples__pass_strict_type_checking(document: Path, tmp_path: Path) -> None:
    module = tmp_path / "examples.py"
    module.write_text(code_of(document))
    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(module)], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
