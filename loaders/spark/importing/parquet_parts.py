"""Parquet tables of terms and rows, read back as arrays to assemble a store.

Start reading at `Parts`. `read_blocks` and `read_chunks` read the tables of an import's stages,
`read_keys` and `read_rows` those that are also for other tools. Always true: every page is compared
with its checksum, and the numbers of terms and rows with those that the job counted; a part that is
damaged, missing or truncated is refused by name. Reading needs only pyarrow, on any file system
that pyarrow knows by its URI.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.errors import CorruptError, StorageError
from triplestore.loaders.spark.importing.chunks import (
    Ranks,
    binary_array,
    columns_of,
    ids_of,
    numbers_in,
    rows_of,
    spans_in,
)
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.spans import I64, U8, U32, Spans, copy_texts, offsets_of, with_hashes

BATCH_ROWS = 1 << 17
_FEW_ROWS = 32  # of many bytes

MAX_TERMS = FIRST_QUERY_ID - 1
"""Maximum number of terms of a store."""


@data_class
class IdRows:
    """Columns of ids; `g` is None if all rows are in the default graph.

    status, count  are None if all rows are asserted
    """

    s: U32
    p: U32
    o: U32
    g: U32 | None
    status: NDArray[np.uint8] | None = None
    count: U32 | None = None

    def __len__(self) -> int:
        return len(self.s)


_BYTES = ("keys", "sizes", "numbers", "graphs")
_OF_ROWS = ("s", "p", "o", "g", "status", "count")


def _check(path: str, batch: pa.RecordBatch) -> None:
    """Raise unless the columns are those of a job: numbers and keys; only some may be null."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        name, kind = field.name, column.type
        if not (field.nullable or name in _OF_ROWS):  # not what Spark writes; has no checksum
            raise CorruptError(f"{path}: {name} cannot be null; run the job again")
        is_bytes = name == "key" or name in _BYTES
        right = pa.types.is_binary(kind) if is_bytes else pa.types.is_integer(kind)
        if not right:
            raise CorruptError(f"{path}: column {name} has the type {kind}; run the job again")
        if column.null_count and not (name in ("g", "chunk", "place") or name in _BYTES):
            raise CorruptError(f"{path}: {name} is null in a row; run the job again")


@data_class
class Parts:
    """The files of one table."""

    files: pafs.FileSystem
    paths: tuple[str, ...]

    @classmethod
    def of(cls, place: str) -> Parts:
        """The parts of the table in a folder, a path or a URI, in the order of their names."""
        try:
            files, path = pafs.FileSystem.from_uri(place)
        except pa.ArrowInvalid as error:
            raise StorageError(f"cannot read {place}: {error}") from error
        found = files.get_file_info(pafs.FileSelector(path, allow_not_found=True))
        names = sorted(info.path for info in found if info.path.endswith(".parquet"))
        return cls(files, tuple(names))

    def sizes(self) -> dict[str, int]:
        """The length of each part, by the name of its file."""
        infos = self.files.get_file_info(list(self.paths))
        return {info.base_name: info.size for info in infos}

    def batches(
        self, path: str, columns: Sequence[str], also: Sequence[str] = (), rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The verified columns of one part, piece by piece; those in `also` only if they exist."""
        try:
            with self.files.open_input_file(path) as source:
                file = pq.ParquetFile(source, page_checksum_verification=True)
                names = file.schema_arrow.names
                if missing := set(columns) - set(names):
                    raise CorruptError(f"{path}: no column {min(missing)}; run the job again")
                known = [name for name in also if name in names]
                for batch in file.iter_batches(rows, columns=[*columns, *known]):
                    _check(path, batch)
                    yield batch
        except CorruptError:  # which is an OSError
            raise
        except (OSError, pa.ArrowException) as error:
            raise CorruptError(f"{path} cannot be read: {error}; run the job again") from error

    def rows_of_bytes(self, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows of all parts, each with the path of its part."""
        for path in self.paths:
            for batch in self.batches(path, columns, rows=_FEW_ROWS):
                for row in rows_of([batch]):
                    yield path, row

    def rows(self) -> int:
        """The number of rows in the metadata of all parts."""
        total = 0
        for path in self.paths:
            with self.files.open_input_file(path) as source:
                total += pq.ParquetFile(source).metadata.num_rows
        return total


class Keys(NamedTuple):
    """The keys of terms 1, 2, ... one after the other."""

    texts: U8
    offsets: NDArray[np.uint64]
    kinds: U8

    def spans(self) -> Spans:
        """The terms, hashed."""
        starts = self.offsets.astype(np.int64)
        buf = self.texts if len(self.texts) else np.zeros(1, np.uint8)
        return with_hashes(buf, starts[:-1], np.diff(starts), self.kinds)


def read_keys(place: str, terms: int, number: str) -> Keys:
    """The keys of a table of terms, in the order of the column `number`.

    number  the id, or a number in the same order; consecutive numbers should mostly be in
        consecutive rows of a part, and parts may be in any order
    """
    parts = Parts.of(place)
    runs: list[tuple[int, int, pa.Array]] = []
    for path in parts.paths:
        for batch in parts.batches(path, ("key", number)):
            numbers = batch.column(batch.schema.get_field_index(number)).to_numpy()
            keys = batch.column(batch.schema.get_field_index("key"))
            for lo, hi in _runs(numbers):
                runs.append((int(numbers[lo]), int(numbers[hi - 1]), keys.slice(lo, hi - lo)))
    return _in_order(place, runs, terms, number)


def read_blocks(place: str, before: Sequence[int], terms: int) -> Keys:
    """The keys of a table of `number_terms`, in the order of their ids.

    before  for each range, the number of terms in the ranges before it
    """
    runs: list[tuple[int, int, pa.Array]] = []
    for _, row in Parts.of(place).rows_of_bytes(("range", "place", "keys", "sizes")):
        if row["keys"] is not None:
            keys = binary_array(*spans_in(row["keys"], row["sizes"]))
            first = before[row["range"]] + row["place"]
            runs.append((first, first + len(keys) - 1, keys))
    return _in_order(place, runs, terms, "place")


def _in_order(place: str, runs: list[tuple[int, int, pa.Array]], terms: int, number: str) -> Keys:
    """The keys of runs (first number, last number, keys) in the order of their numbers."""
    total = sum(len(keys) for _, _, keys in runs)
    size = sum(_size_of(keys) for _, _, keys in runs)
    if total != terms:
        raise CorruptError(f"{place} has {total:,} terms, not {terms:,}; run the job again")
    runs.sort(key=lambda run: run[0])
    if any(one[1] >= other[0] for one, other in pairwise(runs)):
        raise CorruptError(f"{place} has terms of the same {number}; run the job again")
    return _joined([keys for _, _, keys in runs], total, size - total)


def keys_of(column: pa.Array) -> Keys:
    """The terms of a column of keys.

    >>> keys_of(pa.array([b"\\x01http://a", b"\\x02b"])).kinds.tolist()
    [1, 2]
    """
    size = _size_of(column) if len(column) else 0
    return _joined([column], len(column), size - len(column))


def _runs(numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The ranges in which each number is one more than the number before it."""
    if len(numbers) == 0:
        return []
    ends = (np.flatnonzero(np.diff(numbers) != 1) + 1).tolist()
    return list(zip([0, *ends], [*ends, len(numbers)], strict=True))


def key_spans(column: pa.Array) -> tuple[U8, I64, I64]:
    """The bytes of a binary column, and the beginning and end of each value in them."""
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64, len(column) + 1, column.offset * 8)
    buf = np.zeros(1, np.uint8) if data is None or not data.size else np.frombuffer(data, np.uint8)
    return buf, places[:-1], places[1:]


def _size_of(key: pa.Array) -> int:
    _, starts, stops = key_spans(key)
    return int(stops[-1] - starts[0])


def _joined(arrays: list[pa.Array], terms: int, size: int) -> Keys:
    texts, kinds = np.empty(size, np.uint8), np.empty(terms, np.uint8)
    lengths = np.empty(terms, np.int64)
    at = place = 0
    arrays.reverse()
    while arrays:
        buf, starts, stops = key_spans(arrays.pop())
        part = slice(at, at + len(starts))
        kinds[part] = buf[starts]
        lengths[part] = stops - starts - 1
        places: I64 = np.cumsum(lengths[part]) - lengths[part] + place
        copy_texts(buf, starts + 1, lengths[part], texts, places)
        at, place = part.stop, place + int(lengths[part].sum())
    return Keys(texts, offsets_of(lengths), kinds)


def read_rows(place: str) -> IdRows:
    """The rows of a table of ids (s, p, o, g, status, count), in any order."""
    parts = Parts.of(place)
    total = parts.rows()
    made: dict[str, Any] = {name: np.empty(total, np.uint32) for name in ("s", "p", "o")}
    made["g"] = np.zeros(total, np.uint32)  # untouched pages take no memory
    made["status"], made["count"] = np.ones(total, np.uint8), np.zeros(total, np.uint32)
    seen = set()
    at = 0
    for path in parts.paths:
        for batch in parts.batches(path, ("s", "p", "o"), ("g", "status", "count")):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if column.null_count == len(column):
                    continue
                if column.null_count:
                    column = column.fill_null(0)
                seen.add(name)
                made[name][at : at + batch.num_rows] = column.to_numpy(zero_copy_only=False)
            at += batch.num_rows
    if at != total:
        raise CorruptError(f"{place} has {at:,} rows, not {total:,}; run the job again")
    closed = bool((made["status"] != 1).any() or made["count"].any())
    return IdRows(
        made["s"],
        made["p"],
        made["o"],
        made["g"] if "g" in seen else None,
        made["status"] if closed else None,
        made["count"] if closed else None,
    )


def read_chunks(
    tables: Mapping[str, Collection[int]], ordered: str, before: Sequence[int], total: int
) -> IdRows:
    """The rows of tables of chunks as ids, in any order.

    tables   each with numbers of files to leave out
    ordered  the table of `number_terms`
    before   for each range, the number of terms in the ranges before it
    total    number of rows
    """
    ranks: dict[int, list[Ranks]] = {}
    for _, row in Parts.of(ordered).rows_of_bytes(("chunk", "range", "place", "numbers")):
        if row["numbers"] is not None:
            own = numbers_in(row["numbers"]).copy()  # not a view of the whole batch
            ranks.setdefault(row["chunk"], []).append((row["range"], row["place"], own))
    made = [np.zeros(total, np.uint32) for _ in range(4)]
    at, known, ids = 0, None, np.zeros(1, np.uint32)
    for place, without in tables.items():
        for path, row in Parts.of(place).rows_of_bytes(("chunk", "file", "numbers", "graphs")):
            if row["numbers"] is None or row["file"] in without:
                continue
            if row["chunk"] not in ranks:
                raise CorruptError(f"{path}: {ordered} has no terms for it; run the job again")
            if row["chunk"] != known:
                known = row["chunk"]
                ids = ids_of(ranks[known], before).astype(np.uint32)
            columns = columns_of(row["numbers"], row["graphs"])
            stop = at + len(columns[0])
            if stop > total or max(int(column.max()) for column in columns) >= len(ids):
                raise CorruptError(f"{path} has other rows than were counted; run the job again")
            for column, found in zip(made, columns, strict=True):
                np.take(ids, found, out=column[at:stop], mode="clip")
            at = stop
    if at != total:
        raise CorruptError(f"{min(tables)} has {at:,} rows, not {total:,}; run the job again")
    s, p, o, g = made
    return IdRows(s, p, o, g if g.any() else None)


def check_room(terms: int) -> None:
    """Raise if there are too many terms for an embedded store, whose ids have 32 bits.

    >>> check_room(5)
    """
    if terms > MAX_TERMS:
        raise StorageError(
            f"{terms:,} distinct terms are too many: a store has at most {MAX_TERMS:,}, because "
            f"its ids have 32 bits; write Parquet tables with 64-bit ids instead (tables=...), or "
            f"import a part of the data"
        )
