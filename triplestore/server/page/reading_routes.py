"""What the page reads of a store, without queries: start at `reading_routes`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from triplestore.browse.proof_data import search_seconds, why_data, why_not_data
from triplestore.browse.query_page.completion import complete
from triplestore.browse.report import report, violation_proof
from triplestore.browse.resource import resource, resource_values
from triplestore.browse.rules import check_text, rules_data
from triplestore.browse.search import search_terms
from triplestore.browse.store_data import store_data
from triplestore.browse.trees import TREE_KINDS, tree_children, tree_path
from triplestore.server.access.caller import require
from triplestore.server.page.answering import PageHandlers, language_of, term_from
from triplestore.server.page.parameters import Parameters, read_json
from triplestore.server.page.warming import Warming
from triplestore.server.refusals import RefusedRequest
from triplestore.server.running import AnswerOutput
from triplestore.server.service import StoreService

_MOST_VALUES = 1000
"""Maximum number of values, children or results in one answer."""
_LONGEST_TEXT = 4 << 20
"""Maximum number of bytes of a text that is completed or checked."""


def reading_routes(service: StoreService) -> list[BaseRoute]:
    """The routes that read a store."""
    made = _Reading(service)
    return [
        Route("/api/store", made.about),
        Route("/api/search", made.search),
        Route("/api/complete", made.complete, methods=["POST"]),
        Route("/api/resource", made.resource),
        Route("/api/resource/values", made.values),
        Route("/api/why", made.why),
        Route("/api/why-not", made.why_not),
        Route("/api/tree", made.tree),
        Route("/api/tree/path", made.path),
        Route("/api/report", made.report),
        Route("/api/rules", made.rules),
        Route("/api/rules/check", made.check, methods=["POST"]),
    ]


class _Reading(PageHandlers):
    def __init__(self, service: StoreService) -> None:
        super().__init__(service)
        self._warming = Warming()
        service.runner.at_end.append(self._warming.stop)

    async def about(self, request: Request) -> Response:
        """Sizes, graphs, prefixes and rules of the store; a page begins with it."""
        caller = require(request, "read")
        self._warming.begin(self.store)
        language = language_of(request)
        return self.answer(caller, lambda _: store_data(self.store, language=language))

    async def search(self, request: Request) -> Response:
        """Terms by label or IRI."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        text, kind = given.text("text", ""), given.text("kind", "any")
        limit = given.whole("limit", 20, most=_MOST_VALUES)
        kinds = kind.split(",")
        return self.answer(
            caller, lambda _: search_terms(self.snapshot(), text, kinds, limit, language=language)
        )

    async def complete(self, request: Request) -> Response:
        """What may stand at a place of a query."""
        caller = require(request, "read")
        given, language = await read_json(request, _LONGEST_TEXT), language_of(request)
        text = given.text("query", "")
        offset = given.whole("offset", len(text), most=len(text))
        limit = given.whole("limit", 50, most=_MOST_VALUES)
        return self.answer(
            caller, lambda _: complete(self.store, text, offset, limit=limit, language=language)
        )

    async def resource(self, request: Request) -> Response:
        """All about one resource."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        limit = given.whole("limit", 20, most=_MOST_VALUES)

        def work(_: AnswerOutput) -> Any:
            state = self.snapshot()
            return resource(state, term_from(given, "term", state), limit=limit, language=language)

        return self.answer(caller, work)

    async def values(self, request: Request) -> Response:
        """More values of one property of a resource."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        direction = given.text("direction", "out", choices=("out", "in"))
        offset = given.whole("offset", 0, most=1 << 40)
        limit = given.whole("limit", 100, most=_MOST_VALUES)

        def work(_: AnswerOutput) -> Any:
            state = self.snapshot()
            return resource_values(
                state,
                term_from(given, "term", state),
                term_from(given, "property", state),
                direction,
                offset=offset,
                limit=limit,
                language=language,
            )

        return self.answer(caller, work)

    async def why(self, request: Request) -> Response:
        """The proof of a fact, or of a violation by its number in the report."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        seconds = min(5.0, search_seconds(self.settings.seconds))

        def work(_: AnswerOutput) -> Any:
            state = self.snapshot()
            if given.optional("violation") is not None:
                number, text = given.whole("violation", 0, most=1 << 40), given.optional("text")
                return violation_proof(state, number, text, seconds=seconds, language=language)
            return why_data(state, _fact(given, state), seconds=seconds, language=language)

        return self.answer(caller, work)

    async def why_not(self, request: Request) -> Response:
        """What is missing for a fact."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        seconds = min(5.0, search_seconds(self.settings.seconds))

        def work(_: AnswerOutput) -> Any:
            state = self.snapshot()
            return why_not_data(state, _fact(given, state), seconds=seconds, language=language)

        return self.answer(caller, work)

    async def tree(self, request: Request) -> Response:
        """The children of a class, property or concept; without a parent the roots."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        kind = given.text("kind", "class", choices=TREE_KINDS)
        offset = given.whole("offset", 0, most=1 << 40)
        limit = given.whole("limit", 200, most=_MOST_VALUES)

        def work(output: AnswerOutput) -> Any:
            state = self.snapshot()
            has_parent = given.optional("parent") is not None
            parent = term_from(given, "parent", state) if has_parent else None
            made = tree_children(state, kind, parent, offset=offset, limit=limit, language=language)
            output.headers["x-total-count"] = str(made["total"])
            return made["items"]

        return self.answer(caller, work)

    async def path(self, request: Request) -> Response:
        """The way from a root of a tree to a term."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        kind = given.text("kind", "class", choices=TREE_KINDS)

        def work(_: AnswerOutput) -> Any:
            state = self.snapshot()
            return tree_path(state, kind, term_from(given, "term", state), language=language)

        return self.answer(caller, work)

    async def report(self, request: Request) -> Response:
        """Regimes, rules, what lies outside of them, and violations."""
        caller = require(request, "read")
        given, language = Parameters.of(request), language_of(request)
        counts, offset = given.flag("counts"), given.whole("offset", 0, most=1 << 40)
        return self.answer(
            caller,
            lambda _: report(self.snapshot(), counts=counts, offset=offset, language=language),
        )

    async def rules(self, request: Request) -> Response:
        """Users' rules as text."""
        caller = require(request, "read")
        return self.answer(caller, lambda _: rules_data(self.snapshot()))

    async def check(self, request: Request) -> Response:
        """What is wrong with a text of rules."""
        caller = require(request, "read")
        text = (await read_json(request, _LONGEST_TEXT)).text("text", "")
        return self.answer(caller, lambda _: {"problems": check_text(self.snapshot(), text)})


def _fact(given: Parameters, state: Any) -> Any:
    """The fact that a request names: three terms, or a text."""
    text = given.optional("fact")
    if text is not None:
        return text
    if given.optional("s") is None:
        raise RefusedRequest(400, "give a fact as s, p and o, or as a text: fact")
    return tuple(term_from(given, name, state) for name in ("s", "p", "o"))
