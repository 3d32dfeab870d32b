"""Terms on Spark: ids of keys, and ids for the keys that rules make.

Start reading at `Naming`. The terms of the data are a frame (id, key), which the driver holds only
if it is small. New terms of rules (constants, values of BINDs and aggregates) are few, held by the
driver, and numbered after the others, those of one step in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

from triplestore.errors import BudgetError
from triplestore.loaders.spark.closure.driver_rows import ONE_TASK
from triplestore.loaders.spark.closure.facts import Frame, from_arrow, to_arrow
from triplestore.loaders.spark.session import settings
from triplestore.loaders.spark.thresholds import SPARK


class TermLookup(Protocol):
    """The look-ups that `Programs` needs."""

    def keys_of(self, ids: Iterable[int]) -> dict[int, bytes]:
        """The keys of ids."""

    def ids_of(self, keys: Iterable[bytes]) -> dict[bytes, int]:
        """The ids of keys; unknown keys become terms."""


class Naming:
    """Ids and keys of terms.

    new   keys of the terms that were added, in the order of their ids
    held  whether the driver has all terms, because there are few
    """

    def __init__(self, spark: Any, terms: Frame, work: str, most: int, held: int = 0) -> None:
        self.spark, self.new = spark, list[bytes]()
        self._terms = terms.selectExpr("id", "key")
        self._work, self._most, self._made = work.rstrip("/"), most, 0
        last, count, size = terms.selectExpr("max(id)", "count(1)", "sum(length(key))").first()
        self._first = int(last or 0) + 1
        self._ids: dict[bytes, int] = {}
        self._absent: set[bytes] = set()
        self._held_rows = held
        self.held = count <= SPARK.held_terms * held and int(size or 0) <= SPARK.held_text
        if self.held:
            self._hold()

    def _hold(self) -> None:
        """Fetch all terms to the driver."""
        taken = to_arrow(self._terms)
        ids, keys = taken.column("id").to_pylist(), taken.column("key").to_pylist()
        self._ids = dict(zip(keys, ids, strict=True))
        self._terms = from_arrow(self.spark, taken)

    @property
    def frame(self) -> Frame:
        """All terms: id, key."""
        if not self.new:
            return self._terms
        return self._terms.unionAll(self._added())

    def _added(self) -> Frame:
        import pyarrow as pa

        ids = pa.array(range(self._first, self._first + len(self.new)), pa.int64())
        keys = pa.array(self.new, pa.binary())
        return from_arrow(self.spark, pa.table({"id": ids, "key": keys}))

    def ids_of(self, keys: Iterable[bytes]) -> dict[bytes, int]:
        """The ids of keys; unknown keys become terms."""
        wanted = list(dict.fromkeys(keys))
        self._look_up(wanted)
        self._append([key for key in wanted if key not in self._ids])
        return {key: self._ids[key] for key in wanted}

    def known_ids(self, keys: Iterable[bytes]) -> dict[bytes, int]:
        """The ids of keys; 0 for unknown keys."""
        wanted = list(dict.fromkeys(keys))
        self._look_up(wanted)
        return {key: self._ids.get(key, 0) for key in wanted}

    def keys_of(self, ids: Iterable[int]) -> dict[int, bytes]:
        """The keys of ids; there must be few."""
        import pyarrow as pa
        from pyspark.sql import functions

        if self.held:
            keys = {number: key for key, number in self._ids.items()}
            return {number: keys[number] for number in set(ids) if number in keys}
        wanted = pa.table({"id": pa.array(sorted(set(ids)), pa.int64())})
        if not wanted.num_rows:
            return {}
        asked = functions.broadcast(from_arrow(self.spark, wanted))
        return {int(i): bytes(key) for i, key in self.frame.join(asked, "id").collect()}

    def kind_test(self, column: str, kinds: Iterable[int]) -> str | None:
        """The condition that a column has terms of some kinds, in SQL.

        None if ids do not show it, because the ids of a kind are not consecutive, as they are when
        terms were numbered by their keys.
        """
        wanted = set(kinds)
        if any(kind in wanted and not whole for kind, _, _, whole in self._kinds):
            return None
        tests = [
            f"{column} BETWEEN {first} AND {last}"
            for kind, first, last, _ in self._kinds
            if kind in wanted
        ]
        tests += [
            f"{column} = {self._first + i}" for i, key in enumerate(self.new) if key[0] in wanted
        ]
        if len(tests) > SPARK.kind_tests:
            return None
        return f"({' OR '.join(tests)})" if tests else "false"

    @cached_property
    def _kinds(self) -> list[tuple[int, int, int, bool]]:
        """For each kind of terms (kind, first id, last id, whether all ids between are of it)."""
        from pyspark.sql import functions

        groups = self._terms.selectExpr("substr(key, 1, 1) AS kind", "id").groupBy("kind")
        found = groups.agg(*map(functions.expr, ("min(id)", "max(id)", "count(id)"))).collect()
        return [
            (bytes(kind)[0], int(first), int(last), int(last - first + 1) == int(count))
            for kind, first, last, count in found
        ]

    def _look_up(self, keys: Iterable[bytes]) -> None:
        import pyarrow as pa
        from pyspark.sql import functions

        asked = [key for key in keys if key not in self._ids and key not in self._absent]
        if self.held:
            self._absent.update(asked)
        if self.held or not asked:
            return
        frame = from_arrow(self.spark, pa.table({"key": pa.array(asked, pa.binary())}))
        found = self._terms.join(functions.broadcast(frame), "key").select("key", "id").collect()
        self._ids.update((bytes(key), int(i)) for key, i in found)
        self._absent.update(key for key in asked if key not in self._ids)

    def _append(self, keys: Sequence[bytes]) -> None:
        if len(self.new) + len(keys) > self._most:
            raise BudgetError(
                f"the rules make more than {self._most:,} new terms; if that is intended, increase "
                "`most_terms`"
            )
        for key in keys:
            self._ids[key] = self._first + len(self.new)
            self.new.append(key)

    def settle(self, rows: Frame, column: str, name: str) -> Frame:
        """The rows with the ids of the keys in a column under a new name, and without the keys.

        The rows are written first, because their keys are read twice.
        """

        self._made += 1
        path = f"{self._work}/values-{self._made}-{id(self)}"
        rows.write.mode("overwrite").parquet(path)
        rows = self.spark.read.parquet(path)
        distinct = rows.select(column).distinct()
        found = self._among(distinct, column, name)
        unknown = distinct.join(found, column, "left_anti").limit(self._most + 1).collect()
        if unknown:
            self._append(sorted(bytes(row[0]) for row in unknown))
            found = self._among(distinct, column, name)
        return rows.join(found, column).drop(column)

    def settle_here(self, rows: Frame, column: str, name: str) -> Frame | None:
        """The same for rows in one partition, by the driver; None if there are too many."""
        import pyarrow as pa

        with settings(self.spark, ONE_TASK):
            found = to_arrow(rows.limit(self._held_rows + 1))
        if found.num_rows > self._held_rows:
            return None
        coded = found.column(column).combine_chunks().dictionary_encode()
        keys = coded.dictionary.to_pylist()
        ids = self.ids_of(sorted(keys))
        numbers = pa.array([ids[key] for key in keys], pa.int64())
        found = found.drop_columns([column]).append_column(name, numbers.take(coded.indices))
        return from_arrow(self.spark, found).coalesce(1)

    def _among(self, keys: Frame, column: str, name: str) -> Frame:
        """The terms with the given keys, in columns of these names: key, id."""
        from pyspark.sql import functions

        named = self._terms.selectExpr(f"key AS {column}", f"id AS {name}")
        found = named.join(functions.broadcast(keys), column)
        if not self.new:
            return found
        return found.unionAll(self._added().selectExpr(f"key AS {column}", f"id AS {name}"))
