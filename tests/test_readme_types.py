"""The Python examples of README, documentation and notebooks pass strict type checking."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

from tests.examples.running import cells

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    REPOSITORY / "README.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
    *sorted((REPOSITORY / "examples").glob("*.ipynb")),
]


def code_of(document: Path) -> str:
    """The Python examples of a document as one module; values that only doctests name go unused."""
    if document.suffix == ".ipynb":
        return "\n".join(cell.source for cell in cells(document) if cell.kind == "code") + "\n"
    blocks = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)
    examples = [one for block in blocks for one in doctest.DocTestParser().get_examples(block)]
    return "".join(re.sub("^_ = ", "", one.source) for one in examples)


def test_examples__pass_strict_type_checking(tmp_path: Path) -> None:
    modules = []
    for number, document in enumerate(DOCUMENTS):
        modules.append(tmp_path / f"{document.stem.replace('-', '_').lower()}_{number}.py")
        modules[-1].write_text(code_of(document))
    mypy = [sys.executable, "-m", "mypy", *map(str, modules)]
    run = subprocess.run(mypy, cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
