"""Runs one hostile case in this process and prints what became of it, as JSON.

    python -m tests.reasoning.limits.measure "numbers" '{"max_seconds": 2, "max_bytes": 200000000}'

It takes 4 GB of address space at most. Kernels are loaded before the clock starts.
`processor` beside the tuning is a number of seconds of the processor after which it is called off:
other work on the machine makes those of the clock say little.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from tests.reasoning.limits.hostile import CASES, PREFIXES, Case
from tests.sparql.hostile_run import Spent, prepare_kernels
from triplestore import Store
from triplestore.errors import TripleStoreError

WARM = """rule "a" :q[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .
rule "b" :r[?x, ?z] :- :r[?x, ?y], :r[?y, ?z] . rule "c" :s[?x, ?m] :- :p[?x, ?y], :p[?y, ?n],
BIND(CONCAT(STR(?n), "x") AS ?m) . rule "d" :t[?x] :- :s[?x, ?m], FILTER(STRLEN(?m) > 100) ."""


def memory(name: str) -> int:
    """A figure of this process's memory in bytes: VmRSS, VmHWM."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def warm() -> None:
    """Load kernels and modules, so that they do not count."""
    prepare_kernels()
    store = Store()
    pairs = "".join(f":n{i % 97} :p :n{i * i % 89} . :n{i % 97} :r :m{i} .\n" for i in range(3000))
    axioms = ":p a owl:TransitiveProperty . :r rdfs:subPropertyOf :p . :x owl:sameAs :y .\n"
    store.load(PREFIXES + pairs + axioms, "turtle")
    store.reason("owl-rl", rules=PREFIXES + WARM)


def run(case: Case, tuning: dict[str, Any]) -> dict[str, Any]:
    """What becomes of a case: how it ended, what it took, and whether the store is as before."""
    store = Store()
    store.load(PREFIXES + case.data(), "turtle")
    before = (store.commit, len(store), store.count("inferred"))
    spent = Spent(tuning.pop("processor", None))
    Path("/proc/self/clear_refs").write_text("5")
    resident = memory("VmRSS")
    wall, cpu = time.monotonic(), time.process_time()
    found: dict[str, Any] = {"ended": "done", "message": ""}
    try:
        report = store.reason(
            *([case.regime] if case.regime else []),
            rules=PREFIXES + case.rules if case.rules else None,
            equality=case.equality if case.regime else None,
            tuning=tuning,
            cancel=spent.is_set,
        )
        found["reported"] = round(report.seconds, 3)
        found["inferred"] = store.count("inferred")
    except TripleStoreError as error:
        found = {"ended": type(error).__name__, "message": str(error)}
    found["cpu"] = round(time.process_time() - cpu, 3)
    found["wall"] = round(time.monotonic() - wall, 3)
    found["megabytes"] = round((memory("VmHWM") - resident) / 1e6)
    if found["ended"] != "done":
        found["unchanged"] = before == (store.commit, len(store), store.count("inferred"))
        found["usable"] = _is_usable(store)
    return found


def _is_usable(store: Store) -> bool:
    """Whether the store goes on: it reasons, and takes it back."""
    size = len(store)
    store.load(PREFIXES + ":usable1 :p9 :usable2 . :usable2 :p9 :usable3 .", "turtle")
    rules = PREFIXES + ":p9[?x, ?z] :- :p9[?x, ?y], :p9[?y, ?z] ."
    return store.reason(rules=rules).inferred_added == 1 and len(store) == size + 3


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    warm()
    sys.stdout.write(json.dumps(run(CASES[sys.argv[1]], json.loads(sys.argv[2]))) + "\n")
