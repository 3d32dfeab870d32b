"""From terms and rows to a store in its place: the work of the driver, or of `pull`, in memory.

Start reading at `write_store`, then `put_in_place`. `write_store` makes one segment of terms and
one layer of rows with the local loader's functions (`TermSegment.of_arrays`, `bulk_layer`) from
columns that Spark has numbered. So the files are those of a local load, byte by byte, for any
partitioning. It needs some 40 bytes per row and twice the texts of the terms in memory;
`loaders/spark/DESIGN.md` has the limits. A store is made beside its place and renamed in one step;
until then it cannot be opened. Nothing here needs Spark.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.errors import StorageError
from triplestore.loaders.spark.importing.parquet_parts import IdRows, Keys
from triplestore.relations import ChangedRows, Changes, Layer, bulk_layer
from triplestore.relations.changes import TupleName
from triplestore.relations.packed_keys import U32
from triplestore.storage.files.manifest import NAME as MANIFEST
from triplestore.storage.files.manifest import read_manifest
from triplestore.storage.files.system import Files, RealFiles
from triplestore.storage.making import make_store
from triplestore.terms import TermSegment
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.triples.complete_parts import complete_parts


@data_class
class Extra:
    """The parts of a closure beside the rows of facts.

    tuples  rows of relations of users and helpers: columns, statuses and counts
    keys    terms that occur only in rules: numbered after all others
    meta    named values of the store: the rules in force and how they are applied
    """

    tuples: Mapping[TupleName, ChangedRows] = field(default_factory=dict)
    keys: Sequence[bytes] = ()
    meta: Mapping[str, bytes] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The same for JSON; columns and bytes are in base 64."""
        return {
            "tuples": [
                [*name, [_text(column) for column in rows.columns], _text(rows.status)]
                + ([] if rows.count is None else [_text(rows.count)])
                for name, rows in self.tuples.items()
            ],
            "keys": [base64.b64encode(key).decode() for key in self.keys],
            "meta": {name: base64.b64encode(value).decode() for name, value in self.meta.items()},
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Extra:
        """The inverse of `to_json`.

        >>> rows = ChangedRows.of(([1], [2], [3]), 2, count=[5])
        >>> extra = Extra({(9, 3): rows}, [b"\\x01http://a"], {"program": b"..."})
        >>> again = Extra.from_json(extra.to_json())
        >>> again.keys, again.meta, again.tuples[9, 3].columns[2].tolist()
        ((b'\\x01http://a',), {'program': b'...'}, [3])
        """
        tuples = {}
        for name, arity, columns, status, *count in given["tuples"]:
            tuples[int(name), int(arity)] = ChangedRows.of(
                [_column(text, np.uint32) for text in columns],
                _column(status, np.uint8),
                0,
                _column(count[0], np.uint32) if count else None,
            )
        keys = tuple(base64.b64decode(key) for key in given["keys"])
        meta = {name: base64.b64decode(value) for name, value in given["meta"].items()}
        return cls(tuples, keys, meta)


NO_EXTRA = Extra()


def write_store(
    target: Path,
    keys: Callable[[], Keys],
    rows: Callable[[], IdRows],
    meta: Mapping[str, bytes],
    *,
    extra: Extra = NO_EXTRA,
    files: Files | None = None,
) -> None:
    """Write a new store with these terms (ids from 1 on) and rows.

    Both are called when needed: `rows` after the terms are written and freed.

    >>> import tempfile
    >>> from triplestore import Store
    >>> keys = Keys(np.frombuffer(b"http://ahttp://p", np.uint8), np.array([0, 8, 16], np.uint64),
    ...     np.array([1, 1], np.uint8))
    >>> one, two = np.array([1], np.uint32), np.array([2], np.uint32)
    >>> rows = IdRows(one, two, one, None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(Path(folder) / "db", lambda: keys, lambda: rows, {})
    ...     print(*Store(Path(folder) / "db"))
    <http://a> <http://p> <http://a>
    """
    layers = (layer_of(each(), extra.tuples) for each in [rows])
    make_store(target, segments_of(keys, extra.keys), layers, {**meta, **extra.meta}, files=files)


def segments_of(keys: Callable[[], Keys], more: Sequence[bytes]) -> Iterator[TermSegment]:
    """The segments of all terms; terms that occur only in rules have a separate one."""
    # Imported now, so that the layout of slots is the same in every process.
    import triplestore.kernels.terms.term_tables  # noqa: F401 - imported for its effect

    segment = _segment_of(keys())
    if segment.triples is None:
        yield from _with_parts(segment, more)
        return
    yield segment
    if more:
        known = Dictionary([segment] if segment.count else [])
        yield TermSegment.from_keys(segment.count + 1, more, [segment.values], known)


def _with_parts(segment: TermSegment, more: Sequence[bytes]) -> Sequence[TermSegment]:
    """The same, and a segment of the parts of triple terms that occur nowhere else."""
    known = Dictionary([segment])
    if more:
        first = segment.count + 1
        known.add_segment(TermSegment.from_keys(first, more, [segment.values], known))
    complete_parts(known, segment)
    return known.segments


def _segment_of(keys: Keys) -> TermSegment:
    return TermSegment.of_arrays(1, *keys, keys.spans().hashes)


def layer_of(rows: IdRows, tuples: Mapping[TupleName, ChangedRows]) -> Layer:
    """The layer of all rows."""
    if rows.status is None and not tuples:
        return bulk_layer(rows.p, rows.s, rows.o, rows.g)
    status = np.ones(len(rows), np.uint8) if rows.status is None else rows.status
    facts = ChangedRows.of((rows.p, rows.s, rows.o), status, 0, rows.count)
    quads = ChangedRows.of(((), (), (), ()))
    graphs = ChangedRows.of(((),))
    if rows.g is not None:
        named = rows.g != 0
        columns = [_only(column, named) for column in (rows.p, rows.s, rows.o, rows.g)]
        quads = ChangedRows.of(columns)
        graphs = ChangedRows.of((np.unique(columns[3]),))
        facts = facts.take(~named)
    return Layer.build(Changes(facts, quads, graphs, tuples)).prepare()


def _text(column: NDArray[Any]) -> str:
    return base64.b64encode(column.tobytes()).decode()


def _column(text: str, kind: Any) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), kind)


def _only(column: U32, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> U32:
    picked: U32 = column[chosen]
    return picked


# -- its place -------------------------------------------------------------------------------------


@data_class
class Imported:
    """The result of an import; prints as a line.

    triples  statements read, without repetitions where Spark removed them
    terms    distinct terms of the input
    files    files read
    bad      malformed statements of a lenient import
    stages   name, seconds and figures of each stage
    resumed  stages that an earlier run of the job had finished
    change   the change by a commit to an existing store
    """

    target: str
    triples: int
    terms: int
    files: int
    bad: int
    seconds: float
    stages: Sequence[Mapping[str, Any]] = ()
    resumed: Sequence[str] = ()
    change: Any = None
    already: bool = False
    """Whether the job was committed before, so nothing was done."""

    def __str__(self) -> str:
        if self.already:
            return f"{self.target}: this job was committed before; nothing was done"
        rate = self.triples / self.seconds if self.seconds else 0.0
        bad = f", {self.bad:,} malformed" if self.bad else ""
        return (
            f"{self.target}: {self.triples:,} statements, {self.terms:,} terms from {self.files:,} "
            f"files{bad} in {self.seconds:.1f} s ({rate:,.0f} a second)"
        )


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a finished store to its place, which must be missing or an empty folder."""
    files = RealFiles()
    (fresh / "LOCK").unlink(missing_ok=True)
    try:
        fresh.rename(target)
    except OSError as error:
        raise StorageError(f"cannot move the new store to {target}: {error}") from error
    files.sync_directory(target.parent)


@contextmanager
def removed_on_failure(fresh: Path) -> Iterator[None]:
    """Remove the folder of an earlier run before the block, and this one if the block raises."""
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def is_store(target: Path) -> bool:
    """Whether a path is a store."""
    return (target / MANIFEST).exists()


def name_of_store(target: Path) -> str:
    """The permanent name of a store."""
    return read_manifest(RealFiles(), target).store


def making(target: Path) -> Path:
    """The folder beside a store's place in which it is made, so that renaming it is one step."""
    return target.with_name(f"{target.name}.making")


def size_of(target: Path) -> int:
    """The bytes of a store's files."""
    return sum(path.stat().st_size for path in target.iterdir())
