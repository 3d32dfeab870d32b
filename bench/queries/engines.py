"""Small drivers of the systems that answer queries in the workload `sparqloscope`.

A driver loads a file of N-Triples and asks a text in the system's fastest way: columns where it has
columns, else rows that are ignored. `ENGINES` lists them; one that cannot be imported is left out
of the report. A server that runs already is asked over HTTP (`EndpointEngine`): its CPU time is
that of its process.
"""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from bench.queries.answers import Answer, answer_of

Texts = Iterable[Sequence[str | None]]


class QueryEngine(Protocol):
    """A system with the graph loaded."""

    forks: bool  # whether a copy of the process can be asked, which is killed when time is over

    def load(self, path: Path) -> None: ...

    def ask(self, text: str) -> Any:
        """Answer a text; this is what is measured."""

    def answer(self, text: str) -> Answer:
        """What it answers, to be compared."""

    def cpu(self) -> float:
        """Seconds of CPU that the system has used."""


class InProcess:
    """What systems that are libraries share."""

    forks = True

    def cpu(self) -> float:
        return time.process_time()


class OurEngine(InProcess):
    """This project, in memory, as Arrow columns."""

    forks = False  # it has a limit of time of its own

    def load(self, path: Path) -> None:
        from triplestore import Store

        self.store = Store()
        self.store.load(path=str(path), format="nt")

    def ask(self, text: str) -> Any:
        return self.store.select(text).to_arrow()

    def answer(self, text: str) -> Answer:
        result: Any = self.store.query(text)
        return answer_of(text, list(result.variables), (tuple(row) for row in result))


class OxigraphEngine(InProcess):
    """pyoxigraph in memory, where it is fastest; rows are iterated and ignored."""

    def load(self, path: Path) -> None:
        import pyoxigraph

        self.store = pyoxigraph.Store()
        self.store.bulk_load(path=str(path), format=pyoxigraph.RdfFormat.N_TRIPLES)

    def ask(self, text: str) -> Any:
        solutions: Any = self.store.query(text)
        for _ in solutions:
            pass

    def answer(self, text: str) -> Answer:
        result: Any = self.store.query(text)
        names = [variable.value for variable in result.variables]
        return answer_of(text, names, (tuple(row) for row in result))


class MaplibEngine(InProcess):
    """maplib: data frames of polars."""

    forks = False  # its threads do not live in a copy of the process

    def load(self, path: Path) -> None:
        from maplib import Model

        self.model = Model()
        self.model.read(str(path), format="ntriples")

    def ask(self, text: str) -> Any:
        return self.model.query(text)

    def answer(self, text: str) -> Answer:
        frame = self.model.query(text)
        return answer_of(text, frame.columns, frame.iter_rows(), terms=False)


class EndpointEngine:
    """A server with the graph loaded, such as Fluree, Virtuoso or Jena Fuseki."""

    forks = False

    def __init__(self, url: str, process: int) -> None:
        self.url, self.process = url, process

    def load(self, path: Path) -> None:
        pass

    def ask(self, text: str) -> bytes:
        request = urllib.request.Request(
            self.url,
            data=urllib.parse.urlencode({"query": text}).encode(),
            headers={"Accept": "application/sparql-results+json"},
        )
        with urllib.request.urlopen(request) as response:
            return bytes(response.read())

    def answer(self, text: str) -> Answer:
        found = json.loads(self.ask(text))
        names = found["head"]["vars"]
        rows = (
            tuple(_python(row[name]) if name in row else None for name in names)
            for row in found["results"]["bindings"]
        )
        return answer_of(text, names, rows, terms=False)

    def cpu(self) -> float:
        """Of all threads, by the scheduler's nanoseconds; those of ended threads are lost."""
        tasks = Path(f"/proc/{self.process}/task")
        return (
            sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9
        )


def _python(binding: dict[str, str]) -> Any:
    kind = binding.get("datatype", "").rpartition("#")[2]
    return float(binding["value"]) if kind in NUMBERS else binding["value"]


NUMBERS = ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
ENGINES: dict[str, type[Any]] = {
    "triplestore": OurEngine,
    "pyoxigraph": OxigraphEngine,
    "maplib": MaplibEngine,
}


def installed(name: str) -> bool:
    """Whether the library of an engine can be imported."""
    return find_spec(name) is not None


def engine_of(name: str, endpoint: str = "", process: int = 0) -> QueryEngine:
    """A driver by name; with an address, that of a server."""
    made: QueryEngine = EndpointEngine(endpoint, process) if endpoint else ENGINES[name]()
    return made
