"""Loading on this machine: documents in, columns of ids out, on a few threads.

Start at `load`. Small input is parsed by pyoxigraph alone (see small.py). Larger input is parsed in
blocks: each worker takes the next block of the first document that no other worker is reading from,
so several files and parts of one large file are parsed at once, and decompression overlaps with
parsing. Always true: rows are in the order of the documents, ids do not depend on the speed of
threads, and nothing changes before the caller commits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyoxigraph as ox

from triplestore.errors import BudgetError, CancelledError, UsageError
from triplestore.kernels.parallel import thread_count
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.guards.document_limits import USUAL, Limits
from triplestore.thread_limits import look

from .documents import Document, make_document
from .progress import Progress
from .report import Loaded, ReadOptions
from .small import load_small, small_inputs
from .sources import DocumentSource, InputLike, PathLike, find_sources
from .work import Work

_POLL = 0.05  # seconds between checks of progress and cancellation
_GRACE = 0.2  # seconds that workers have to stop


def load(
    input: InputLike | None,
    dictionary: Dictionary,
    *,
    format: ox.RdfFormat | str | None = None,
    path: PathLike | Iterable[PathLike] | None = None,
    base_iri: str | None = None,
    to_graph: ox.NamedNode | ox.BlankNode | None = None,
    named_graphs: str = "keep",
    lenient: bool = False,
    first_file_number: int = 1,
    progress: bool | Progress = False,
    cancel: Callable[[], bool] | None = None,
    threads: int | None = None,
    limits: Limits = USUAL,
) -> Loaded:
    """Parse documents into rows of ids, which the caller then commits or drops.

    input : a document itself: text, bytes, or a stream of either
    path : files instead: a path, a folder, a glob, `-` for standard input, or several of these
    format : the format of documents whose name does not show it
    base_iri : the base of relative IRIs; without it they are refused
    to_graph : the graph for statements of the default graph; statements of named graphs keep their
        graph, or are errors with `named_graphs="refuse"`
    lenient : keep good statements, report bad ones in `Loaded.problems`, and raise nothing
    first_file_number : makes blank node labels unique; a store never uses a number twice, and its
        next load starts with `Loaded.next_file_number`
    progress : show a bar on stderr
    limits : maximum length of a line and of a term
    cancel : called about twenty times a second; if it returns true, `CancelledError` is raised

    Raises ParseError for the first bad statement found, naming file, line and column.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> loaded = load(b"<http://a> <http://p> <http://b> .", Dictionary(), format="nt")
    >>> loaded.s.tolist(), loaded.p.tolist(), loaded.o.tolist(), loaded.g.tolist()
    ([1], [3], [2], [0])
    """
    if named_graphs not in ("keep", "refuse"):
        raise UsageError(f"named_graphs is 'keep' or 'refuse', not {named_graphs!r}")
    began = time.monotonic()
    found = find_sources(input, path, format)
    reading = ReadOptions(base_iri, to_graph, named_graphs == "refuse", lenient, limits)
    try:
        loaded = _loaded(found, dictionary, reading, first_file_number, progress, cancel, threads)
    except (MemoryError, RuntimeError) as error:
        no_thread = isinstance(error, RuntimeError) and "start new thread" in str(error)
        if isinstance(error, BudgetError) or not (isinstance(error, MemoryError) or no_thread):
            raise
        raise BudgetError(
            "the load needs more memory than this process may have: nothing was loaded; load fewer "
            "files at once, or lower max_line_bytes and max_term_bytes"
        ) from error
    loaded.next_file_number = first_file_number + len(found)
    loaded.seconds = time.monotonic() - began
    return loaded


def _loaded(
    found: list[DocumentSource],
    dictionary: Dictionary,
    reading: ReadOptions,
    first_number: int,
    progress: bool | Progress,
    cancel: Callable[[], bool] | None,
    threads: int | None,
) -> Loaded:
    inputs = small_inputs(found, lambda: _check(cancel))
    if all(given.whole is not None for given in inputs):
        return load_small(inputs, dictionary, reading, first_number)
    documents = [make_document(given, first_number + i, reading) for i, given in enumerate(inputs)]
    bar = Progress(_total(found)) if progress is True else progress or None
    return _Load(documents, dictionary, reading, cancel).run(threads or thread_count(), bar)


def _check(cancel: Callable[[], bool] | None) -> None:
    if cancel is not None and cancel():
        raise CancelledError("the load was cancelled; nothing was loaded")
    look("loading")


def _total(sources: Sequence[Any]) -> int | None:
    sizes = [source.size for source in sources]
    return None if None in sizes else sum(sizes)


class _Load:
    """The threads of one load, their shared state, and the columns at the end."""

    def __init__(
        self,
        documents: list[Document],
        dictionary: Dictionary,
        reading: ReadOptions,
        cancel: Callable[[], bool] | None,
    ) -> None:
        self._documents = documents
        self._cancel = cancel
        self._work = Work(documents, dictionary, reading)

    def run(self, threads: int, bar: Progress | None) -> Loaded:
        """Parse everything; returns the rows in final ids."""
        workers = [_Worker(self._work, i) for i in range(threads)]
        grace = None
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                while not worker.ended.wait(_POLL):
                    self._look(bar)
            self._look(bar)
        except BaseException:
            self._work.stop()
            grace = _GRACE
            raise
        finally:
            # A worker may wait for a stream of the caller, which nothing can interrupt. It is left
            # behind with its open files, and ends when data arrives.
            ended = [worker.finish(grace) for worker in workers]
            if all(ended):
                for document in self._documents:
                    document.close()
            if bar is not None:
                bar.close()
        self._work.raise_failure()
        return self._work.loaded(threads)

    def _look(self, bar: Progress | None) -> None:
        _check(self._cancel)
        if bar is not None:
            done = sum(document.position for document in self._documents)
            bar.update(done, self._work.statements)


class _Worker(threading.Thread):
    """One thread of a load.

    Waits use the event: after Ctrl-C interrupts a `join`, Python 3.11 reports that a running thread
    has ended.
    """

    def __init__(self, work: Work, number: int) -> None:
        super().__init__(name=f"load-{number}", daemon=True)
        self.ended = threading.Event()
        self._work = work

    def run(self) -> None:
        """Work until no block is left."""
        try:
            self._work.run()
        finally:
            self.ended.set()

    def finish(self, seconds: float | None) -> bool:
        """Wait at most this long for a started thread; returns whether it has ended."""
        if self.ident is None:
            return True
        if not self.ended.wait(seconds):
            return False
        self.join()
        return True
