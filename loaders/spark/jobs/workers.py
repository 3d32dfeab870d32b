"""Functions that Spark's Python workers run, without overhead for each task.

Start reading at `mapped`. pyspark's worker does two things for each task that take 0.15 s of
processor time if numba and pyarrow are loaded. After the task it collects garbage among all
objects; before it, it clears the caches of importers, so Python reads the directory of pyspark.zip
again for each package in it (16 times). For a part of 32 MB that took three times as long as
parsing. So objects of modules are excluded from garbage collection, and importers of zip archives
are removed; Python makes them again when needed.
"""

from __future__ import annotations

import gc
import sys
import zipimport
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

Batches = Iterator[Any]

_modules = 0
"""Number of loaded modules when objects were last excluded from garbage collection."""


def mapped(rows: Any, function: Callable[[Batches], Batches], schema: Any) -> Any:
    """`rows.mapInArrow(function, schema)`."""
    return rows.mapInArrow(partial(run, function), schema)


def run(function: Callable[[Batches], Batches], batches: Batches) -> Batches:
    """The batches of the function; then the worker is prepared for more tasks.

    >>> list(run(reversed, [1, 2]))
    [2, 1]
    """
    yield from function(batches)
    settle()


def task_number() -> int:
    """The number of the task that this worker does, among the tasks of its stage; 0 in no task."""
    from pyspark import TaskContext  # late, because tests and `pull` work without Spark

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def settle() -> None:
    """Avoid work that pyspark's worker would repeat for each task."""
    global _modules
    if len(sys.modules) != _modules:  # only then, because frozen objects are never freed
        _modules = len(sys.modules)
        gc.collect()
        gc.freeze()
    for place, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[place]
