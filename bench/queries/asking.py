"""The children of the workload `sparqloscope`: filling the templates, and asking one system.

Start at `ask_all`. Times are CPU milliseconds of the process, all threads together. A text is asked
for the first time (*first*: what the system makes on demand is in it), then as texts that it never
saw (*unseen*: with other names of variables, so that neither a plan nor an answer that is kept by
text helps), then again and again (*seen*).
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from bench.queries.bibliography import lines
from bench.queries.engines import QueryEngine, engine_of
from bench.queries.sparqloscope import Rows, filled

GRAPH, QUERIES = "graph.nt", "queries.json"
FEW, MANY = 3, 25
WARM_UP = "SELECT (COUNT(*) AS ?n) { ?x a ?y ; ?p ?z }"  # imports, and kernels read from the disk


def prepare(size: int, folder: str) -> dict[str, Any]:
    """Write the graph and its queries into a folder; the placeholders are asked of ours."""
    from triplestore import Store

    path = Path(folder) / GRAPH
    with path.open("w") as file:
        file.writelines(lines(size))
    store = Store()
    store.load(path=str(path), format="nt")

    def ask(text: str) -> Rows:
        result: Any = store.query(text)
        if isinstance(result, bool):
            return [], [[str(result).lower()]]
        rows = [["UNDEF" if term is None else str(term) for term in row] for row in result]
        return list(result.variables), rows

    made = [(one.name, one.group, one.text) for one in filled(ask)]
    (Path(folder) / QUERIES).write_text(json.dumps(made))
    return {"triples": len(store), "queries": len(made)}


def ask_all(
    name: str,
    folder: str,
    seconds: float,
    limit: float,
    only: str = "",
    endpoint: str = "",
    process: int = 0,
) -> dict[str, Any]:
    """Ask one system every query: CPU milliseconds, and the answer.

    `seconds` is the time for each way of asking a query, `limit` the most for a query. `only` is
    part of a name.
    """
    engine, begin = engine_of(name, endpoint, process), time.process_time()
    engine.load(Path(folder) / GRAPH)
    engine.ask(WARM_UP)
    found: dict[str, Any] = {"load cpu s": time.process_time() - begin}
    asked: dict[str, Any] = {}
    for query, _, text in json.loads((Path(folder) / QUERIES).read_text()):
        if only in query:
            asked[query] = _asked(engine, text, seconds, limit)
    return {**found, "queries": asked}


def _asked(engine: QueryEngine, text: str, seconds: float, limit: float) -> dict[str, Any]:
    def act() -> dict[str, Any]:
        try:
            return measured(engine, text, seconds)
        except Exception as error:  # noqa: BLE001 - systems raise anything; the report has it
            return {"error": f"{type(error).__name__}: {error}"[:200]}

    return in_a_copy(act, limit) if engine.forks else act()


def measured(engine: QueryEngine, text: str, seconds: float) -> dict[str, Any]:
    """The times of one text in each way, and its answer."""
    names = count(1)

    def unseen() -> float:
        renamed = re.sub(r"\?(\w+)", rf"?\1q{next(names)}", text)
        return _took(engine, f"PREFIX n{next(names)}: <http://n.example/>\n{renamed}")

    first = unseen()
    times = {"first": first, "unseen": _least(unseen, seconds, first)}
    times["seen"] = _least(lambda: _took(engine, text), seconds, first)
    return {**times, "answer": engine.answer(text)}


def _took(engine: QueryEngine, text: str) -> float:
    begin = engine.cpu()
    engine.ask(text)
    return (engine.cpu() - begin) * 1e3


def _least(act: Callable[[], float], seconds: float, first: float) -> float:
    """The least of several runs; of one, if the first took long."""
    begin, least, turns = time.perf_counter(), float("inf"), 0
    few = FEW if first / 1e3 < seconds else 1
    while turns < MANY and (turns < few or time.perf_counter() - begin < seconds):
        least, turns = min(least, act()), turns + 1
    return least


def in_a_copy(act: Callable[[], dict[str, Any]], limit: float) -> dict[str, Any]:
    """What `act` gives in a copy of this process, which is killed after `limit` seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, json.dumps(act()).encode())
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], limit)
    if not ready:
        os.kill(child, signal.SIGKILL)
    text = os.read(reader, 65536) if ready else b""
    os.close(reader)
    os.waitpid(child, 0)
    if not text:
        return {"error": f"over {limit:g} s" if not ready else "the process ended"}
    answer: dict[str, Any] = json.loads(text)
    return answer
