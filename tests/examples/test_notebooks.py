"""The notebooks in `examples/` run, show what they promise, and are kept without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.html_output import read_html

from tests.examples.running import cells, run

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

SHOWN = {
    "family_tree": [
        "quads9",
        "4 solutions",
        "proof of :ancestor[:ada, :eve]",
        ":ancestor[:eve, :ada] does not hold",
        "?grandmother?child",
        "no longer inferred",
        "False",
        "loop: ",
        "inconsistency loop",
    ],
    "thesaurus": [
        "3 solutions",
        '"Holzschnitte"@de',
        "proof of skos:broaderTransitive[:woodcut, :print]",
        "no inconsistencies",
        "S14",
        "S27",
        "the store is strict",
    ],
    "ontology_with_pandas": [
        "<td>t1</td>",
        "owl-rl",
        "12 solutions",
        "proof of :Hot[:motor2]",
        ":Hot[:motor2] does not hold",
        "estimated rows",
    ],
}
"""What must be seen among the outputs of each notebook, in this order."""


def test_examples__are_the_notebooks_that_are_tested() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook__is_kept_without_outputs(path: Path) -> None:
    document = json.loads(path.read_text())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert cells(path)[0].source.startswith("# ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook__runs_and_shows_what_it_promises(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    seen = ""
    for _, output in run(path):
        if output is None:
            continue
        if type(output.value).__module__.startswith("triplestore."):
            assert output.html is not None, output.value
            seen += read_html(output.html).text
            assert len(repr(output.value)) < 200 or isinstance(output.value, str)
        else:
            seen += output.text
        seen += "\n" + output.printed
    place = 0
    for text in SHOWN[path.stem]:
        place = seen.find(text, place)
        assert place >= 0, f"{text!r} is not among the outputs (in this order)"
    assert list(tmp_path.iterdir()) == []
