"""Results as files of tables: Parquet and Arrow IPC.

Start at `table_format` and `write_table`. Solutions have a column for each variable, typed where
all its values have one datatype (see `Solutions.to_arrow`); triples have the columns s, p and o,
in N-Triples, as Spark's side reads them back. pyarrow (the extra `arrow`) is imported when needed.
"""

from __future__ import annotations

from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from triplestore.errors import needs_extra
from triplestore.sparql.results.arrow import arrow_table
from triplestore.sparql.results.solutions import Solutions, Triples

if TYPE_CHECKING:
    from triplestore.sparql.results.formats import Output

TABLE_FORMATS = {
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrows",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.apache.arrow.file": "arrow",
    "application/vnd.apache.arrow.stream": "arrows",
}
"""Names, file endings and media types; `arrow` is IPC's file format, `arrows` that of streams."""


def table_format(given: object, output: Output | None = None) -> str | None:
    """The format of tables that is named, or that a path's ending tells; None if it is another.

    >>> table_format("Parquet"), table_format(None, "a/b.arrow"), table_format(None, "b.csv")
    ('parquet', 'arrow', None)
    """
    name = given
    if name is None and isinstance(output, str | PathLike):
        name = PurePath(output).suffix
    return TABLE_FORMATS.get(name.lower().removeprefix(".")) if isinstance(name, str) else None


def write_table(result: Solutions | Triples | bool, stream: BinaryIO, form: str) -> None:
    """Write a result in a format that `table_format` gave; the answer of ASK is one cell."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise needs_extra(f"A result as {form}", error, "arrow") from None
    table = _table(result)
    # Parquet's writer asks how far it is, which a pipe cannot say.
    with pa.PythonFile(_Counted(stream), "w") as out:
        if form == "parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, out)
        else:
            new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
            with new(out, table.schema) as writer:
                writer.write_table(table)


def _table(result: Solutions | Triples | bool) -> Any:
    import pyarrow as pa

    if isinstance(result, Solutions):
        return result.to_arrow()
    if isinstance(result, Triples):
        columns = dict(zip("spo", result.ids(), strict=True))
        return arrow_table("spo", columns.__getitem__, result._terms, False)
    return pa.table({"boolean": [result]})


class _Counted:
    """A stream that knows how much was written; closing it leaves the stream below open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._written = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Write all of it."""
        self._stream.write(data)
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        """How much was written."""
        return self._written

    def flush(self) -> None:
        """Flush the stream below."""
        self._stream.flush()

    def close(self) -> None:
        """Take no more."""
        self.closed = True

    def readable(self) -> bool:
        """False."""
        return False

    def writable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """False."""
        return False
