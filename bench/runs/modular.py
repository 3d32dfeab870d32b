"""Our side of the experiments on modules and schemes: a store for a setting, with its memory.

Start at `Modular`. `WAYS` has the ways to evaluate rules that define a closure, with their names in
the papers. Rows are added as by a bulk load, without parsing.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.runs.maintained import Done, Maintained, _done

if TYPE_CHECKING:
    from bench.inputs.programs import Setting

RULES, MODULE, COMPRESSED, AUTO = "rules", "module", "compressed", "auto"

WAYS: Mapping[str, Mapping[str, str]] = {
    RULES: {"modules": "off", "schemes": "plain"},
    MODULE: {"modules": "on", "schemes": "plain"},
    COMPRESSED: {"modules": "on", "schemes": "compressed"},
    AUTO: {"modules": "auto", "schemes": "auto"},
}
"""Mat (Standard), Mat-Mod (TCModule), the scheme (MultiScheme), and the engine's choice."""

STRATEGY = "dred_c"
"""The papers' strategy, DRed^c: with counters of non-recursive and of recursive rule instances."""


class Modular(Maintained):
    """A store in memory with the statements of a setting, to be closed in some way."""

    def __init__(self, setting: Setting) -> None:
        from bench.reasoners.ours import state_columns, store_of_terms

        largest = max(int(setting.s.max()), int(setting.o.max()), len(setting.numbers))
        self._begin(store_of_terms(setting.program, largest), setting.program)
        state_columns(self.store, setting.s, setting.p, setting.o)

    def close(self, way: str, strategy: str = STRATEGY, seconds: float | None = None) -> Done:
        """The closure under the rules."""
        tuning = {
            **WAYS[way],
            "strategy": strategy,
            "recursive_counters": strategy == STRATEGY,
            "max_seconds": seconds,
            "max_bytes": 12 << 30,
        }
        start = time.perf_counter()
        report = self.store.reason(rules=self.program, tuning=tuning)
        return _done(report, time.perf_counter() - start)

    def static_bytes(self) -> int:
        """The bytes of rows with their counters, and of schemes with their rows."""
        info = self.store.info()
        schemes = self.store._database.state.tables.schemes
        kept = sum(one.scheme.nbytes() for one in schemes.values())
        return int(info.fact_table_bytes + info.table_bytes + kept)


def start() -> None:
    """Import everything and read the compiled kernels, so that this is not measured."""
    from bench.reasoners import REASONERS
    from bench.reasoners.runs import OURS
    from bench.shapes.papers import setting

    REASONERS[OURS].start()
    for way in WAYS:
        kept = Modular(setting("warming"))
        kept.close(way)
        rows = kept.columns()
        quads = kept.quads(column[::7] for column in rows)
        kept.remove(quads)
        kept.add(quads)


class Memory:
    """The memory that an operation takes beside the memory used before.

    Free memory is returned to the system first; otherwise its reuse would not be counted. If the
    system cannot reset the peak, the peak of the process is used.
    """

    def __init__(self) -> None:
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        reset = Path("/proc/self/clear_refs")
        if reset.exists():
            reset.write_text("5")
        self.before = _status("VmRSS")

    def peak(self) -> int:
        """The peak so far, in bytes."""
        return max(0, _status("VmHWM") - self.before)


def _status(name: str) -> int:
    path = Path("/proc/self/status")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return 0


def found(done: Done) -> dict[str, Any]:
    """The figures of an update for JSON."""
    return {
        "seconds": done.seconds,
        "commit": done.commit,
        "instances": done.derivations,
        "inferred": done.inferred,
    }
