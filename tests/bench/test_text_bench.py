"""The bench of text search: its labels, and answers that agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workloads.text import (
    filters,
    measure_commits,
    measure_filters,
    measure_regex,
    measure_search,
    questions,
    write_labels,
)

pytest.importorskip("tantivy")


def test_measures__agree_on_few_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.nt"
    write_labels(path, 600)
    assert len(path.read_text().splitlines()) == 600
    asked = {"path": str(path), "folder": str(tmp_path)}
    ours = measure_search(**asked)["found"]
    assert ours.keys() == questions().keys()
    for peer in ("triplestore", "pyoxigraph"):
        found = measure_regex(peer, **asked)["found"]
        assert {name: hits for name, (hits, _) in found.items()} == {
            name: ours[name][0] for name in found
        }
    without, having = measure_filters(**asked)["found"]
    assert without.keys() == filters().keys()
    assert [hits for hits, _ in without.values()] == [hits for hits, _ in having.values()]
    assert measure_commits(True, True, 3, str(tmp_path))["each"] > 0
