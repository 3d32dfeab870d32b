"""The facts that hold, on Spark: a few tables, cut by the hash of the fact.

Start reading at `Facts`. A row is `k` (arity), `c0` (name), `c1`, `c2`, ... (arguments; 0 where the
arity is less) and `r`, the round in which it came; what is stated came in round 0. What is always
true: no fact is in two rows; each table (a *run*) is cut into the same number of buckets by the
hash of the whole fact. So candidates are cut once, by the aggregation that makes them distinct, and
what is known is read where it lies: no row of it is shuffled to see what is new (see `explain`).
Only runs that are small all together are written again with each round, as one: a rule that looks
at all facts reads each run, and a run of a hundred rows costs as many tasks as one of a million.

Runs are Parquet files under the work directory. So a round depends on files, not on rounds before
it, and an executor that is lost takes nothing with it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.shapes import TRIPLE

Frame: TypeAlias = Any
"""A DataFrame of Spark."""

MOST_COUNTED = 500_000
"""So many relations and classes are counted; what is beyond is taken to be as small as can be."""


@dataclass(slots=True)
class Statistics:
    """How many facts there are, by relation and by class.

    whole  whether everything was counted
    """

    relations: dict[tuple[int, int], int] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)
    total: int = 0
    whole: bool = True

    def add(self, other: Statistics) -> None:
        """Count those, too."""
        for relation, count in other.relations.items():
            self.relations[relation] = self.relations.get(relation, 0) + count
        for class_, count in other.classes.items():
            self.classes[class_] = self.classes.get(class_, 0) + count
        self.total += other.total
        self.whole = self.whole and other.whole


class Run(NamedTuple):
    """A table of facts.

    level  0 for what is stated
    """

    name: str
    level: int
    rows: int


class Facts:
    """What holds so far, by rounds.

    width  the greatest arity
    now    the last round
    fresh  what came in it
    known  what came in all
    runs   the tables they are in
    """

    def __init__(
        self, spark: Any, work: str, width: int, type_id: int, parts: int, options: Options
    ) -> None:
        self.spark, self.width, self.type_id = spark, max(width, TRIPLE), type_id
        self.now = 0
        self.fresh, self.known = Statistics(), Statistics()
        self._work, self._parts, self._options = work.rstrip("/"), parts, options
        self.runs: list[Run] = []
        self._last = ""
        self._name = f"closure_{uuid.uuid4().hex}"
        self._made = 0
        self._saved: set[str] = set()

    @property
    def columns(self) -> list[str]:
        """The columns of a fact."""
        return ["k", *(f"c{i}" for i in range(self.width + 1))]

    def flat_triples(self, triples: Frame) -> Frame:
        """Rows s, p, o as facts."""
        rest = [f"0L AS c{i}" for i in range(TRIPLE + 1, self.width + 1)]
        return triples.selectExpr(f"{TRIPLE} AS k", "p AS c0", "s AS c1", "o AS c2", *rest)

    def flat_rows(self, rows: Iterable[Sequence[int]]) -> Frame:
        """Facts given one by one, as (arity, name, arguments)."""
        full = [(*row, *[0] * (self.width + 2 - len(row))) for row in rows]
        return local_frame(self.spark, self.columns, full, ints=("k",))

    def start(self, stated: Frame) -> None:
        """Begin with what is stated, which is distinct."""
        self._last = self._save(stated.selectExpr(*self.columns, "0 AS r"))
        self._count()
        self.runs.append(Run(self._last, 0, self.fresh.total))

    def every(self) -> Frame:
        """All facts."""
        return _union(map(self._table, self._names()))

    def last(self) -> Frame:
        """The facts of the last round."""
        return self._table(self._last).where(f"r = {self.now}")

    def new_among(self, candidates: Frame) -> Frame:
        """The candidates that are not known, each once."""
        new = candidates.select(*self.columns).dropDuplicates()
        if str(self._parts) != self.spark.conf.get("spark.sql.shuffle.partitions"):
            new = new.repartition(self._parts, *self.columns)  # as the runs are cut
        for name in self._names():
            new = new.join(self._table(name), self.columns, "left_anti")
        return new

    def add(self, candidates: Frame) -> int:
        """Make a round of the candidates that are not known; how many there were."""
        before, small = self._last, self._small()
        self.now += 1
        rows = self.new_among(candidates).selectExpr(*self.columns, f"{self.now} AS r")
        if small:
            rows = _union([rows, *(self._table(run.name) for run in small)])
            rows = rows.repartition(self._parts, *self.columns)
        self._last = self._save(rows)
        self._count()
        if not self.fresh.total:
            self._forget(self._last)
            self.now -= 1
            self._last = before
            return 0
        made = Run(self._last, 1, self.fresh.total + sum(run.rows for run in small))
        self.runs = [*(run for run in self.runs if run not in small), made]
        for run in small:
            self._forget(run.name)
        if len(self.runs) > self._options.most_runs + 1:
            self._merge()
        return self.fresh.total

    def _small(self) -> list[Run]:
        """The runs that are written again with the next: the smallest, as far as they go."""
        found, rows = list[Run](), 0
        for run in sorted(self.runs, key=lambda one: one.rows):
            rows += run.rows
            if rows <= self._options.small_rows:
                found.append(run)
        return found

    def _names(self) -> list[str]:
        return [run.name for run in self.runs]

    def _table(self, name: str) -> Frame:
        return self.spark.table(name)

    def _save(self, rows: Frame) -> str:
        self._made += 1
        name = f"{self._name}_{self._made}"
        (
            rows.write.format("parquet")
            .bucketBy(self._parts, *self.columns)
            .sortBy(*self.columns)
            .option("path", f"{self._work}/facts-{self._made}-{self._name[-8:]}")
            .mode("overwrite")
            .saveAsTable(name)
        )
        self._saved.add(name)
        return name

    def _count(self) -> None:
        self.fresh = self._counted(self.last())
        self.known.add(self.fresh)

    def _counted(self, rows: Frame) -> Statistics:
        class_ = f"IF(k = {TRIPLE} AND c0 = {self.type_id}, c2, 0L) AS class"
        groups = rows.selectExpr("k", "c0", class_).groupBy("k", "c0", "class").count()
        found = Statistics()
        listed = groups.limit(MOST_COUNTED + 1).collect()
        if len(listed) > MOST_COUNTED:
            listed.pop()
            found.whole = False
        for k, name, class_id, count in listed:
            found.relations[k, name] = found.relations.get((k, name), 0) + count
            found.total += count
            if class_id:
                found.classes[class_id] = count
        return found

    def _merge(self) -> None:
        """Join the runs of rounds to one; what is stated stays by itself."""
        old = [run for run in self.runs if run.level]
        rows = _union(self._table(run.name) for run in old)
        self._last = self._save(rows.repartition(self._parts, *self.columns))
        merged = Run(self._last, 1, sum(run.rows for run in old))
        self.runs = [*(run for run in self.runs if not run.level), merged]
        for run in old:
            self._forget(run.name)

    def _forget(self, name: str) -> None:
        self._saved.discard(name)
        self.spark.sql(f"DROP TABLE IF EXISTS {name}")

    def close(self) -> None:
        """Take the tables out of Spark's catalogue; their files stay in the work directory."""
        for name in sorted(self._saved):
            self._forget(name)


def _union(frames: Iterable[Frame]) -> Frame:
    return reduce(lambda one, other: one.unionAll(other), frames)


def local_frame(spark: Any, names: Sequence[str], rows: Any, ints: Sequence[str] = ()) -> Frame:
    """Rows of numbers that the driver has, as a frame: longs, but for the columns in `ints`."""
    import numpy as np
    import pyarrow as pa

    columns = np.array(rows, np.int64).reshape(len(rows), len(names)).T
    arrays = [
        pa.array(column, pa.int32() if name in ints else pa.int64())
        for name, column in zip(names, columns, strict=True)
    ]
    return from_arrow(spark, pa.table(arrays, list(names)))


def from_arrow(spark: Any, table: Any) -> Frame:
    """An Arrow table as a frame; Spark 3.5 takes it by way of pandas."""
    if int(spark.version.split(".")[0]) >= 4:
        return spark.createDataFrame(table)
    if not table.num_rows:
        from pyspark.sql.pandas.types import from_arrow_schema

        return spark.createDataFrame([], from_arrow_schema(table.schema))
    return spark.createDataFrame(table.to_pandas())


def to_arrow(rows: Frame) -> Any:
    """What the driver takes of a frame, as an Arrow table; Spark 3.5 gives it by way of pandas."""
    if hasattr(rows, "toArrow"):
        return rows.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    found = rows.toPandas()
    return pa.Table.from_pandas(found, to_arrow_schema(rows.schema), preserve_index=False)
