"""What `/metrics` says: start at `Metrics`.

Always true: the number of labels is bounded, whatever clients send.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from triplestore._version import VERSION
from triplestore.server.access.caller import require
from triplestore.server.access.control import AccessControl
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import Runner
from triplestore.server.watching.measures import Counts, MetricText, Times

if TYPE_CHECKING:
    from triplestore.store import Store

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
_PROCESS = Path("/proc/self")


class Metrics:
    """Counts and times of requests, and the numbers of the server and its stores."""

    def __init__(self, stores: Mapping[str, Store], runner: Runner, control: AccessControl) -> None:
        self._stores, self._runner, self._control = stores, runner, control
        self._started = time.time()
        self._requests = Counts("endpoint", "method", "status")
        self._bytes = Counts("endpoint")
        self._seconds = Times("endpoint")

    def note(self, endpoint: str, method: str, status: int, size: int, seconds: float) -> None:
        """Note a request that has ended; status 0 if its client went away."""
        known = method if method in _METHODS else "other"
        self._requests.add(endpoint, known, str(status))
        self._bytes.add(endpoint, amount=size)
        self._seconds.add(endpoint, seconds)

    def route(self) -> Route:
        """The route `/metrics`; it needs the role `read`."""

        async def metrics(request: Request) -> Response:
            caller = require(request, "read")
            if caller.stores:
                raise RefusedRequest(403, "metrics are for users who may see all stores")
            return Response(str(self.text()), headers={"content-type": CONTENT_TYPE})

        return Route("/metrics", metrics)

    def text(self) -> MetricText:
        """All metrics."""
        text = MetricText()
        text.add("triplestore_build_info", "gauge", "Version.", [({"version": VERSION}, 1)])
        text.add(
            "triplestore_requests_total", "counter", "Requests that ended.", self._requests.rows()
        )
        self._seconds.write(text, "triplestore_request_seconds", "Times of requests.")
        text.add("triplestore_sent_bytes_total", "counter", "Bytes sent.", self._bytes.rows())
        self._of_server(text)
        self._of_stores(text)
        self._of_process(text)
        return text

    def _of_server(self, text: MetricText) -> None:
        runner = self._runner
        one = [
            ("rows_total", "counter", "Rows and triples of answers.", runner.rows),
            ("queries_running", "gauge", "Queries that run.", runner.running),
            ("queries_waiting", "gauge", "Queries that wait for a place.", runner.waiting),
            ("queries_limited_total", "counter", "Refused by a limit.", runner.limits.refused),
            ("logins_refused_total", "counter", "Failed logins.", self._control.refused_logins),
        ]
        for name, kind, about, value in one:
            text.add(f"triplestore_{name}", kind, about, [({}, value)])

    def _of_stores(self, text: MetricText) -> None:
        stores = self._stores
        for store in stores.values():
            store.refresh()
        text.add(
            "triplestore_commits_total",
            "counter",
            "Number of the last commit.",
            [({"store": name}, store.commit) for name, store in stores.items()],
        )
        text.add(
            "triplestore_quads",
            "gauge",
            "Quads by whether they are asserted or inferred.",
            [
                ({"store": name, "facts": label}, store.count(facts))
                for name, store in stores.items()
                for label, facts in (("asserted", "explicit"), ("inferred", "inferred"))
            ],
        )
        text.add(
            "triplestore_open_snapshots",
            "gauge",
            "Snapshots that are held.",
            [({"store": name}, store.open_snapshots) for name, store in stores.items()],
        )

    def _of_process(self, text: MetricText) -> None:
        about = "Start of the process, in seconds since 1970."
        text.add("process_start_time_seconds", "gauge", about, [({}, self._started)])
        used = time.process_time()
        text.add("process_cpu_seconds_total", "counter", "Seconds of processors.", [({}, used)])
        if (_PROCESS / "statm").exists():
            pages = int((_PROCESS / "statm").read_text().split()[1])
            size = pages * os.sysconf("SC_PAGE_SIZE")
            text.add("process_resident_memory_bytes", "gauge", "Memory in use.", [({}, size)])
            files = len(list((_PROCESS / "fd").iterdir()))
            text.add("process_open_fds", "gauge", "Open files and connections.", [({}, files)])
