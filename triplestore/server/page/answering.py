"""What the handlers of the page share: start at `PageHandlers`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from triplestore.browse.term_data import term_of_text
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.server.access.caller import Caller
from triplestore.server.page.parameters import Parameters
from triplestore.server.running import AnswerOutput, JobInfo, check_id
from triplestore.server.service import StoreService
from triplestore.store import Snapshot, Store
from triplestore.thread_limits import limited


class PageHandlers:
    """The store, and answers as JSON that are made in a thread."""

    def __init__(self, service: StoreService) -> None:
        self.service = service
        self.settings = service.settings

    @property
    def store(self) -> Store:
        """The store; one that is opened for reading is brought up to date."""
        self.service.store.refresh()
        return self.service.store

    def snapshot(self) -> Snapshot:
        """The newest state, for answers that read it several times."""
        return self.store.snapshot()

    def answer(
        self, caller: Caller, work: Callable[[AnswerOutput], Any], info: JobInfo | None = None
    ) -> Response:
        """What a function returns, as JSON."""

        def job(output: AnswerOutput) -> None:
            with limited(_JobLimits(output, self.settings.memory)):
                value = work(output)
            output.media_type = "application/json"
            output.headers["cache-control"] = "no-store"
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            output.write(text.encode("utf-8", "surrogatepass"))

        return self.service.runner.answer(job, info or JobInfo("page", "", caller))

    def seconds(self, given: Parameters) -> float:
        """The time limit that a request asks for, at most that of the server."""
        wanted = given.number("timeout")
        most = self.settings.seconds
        return most if wanted is None or wanted <= 0 else min(wanted, most)

    def budget(self, given: Parameters) -> int:
        """The maximum number of bytes, as `seconds`."""
        wanted = given.number("budget")
        most = self.settings.memory
        return most if wanted is None or wanted <= 0 else min(int(wanted), most)


class _JobLimits:
    """The limits of a job, for code that checks those of its thread."""

    def __init__(self, output: AnswerOutput, most: int) -> None:
        self._output, self._most = output, most

    def look(self, about: object) -> None:
        """Raise if the client is gone, the job was stopped, or its time is over."""
        if self._output.stop.is_set():
            raise CancelledError("the request was stopped")
        if self._output.is_over():
            raise TimeLimitError("the answer was not ready within the time limit of the server")

    def needs(self, size: int) -> None:
        """Raise if an object is larger than a request may be."""
        if size > self._most:
            raise BudgetError(
                f"the answer needs {size:,} bytes; at most {self._most:,} are allowed"
            )


_MOST_LANGUAGES = 8


def language_of(request: Request) -> str:
    """The languages of labels that a request asks for, the best first: `lang=de-at,de,en`."""
    given = request.query_params.get("lang", "").lower().split(",")
    wanted = [name for name in given if name.isascii() and name.replace("-", "").isalnum()]
    return ",".join(wanted[:_MOST_LANGUAGES]) or "en"


def term_from(given: Parameters, name: str, store: Snapshot | Store) -> Any:
    """A term that a request names, as in N-Triples or with a prefix of the store."""
    return term_of_text(given.text(name), store.prefixes)


def id_from(given: Parameters) -> str:
    """The id that a request gives itself, by which it can be stopped; empty without one."""
    name = given.optional("id")
    return "" if name is None else check_id(name)
