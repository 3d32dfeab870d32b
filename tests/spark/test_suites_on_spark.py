"""The W3C suites of all formats: one job over all files, and every document cut everywhere."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.loaders.test_suites import ENTRIES
from tests.spark.parsing_helpers import faults_of, loaded_rows, parsed
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.statements import read_statements
from triplestore.loaders.spark.importing.turtle_cuts import cuts_of

pytestmark = pytest.mark.skipif(
    not ENTRIES, reason="no W3C suites: set TRIPLESTORE_DATA to the folder with w3c-rdf-tests"
)
BASE = "http://example.org/base/"
FORMATS = {".nt", ".nq", ".ttl", ".trig", ".rdf"}


def actions(positive: bool) -> list[Path]:
    """The documents of all tests, each once."""
    found = {entry.action for entry in ENTRIES if entry.positive == positive}
    return sorted(path for path in found if path.suffix in FORMATS)


def test_suites__one_job_gives_what_the_local_loader_gives(spark: Any, tmp_path: Path) -> None:
    good, bad = actions(True), actions(False)
    # By their folders, which hold more than the tests name; the rows are all of it.
    folders = sorted({path.parent for path in [*good, *bad]})
    tops = [f for f in folders if not any(o != f and f.is_relative_to(o) for o in folders)]
    wanted, loaded = loaded_rows(tops, lenient=True, base_iri=BASE)
    options = SourceOptions(lenient=True, base_iri=BASE)
    planned = read_statements(spark, [str(top) for top in tops], options)
    found = planned.stored(str(tmp_path / "work"))
    assert [file.name for file in found.files] == [report.name for report in loaded.files]
    rows = Counter(
        tuple(None if cell is None else bytes(cell) for cell in row) for row in found.rows.collect()
    )
    assert rows == Counter(wanted)
    errors = Counter(row.file for row in found.errors.select("file").collect())
    assert errors == Counter({report.name: report.bad for report in loaded.files if report.bad})
    assert all(errors[str(path)] for path in bad)
    assert not [path for path in good if errors[str(path)]]
    assert found.prefixes() == loaded.prefixes


@pytest.mark.parametrize("suffix", [".ttl", ".trig"])
def test_suites__cut_between_all_statements(suffix: str) -> None:
    chosen = [path for path in actions(True) if path.suffix == suffix]
    assert len(chosen) > 150
    cut = 0
    for path in chosen:
        cuts = list(cuts_of(io.BytesIO(path.read_bytes()), suffix == ".trig", 1, BASE))
        cut += len(cuts) > 2
        whole, _ = parsed([path], SourceOptions(base_iri=BASE))
        rows, notes = parsed([path], SourceOptions(base_iri=BASE), {1: cuts})
        reasons = [fault[3] for fault in faults_of(notes)]
        if not reasons:
            assert Counter(rows) == Counter(whole), path
        else:  # noticed, so that it is read again uncut
            assert all("cut as if" in reason for reason in reasons), (path, reasons)
    assert cut > len(chosen) / 3
