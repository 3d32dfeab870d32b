"""Changes of the page, with a preview: start at `change_routes`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from triplestore.browse.change_request import (
    ChangeLimits,
    ChangeRequest,
    DocumentText,
    change_data,
    commit_change,
)
from triplestore.browse.preview import preview_change
from triplestore.server.access.caller import Caller, require
from triplestore.server.limited_changes import turn_seconds
from triplestore.server.page.answering import PageHandlers, id_from, language_of
from triplestore.server.page.parameters import Parameters, read_json
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerOutput, JobInfo
from triplestore.server.service import StoreService

MAX_PROOFS = 50
"""Maximum number of new violations that a preview explains."""


def change_routes(service: StoreService) -> list[BaseRoute]:
    """The routes that change a store, or say what a change would do."""
    made = _Changes(service)
    return [
        Route("/api/preview", made.preview, methods=["POST"]),
        Route("/api/commit", made.commit, methods=["POST"]),
        Route("/api/rules/dry-run", made.dry_run, methods=["POST"]),
        Route("/api/rules", made.put_rules, methods=["PUT"]),
    ]


class _Changes(PageHandlers):
    async def preview(self, request: Request) -> Response:
        """What a change would do."""
        caller = require(request, "write")
        given = await read_json(request, self.settings.body)
        return self._previewed(request, caller, given, _requested(given))

    async def dry_run(self, request: Request) -> Response:
        """What rules would do."""
        caller = require(request, "write")
        given = await read_json(request, self.settings.body)
        return self._previewed(request, caller, given, ChangeRequest(rules=given.text("text")))

    def _previewed(
        self, request: Request, caller: Caller, given: Parameters, wanted: ChangeRequest
    ) -> Response:
        language, proofs = language_of(request), given.whole("proofs", 0, most=MAX_PROOFS)

        def work(output: AnswerOutput) -> Any:
            limits = self._limits(given, output)
            made = preview_change(
                self.store, wanted, limits=limits, language=language, proofs=proofs
            )
            return {"id": uuid4().hex, **made}

        return self.answer(caller, work, _info("preview", caller, wanted, given))

    async def commit(self, request: Request) -> Response:
        """Make a change, if the store is still at the expected commit."""
        caller = require(request, "write")
        given = await read_json(request, self.settings.body)
        return self._committed(caller, given, _requested(given))

    async def put_rules(self, request: Request) -> Response:
        """Put rules in force instead of those that users gave before."""
        caller = require(request, "write")
        given = await read_json(request, self.settings.body)
        return self._committed(caller, given, ChangeRequest(rules=given.text("text")))

    def _committed(self, caller: Caller, given: Parameters, wanted: ChangeRequest) -> Response:
        is_expected = given.get("expected_commit") is not None
        expected = given.whole("expected_commit", 0, most=1 << 60) if is_expected else None

        def work(output: AnswerOutput) -> Any:
            limits = self._limits(given, output)
            change = commit_change(self.store, wanted, expected_commit=expected, limits=limits)
            return change_data(change)

        return self.answer(caller, work, _info("update", caller, wanted, given))

    def _limits(self, given: Parameters, output: AnswerOutput) -> ChangeLimits:
        wait = turn_seconds(self.settings, output)
        return ChangeLimits(self.seconds(given), self.budget(given), output.stop, wait)


def _info(kind: str, caller: Caller, wanted: ChangeRequest, given: Parameters) -> JobInfo:
    """What the list of running queries says of a change."""
    text = wanted.update or wanted.rules or ", ".join(each.name for each in wanted.documents)
    return JobInfo(kind, text, caller, id_from(given))


def _requested(given: Parameters) -> ChangeRequest:
    """The change that a request describes."""
    documents = given.get("documents") or []
    if not isinstance(documents, list) or not all(isinstance(each, dict) for each in documents):
        raise RefusedRequest(400, "documents must be a list of objects with name, format and text")
    return ChangeRequest(
        given.optional("update"),
        tuple(_document(Parameters(each)) for each in documents),
        None if given.get("rules") is None else given.text("rules"),
    )


def _document(given: Parameters) -> DocumentText:
    return DocumentText(
        given.text("text"),
        given.text("name", ""),
        given.optional("format"),
        given.optional("graph"),
    )
