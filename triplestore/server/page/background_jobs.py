"""Long work that people watch and stop: loads and inference. Start at `BackgroundJobs`.

A job runs in a thread of its own, so it may take longer than a request. Always true: the thread of
a job ends soon after its `stop` is set; at the end of the server all jobs are stopped.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from triplestore.live_line import shown_by
from triplestore.server.memory import release_memory
from triplestore.server.refusals import RefusedRequest, refused_by

logger = logging.getLogger("triplestore.server")

MAX_RUNNING = 4
"""Maximum number of jobs at a time; one writes, and the others wait for it."""
KEPT = 50
"""Number of jobs whose results are kept."""
_BAR = re.compile(r"^\[[#.]*\] +([0-9]+)% *")


class Job:
    """Work that runs, or has ended.

    stop     ends it soon after it is set; nothing is changed then
    version  grows with each change of what there is to tell
    """

    def __init__(self, kind: str, user: str | None, store: str | None) -> None:
        self.id = uuid4().hex
        self.kind = kind
        self.user = user
        self.store = store
        self.stop = threading.Event()
        self.version = 0
        self.state = "running"
        self.progress: dict[str, Any] = {}
        self.result: dict[str, Any] = {}
        self.listeners: set[Callable[[], None]] = set()
        """Called by the job's thread when there is something to tell."""
        self._begun = time.monotonic()
        self._ended = 0.0

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._ended or time.monotonic()) - self._begun

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state != "running"

    def report(self, text: str) -> None:
        """Tell how far it is, by a line as for a terminal; a bar in it becomes a fraction.

        >>> job = Job("load", None, None)
        >>> job.report("[######......]  50%  1,000 statements")
        >>> job.progress
        {'text': '1,000 statements', 'fraction': 0.5}
        """
        text = text.strip()
        bar = _BAR.match(text)
        self.progress = {"text": text[bar.end() :] if bar else text}
        if bar:
            self.progress["fraction"] = int(bar[1]) / 100
        self._tell()

    def end(self, state: str, result: dict[str, Any]) -> None:
        """Tell how it ended."""
        self._ended = time.monotonic()
        self.result, self.state = result, state
        self._tell()

    def _tell(self) -> None:
        self.version += 1
        for listener in list(self.listeners):
            listener()

    def as_dict(self) -> dict[str, Any]:
        """All there is to tell, as plain data."""
        made: dict[str, Any] = {"id": self.id, "kind": self.kind, "state": self.state}
        return {**made, "seconds": round(self.seconds, 3), **self.progress, **self.result}


class BackgroundJobs:
    """The jobs of a server.

    >>> jobs = BackgroundJobs()
    >>> job = jobs.start("count", lambda job: {"counted": 3})
    >>> jobs.stop()
    >>> job.state, job.result
    ('done', {'counted': 3})
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.ended = False

    def start(
        self,
        kind: str,
        work: Callable[[Job], dict[str, Any]],
        user: str | None = None,
        store: str | None = None,
        clean: Callable[[], None] = lambda: None,
    ) -> Job:
        """Begin a job; its result is that of `work`, and `clean` is called in any case."""
        job = Job(kind, user, store)
        thread = threading.Thread(target=self._run, args=(job, work, clean), name=f"job {kind}")
        try:
            with self._lock:
                if self.ended or len(self._threads) >= MAX_RUNNING:
                    message = f"{MAX_RUNNING} loads or inferences are running: try again later"
                    raise RefusedRequest(503, message, {"Retry-After": "10"})
                for oldest in list(self._jobs)[: 1 - KEPT]:
                    if self._jobs[oldest].is_over:
                        del self._jobs[oldest]
                self._jobs[job.id] = job
                self._threads[job.id] = thread
        except BaseException:
            clean()
            raise
        thread.start()
        return job

    def get(self, name: str) -> Job | None:
        """The job with an id."""
        return self._jobs.get(name)

    def all(self) -> list[Job]:
        """The jobs that run or ended last."""
        return list(self._jobs.values())

    def stop(self) -> None:
        """Stop all jobs, and wait until they have ended."""
        with self._lock:
            self.ended = True
            waiting = [(self._jobs[name], thread) for name, thread in self._threads.items()]
        for job, _ in waiting:
            job.stop.set()
        for _, thread in waiting:
            thread.join()

    def _run(
        self, job: Job, work: Callable[[Job], dict[str, Any]], clean: Callable[[], None]
    ) -> None:
        try:
            with shown_by(job.report):
                result = work(job)
            job.end("done", result)
        except BaseException as error:  # noqa: BLE001 - every error is reported to the client
            refused = refused_by(error)
            state = "stopped" if job.stop.is_set() else "failed"
            job.end(state, {"error": {"message": refused.message, **refused.details}})
        finally:
            clean()
            release_memory()
            with self._lock:
                self._threads.pop(job.id, None)
