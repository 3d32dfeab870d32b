"""A store from tables that a job wrote to a URI.

Start reading at `pull`. It needs no Spark: pyarrow reads the tables (`s3://`, `gs://`, `hdfs://`, a
path). A store is made only if all files of the job's manifest have their lengths, every page its
checksum and every table its number of rows.
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
    IdRows,
    Parts,
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
from triplestore.loaders.spark.jobs.stages import StageListener
from triplestore.storage.files.system import Files

MANIFEST = "manifest.json"
VERSION = 1


def pull(
    uri: str,
    directory: str | Path,
    *,
    progress: StageListener | None = None,
    files: Files | None = None,
) -> Imported:
    """Make a store in `directory` from the tables at `uri`: completely, or not.

    `progress` is called after each step with its name and figures.
    """
    began = time.monotonic()
    target = Path(directory).absolute()
    place = uri if is_uri(uri) else f"file://{Path(uri).absolute()}"
    tell = progress or (lambda name, figures: None)
    manifest = _manifest(place)
    _check_files(place, manifest["files"])
    if target.exists() and any(target.iterdir()):
        raise StorageError(f"{target} is not empty: give a new directory for the store")
    extra = Extra.from_json(manifest["extra"])
    check_room(manifest["terms"] + len(extra.keys))

    def rows() -> IdRows:
        tell("terms", {"rows": manifest["terms"], "seconds": time.monotonic() - began})
        found = read_rows(join(place, "triples"))
        if len(found) != manifest["triples"]:
            raise CorruptError(
                f"{place} has {len(found):,} triples, not {manifest['triples']:,}: run the job "
                "again"
            )
        return found

    fresh = making(target)
    with removed_on_failure(fresh):
        write_store(
            fresh,
            lambda: read_keys(join(place, "terms"), manifest["terms"], "id"),
            rows,
            {},
            extra=extra,
            files=files,
        )
        put_in_place(fresh, target)
    seconds = time.monotonic() - began
    tell("store", {"rows": manifest["triples"], "seconds": seconds})
    return Imported(
        str(target),
        manifest["triples"],
        manifest["terms"],
        manifest["sources"],
        manifest["bad"],
        seconds,
    )


def _manifest(place: str) -> dict[str, Any]:
    """The job's description of its tables."""
    where = join(place, MANIFEST)
    try:
        files, path = pafs.FileSystem.from_uri(where)
        found = files.get_file_info(path)
        if found.type == pafs.FileType.Directory:  # as Spark writes a text
            inside = files.get_file_info(pafs.FileSelector(path))
            (path,) = (info.path for info in inside if info.base_name.startswith("part-"))
        with files.open_input_file(path) as source:
            manifest: dict[str, Any] = json.loads(source.read())
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StorageError(
            f"{place} has no finished import: cannot read {where} ({error})"
        ) from error
    if not manifest:
        raise StorageError(f"the import into {place} is not finished or failed: run it again")
    if manifest["format"] > VERSION:
        raise FormatError(f"{place} has the newer format {manifest['format']}: upgrade triplestore")
    return manifest


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
            where = join(place, table)
            raise CorruptError(f"{where} has a file of another job: {min(more)}; remove it")
