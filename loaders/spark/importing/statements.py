"""Statements of any source in chunks: the first stage of an import.

Start at `read_statements`. Parsing waits until one of its DataFrames is used; `stored` parses once,
into Parquet, and returns the same interface over the stored rows. Always true: the rows do not
depend on how Spark divides the work; once stored, they equal the rows and labels that the local
loader reads from the same files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.loaders.spark.importing import notes
from triplestore.loaders.spark.importing.chunks import SCHEMA, write_rows
from triplestore.loaders.spark.importing.encode import decode
from triplestore.loaders.spark.importing.parse import (
    Plan,
    parse_contents,
    parse_lines,
    parse_parts,
    parse_terms,
)
from triplestore.loaders.spark.importing.sources import (
    SourceFile,
    SourceOptions,
    find_files,
    fingerprint,
)
from triplestore.loaders.spark.importing.splits import TaskOptions, packed, plan_parts
from triplestore.loaders.spark.importing.table_columns import as_terms
from triplestore.loaders.spark.importing.turtle_cuts import Cut, find_cuts
from triplestore.loaders.spark.jobs.workers import mapped

_LARGEST_CONTENTS = (1 << 31) - 1024  # maximum size of a value of Spark's binaryFile


@data_class(slots=False)
class Statements:
    """The statements of a source: good ones as `rows`, bad ones as `errors`.

    parsed : chunks of statements, and notes (see chunks.py)
    files : the files in the order of their numbers; empty for a DataFrame
    next_file_number : the first file number of the next import into the same store
    fingerprint : equal for equal files (names, sizes, times) and options
    """

    spark: SparkSession
    options: SourceOptions
    files: Sequence[SourceFile]
    parsed: DataFrame
    cut: Sequence[int] = ()  # numbers of the files that were cut between statements
    next_file_number: int = 1
    fingerprint: str = ""
    tables: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The stored tables of chunks, each with numbers of files to leave out."""

    @property
    def rows(self) -> DataFrame:
        """One row for each statement: the keys of its terms, `g` null in the default graph."""
        return decode(self.parsed)

    @property
    def errors(self) -> DataFrame:
        """Bad statements: file, line, byte, text, reason."""
        return notes.errors(self.spark, self.parsed, self._names()).select(*notes.COLUMNS)

    def stored(self, uri: str) -> Statements:
        """Parse into Parquet files below `uri`; returns the statements that read from there.

        A document that was cut and has a fault is parsed again as a whole: where a parser continues
        after a fault depends on the rest of the document.
        """
        write_rows(self.parsed, f"{uri}/parsed")
        again = self._files_to_redo(uri)
        if again:
            parsed = _parsed_files(self.spark, again, {}, self.options)
            other = -1 - F.col("chunk")  # unlike all numbers of chunks in the first table
            write_rows(parsed.withColumn("chunk", other), f"{uri}/again")
        return self.at(uri)

    def at(self, uri: str) -> Statements:
        """The same statements, read from the files that `stored` has written there."""
        again = self._files_to_redo(uri)
        tables = {f"{uri}/parsed": frozenset(file.number for file in again)}
        if again:
            tables[f"{uri}/again"] = frozenset()
        read = self.spark.read.schema(SCHEMA)
        parts = [
            read.parquet(place).where(
                ~F.col("file").isin(list(without)) if without else F.lit(True)
            )
            for place, without in tables.items()
        ]
        parsed = reduce(DataFrame.unionByName, parts)
        return replace(self, parsed=parsed, cut=(), tables=tables)

    def check(self) -> None:
        """Raise ParseError for the first fault in the order of the files, unless lenient."""
        if not self.options.lenient:
            notes.raise_first(notes.errors(self.spark, self.parsed, self._names()))

    def prefixes(self) -> dict[str, str]:
        """The prefixes of all documents; of each prefix, the first declaration."""
        return notes.prefixes(self.parsed)

    def counts(self) -> list[dict[str, Any]]:
        """For each file its number, name, lines, bytes of text, statements and faults."""
        return notes.counts(self.parsed, self._names())

    def _names(self) -> dict[int, str]:
        names = {file.number: file.name for file in self.files}
        return names or {self.options.first_file_number: "table"}

    def _files_to_redo(self, uri: str) -> list[SourceFile]:
        if not self.cut:
            return []
        stored = self.spark.read.schema(SCHEMA).parquet(f"{uri}/parsed")
        bad = notes.files_with_faults(stored.where(F.col("file").isin(list(self.cut))))
        return [file for file in self.files if file.number in bad]


def read_statements(
    spark: SparkSession,
    source: str | Sequence[str] | DataFrame,
    options: SourceOptions | None = None,
) -> Statements:
    """The statements of files (paths, folders, globs, URIs) or of a DataFrame of terms.

    A DataFrame has the columns s, p, o and optionally g, as terms in N-Triples or typed (see
    table_columns.py). Files are listed and large documents of Turtle and TriG are searched for cuts
    now; parsing waits until the rows are used.
    """
    options = options or SourceOptions()
    if isinstance(source, str | list | tuple):
        return _of_files(spark, source, options)
    if hasattr(source, "mapInArrow"):
        return _of_table(spark, source, options)
    raise UsageError(f"cannot import from {type(source).__name__}: give paths or a DataFrame")


def _of_files(
    spark: SparkSession, source: str | Sequence[str], options: SourceOptions
) -> Statements:
    files = find_files(spark, source, options)
    large = [file for file in files if _is_worth_cutting(file, options)]
    cuts = find_cuts(spark, large, options)
    return Statements(
        spark,
        options,
        files,
        _parsed_files(spark, files, cuts, options),
        sorted(cuts),
        options.first_file_number + len(files),
        fingerprint(files, options),
    )


def _of_table(spark: SparkSession, table: DataFrame, options: SourceOptions) -> Statements:
    number = options.first_file_number
    file = SourceFile(number, "table", 0, "", "nquads", None, 0)
    terms = as_terms(table)
    parsed = mapped(terms, partial(parse_terms, file, TaskOptions.of(options)), SCHEMA)
    return Statements(spark, options, [], parsed, (), number + 1, "")


def _is_worth_cutting(file: SourceFile, options: SourceOptions) -> bool:
    return (
        file.format in ("turtle", "trig")
        and file.path is not None
        and file.compression is None
        and file.length > options.cut_bytes
    )


def _parsed_files(
    spark: SparkSession,
    files: Sequence[SourceFile],
    cuts: dict[int, list[Cut]],
    options: SourceOptions,
) -> DataFrame:
    named, split, handed = [], [], []
    for file in files:
        if _is_split_by_spark(file, options):
            split.append(file)
        elif file.path is not None:
            named.append(file)
        else:
            handed.append(file)
    ways = []
    if named:
        ways.append(_parsed_parts(spark, named, cuts, options))
    if split:
        ways.append(_parsed_lines(spark, split, options))
    if handed:
        ways.append(_parsed_contents(spark, handed, options))
    parsed = ways[0]
    for other in ways[1:]:
        parsed = parsed.unionByName(other)
    return parsed


def _is_split_by_spark(file: SourceFile, options: SourceOptions) -> bool:
    """Whether Spark's text reader divides the lines: bzip2, and files that tasks cannot open."""
    if not file.by_lines or file.compression not in (None, "bzip2"):
        return False
    if file.path is None:
        return True
    return file.compression == "bzip2" and file.length > options.split_bytes


def _plan(files: Sequence[SourceFile], options: SourceOptions, tasks: Sequence[Any] = ()) -> Plan:
    return Plan({file.number: file for file in files}, TaskOptions.of(options), tasks)


def _parsed_parts(
    spark: SparkSession,
    files: Sequence[SourceFile],
    cuts: dict[int, list[Cut]],
    options: SourceOptions,
) -> DataFrame:
    tasks = packed(plan_parts(files, cuts, options), options.split_bytes)
    # A range of n numbers in n partitions: each task is one row and one partition.
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return mapped(numbers, partial(parse_parts, _plan(files, options, tasks)), SCHEMA)


def _parsed_lines(
    spark: SparkSession, files: Sequence[SourceFile], options: SourceOptions
) -> DataFrame:
    # For Spark lines end with a line feed only, so that lengths add up to places in the file. Other
    # line ends are left to the parser.
    lines = spark.read.format("text").option("lineSep", "\n").load(_escaped(files))
    marked = lines.select(
        "value",
        F.xxhash64("_metadata.file_path").alias("mark"),
        F.col("_metadata.file_block_start").alias("block"),
    )
    return mapped(marked, partial(parse_lines, _plan(files, options)), SCHEMA)


def _parsed_contents(
    spark: SparkSession, files: Sequence[SourceFile], options: SourceOptions
) -> DataFrame:
    for file in files:
        if file.length > _LARGEST_CONTENTS:
            raise UsageError(
                f"{file.name} has {file.length:,} bytes and cannot be split, and Spark passes at "
                "most 2 GB: put it on a path of all nodes (file:), or convert it to N-Triples or "
                "N-Quads, plain or bzip2"
            )
    contents = spark.read.format("binaryFile").load(_escaped(files))
    marked = contents.select(F.xxhash64("_metadata.file_path").alias("mark"), "content")
    return mapped(marked, partial(parse_contents, _plan(files, options)), SCHEMA)


def _escaped(files: Sequence[SourceFile]) -> list[str]:
    """The names of files, with the characters of Spark's patterns escaped."""
    special = str.maketrans({mark: f"\\{mark}" for mark in "\\[]{}*?"})
    return [file.uri.translate(special) for file in files]
