"""Import into an existing store: one commit, also if the job is run several times.

Start reading at `Target`. Always true: the numbers of the files of a job (on which the labels of
its blank nodes depend) are reserved in the store before anything is parsed, and recorded in the
work directory; the name of the job is part of the commit. So a job that failed continues with the
same labels, and a committed job does nothing.

Known terms keep their ids; new ones are numbered after them, in the order of their keys, as by a
load. From there on the columns of Spark are handled like those of a load
(`TransactionWriter.take_loaded`), closure included.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.loaders.report import Loaded
from triplestore.loaders.spark.importing.parquet_parts import IdRows, Keys
from triplestore.loaders.spark.jobs.places import read_text, write_text
from triplestore.reasoning.outcome import Change
from triplestore.storage import Database
from triplestore.storage.metadata import IMPORTS, bytes_of_jobs, import_jobs
from triplestore.store import Store
from triplestore.store.transaction import writer_of
from triplestore.store.writes.graph_writes import reserve_file_numbers
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import U32


@data_class
class Job:
    """One import into a store, equal in each attempt.

    name   stored with the commit
    first  the number of its first file
    """

    name: str
    first: int


@data_class
class Target:
    """A store, and the change to make.

    mode   "add", "delete" or "replace"
    graph  the graph to replace; None is the default graph
    """

    path: Path
    mode: str
    graph: Any = None

    def has_done(self, job: str) -> bool:
        """Whether a job of this name was committed."""
        with Database.open(self.path, read_only=True) as database:
            return job in import_jobs(database.state.meta)

    def job(self, place: str, known: str, name: str | None, files: int) -> Job:
        """The job of the work directory if it has this identity, or a new one.

        place  the file of the job
        known  its identity: a fingerprint of the input and of the change
        """
        text = read_text(None, place)
        if text is not None:
            before = json.loads(text)
            if before["known"] == known and name in (None, before["name"]):
                return Job(before["name"], before["first"])
        with opened(self.path) as writer:
            first = reserve_file_numbers(writer, files, self.graph, self.mode == "replace")
        job = Job(name or uuid.uuid4().hex, first)
        write_text(None, place, json.dumps({"known": known, "name": job.name, "first": first}))
        return job

    def commit(
        self,
        job: Job,
        keys: Keys,
        rows: IdRows,
        loaded: Loaded,
        finish: Callable[[TransactionWriter], object],
    ) -> Change | None:
        """Make the change in one commit; None if the job was committed before.

        loaded  the report of the load; gets rows and terms
        finish  called before the commit, to apply rules or to postpone inference
        """
        with opened(self.path) as writer:
            jobs = import_jobs(writer.kept)
            if job.name in jobs:
                return None
            dictionary = writer.dictionary
            if self.mode == "delete":
                into_known(loaded, dictionary, keys, rows)
            else:
                into_ids(loaded, dictionary, keys, rows)
            writer.take_loaded(loaded, self.mode, self.graph)
            writer.keep({IMPORTS: bytes_of_jobs([*jobs, job.name])})
            finish(writer)
        return writer.change


@contextmanager
def opened(path: Path) -> Iterator[TransactionWriter]:
    """A transaction on a store that is opened before it and closed after it."""
    store = Store(path)
    try:
        with store.transaction() as transaction:
            yield writer_of(transaction)
    finally:
        store.close()


def empty_loaded(files: int, first: int) -> Loaded:
    """A load without rows."""
    none: U32 = np.empty(0, np.uint32)
    loaded = Loaded(none, none, none, none, False, None)
    loaded.next_file_number = first + files
    return loaded


def into_ids(loaded: Loaded, dictionary: Dictionary, keys: Keys, rows: IdRows) -> None:
    """Set the rows in the ids of a dictionary, and the segment of its new terms."""
    collector = TermCollector(dictionary)
    numbers = np.zeros(len(keys.kinds) + 1, np.uint32)
    numbers[1:] = collector.add(*keys.spans())
    ids, segment = collector.seal()
    _put(loaded, rows, ids[numbers])
    loaded.segment = segment


def into_known(loaded: Loaded, dictionary: Dictionary, keys: Keys, rows: IdRows) -> None:
    """Set the rows in the ids of a dictionary; 0 for unknown terms."""
    ids = np.zeros(len(keys.kinds) + 1, np.uint32)
    spans = keys.spans()
    for segment in dictionary.segments:
        segment.find_many(spans, ids[1:])
    if dictionary.sealed_size < dictionary.size:
        first = dictionary.sealed_size + 1
        new = dictionary.new_keys(first - 1, dictionary.size)
        live = {key: first + i for i, key in enumerate(new)}
        for i in np.flatnonzero(ids[1:] == 0).tolist():
            start = int(spans.starts[i])
            text = spans.buf[start : start + int(spans.lengths[i])].tobytes()
            ids[i + 1] = live.get(bytes((int(spans.kinds[i]),)) + text, 0)
    _put(loaded, rows, ids)
    if rows.g is not None:  # rows of an unknown graph match nothing
        loaded.p[(rows.g != 0) & (loaded.g == 0)] = 0


def _put(loaded: Loaded, rows: IdRows, ids: U32) -> None:
    loaded.s, loaded.p, loaded.o = ids[rows.s], ids[rows.p], ids[rows.o]
    loaded.g = np.zeros(len(rows), np.uint32) if rows.g is None else ids[rows.g]
    loaded.has_named = bool(loaded.g.any())
