"""The children of the workload `schemes`: closures of one graph, alone or in a store.

    structure   a scheme alone: build, look up, change, expand
    engine      a store whose rules define the closure: the same, whole commits
    clique      a scheme of one component: deletion of an edge, with and without splitting it

Always true: changes are made repeatedly on the same versions, since schemes are immutable; counting
the changed pairs is measured; for single edges every pair is listed.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bench.inputs.samples import uniform
from bench.runs.modular import Memory, Modular, start
from bench.shapes.graphs import bridge, graph
from bench.shapes.papers import PREFIX, SYMMETRIC, TRANSITIVE, Statements, assembled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from triplestore.closures.scheme import Scheme

    U64 = NDArray[np.uint64]

MOST_BYTES = 10 << 30
MOST_LISTED = 20_000_000

RULES = {
    "transitive": PREFIX + TRANSITIVE.format("p"),
    "symmetric": PREFIX + TRANSITIVE.format("p") + SYMMETRIC.format("p"),
}


def build(kind: str, edges: U64) -> Scheme:
    """The closure of some edges."""
    from triplestore.closures.kinds import SCHEMES

    return SCHEMES[kind](edges, None)


def prepared() -> None:
    """Read the kernels that schemes use, by a small one of each kind."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    edges = graph("dag-500-3000")
    for kind in RULES:
        scheme = build(kind, edges)
        lookups(scheme, edges)
        fewer, _ = change(scheme, edges[:20], edges[:0])
        single_edges(fewer, fewer.edges, 3)
        expanded(fewer)


def timed(turns: int, act: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """The minimum seconds of several turns, and the result of the last one."""
    best, found = float("inf"), None
    for _ in range(turns):
        found = None
        begin = time.perf_counter()
        found = act(*given)
        best = min(best, time.perf_counter() - begin)
    return best, found


def change(scheme: Any, removed: U64, added: U64) -> tuple[Any, int]:
    """The changed scheme, and the number of changed pairs."""
    made, difference = scheme.changed(removed, added)
    return made, difference.lost.count() + difference.gained.count()


def structure(
    name: str, kind: str, batch: int, singles: int, turns: int, expand: bool
) -> dict[str, Any]:
    """A scheme alone."""
    prepared()
    edges = graph(name)
    memory = Memory()
    cpu = time.process_time()
    seconds, scheme = timed(turns, build, kind, edges)
    cpu = (time.process_time() - cpu) / turns
    result: dict[str, Any] = {
        "edges": len(edges),
        "pairs": scheme.count(),
        "build s": seconds,
        "cpu s": cpu,
        "bytes": scheme.nbytes(),
    }
    picked = edges[uniform(len(edges), min(batch, len(edges) // 2), 1)]
    picked.sort()
    change(scheme, edges[:1], edges[:0])  # the first change makes some lists
    result["delete s"], (fewer, lost) = timed(turns, change, scheme, picked, edges[:0])
    result["insert s"], (again, gained) = timed(turns, change, fewer, edges[:0], picked)
    if not lost == gained == scheme.count() - fewer.count() or again.count() != scheme.count():
        raise AssertionError(f"{name}: {lost} pairs were lost and {gained} gained")
    result |= {"changed": lost, "peak bytes in all": memory.peak()}
    del fewer, again
    result |= single_edges(scheme, edges, singles)
    result |= lookups(scheme, edges)
    if expand:
        result["expand s"] = timed(turns, expanded, scheme)[0]
    return result


def single_edges(scheme: Any, edges: U64, singles: int) -> dict[str, Any]:
    """Medians of deleting and inserting single edges, with all pairs listed."""
    seconds: dict[str, list[float]] = {"single delete s": [], "single insert s": []}
    changed: list[int] = []
    for place in uniform(len(edges), min(singles, len(edges)), 2).tolist():
        edge = edges[place : place + 1]
        took, (fewer, pairs) = timed(1, listed, scheme, edge, edge[:0])
        seconds["single delete s"].append(took)
        took, (_, back) = timed(1, listed, fewer, edge[:0], edge)
        seconds["single insert s"].append(took)
        if pairs != back:
            raise AssertionError(f"edge {place}: {pairs} pairs were lost, {back} gained")
        changed.append(pairs)
    found: dict[str, Any] = {name: statistics.median(each) for name, each in seconds.items()}
    found |= {f"{name}, most": max(each) for name, each in seconds.items()}
    return {**found, "single changed": statistics.median(changed), "single most": max(changed)}


def listed(scheme: Any, removed: U64, added: U64) -> tuple[Any, int]:
    """The changed scheme, and its changed pairs, listed up to a maximum."""
    made, difference = scheme.changed(removed, added)
    count = 0
    for side in (difference.lost, difference.gained):
        pairs = side.count()
        count += pairs
        if pairs <= MOST_LISTED and sum(len(block) for block in side.blocks()) != pairs:
            raise AssertionError("the numbers of counted and of listed pairs differ")
    return made, count


def lookups(scheme: Any, edges: U64) -> dict[str, float]:
    """Seconds of looking things up."""
    import numpy as np

    first = (edges >> np.uint64(32)).astype(np.uint32)
    second = (edges & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    rows = uniform(len(edges), min(100_000, len(edges)), 3)
    keys = first[rows].astype(np.uint64) << np.uint64(32) | second[rows[::-1]]
    return {
        "100,000 pairs s": timed(3, scheme.contains_keys, keys)[0],
        "successors of 10 s": timed(3, scheme.match, 0, first[rows[:10]])[0],
        "predecessors of 10 s": timed(3, scheme.match, 1, second[rows[:10]])[0],
        "subjects s": timed(1, scheme.distinct, 0)[0],
    }


def expanded(scheme: Any) -> int:
    """All pairs as rows in both orders, written into arrays of that size."""
    import numpy as np

    count = scheme.count()
    for swapped in (False, True):
        rows, at = np.empty(count, np.uint64), 0
        for block in scheme.blocks(swapped=swapped):
            rows[at : at + len(block)] = block
            at += len(block)
        if at != count:
            raise AssertionError(f"{at} of {count} pairs")
    return int(count)


# --- in a store ----------------------------------------------------------------------------------


def engine(
    name: str, kind: str, way: str, batch: int, singles: int, seconds: float, turns: int
) -> dict[str, Any]:
    """A store whose rules define the closure of a property."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    start()
    made = assembled(name, RULES[kind], [Statements("p", graph(name))])
    kept = Modular(made)
    memory = Memory()
    closings = []
    for turn in range(turns):
        kept = Modular(made) if turn else kept
        cpu = time.process_time()
        closed = kept.close(way, seconds=seconds)
        closings.append((closed.commit, closed.seconds, time.process_time() - cpu))
    result: dict[str, Any] = {
        "edges": len(made),
        "close s": min(commit for commit, _, _ in closings),
        "engine s": min(engine for _, engine, _ in closings),
        "cpu s": min(cpu for _, _, cpu in closings),
        "pairs": kept.count(),
        "static bytes": kept.static_bytes(),
        "peak bytes of closing": memory.peak(),
    }
    columns = kept.columns()

    def updates(size: int, seed: int) -> tuple[Any, Any]:
        rows = uniform(len(made), min(size, len(made) // 2), seed)
        quads = kept.quads(column[rows] for column in columns)
        return kept.remove(quads), kept.add(quads)

    updates(1, 1)  # the first change makes some lists
    pairs = [updates(batch, 2) for _ in range(turns)]
    many = [updates(1, seed) for seed in range(3, 3 + singles)]
    for place, what in enumerate(("delete", "insert")):
        result[f"{what} s"] = min(pair[place].seconds for pair in pairs)
        result[f"{what} commit s"] = min(pair[place].commit for pair in pairs)
        if many:
            result[f"single {what} s"] = statistics.median(one[place].seconds for one in many)
            result[f"single {what} commit s"] = statistics.median(one[place].commit for one in many)
    if kept.count() != result["pairs"]:
        raise AssertionError(f"{name}, {way}: not as it was before")
    return {**result, "changed": pairs[0][0].inferred}


# --- one component -------------------------------------------------------------------------------


def clique(shape: str, nodes: int, edges: int, turns: int) -> dict[str, Any]:
    """One component: closed, looked up; an edge goes that splits it, and one that does not."""
    import numpy as np

    prepared()
    if shape == "tree":
        spare = np.array([1 << 32 | 2], np.uint64)  # the tree has it the other way around
        keys = np.union1d(graph(f"tree-{nodes}"), spare)
        splitting = keys[2:3]
    else:
        keys, splitting = graph(f"halves-{nodes}-{edges}"), bridge(nodes)
        spare = keys[keys != splitting[0]][:1]
    memory = Memory()
    seconds, scheme = timed(turns, build, "symmetric", keys)
    result: dict[str, Any] = {
        "edges": len(keys),
        "pairs": scheme.count(),
        "build s": seconds,
        "bytes": scheme.nbytes(),
        "peak bytes of closing": memory.peak(),
        **lookups(scheme, keys),
    }
    for what, edge in (("split", splitting), ("keep", spare)):
        took, (fewer, lost) = timed(turns, change, scheme, edge, keys[:0])
        result |= {f"{what} s": took, f"{what} lost": lost, f"{what} bytes": fewer.nbytes()}
        back, _ = timed(turns, change, fewer, keys[:0], edge)
        result[f"{what} undone s"] = back
    if result["keep lost"] != 0 or result["split lost"] == 0:
        raise AssertionError(f"{result['keep lost']} pairs lost, and {result['split lost']}")
    return {**result, "peak bytes in all": memory.peak()}


# --- Nemo ----------------------------------------------------------------------------------------

LINEAR = PREFIX + ":q[?x, ?y] :- :p[?x, ?y] .\n:q[?x, ?z] :- :p[?x, ?y], :q[?y, ?z] .\n"


def make_linear(name: str) -> str:
    """The folder of a task for reasoners: the closure of a graph by a linear rule."""
    from bench.inputs.data import FOLDER
    from bench.reasoners.task import Columns, make_task

    folder = FOLDER / "tasks" / f"closure-{name}"
    made = assembled(name, LINEAR, [Statements("p", graph(name))])
    make_task(folder, name, LINEAR, Columns(made.s, made.p, made.o, made.numbers))
    return str(folder)
