"""The picture of the README shows numbers of the reports."""

import json

from bench import picture


def test_panels__are_the_numbers_of_the_reports() -> None:
    load, closure, change, queries = picture.panels()
    report = json.loads((picture.RESULTS / "loading.json").read_text())
    assert load.bars["rdflib"] in [row[3] for row in report["tables"][0]["rows"]]
    assert set(closure.bars) == {"triplestore", "reasonable", "owlrl"}
    assert len(change.bars) == 3 and set(queries.bars) == {"triplestore", "pyoxigraph"}
    assert all(panel.ratio() > 1 for panel in (load, closure, change, queries))


def test_picture__shows_the_numbers_of_the_reports() -> None:
    drawn = picture.TARGET.read_text()
    for panel in picture.panels():
        for value in panel.bars.values():
            assert f"{picture.format_number(value)} {panel.unit}" in drawn
