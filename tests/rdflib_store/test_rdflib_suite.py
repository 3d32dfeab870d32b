"""rdflib's own tests over our store: those that fail are listed, each with its reason.

The tests are in the source distribution of rdflib. `.ci/setup dev` unpacks the one of the installed
version into `build/`, and nothing of it is in this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

rdflib = pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

HERE = Path(__file__).resolve().parent
SUITE = HERE.parents[1] / "build" / f"rdflib-{rdflib.__version__}"
FAILURES = HERE / "rdflib_failures.tsv"

SHORT = ["test_graph", "test_conjunctivegraph", "test_dataset", "test_store", "test_namespace"]
LONG = ["test_sparql", "test_issues", "test_literal", "test_misc"]
LONG += ["test_having.py", "test_n3.py", "test_path.py", "test_skolem_genid.py", "test_trig.py"]

NETWORK = "asks a server on the internet"


def run(places: list[str], report: Path) -> dict[str, bool]:
    """Run rdflib's tests; for each that was not skipped, whether it passed."""
    if not (SUITE / "test").is_dir():
        pytest.skip(f"no source distribution of rdflib at {SUITE}: `.ci/setup dev` fetches it")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "over_ours", "-p", "no:cacheprovider"]
    command += [f"--junitxml={report}", *(f"test/{place}" for place in places)]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        command, cwd=SUITE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    found: dict[str, bool] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        if case.find("skipped") is None:
            wrong = case.find("failure") is not None or case.find("error") is not None
            found[name] = found.get(name, True) and not wrong
    return found


def reasons() -> dict[str, str]:
    """Why a test fails, by its name."""
    lines = FAILURES.read_text().splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


def check(places: list[str], tmp_path: Path) -> int:
    found = run(places, tmp_path / "report.xml")
    expected = reasons()
    failed = {name for name, passed in found.items() if not passed}
    assert failed - set(expected) == set(), "fail, and are not listed"
    passed = {name for name in set(found) - failed if expected.get(name, NETWORK) != NETWORK}
    assert passed == set(), "are listed, and pass"
    return len(found) - len(failed)


def test_rdflib__its_tests_of_graphs_and_stores(tmp_path: Path) -> None:
    assert check(SHORT, tmp_path) > 600


@pytest.mark.long
def test_rdflib__its_other_tests(tmp_path: Path) -> None:
    assert check(LONG, tmp_path) > 1000
