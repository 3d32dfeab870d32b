"""Documents of results that attack: each ends in results or a clear error."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from support import fuzzing

from tests.loaders.hostile import Worker, mutated
from tests.loaders.hostile_worker import RESULTS
from tests.sparql.hostile_results import ATTACKS
from triplestore.errors import CancelledError, ParseError
from triplestore.operators.context import Context, running
from triplestore.sparql.results.formats import results_format
from triplestore.sparql.results.read import ReadSolutions, read_results
from triplestore.sparql.results.write import write_rows
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.guards.document_limits import MOST_NESTED

Form = ox.QueryResultsFormat
MEMORY = 1 << 30
SECONDS = 30


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    made = Worker(tmp_path_factory.mktemp("hostile"), MEMORY, SECONDS)
    yield made
    made.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_attack__ends_in_results_or_an_error(worker: Worker, name: str) -> None:
    ending, document = ATTACKS[name]
    told = worker.load(document(90), ending, False)
    assert told.startswith(("loaded", "refused ParseError")), told
    told = worker.load(document(100_000), ending, False)
    assert told.startswith("refused ParseError"), told


@pytest.fixture(scope="module")
def corpus(shared_data: Path) -> dict[str, list[bytes]]:
    """Documents of the suites by ending, and small forms of the attacks."""
    found: dict[str, list[bytes]] = {}
    for ending in RESULTS:
        found[ending] = [
            path.read_bytes()
            for path in sorted((shared_data / "w3c-rdf-tests/sparql").rglob(f"*.{ending}"))
        ]
    for ending, document in ATTACKS.values():
        found[ending] += [document(3), document(90)]
    return found


@pytest.mark.fuzz
def test_mutated__end_in_results_or_an_error(
    worker: Worker, corpus: dict[str, list[bytes]]
) -> None:
    for seed in fuzzing.seeds(100):
        choose = random.Random(seed)
        ending = choose.choice(RESULTS)
        told = worker.load(mutated(choose, corpus[ending]), ending, False)
        assert told.startswith(("loaded", "refused")), (ending, told)


def nested(depth: int) -> ox.Triple:
    term: ox.NamedNode | ox.Triple = ox.NamedNode("a:o")
    for _ in range(depth):
        term = ox.Triple(ox.NamedNode("a:s"), ox.NamedNode("a:p"), term)
    assert isinstance(term, ox.Triple)
    return term


@pytest.mark.parametrize("form", [Form.JSON, Form.XML])
def test_triple_terms__as_deep_as_they_may_be_come_back(form: ox.QueryResultsFormat) -> None:
    written = b"".join(write_rows(["x"], [(nested(MOST_NESTED),)], form))
    assert read_results(written, form) == ReadSolutions(("x",), [(nested(MOST_NESTED),)])


def test_triple_terms__one_deeper_are_refused() -> None:
    document = ATTACKS["triple terms of XML"][1](MOST_NESTED + 1)
    with pytest.raises(ParseError, match="nested at most 100 deep"):
        read_results(document, Form.XML)


@pytest.mark.parametrize("ending", RESULTS)
def test_limits__of_the_thread_hold(ending: str) -> None:
    flag = threading.Event()
    flag.set()
    form = results_format(ending)
    document = b"".join(write_rows(["x"], [(ox.Literal("a"),)], form))
    with running(Context(cancel=flag)), pytest.raises(CancelledError):
        read_results(document, form)


def test_unbound__many_in_a_small_document_are_refused(tune: Callable[..., None]) -> None:
    tune(SPARQL, unbound_cells=1_000)
    names = [f"x{number}" for number in range(100)]
    few, many = ([(None,) * 100] * rows for rows in (10, 1_000))
    document = b"".join(write_rows(names, few, Form.JSON))
    assert read_results(document, Form.JSON) == ReadSolutions(tuple(names), few)
    with pytest.raises(ParseError, match="rows of 100 variables"):
        read_results(b"".join(write_rows(names, many, Form.JSON)), Form.JSON)
    tsv = b"".join(write_rows(names, many, Form.TSV))
    assert read_results(tsv, Form.TSV) == ReadSolutions(tuple(names), many)
