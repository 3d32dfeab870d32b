"""Import into an existing store: one commit, made once however often the job is tried.

Start reading at `Target`. What is always true: the numbers of the files of a job (on which the
labels of its blank nodes depend) are reserved in the store before anything is parsed, and written
down in the work directory; the name of the job is part of the commit. So a job that failed anywhere
continues with the same labels, and one that was committed does nothing.

Terms that the store knows keep their ids, others get theirs behind all, in the order of their
keys, as a load would give them: the columns that come from Spark go the way of a load
(`TransactionWriter.take_loaded`) from there on, closure included.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from triplestore.loaders.report import Loaded
from triplestore.loaders.spark.importing.parquet_parts import Keys, Rows
from triplestore.loaders.spark.jobs.places import read_text, write_text
from triplestore.reasoning.outcome import Change
from triplestore.storage import Database
from triplestore.storage.metadata import IMPORTS, bytes_of_jobs, import_jobs
from triplestore.store import Store
from triplestore.store.graph_writes import reserve_file_numbers
from triplestore.store.transaction import writer_of
from triplestore.store.writer import TransactionWriter
from triplestore.terms import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import U32


@dataclass(frozen=True, slots=True)
class Job:
    """One import into a store, the same at each attempt.

    name   is kept with the commit
    first  the number of its first file
    """

    name: str
    first: int


@dataclass(frozen=True, slots=True)
class Target:
    """A store, and what is to be done to it.

    mode   "add", "delete" or "replace"
    graph  what is replaced; None is the default graph
    """

    path: Path
    mode: str
    graph: Any = None

    def has_done(self, job: str) -> bool:
        """Whether a job of this name was committed."""
        with Database.open(self.path, read_only=True) as database:
            return job in import_jobs(database.state.meta)

    def job(self, place: str, known: str, name: str | None, files: int) -> Job:
        """The job that this is: that of the work directory if it is the same, or a new one.

        place  where it is written down
        known  its identity: a fingerprint of its input and of what is to be done
        """
        said = read_text(None, place)
        if said is not None:
            before = json.loads(said)
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
        rows: Rows,
        loaded: Loaded,
        finish: Callable[[TransactionWriter], object],
    ) -> Change | None:
        """Do it in one commit; None if it was done before.

        loaded  what else there is to say of the load; gets rows and terms
        finish  is called before the commit: rules to apply, or inference to put off
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
    """A transaction on a store that is opened for it, and closed after it."""
    store = Store(path)
    try:
        with store.transaction() as transaction:
            yield writer_of(transaction)
    finally:
        store.close()


def empty_loaded(files: int, first: int) -> Loaded:
    """What a load says before it has rows."""
    none: U32 = np.empty(0, np.uint32)
    loaded = Loaded(none, none, none, none, False, None)
    loaded.next_file_number = first + files
    return loaded


def into_ids(loaded: Loaded, dictionary: Dictionary, keys: Keys, rows: Rows) -> None:
    """Rows in the ids of a dictionary, and the segment of terms that are new to it."""
    collector = TermCollector(dictionary)
    numbers = np.zeros(len(keys.kinds) + 1, np.uint32)
    numbers[1:] = collector.add(*keys.spans())
    ids, segment = collector.seal()
    _put(loaded, rows, ids[numbers])
    loaded.segment = segment


def into_known(loaded: Loaded, dictionary: Dictionary, keys: Keys, rows: Rows) -> None:
    """Rows in the ids of a dictionary; 0 for terms that it does not have."""
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
    if rows.g is not None:  # an unknown graph name is in no graph, not in the default graph
        loaded.p[(rows.g != 0) & (loaded.g == 0)] = 0


def _put(loaded: Loaded, rows: Rows, ids: U32) -> None:
    loaded.s, loaded.p, loaded.o = ids[rows.s], ids[rows.p], ids[rows.o]
    loaded.g = np.zeros(len(rows), np.uint32) if rows.g is None else ids[rows.g]
    loaded.has_named = bool(loaded.g.any())
