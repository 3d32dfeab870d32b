"""Our side of the experiments on maintenance: the only file that calls the store.

Start at `Maintained`. Always true: `seconds` are those that the engine reports; `commit` is the
wall time of the whole transaction in memory, with the look-up of terms and the writing of rows;
`processor` is the CPU time of the engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bench.inputs.datasets import Dataset
    from triplestore import Store
    from triplestore.datalog.program import Program

    U32 = NDArray[np.uint32]

REMATERIALISE, AUTO = "rematerialise", "auto"
INCREMENTAL = ("counting", "dred", "bf", "fbf", "dred_c", "bf_c", "fbf_c")
STRATEGIES = (REMATERIALISE, *INCREMENTAL, AUTO)


@dataclass(frozen=True)
class Done:
    """The times and counts of one update."""

    seconds: float
    commit: float
    instances: dict[str, int]
    fetched: int
    rounds: int
    strategies: list[str]
    inferred: int
    processor: float = 0.0

    @property
    def derivations(self) -> int:
        """Rule instances considered in all phases."""
        return sum(self.instances.values())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Maintained:
    """A store in memory that is loaded, closed under rules, and then updated."""

    def __init__(self, data: Dataset) -> None:
        from triplestore import Store

        self._begin(Store(), data.program())
        self.store.load(path=data.path, format=data.format)

    def _begin(self, store: Store, program: Program) -> None:
        self.store: Any = store
        self.program = program
        self.clock = _Clock()

    def reason(self, strategy: str = AUTO) -> Done:
        """Close under the rules; a strategy that needs special tables makes them now.

        Strategies are measured, so modules are off, now and in later updates.
        """
        start = time.perf_counter()
        tuning = {"strategy": strategy, "modules": "off"}
        report = self.store.reason(rules=self.program, tuning=tuning)
        return _done(report, time.perf_counter() - start)

    def use(self, strategy: str, seconds: float | None = None) -> None:
        """Use this strategy from now on, with a limit in seconds for one update."""
        self.store.reason(tuning={"strategy": strategy, "max_seconds": seconds})

    def forget(self) -> None:
        """Forget the costs of updates, as in a store that was just opened."""
        for compiled in self.clock.programs:
            compiled.costs.clear()

    def remove(self, quads: Sequence[Any]) -> Done:
        """Remove asserted facts, in one commit."""
        self.clock.spent = 0.0
        start = time.perf_counter()
        with self.store.transaction() as transaction:
            transaction.remove_all(quads)
        commit = time.perf_counter() - start  # making the report is not measured
        return _done(transaction.report, commit, self.clock.spent)

    def add(self, quads: Sequence[Any]) -> Done:
        """Assert facts, in one commit."""
        self.clock.spent = 0.0
        start = time.perf_counter()
        with self.store.transaction() as transaction:
            transaction.extend(quads)
        commit = time.perf_counter() - start
        return _done(transaction.report, commit, self.clock.spent)

    def add_rules(self, rules: Program) -> Done:
        """Add a piece of program."""
        start = time.perf_counter()
        report = self.store.add_rules(rules)
        return _done(report, time.perf_counter() - start)

    def remove_rules(self, rules: Program) -> Done:
        """Remove a piece of program."""
        start = time.perf_counter()
        report = self.store.remove_rules(rules)
        return _done(report, time.perf_counter() - start)

    def count(self, facts: str = "all") -> int:
        """The number of facts: all, explicit or inferred."""
        return int(self.store.count(facts))

    def columns(self) -> tuple[U32, U32, U32]:
        """The asserted facts as columns of ids s, p, o, in a fixed order."""
        import numpy as np

        blocks = list(self.store.rows_for_pattern(facts="explicit"))
        s, p, o = (
            np.concatenate([getattr(rows, name) for rows in blocks])
            for name in ("subject", "predicate", "object")
        )
        return s, p, o

    def quads(self, columns: Iterable[U32]) -> list[Any]:
        """The quads of some rows."""
        from triplestore import Quad

        terms = (self.store.terms(column) for column in columns)
        return [Quad(*row) for row in zip(*terms, strict=True)]


class _Clock:
    """Measures the CPU time of updates in the engine, and collects their programs."""

    def __init__(self) -> None:
        from triplestore.maintenance import update as module

        self.spent = 0.0
        self.programs: set[Any] = set()
        update = module.update

        def timed(compiled: Any, *given: Any, **named: Any) -> Any:
            started = time.process_time()
            self.programs.add(compiled)
            try:
                return update(compiled, *given, **named)
            finally:
                self.spent += time.process_time() - started

        module.update = timed


def _done(report: Any, commit: float, processor: float = 0.0) -> Done:
    if report is None:  # nothing was done
        return Done(0.0, commit, {}, 0, 0, [], 0)
    return Done(
        seconds=report.seconds,
        commit=commit,
        instances=dict(report.derivations),
        fetched=report.rows_fetched,
        rounds=report.rounds,
        strategies=sorted({stratum.strategy for stratum in report.strata}),
        inferred=report.inferred_added + report.inferred_removed,
        processor=processor,
    )
