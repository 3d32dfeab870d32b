"""Bulk import and closures on Spark: a cluster prepares a store that the library opens.

pyspark is imported only in this package, and only when one of its functions is called. The package
is above the store, like the command line: the store never imports it.

    from triplestore.loaders.spark import import_dataset, make
    spark = make("spark://head:7077")
    import_dataset(spark, "hdfs://head/dump/*.nt.bz2", "/shared/dump.db")

The names below are imported at first use. DESIGN.md shows the stages of an import.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from triplestore.errors import UsageError, install

_HOMES = {
    "import_dataset": "importing.dataset",
    "Imported": "importing.dataset",
    "pull": "importing.pull",
    "columns_to_triples": "importing.table_columns",
    "Property": "importing.table_columns",
    "read_statements": "importing.statements",
    "read_triples": "frames",
    "query_frame": "frames",
    "SourceOptions": "importing.sources",
    "make": "session",
    "check": "session",
    "report_of": "jobs.report",
    "StageLog": "jobs.stage_log",
    "SessionSetting": "jobs.run_job",
    "run": "jobs.run_job",
    "source_of": "jobs.run_job",
    "package": "jobs.packaging",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ModuleNotFoundError as error:
        if not _is_of_the_extra(error):
            raise
        raise missing(error) from None


def missing(error: ImportError) -> UsageError:
    """The error for a missing library that this package needs."""
    name = (error.name or "pyspark").partition(".")[0]
    return UsageError(f"Spark needs {name}, which is not installed: {install('spark')}")


def _is_of_the_extra(error: ImportError) -> bool:
    return (error.name or "").partition(".")[0] in ("pyspark", "pyarrow", "pandas", "py4j")


def __dir__() -> list[str]:
    return sorted(_HOMES)
