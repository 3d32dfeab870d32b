"""The known facts on Spark: a few tables, bucketed by the hash of the fact.

Start reading at `Facts`. A row is `k` (arity), `c0` (name), `c1`, `c2`, ... (arguments; 0 beyond
the arity) and `r`, the round that added it; asserted facts have round 0. Always true: no fact is in
two rows; each table (a *run*) has the same number of buckets by the hash of the whole fact. So
candidates are shuffled once, by the aggregation that makes them distinct, and known facts are read
without a shuffle (see `explain`). Small runs are merged with each round: a rule that reads all
facts reads each run, and a run of a hundred rows takes as many tasks as one of a million.

Runs are Parquet files under the work directory. So a round depends on files, not on earlier rounds,
and nothing is lost with an executor. The driver holds up to `held_rows` facts (`driver_rows`)
instead of tables.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from triplestore.data_classes import data_class
from triplestore.loaders.spark.closure.driver_rows import I64, ONE_TASK, Held, groups_of
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.shapes import TRIPLE
from triplestore.loaders.spark.session import settings
from triplestore.loaders.spark.thresholds import SPARK

Frame: TypeAlias = Any
"""A DataFrame of Spark."""


@data_class(frozen=False)
class Statistics:
    """Numbers of facts by relation and by class.

    whole  whether all relations and classes were counted
    """

    relations: dict[tuple[int, int], int] = field(default_factory=dict)
    classes: dict[int, int] = field(default_factory=dict)
    total: int = 0
    whole: bool = True

    def add(self, other: Statistics) -> None:
        """Add other counts."""
        for relation, count in other.relations.items():
            self.relations[relation] = self.relations.get(relation, 0) + count
        for class_, count in other.classes.items():
            self.classes[class_] = self.classes.get(class_, 0) + count
        self.total += other.total
        self.whole = self.whole and other.whole


class FactTable(NamedTuple):
    """A table of facts.

    level  0 for asserted facts
    """

    name: str
    level: int
    rows: int


class Facts:
    """The facts known so far, by rounds.

    width  the greatest arity
    now    the last round
    fresh  counts of the facts of the last round
    known  counts of all facts
    runs   the tables of facts
    """

    def __init__(
        self, spark: Any, work: str, width: int, type_id: int, most_parts: int, options: Options
    ) -> None:
        self.spark, self.width, self.type_id = spark, max(width, TRIPLE), type_id
        self.now = 0
        self.fresh, self.known = Statistics(), Statistics()
        self._work, self._options = work.rstrip("/"), options
        self._parts, self._most_parts = options.partitions or most_parts, most_parts
        self._held: Held | None = None
        self._held_frame: Frame = None
        self.runs: list[FactTable] = []
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

    @property
    def single(self) -> bool:
        """Whether all frames of facts are one partition, so that joins need not move them."""
        return self._held is not None

    def start(self, asserted: Frame) -> None:
        """Begin with the asserted facts, which are distinct."""
        rows = self._few(asserted.select(*self.columns))
        if rows is not None:
            self._held = Held(np.zeros((0, len(self.columns) + 1), np.int64))
            self._hold(rows)
            return
        self._parts = self._parts_for(asserted.count())
        self._last = self._save(asserted.selectExpr(*self.columns, "0 AS r"))
        self._count()
        self.runs.append(FactTable(self._last, 0, self.fresh.total))

    def every(self) -> Frame:
        """All facts."""
        if self.single:
            return self._held_frame
        return union(map(self._table, self._names()))

    def last(self) -> Frame:
        """The facts of the last round."""
        rows = self._held_frame if self.single else self._table(self._last)
        return rows.where(f"r = {self.now}")

    def beside(self, frame: Frame) -> Frame:
        """The right side of a join by columns, with the hint not to move single parts."""
        return frame.hint("shuffle_hash") if self.single else frame

    def gathered(self, rows: Frame) -> Frame:
        """Rows of the size of the facts; collected by the driver if it holds the facts."""
        if not self.single:
            return rows
        with settings(self.spark, ONE_TASK):
            return from_arrow(self.spark, to_arrow(rows))

    def new_among(self, candidates: Frame) -> Frame:
        """The unknown candidates, each once; bucketed as the runs are."""
        new = candidates.select(*self.columns).dropDuplicates()
        for name in self._names():
            new = new.join(self._table(name), self.columns, "left_anti")
        return new

    def add(self, candidates: Frame) -> int:
        """Add the new candidates as a round; returns their number."""
        if self._held is not None:
            rows = self._few(candidates.select(*self.columns).dropDuplicates())
            if rows is not None:
                new = self._held.new_among(rows)
                if len(new) + len(self._held) <= self._options.held_rows:
                    return self._hold(new)
            self._spill()
        before, small = self._last, self._small()
        self.now += 1
        rows = self.new_among(candidates).selectExpr(*self.columns, f"{self.now} AS r")
        if small:
            rows = union([rows, *(self._table(run.name) for run in small)])
            rows = rows.repartition(self._parts, *self.columns)
        self._last = self._save(rows)
        self._count()
        if not self.fresh.total:
            self._forget(self._last)
            self.now -= 1
            self._last = before
            return 0
        made = FactTable(self._last, 1, self.fresh.total + sum(run.rows for run in small))
        self.runs = [*(run for run in self.runs if run not in small), made]
        for run in small:
            self._forget(run.name)
        if self.known.total > SPARK.recut_factor * SPARK.part_rows * self._parts and self._recut():
            return self.fresh.total
        if len(self.runs) > self._options.most_runs + 1:
            self._merge()
        return self.fresh.total

    # -- few facts -------------------------------------------------------------------------------

    def _few(self, rows: Frame) -> I64 | None:
        """Rows fetched to the driver; None if there are too many."""
        most = self._options.held_rows
        if not most:
            return None
        with settings(self.spark, ONE_TASK):
            found = to_arrow(rows.limit(most + 1))
        if found.num_rows > most:
            return None
        columns = [found.column(name).to_numpy().astype(np.int64) for name in self.columns]
        return np.stack(columns, axis=1)

    def _hold(self, rows: I64) -> int:
        """Hold new rows as a round, or as the first rows; returns their number."""
        assert self._held is not None
        if len(rows) or not self.runs:
            self.now += bool(self.runs)
            self._held.add(rows, self.now)
            names = [*self.columns, "r"]
            every = local_frame(self.spark, names, self._held.rows, ints=("k", "r"))
            self._held_frame = every.coalesce(1)
            groups, counts = groups_of(rows, self.type_id, TRIPLE)
            self.fresh = _statistics((*group, n) for group, n in zip(groups, counts, strict=True))
            self.known.add(self.fresh)
            self.runs = [FactTable("", 0, len(self._held))]
        return len(rows)

    def _spill(self) -> None:
        """Write the held facts to a table, because there are too many."""
        assert self._held is not None
        rows, self._held, self.runs = self._held_frame, None, []
        self._parts = self._parts_for(self.known.total)
        self._last = self._save(rows.repartition(self._parts, *self.columns))
        self.runs.append(FactTable(self._last, min(self.now, 1), self.known.total))
        self._held_frame = None

    # -- tables ----------------------------------------------------------------------------------

    def _parts_for(self, rows: int) -> int:
        """The number of parts for this number of facts."""
        return self._options.partitions or min(self._most_parts, 1 + rows // SPARK.part_rows)

    def _small(self) -> list[FactTable]:
        """The runs to merge with the next: the smallest, up to a total of `small_rows`."""
        found, rows = list[FactTable](), 0
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
        # Candidates are bucketed as the tables are, so the join needs no further shuffle.
        with settings(self.spark, {"spark.sql.shuffle.partitions": str(self._parts)}):
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
        most = SPARK.counted_groups
        listed = groups.limit(most + 1).collect()
        found = _statistics(listed[:most])
        found.whole = len(listed) <= most
        return found

    def _recut(self) -> bool:
        """Write all runs with more parts, if more are allowed."""
        parts = self._parts_for(self.known.total)
        if parts <= self._parts:
            return False
        old, self._parts, self.runs = self.runs, parts, []
        for level in (0, 1):
            some = [run for run in old if run.level == level]
            if not some:
                continue
            rows = union(self._table(run.name) for run in some)
            last = self._save(rows.repartition(parts, *self.columns))
            self.runs.append(FactTable(last, level, sum(run.rows for run in some)))
        self._last = last
        for run in old:
            self._forget(run.name)
        return True

    def _merge(self) -> None:
        """Merge the runs of rounds; the asserted facts keep their own."""
        old = [run for run in self.runs if run.level]
        rows = union(self._table(run.name) for run in old)
        self._last = self._save(rows.repartition(self._parts, *self.columns))
        merged = FactTable(self._last, 1, sum(run.rows for run in old))
        self.runs = [*(run for run in self.runs if not run.level), merged]
        for run in old:
            self._forget(run.name)

    def _forget(self, name: str) -> None:
        self._saved.discard(name)
        self.spark.sql(f"DROP TABLE IF EXISTS {name}")

    def close(self) -> None:
        """Drop the tables from Spark's catalogue; their files remain in the work directory."""
        for name in sorted(self._saved):
            self._forget(name)


def _statistics(groups: Iterable[Sequence[int]]) -> Statistics:
    """The statistics of groups (arity, name, class or 0, number of facts)."""
    found = Statistics()
    for k, name, class_id, count in groups:
        relation = int(k), int(name)
        found.relations[relation] = found.relations.get(relation, 0) + int(count)
        found.total += int(count)
        if class_id:
            found.classes[int(class_id)] = int(count)
    return found


def union(frames: Iterable[Frame]) -> Frame:
    """All rows of frames with the same columns.

    Each track has its own tasks: a single task would need the tables of all joins.
    """
    return reduce(lambda one, other: one.unionAll(other), frames)


def local_frame(spark: Any, names: Sequence[str], rows: Any, ints: Sequence[str] = ()) -> Frame:
    """Rows of numbers of the driver as a frame; columns are longs, except those in `ints`."""
    import pyarrow as pa

    columns = np.array(rows, np.int64).reshape(len(rows), len(names)).T
    arrays = [
        pa.array(column, pa.int32() if name in ints else pa.int64())
        for name, column in zip(names, columns, strict=True)
    ]
    return from_arrow(spark, pa.table(arrays, list(names)))


def from_arrow(spark: Any, table: Any) -> Frame:
    """An Arrow table as a frame. Spark 3.5 needs pandas for it; Connect refuses empty tables."""
    recent = int(spark.version.split(".")[0]) >= 4
    if not table.num_rows and (not recent or "connect" in type(spark).__module__):
        from pyspark.sql.pandas.types import from_arrow_schema

        return spark.createDataFrame([], from_arrow_schema(table.schema))
    if recent:
        return spark.createDataFrame(table)
    return spark.createDataFrame(table.to_pandas())


def to_arrow(rows: Frame) -> Any:
    """A frame fetched to the driver as an Arrow table; Spark 3.5 needs pandas for it."""
    if hasattr(rows, "toArrow"):
        return rows.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    found = rows.toPandas()
    return pa.Table.from_pandas(found, to_arrow_schema(rows.schema), preserve_index=False)
