"""The plan of reading: files and parts of files, packed into tasks of similar size.

Start at `plan_parts` and `packed`. Files that tasks open by name are read in ranges if they can be
split: N-Triples and N-Quads anywhere (a range has the lines that begin in it), Turtle and TriG at
the cuts of `turtle_cuts`. Every other file is one part. The plan is sent with the job, some 100
bytes per part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from triplestore.data_classes import data_class
from triplestore.loaders.spark.importing.sources import SourceFile, SourceOptions
from triplestore.loaders.spark.importing.turtle_cuts import Cut

_EXPANDS = 6  # size of text divided by its compressed size, roughly
_MAX_PARTS = 4096


@data_class
class TaskOptions:
    """The options of reading, in a form that can be sent to tasks."""

    lenient: bool
    base_iri: str | None
    default: bytes | None
    keep_labels: bool

    @classmethod
    def of(cls, options: SourceOptions) -> TaskOptions:
        """The options that tasks need."""
        default = options.default_key
        return cls(options.lenient, options.base_iri, default, options.keep_labels)


@data_class
class Part:
    """A part of a file: bytes from `start` to `stop`, or all of it if `stop` is None."""

    file: int
    start: int
    stop: int | None
    cut: Cut | None = None


def plan_parts(
    files: Iterable[SourceFile], cuts: Mapping[int, Sequence[Cut]], options: SourceOptions
) -> list[tuple[Part, int]]:
    """The parts of files that are opened by name, each with its weight in bytes of text."""
    parts = []
    for file in files:
        if file.number in cuts:
            for cut in cuts[file.number]:
                part = Part(file.number, cut.start, cut.stop, cut)
                parts.append((part, cut.stop - cut.start))
        elif file.compression is not None:
            parts.append((Part(file.number, 0, None), file.length * _EXPANDS))
        elif file.by_lines and file.length > options.split_bytes:
            for start in range(0, file.length, options.split_bytes):
                stop = min(start + options.split_bytes, file.length)
                parts.append((Part(file.number, start, stop), stop - start))
        else:
            parts.append((Part(file.number, 0, None), file.length))
    return parts


def packed(parts: Iterable[tuple[Part, int]], task_bytes: int) -> list[tuple[Part, ...]]:
    """Parts in their order, packed into tasks; a part that is larger than a task is one task.

    >>> some = [(Part(n, 0, None), 10) for n in range(5)]
    >>> [len(task) for task in packed(some, 25)]
    [2, 2, 1]
    """
    tasks: list[tuple[Part, ...]] = []
    task: list[Part] = []
    size = 0
    for part, weight in parts:
        if task and (size + weight > task_bytes or len(task) >= _MAX_PARTS):
            tasks.append(tuple(task))
            task, size = [], 0
        task.append(part)
        size += weight
    return [*tasks, tuple(task)] if task else tasks
