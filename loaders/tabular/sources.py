"""Tables from wherever they are, as batches of Arrow with the columns that are needed.

Start at `tables_of`. Only these columns are converted or read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError, unreadable

from ..formats import TABLE_EXTENSIONS
from .csv_files import CsvOptions, csv_names, guessed, read_csv
from .mapping import Mapping as TableMapping

BATCH_ROWS = 1 << 16

_PARQUET = (".parquet", ".pq")
_IPC = (".arrow", ".arrows", ".feather", ".ipc")
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
USUAL_CSV = CsvOptions()


@data_class(frozen=False)
class Table:
    """One table: its name for messages, its rows if they are counted, and its batches.

    datatypes : of columns whose texts are said to be of a datatype by the file itself
    """

    name: str
    rows: int | None
    batches: Iterable[Any]
    datatypes: dict[str, str] = field(default_factory=dict)


def tables_of(
    source: Any,
    mapping: TableMapping,
    options: CsvOptions = USUAL_CSV,
) -> Iterator[Table]:
    """The tables that a source stands for; each is checked for the columns when it is reached."""
    if isinstance(source, str | os.PathLike):
        for path in _paths(os.fspath(source)):
            yield _file(path, mapping, options)
    elif isinstance(source, list | tuple) and source and _all_paths(source):
        for item in source:
            yield from tables_of(item, mapping, options)
    else:
        yield _in_memory(source, mapping)


def _all_paths(items: Iterable[Any]) -> bool:
    return all(isinstance(item, str | os.PathLike) for item in items)


# -- files -------------------------------------------------------------------------------------


def _paths(name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.is_file() and _suffix(file))
        missing = f"no file in {name} is called"
    elif path.exists() or not set(name) & set("*?["):
        return [path]
    else:
        matches = (Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207
        found = sorted(file for file in matches if file.is_file() and _suffix(file))
        missing = f"no file matches {name} and is called"
    if not found:
        raise UsageError(f"{missing} {' '.join('*' + suffix for suffix in TABLE_EXTENSIONS)}")
    return found


def _suffix(path: Path) -> str | None:
    """The extension that tells the format, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes and suffixes[-1] in TABLE_EXTENSIONS else None


def _file(path: Path, mapping: TableMapping, options: CsvOptions) -> Table:
    suffix = _suffix(path)
    try:
        path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    if suffix is None and options.delimiter is None:
        raise UsageError(
            f"the name of {path} shows no format of tables: there are "
            f"{' '.join(TABLE_EXTENSIONS)}; or give the delimiter of a text file"
        )
    if suffix in _PARQUET:
        return _parquet(path, mapping)
    if suffix in _IPC:
        return _ipc(path, mapping)
    return _csv(path, mapping, options.delimiter or TABLE_EXTENSIONS[str(suffix)] or ",", options)


def _csv(path: Path, mapping: TableMapping, delimiter: str, options: CsvOptions) -> Table:
    mapping.check_columns(csv_names(path, delimiter, options), str(path))
    table = read_csv(path, delimiter, mapping.needed, options)
    found = {name: guessed(table[name]) for name in mapping.needed if name not in mapping.texts}
    datatypes = {name: datatype for name, datatype in found.items() if datatype}
    return Table(str(path), table.num_rows, _batches(table), datatypes)


def _parquet(path: Path, mapping: TableMapping) -> Table:
    import pyarrow.parquet as pq

    file = _opened(path, lambda: pq.ParquetFile(path))
    mapping.check_columns(file.schema_arrow.names, str(path))
    batches = file.iter_batches(batch_size=BATCH_ROWS, columns=mapping.needed)
    return Table(str(path), file.metadata.num_rows, map(_plain, _read(path, batches)))


def _ipc(path: Path, mapping: TableMapping) -> Table:
    import pyarrow as pa

    def read() -> Any:
        with pa.memory_map(str(path)) as data:
            try:
                return pa.ipc.open_file(data).read_all()
            except pa.ArrowInvalid:
                data.seek(0)
                return pa.ipc.open_stream(data).read_all()

    table = _opened(path, read)
    mapping.check_columns(table.column_names, str(path))
    return Table(str(path), table.num_rows, _batches(table.select(mapping.needed)))


def _read(path: Path, batches: Iterable[Any]) -> Iterator[Any]:
    """The batches of a file, of which later ones may turn out damaged."""
    batches = iter(batches)
    while (batch := _opened(path, lambda: next(batches, None))) is not None:
        yield batch


def _opened(path: Path, read: Callable[[], Any]) -> Any:
    import pyarrow as pa

    try:
        return read()
    except (pa.ArrowInvalid, OSError) as error:
        raise ParseError(f"cannot be read: {error}", filename=str(path)) from error


# -- objects -----------------------------------------------------------------------------------


def _in_memory(source: Any, mapping: TableMapping) -> Table:
    import pyarrow as pa

    library = type(source).__module__.partition(".")[0]
    if library == "pyspark":
        raise UsageError(
            "a DataFrame of Spark is read with columns_to_triples of triplestore.loaders.spark, "
            "which takes the same arguments"
        )
    if library == "pandas":
        return _pandas(source, mapping)
    if library == "polars" and hasattr(source, "collect"):
        source = source.collect()
    if isinstance(source, pa.RecordBatchReader):
        mapping.check_columns(source.schema.names, "the table")
        selected = (batch.select(mapping.needed) for batch in source)
        return Table("the table", None, _sliced(selected))
    try:
        table = source if isinstance(source, pa.Table) else _table(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(f"the columns cannot be converted to Arrow: {error}") from None
    mapping.check_columns(table.column_names, "the table")
    return Table("the table", table.num_rows, _batches(table.select(mapping.needed)))


def _table(source: Any) -> Any:
    import pyarrow as pa

    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        return pa.table(source)
    if hasattr(source, "to_table"):  # a dataset of Arrow
        return source.to_table()
    raise UsageError(
        f"cannot load a table from {type(source).__name__}: give a DataFrame of pandas or polars, "
        "a table of Arrow, a dict of columns, or the path of a CSV, Parquet or Arrow file"
    )


def _pandas(frame: Any, mapping: TableMapping) -> Table:
    import pyarrow as pa

    if getattr(frame, "ndim", 2) != 2:
        raise UsageError("a Series of pandas is not a table: give a DataFrame")
    names = [str(name) for name in frame.columns]
    index = [name for name in mapping.needed if name in frame.index.names and name not in names]
    if index:
        raise UsageError(f"{index[0]!r} is the index of the DataFrame: call reset_index() first")
    mapping.check_columns(names, "the DataFrame")
    places = [names.index(name) for name in mapping.needed]
    some = frame.iloc[:, places].set_axis(mapping.needed, axis=1)
    try:
        table = pa.Table.from_pandas(some, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(
            "a column of the DataFrame has values of several types: convert it first, for example "
            f"with .astype('string') ({'; '.join(map(str, error.args))})"
        ) from None
    return Table("the DataFrame", table.num_rows, _batches(table))


def _batches(table: Any) -> Iterator[Any]:
    return map(_plain, table.to_batches(max_chunksize=BATCH_ROWS))


def _sliced(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield _plain(batch.slice(start, BATCH_ROWS))


def _plain(batch: Any) -> dict[str, Any]:
    """The columns of a batch, without the types that other types stand for."""
    return {name: _plain_column(batch.column(i)) for i, name in enumerate(batch.schema.names)}


def _plain_column(values: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if types.is_string_view(values.type):
        return values.cast(pa.large_string())
    if types.is_binary_view(values.type):
        return values.cast(pa.large_binary())
    return values
