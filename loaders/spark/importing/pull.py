"""A store from tables that a job wrote to a place that is not a path of this machine.

Start reading at `pull`. It needs no Spark: pyarrow reads the tables (`s3://`, `gs://`, `hdfs://`, a
path). What is always true: all files that the job's manifest names are there with their lengths,
every page has its checksum and every table its number of rows; otherwise no store is made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from triplestore.errors import CorruptError, FormatError, StorageError
from triplestore.loaders.spark.importing.parquet_parts import (
    Parts,
    Rows,
    check_room,
    read_keys,
    read_rows,
)
from triplestore.loaders.spark.importing.write_store import (
    Extra,
    Imported,
    making,
    put_in_place,
    removed_on_failure,
    write_store,
)
from triplestore.loaders.spark.jobs.places import is_uri, join
from triplestore.loaders.spark.jobs.stages import Told
from triplestore.storage.files.system import Files

MANIFEST = "manifest.json"
VERSION = 1


def pull(
    uri: str, directory: str | Path, *, progress: Told | None = None, files: Files | None = None
) -> Imported:
    """Make a store in `directory` of the tables at `uri`; all of it, or nothing.

    `progress` is called after each step with its name and figures.
    """
    began = time.monotonic()
    target = Path(directory).absolute()
    place = uri if is_uri(uri) else f"file://{Path(uri).absolute()}"
    tell = progress or (lambda name, figures: None)
    said = _manifest(place)
    _check_files(place, said["files"])
    if target.exists() and any(target.iterdir()):
        raise StorageError(f"{target} is not empty: name a new directory for the store")
    extra = Extra.from_json(said["extra"])
    check_room(said["terms"] + len(extra.keys))

    def rows() -> Rows:
        tell("terms", {"rows": said["terms"], "seconds": time.monotonic() - began})
        found = read_rows(join(place, "triples"))
        if len(found) != said["triples"]:
            raise CorruptError(
                f"{place} has {len(found):,} triples, not {said['triples']:,}: write it again"
            )
        return found

    fresh = making(target)
    with removed_on_failure(fresh):
        write_store(
            fresh,
            lambda: read_keys(join(place, "terms"), said["terms"], "id"),
            rows,
            {},
            extra=extra,
            files=files,
        )
        put_in_place(fresh, target)
    seconds = time.monotonic() - began
    tell("store", {"rows": said["triples"], "seconds": seconds})
    return Imported(
        str(target), said["triples"], said["terms"], said["sources"], said["bad"], seconds
    )


def _manifest(place: str) -> dict[str, Any]:
    """What the job said of its tables, when it had written them."""
    where = join(place, MANIFEST)
    try:
        files, path = pafs.FileSystem.from_uri(where)
        found = files.get_file_info(path)
        if found.type == pafs.FileType.Directory:  # as Spark writes a text
            inside = files.get_file_info(pafs.FileSelector(path))
            (path,) = (info.path for info in inside if info.base_name.startswith("part-"))
        with files.open_input_file(path) as source:
            said: dict[str, Any] = json.loads(source.read())
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StorageError(
            f"there is no finished import at {place}: {where} cannot be read ({error})"
        ) from error
    if not said:
        raise StorageError(f"the import into {place} has not ended, or failed: run it again")
    if said["format"] > VERSION:
        raise FormatError(f"{place} is of format {said['format']}: upgrade triplestore")
    return said


def _check_files(place: str, tables: Mapping[str, Mapping[str, int]]) -> None:
    for table, sizes in tables.items():
        found = Parts.of(join(place, table)).sizes()
        for name, size in sizes.items():
            if name.endswith(".parquet") and found.get(name) != size:
                raise CorruptError(
                    f"{join(place, table)}/{name} should have {size:,} bytes and has "
                    f"{found.get(name, 0):,}: copy it again, or run the job again"
                )
        if more := set(found) - set(sizes):
            raise CorruptError(f"{join(place, table)} has files of another job: {min(more)}")
