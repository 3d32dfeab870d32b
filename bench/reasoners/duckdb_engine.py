"""duckdb: an analytical database. Rules become SQL (`sql.py`), recursion a query or some rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.reasoners.program import Relation, strata
from bench.reasoners.sql import Stratum, closing, column_names, union
from bench.reasoners.task import Task

# Maximum number of rules in a statement: more exhaust the planner.
MAX_CLAUSES = 2_000


class DuckdbSession:
    def __init__(self, task: Task) -> None:
        import duckdb

        self.task = task
        self.connection = duckdb.connect()
        self.clauses = task.clauses()
        self.relations = task.relations(self.clauses)
        self.strata: list[Stratum] = []

    def parse(self) -> None:
        self.strata = [closing(defined, members) for defined, members in strata(self.clauses)]

    def load(self) -> None:
        for relation in self.relations:
            self.create(relation.name, relation)
            if relation in self.task.rows:
                self.connection.execute(
                    f"COPY {relation.name} FROM '{self.task.csv(relation)}' "
                    "(FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',')"
                )

    def create(self, name: str, relation: Relation) -> None:
        columns = ", ".join(f"{column} UINTEGER" for column in column_names(relation))
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")

    def reason(self) -> None:
        for stratum in self.strata:
            for statement in stratum.once:
                self.connection.execute(statement)
            if stratum.derive:
                self.iterate(stratum.derive)

    def iterate(self, derive: Mapping[Relation, list[tuple[Relation, str]]]) -> None:
        """Rounds of a recursive stratum, until one finds nothing new."""
        changed = set(derive)
        for relation in derive:
            self.connection.execute(
                f"CREATE OR REPLACE TABLE {relation.name}_delta AS SELECT * FROM {relation.name}"
            )
        while changed:
            found = set()
            for relation, queries in derive.items():
                useful = [query for source, query in queries if source in changed]
                self.create(f"{relation.name}_new", relation)
                if useful:
                    self.connection.execute(
                        f"INSERT INTO {relation.name}_new {union(useful)} "
                        f"EXCEPT SELECT * FROM {relation.name}"
                    )
                    if self.size(f"{relation.name}_new"):
                        found.add(relation)
            for relation in derive:
                name = relation.name
                self.connection.execute(f"INSERT INTO {name} SELECT * FROM {name}_new")
                self.connection.execute(f"DROP TABLE {name}_delta")
                self.connection.execute(f"ALTER TABLE {name}_new RENAME TO {name}_delta")
            changed = found

    def inside(self) -> Mapping[str, float]:
        return {}

    def size(self, name: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()
        return int(row[0]) if row else 0

    def count(self) -> int:
        return sum(self.size(relation.name) for relation in self.relations)

    def contents(self) -> set[tuple[Any, ...]]:
        return {
            (relation.name, *row)
            for relation in self.relations
            for row in self.connection.execute(f"SELECT * FROM {relation.name}").fetchall()
        }


class Duckdb:
    name = "duckdb"
    packages = ("duckdb",)
    modules = ("duckdb",)
    rdf = False

    def refuses(self, task: Task) -> str | None:
        clauses = task.clauses()
        largest = max((len(members) for _, members in strata(clauses)), default=0)
        if largest > MAX_CLAUSES:
            return f"{largest:,} rules in one stratum make a statement too large to plan"
        return None

    def start(self) -> None:
        import duckdb

        duckdb.connect().execute("SELECT 1").fetchall()

    def open(self, task: Task) -> DuckdbSession:
        return DuckdbSession(task)
