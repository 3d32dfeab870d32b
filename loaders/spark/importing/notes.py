"""Notes of tasks beside statements: faults, and the contents of each part of a file, as JSON.

Start at `Notes`, which a task fills for one part of a file, and `errors`, by which the driver reads
all notes again. Lines and bytes of a fault count from the beginning of its part; `errors` adds the
lines and bytes of the parts before it in the file, by a window over the parts (few rows).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from triplestore.errors import ParseError

FIELDS = (
    "kind string, part long, line long, byte long, text string, reason string, "
    "lines long, bytes long, statements long, bad long, prefixes map<string, string>"
)
"""The schema of notes, as text for Spark."""

FAULT = "fault"
PART = "part"

_AT_ONCE = 1 << 12


class Notes:
    """The notes of one part of a file; `part` is its first byte, and orders the parts.

    Rows of a table have no places, so they are noted without line and byte.
    """

    def __init__(self, part: int, has_places: bool = True) -> None:
        self.part = part
        self._has_places = has_places
        self.lines = 0
        self.bytes = 0
        self.statements = 0
        self.bad = 0
        self.prefixes: Mapping[str, str] = {}
        self._faults: list[str] = []

    def fault(
        self, line: int | None, byte: int | None, column: int | None, text: str | None, reason: str
    ) -> None:
        """Note a fault in a line (from 1) and byte of the part."""
        self.bad += 1
        where = "" if column is None else f"column {column}: "
        fields: dict[str, Any] = {"text": text, "reason": where + reason}
        if self._has_places:
            fields |= {"line": line, "byte": byte}
        self._faults.append(self._written(FAULT, fields))

    def waiting(self) -> Iterator[list[str]]:
        """The faults so far, once there are many."""
        if len(self._faults) >= _AT_ONCE:
            yield self._faults
            self._faults = []

    def all(self) -> list[str]:
        """The remaining notes, at the end of the part.

        >>> notes = Notes(0)
        >>> notes.fault(2, 30, 7, "<a> .", "expected an IRI")
        >>> [json.loads(note)["kind"] for note in notes.all()]
        ['fault', 'part']
        """
        fields = {
            "lines": self.lines,
            "bytes": self.bytes,
            "statements": self.statements,
            "bad": self.bad,
            "prefixes": dict(self.prefixes),
        }
        return [*self._faults, self._written(PART, fields)]

    def _written(self, kind: str, fields: Mapping[str, Any]) -> str:
        return json.dumps({"kind": kind, "part": self.part, **fields}, ensure_ascii=True)


# -- on the driver ---------------------------------------------------------------------------------

COLUMNS = ("file", "line", "byte", "text", "reason")
"""The columns of an error table."""


def errors(spark: SparkSession, parsed: DataFrame, names: Mapping[int, str]) -> DataFrame:
    """The faults: number, file, line (from 1), byte (of its line, from 0), text, reason."""
    notes = _notes(parsed)
    before = Window.partitionBy("file").orderBy("part").rowsBetween(Window.unboundedPreceding, -1)
    # Tasks that read a table share one part.
    held = notes.where(F.col("kind") == PART).groupBy("file", "part")
    parts = held.agg(F.sum("lines").alias("lines"), F.sum("bytes").alias("bytes")).select(
        "file",
        "part",
        F.coalesce(F.sum("lines").over(before), F.lit(0)).alias("lines_before"),
        F.coalesce(F.sum("bytes").over(before), F.lit(0)).alias("bytes_before"),
    )
    files = spark.createDataFrame(list(names.items()), "number int, name string")
    found = notes.where(F.col("kind") == FAULT).select(
        "file", "part", "line", "byte", "text", "reason"
    )
    placed = found.join(F.broadcast(parts), ["file", "part"], "left")
    named = placed.join(F.broadcast(files), placed["file"] == files["number"], "left")
    return named.select(
        "number",
        F.col("name").alias("file"),
        (F.col("line") + F.coalesce("lines_before", F.lit(0))).alias("line"),
        (F.col("byte") + F.coalesce("bytes_before", F.lit(0))).alias("byte"),
        "text",
        "reason",
    )


def raise_first(found: DataFrame) -> None:
    """Raise ParseError for the first fault in the order of files and lines, if any."""
    first = found.orderBy("number", "line", "byte", "reason").limit(1).collect()
    if not first:
        return
    row = first[0]
    count = found.count()
    more = "" if count == 1 else f" ({count:,} faults in all; lenient keeps the good statements)"
    raise ParseError(row.reason + more, filename=row.file, line=row.line, text=row.text)


def prefixes(parsed: DataFrame) -> dict[str, str]:
    """The prefixes of all files; of each, the first declaration in the order of the files."""
    declared = _notes(parsed).where((F.col("kind") == PART) & (F.size("prefixes") > 0))
    rows = declared.select("file", "part", "prefixes").collect()
    # The last part of a file has all declarations of the file.
    ordered = sorted(rows, key=lambda row: (row.file, -row.part))
    known: dict[str, str] = {}
    for row in ordered:
        for name, iri in row.prefixes.items():
            known.setdefault(name, iri)
    return known


def counts(parsed: DataFrame, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """The counts of each file, in the order of their numbers."""
    sums = [F.sum(name).alias(name) for name in ("lines", "bytes", "statements", "bad")]
    grouped = _notes(parsed).where(F.col("kind") == PART).groupBy("file").agg(*sums)
    rows = sorted(grouped.collect(), key=lambda row: row.file)
    return [
        {
            "number": row.file,
            "name": names[row.file],
            "lines": row.lines,
            "bytes": row.bytes,
            "statements": row.statements,
            "bad": row.bad,
        }
        for row in rows
    ]


def files_with_faults(parsed: DataFrame) -> set[int]:
    """The numbers of files with faults."""
    bad = _notes(parsed).where(F.col("kind") == FAULT).select("file").distinct()
    return {row.file for row in bad.collect()}


def _notes(parsed: DataFrame) -> DataFrame:
    noted = parsed.where("note IS NOT NULL")
    return noted.select("file", F.from_json("note", FIELDS).alias("n")).select("file", "n.*")
