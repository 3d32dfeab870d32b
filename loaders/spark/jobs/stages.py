"""The stages of a job: each writes a table, once.

Start reading at `Stages.table`. A job's work directory has one folder for each stage, named by its
fingerprint: a hash of its inputs (the source, the options, the earlier stages). Always true: a
folder is used only if its marker exists, and the marker is written after the table; another input
gives another name. So a job that was stopped continues after its last finished stage, and a job
that is started again with other data starts from the beginning.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.loaders.spark.jobs.places import is_local, join, read_text, write_text

StageListener = Callable[[str, Mapping[str, Any]], object]
"""Called after each stage with its name and figures."""


@data_class(frozen=False)
class Stages:
    """The stages of one job.

    place   the work directory: a path that all nodes share, or a URI
    told    called after each stage
    done    name, seconds and figures of each stage, in order
    """

    spark: Any
    place: str
    told: StageListener | None = None
    done: list[dict[str, Any]] = field(default_factory=list)

    def table(
        self,
        name: str,
        inputs: Any,
        make: Callable[[], Any],
        figures: Callable[[Any], Mapping[str, Any]] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """The table of a stage, read from where it was written, and its figures.

        inputs   its inputs, as JSON; other inputs make another table
        make     returns the DataFrame; not called if the table exists
        figures  returns figures to keep with the marker; those without a leading `_` are reported
        """
        return self.step(name, inputs, lambda place: self._written(make(), place), figures)

    def step(
        self,
        name: str,
        inputs: Any,
        write: Callable[[str], Any],
        figures: Callable[[Any], Mapping[str, Any]] | None = None,
        read: Callable[[str], Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """The same for a stage that writes to a given folder and returns any result.

        read  returns the result of a stage that was done before; by default, the table there
        """
        began = time.monotonic()
        mark = fingerprint(name, inputs)
        place = join(self.place, f"{name}-{mark}")
        known = read_text(self.spark, f"{place}.done")
        if known is not None:
            noted: dict[str, Any] = json.loads(known)
            self._note(name, noted, began, resumed=True)
            return (read or self._read)(place), noted
        made = write(place)
        noted = dict(figures(made)) if figures is not None else {}
        noted["mark"] = mark
        write_text(self.spark, f"{place}.done", json.dumps(noted, default=str))
        self._note(name, noted, began, resumed=False)
        return made, noted

    def _written(self, frame: Any, place: str) -> Any:
        frame.write.mode("overwrite").parquet(place)
        return self._read(place)

    def _read(self, place: str) -> Any:
        return self.spark.read.parquet(place)

    def _note(self, name: str, noted: Mapping[str, Any], began: float, *, resumed: bool) -> None:
        figures = {"stage": name, "seconds": time.monotonic() - began, "resumed": resumed}
        figures |= {key: value for key, value in noted.items() if not key.startswith("_")}
        self._tell(name, figures)

    def tell(self, name: str, began: float, figures: Mapping[str, Any]) -> None:
        """Report a step that is not a stage, because it is done each time."""
        seconds = time.monotonic() - began
        self._tell(name, {"stage": name, "seconds": seconds, "resumed": False, **figures})

    def _tell(self, name: str, figures: dict[str, Any]) -> None:
        self.done.append(figures)
        if self.told is not None:
            self.told(name, figures)

    def figure(self, name: str, figure: str) -> Any:
        """A figure of a stage that is done."""
        return next(stage[figure] for stage in self.done if stage["stage"] == name)

    @property
    def resumed(self) -> list[str]:
        """The names of the stages that were done before."""
        return [str(stage["stage"]) for stage in self.done if stage["resumed"]]

    def remove(self) -> None:
        """Remove the work directory, if it is a path."""
        if is_local(self.place):
            shutil.rmtree(local_path(self.place), ignore_errors=True)


def local_path(place: str) -> Path:
    """The path of a local place.

    >>> local_path("file:///a/b").as_posix()
    '/a/b'
    """
    return Path(os.fspath(place).removeprefix("file://"))


def fingerprint(*parts: Any) -> str:
    """A short name for some inputs (any JSON).

    >>> fingerprint("a", [1]) == fingerprint("a", [1]) != fingerprint("a", [2])
    True
    """
    text = json.dumps(parts, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=8).hexdigest()
