"""Programs evaluated on DataFrames, for closures that are too large for one machine.

Start reading at `closing.close`; `loaders/spark/DESIGN.md` has the decisions.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("SparkClosure", "close"):
        from triplestore.loaders.spark.closure import closing

        return getattr(closing, name)
    if name == "Options":
        from triplestore.loaders.spark.closure.options import Options

        return Options
    raise AttributeError(name)
