"""The state of Spark's Python workers after functions."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

pytest.importorskip("pyarrow")
from triplestore.loaders.spark.jobs.workers import mapped, run, settle


def state_of_worker(batches: Iterable[Any]) -> Iterator[Any]:
    """The process id, the number of frozen objects, and importers of zip archives."""
    import zipimport

    import pyarrow as pa

    for batch in batches:
        zipped = sum(isinstance(f, zipimport.zipimporter) for f in sys.path_importer_cache.values())
        row = [[os.getpid()], [gc.get_freeze_count()], [zipped]] * batch.num_rows
        yield pa.RecordBatch.from_arrays([pa.array(c) for c in row], ["pid", "frozen", "zipped"])


def test_mapped__spares_the_next_task_what_workers_do_each_time(spark: Any) -> None:
    found: dict[int, list[tuple[int, int]]] = {}
    for _ in range(4):
        one = spark.range(0, 1, 1, 1)
        (row,) = mapped(one, state_of_worker, "pid long, frozen long, zipped long").collect()
        found.setdefault(row.pid, []).append((row.frozen, row.zipped))
    again = [said for tasks in found.values() for said in tasks[1:]]
    assert again, "no worker had two tasks"
    assert all(frozen > 10_000 and zipped < 16 for frozen, zipped in again), found


def test_settle__what_is_made_later_is_still_freed(tmp_path: Path) -> None:
    archive = tmp_path / "some.zip"
    with ZipFile(archive, "w") as file:
        file.writestr("module_in_a_zip.py", "value = 3")
    sys.path.append(str(archive))
    try:
        module = importlib.import_module("module_in_a_zip")
        assert str(archive) in sys.path_importer_cache
        settle()
        assert str(archive) not in sys.path_importer_cache
        frozen = gc.get_freeze_count()
        assert module.value == 3
        assert list(run(iter, [1])) == [1]
        assert gc.get_freeze_count() <= frozen, "frozen once, not after each task"
    finally:
        sys.path.remove(str(archive))
        sys.modules.pop("module_in_a_zip", None)
        gc.unfreeze()
