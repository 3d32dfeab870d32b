"""The children of the workload `modules`: a setting is closed in one way, then updated.

Start at `measure`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bench.inputs.samples import uniform
from bench.runs.modular import STRATEGY, Memory, Modular, found, start
from bench.shapes.papers import setting
from triplestore.errors import TripleStoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    U32 = NDArray[np.uint32]
    Columns = tuple[U32, U32, U32]

MOST_BYTES = 14 << 30
LARGE = 30.0
"""Maximum seconds of a large deletion, beside the others."""


def measure(
    data: str, way: str, samples: int, facts: int, share: float, seconds: float
) -> dict[str, Any]:
    """Close, delete and assert some facts several times, then delete a share of all facts.

    A small update has `facts` facts, at most a hundredth of all. Ends after the given seconds with
    the results so far; "at least" is the time of the unfinished part until then.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    start()
    kept = Modular(setting(data))
    end = time.perf_counter() + seconds
    stated, memory = kept.count(), Memory()
    try:
        closed = kept.close(way, seconds=seconds)
    except TripleStoreError as error:
        return {"way": way, "stated": stated, "close s": seconds, "late": str(error)[:100]}
    result: dict[str, Any] = {
        "way": way,
        "stated": stated,
        "facts": kept.count(),
        "close s": closed.commit,
        "engine s": closed.seconds,
        "instances": closed.derivations,
        "closing peak bytes": memory.peak(),
        "static bytes": kept.static_bytes(),
        "delete": [],
        "add": [],
    }
    parts: list[tuple[str, Callable[[], None]]] = [
        ("delete", lambda: _small(kept, result, samples, min(facts, stated // 100), end)),
        ("large", lambda: _large(kept, result, share, end)),
    ]
    for part, act in parts:
        begin = time.perf_counter()
        try:
            act()
        except TripleStoreError as error:
            result["late"] = str(error)[:100]
            result.setdefault("at least", {})[part] = time.perf_counter() - begin
    return result


def _small(kept: Modular, result: dict[str, Any], samples: int, facts: int, end: float) -> None:
    columns = kept.columns()
    before = kept.count()
    for seed in range(-1, samples):  # the first one warms up
        if time.perf_counter() > end and result["delete"]:
            return
        _limit(kept, end)
        quads = _quads(kept, columns, max(1, facts), seed + 1)
        pair = found(kept.remove(quads)), found(kept.add(quads))
        if kept.count() != before:
            raise AssertionError(f"{result['way']}, sample {seed}: not as it was before")
        if seed >= 0:
            result["delete"].append(pair[0])
            result["add"].append(pair[1])


def _large(kept: Modular, result: dict[str, Any], share: float, end: float) -> None:
    columns = kept.columns()
    _limit(kept, end + LARGE)
    quads = _quads(kept, columns, int(share * len(columns[0])), 99)
    result["large"] = found(kept.remove(quads))
    result["left"] = kept.count()


def _limit(kept: Modular, end: float) -> None:
    left = max(5.0, end - time.perf_counter())
    kept.store.reason(tuning={"strategy": STRATEGY, "max_seconds": left})


def _quads(kept: Modular, columns: Columns, size: int, seed: int) -> list[Any]:
    rows = uniform(len(columns[0]), size, seed)
    return kept.quads(column[rows] for column in columns)


LOOKUPS = 300


def queries(data: str, way: str, relation: str) -> dict[str, Any]:
    """Seconds of look-ups in a relation, read to the last row of ids."""
    import numpy as np

    from triplestore import NamedNode

    start()
    kept = Modular(setting(data))
    kept.close(way)
    store, p = kept.store, NamedNode("http://example.org/" + relation)
    s, _, o = kept.columns()
    seconds: dict[str, tuple[float, int]] = {}

    def timed(name: str, asked: list[tuple[Any, Any]]) -> None:
        best, rows = float("inf"), 0
        for _ in range(3):
            begin = time.perf_counter()
            rows = sum(
                len(block.subject)
                for one, other in asked
                for block in store.rows_for_pattern(one, p, other)
            )
            best = min(best, time.perf_counter() - begin)
        seconds[name] = best, rows

    chosen = uniform(len(s), LOOKUPS, 7)
    subjects = store.terms(s[chosen])
    objects = store.terms(np.ascontiguousarray(o[chosen]))
    timed("all pairs", [(None, None)])
    timed(f"{LOOKUPS} subjects", [(one, None) for one in subjects])
    timed(f"{LOOKUPS} objects", [(None, one) for one in objects])
    timed(f"{LOOKUPS} pairs", list(zip(subjects, reversed(objects), strict=True)))
    count = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        (row,) = store.query(f"SELECT (COUNT(*) AS ?n) {{ ?x {p} ?y }}")
        count = min(count, time.perf_counter() - begin)
    seconds["COUNT in SPARQL"] = count, int(row["n"].value)
    return {"way": way, "seconds": seconds}
