"""The W3C's tests of the CSV, TSV and JSON formats: what is written is what they expect."""

from __future__ import annotations

import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from triplestore import Store
from triplestore.sparql.results.read import ReadSolutions, read_results

CASES = {
    "csv01": ("csvtsv01.rq", "data.ttl", "csvtsv01.csv"),
    "csv02": ("csvtsv02.rq", "data.ttl", "csvtsv02.csv"),
    "csv03": ("csvtsv01.rq", "data2.ttl", "csvtsv03.csv"),
    "tsv01": ("csvtsv01.rq", "data.ttl", "csvtsv01.tsv"),
    "tsv02": ("csvtsv02.rq", "data.ttl", "csvtsv02.tsv"),
    "tsv03": ("csvtsv01.rq", "data2.ttl", "csvtsv03.tsv"),
    **{f"jsonres0{n}": (f"jsonres0{n}.rq", "data.ttl", f"jsonres0{n}.srj") for n in range(1, 5)},
}
_NUMBER = re.compile(r"(?<![\w.])[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")


@pytest.mark.parametrize("name", CASES)
def test_results__are_written_as_expected(shared_data: Path, name: str) -> None:
    query, data, result = CASES[name]
    kind = "json-res" if name.startswith("json") else "csv-tsv-res"
    folder = shared_data / "w3c-rdf-tests" / "sparql" / "sparql11" / kind
    form = ox.QueryResultsFormat.from_extension(result.rpartition(".")[2])
    expected = read_results((folder / result).read_bytes(), form)
    with Store() as store:
        store.load(path=folder / data)
        found = store.query((folder / query).read_text())
        if isinstance(found, bool):
            assert found is expected
            return
        written = read_results(found.serialize(format=form), form)
    assert isinstance(expected, ReadSolutions)
    assert isinstance(written, ReadSolutions)
    assert written.variables == expected.variables
    assert sorted(map(comparable, written.rows)) == sorted(map(comparable, expected.rows))


def comparable(row: tuple[object, ...]) -> list[str]:
    """A row as texts, in which blank nodes and the ways to write a number do not differ."""
    texts = []
    for term in row:
        text = "_:" if isinstance(term, ox.BlankNode) else str(term)
        text = re.sub(r'^"_:\w+"$', "_:", text)
        texts.append(_NUMBER.sub(lambda number: str(float(number[0])), text))
    return texts
