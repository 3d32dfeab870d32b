"""Check that Spark's workers have this package, before a job needs it there.

`check_workers` runs one tiny task per session. Without it, the first stage fails four times, and
its error is pages of Java and Python about a module that is missing somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

from triplestore.errors import DISTRIBUTION, UsageError, install

IMPORTED = "triplestore.loaders.spark.importing.statements"
"""A module that needs everything that tasks need."""

_CAUSES = (
    "[PYTHON_VERSION_MISMATCH]",
    "[PACKAGE_NOT_INSTALLED]",
    "ModuleNotFoundError: ",
    "ImportError: ",
    "Cannot run program ",
)
"""What Spark's errors contain if the worker's Python cannot run any task."""

_checked: WeakSet[Any] = WeakSet()


def check_workers(spark: Any, module: str = IMPORTED) -> None:
    """Raise an error of one line if a worker of this session cannot import `module`.

    Nothing is checked on one machine, where workers run the Python of the driver.
    """
    if spark in _checked or _is_local(spark):
        return
    one = spark.range(0, 1, 1, 1)
    try:
        (row,) = one.mapInArrow(_import_there(module), "problem string").collect()
    except Exception as error:
        cause = _cause(str(error))
        if cause is None:
            raise
        raise _unfit(cause) from None
    if row.problem:
        raise _unfit(" ".join(row.problem.split()))
    _checked.add(spark)


def _is_local(spark: Any) -> bool:
    """Whether the workers are on this machine, with this Python."""
    master = str(spark.conf.get("spark.master", ""))
    return "connect" not in type(spark).__module__ and master.partition("[")[0] == "local"


def _import_there(module: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for workers that gives the reason why `module` cannot be imported, or null."""

    # An inner function: it is sent as code. Others are sent as names in this package.
    def tell(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib
        import socket
        import sys

        import pyarrow

        problem = None
        try:
            importlib.import_module(module)
        except Exception as error:  # noqa: BLE001 - any reason is reported
            name = type(error).__name__
            problem = f"{sys.executable} on {socket.gethostname()} says {name}: {error}"
        for _ in batches:
            column = pyarrow.array([problem], pyarrow.string())
            yield pyarrow.RecordBatch.from_arrays([column], ["problem"])

    return tell


def _cause(text: str) -> str | None:
    """The part of Spark's error that names the cause; None for any other error.

    >>> _cause("Job aborted\\nOSError: [Errno 28] No space left on device")
    >>> _cause('Job aborted\\nCaused by: java.io.IOException: Cannot run program "x"\\n at')
    'Cannot run program "x"'
    """
    for cause in _CAUSES:
        _, found, rest = text.partition(cause)
        if found:
            return f"{cause}{rest}".splitlines()[0].strip()
    return None


def _unfit(cause: str) -> UsageError:
    return UsageError(
        f"Spark's workers cannot run {DISTRIBUTION}: {cause}. In the Python of every worker (the "
        f"setting spark.pyspark.python, or PYSPARK_PYTHON): {install('spark')}; or send the "
        f"package with the job, see `make spark-package`"
    )
